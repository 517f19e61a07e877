# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A remote host sends large messages slowly through a router: it must not use up the buffers of other peers.

    P (client) 10.9.0.2, X (attacker) 10.9.0.9 --- net tcp --- 10.9.0.1 H (router) 10.9.2.1 --- net tcp2 --- 10.9.2.7 S
"""

import socket
import struct
import threading
import time

import lib
import load
import receives
from lib import H, P, X, Conn, World, nid4, text_of, wait_for

S, FAR, DEAF = "10.9.2.7", "10.9.2.1", "10.9.2.9"
NAME = "hostile"


class Routed:
    """An honest pair that sends 256 KiB 50 times a second through a router. The router has 64 large buffers."""

    def __init__(self, world, settings=()):
        self.world, self.made = world, {"settings": settings}
        self.router = world.start("h", "lnetd", "--name", NAME, log="lnetd")
        wait_for(lambda: "started" in text_of(self.router), 5)
        for words in (("lnet", "configure"), ("net", "add", "--nid", H + "@tcp"),
                      ("net", "add", "--nid", FAR + "@tcp2"), ("set", "routing", "1"), ("set", "large_buffers", "64"),
                      *(("set", *setting) for setting in settings)):
            done = world.call("h", "lnetctl", "--node", NAME, *words)
            if done.returncode:
                raise RuntimeError("%s: %s" % (" ".join(words), done.stdout))
        self.server = world.start("s", "lnetperf", "server", "--nid", S + "@tcp2", "--route", "tcp,%s@tcp2" % FAR,
                                  "--verify", log="server")
        if not wait_for(lambda: "ready" in text_of(self.server)):
            raise RuntimeError("no server: " + text_of(self.server))

    def load(self, seconds):
        self.seconds = seconds
        load.begin()
        self.load_begin(seconds)

    def load_begin(self, seconds):
        self.client = self.world.start("p", "lnetperf", "client", "--nid", P + "@tcp", "--peer", S + "@tcp2", "--route",
                                       "tcp2,%s@tcp" % H, "--interval", "20ms", "--size", "256K", "--verify", "--json",
                                       "--duration", "%gs" % seconds, log="client")

    def counter(self, name):
        return self.world.counters("h", NAME).get(name, 0)

    def memory(self):
        return lib.own_memory(self.router.pid)

    def result(self):
        self.client.wait(60)
        records = load.end()
        said = lib.figures_of(self.client)
        if not said:
            raise RuntimeError("no figures: " + text_of(self.client))
        lib.print_honest(said)
        said.update(oracle=self.world.judge(), compare=lib.Comparison(self, records))
        return said


def world_of(many=()):
    return World(extra=[("h", FAR), ("x", DEAF)] + [("x", address) for address in many], hosts=[("s", S)],
                 routes=(("p", "10.9.2.0/24", H), ("s", "10.9.0.0/24", FAR)))


class Deaf(threading.Thread):
    """A node on the far net that accepts connections and never reads a message."""

    def __init__(self):
        super().__init__(daemon=True)
        self.listener = socket.socket()
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.listener.bind((DEAF, lib.PORT))
        self.listener.listen(16)
        self.conns = []

    def run(self):
        while True:
            try:
                conn = Conn.__new__(Conn)
                conn.sock, _ = self.listener.accept()
                conn.sock.settimeout(5)
                ctype = struct.unpack_from("<I", conn.read(16 + 56), 16 + 48)[0]
                conn.send(lib.hello(nid4(DEAF, net=2), nid4(FAR, net=2), {2: 3, 3: 2}.get(ctype, ctype)))
                self.conns.append(conn)
            except (OSError, struct.error):
                return

    def close(self):
        for conn in self.conns:
            conn.close()
        self.listener.close()


class DeafAttack:
    """20 addresses send PUTs of @size bytes through the router to a node that reads nothing."""

    def __init__(self, size):
        self.many = ["10.9.0.%d" % i for i in range(100, 120)]
        self.size = size
        self.world = world_of(self.many)
        self.conns, self.sent = [], 0

    def run(self, seconds):
        """Returns the largest amount of memory that the router had, in kB."""
        self.world.enter("x")
        self.deaf = Deaf()
        self.deaf.start()
        most, begin = 0, time.monotonic()
        self.conns = [Conn(nid4(address), source=address, wait=0.3) for address in self.many]
        heads = [receives.put_header(nid4(address), nid4(DEAF, net=2), size=self.size) for address in self.many]
        live = [(conn, head) for conn, head in zip(self.conns, heads) if conn.taken]
        while time.monotonic() - begin < seconds:
            live = [(conn, head) for conn, head in live if conn.send(head + b"x" * self.size)]
            self.sent += len(live)
            most = max(most, self.pair.memory())
            time.sleep(0.01)
        return most

    def close(self):
        for conn in self.conns:
            conn.close()
        self.conns = []

    def end(self):
        self.close()
        self.world.close()


def deaf_receiver(tap):
    """20 addresses send PUTs of 64 KiB through a router to a node that reads nothing: other bulk data must continue."""
    attack = DeafAttack(65536)
    try:
        pair = attack.pair = Routed(attack.world)
        pair.load(7)
        attack.run(5)
        tap.rate("deaf receiver", attack.sent, 5)
        said = pair.result()
        print("# deaf receiver: %d connections to it; %d messages waited" %
              (len(attack.deaf.conns), pair.counter("forward_waits")))
        tap.check(len(attack.deaf.conns) > 0 and pair.counter("forward_waits") > 20,
                  "deaf receiver: the attack fills its share")
        tap.honest(said, "deaf receiver")
        tap.check(said["done"] > 315, "deaf receiver: nine of ten honest requests or more are done (%d)" % said["done"])
        attack.deaf.close()
    finally:
        attack.end()


def buffers_kept(tap):
    """PUTs of 1 MiB as in A20b fill buffers of a router: the router must release their memory."""
    attack = DeafAttack(1 << 20)
    try:
        pair = attack.pair = Routed(attack.world, [("large_buffers", "0")])
        before = pair.memory()
        most = attack.run(4)
        attack.deaf.close()
        attack.close()
        wait_for(lambda: pair.memory() - before < 8192, 10)
        kept = pair.memory() - before
        print("# buffers: %d PUTs; the router grew by %d kB and kept %d kB" % (attack.sent, most - before, kept))
        tap.check(most - before > 32768, "buffers: the attack fills buffers")
        tap.check(kept < 8192, "buffers: the router gives their memory back")
    finally:
        attack.end()


def trickled_through(tap):
    """80 connections send a PUT header of 1 MiB through a router, then single bytes: other bulk data must continue."""
    many = ["10.9.0.%d" % i for i in range(100, 180)]
    made_up = [nid4("10.9.1.%d" % i) for i in range(80)]
    for rule, nids, sources in (("strict", [nid4(X)] * 80, [X]), ("off", made_up, [X]),
                                ("addresses", [nid4(address) for address in many], many)):
        world = world_of(many)
        attack = receives.Trickle(nids, sources, to=nid4(S, net=2))
        settings = [("hello_address", "off")] if rule == "off" and lib.has_tunable("hello_address") else []
        try:
            pair = Routed(world, settings)
            pair.load(7)
            time.sleep(0.5)
            world.enter("x")
            begin = time.monotonic()
            attack.run(5)
            what = "routed, " + rule
            tap.rate(what, attack.headers, time.monotonic() - begin)
            said = pair.result()
            print("# %s: %d receives closed as too slow; %d waited for the share of their address; %d for a buffer" %
                  (what, pair.counter("too_slow"), pair.counter("throttled"), pair.counter("forward_waits")))
            tap.honest(said, what)
            tap.check(said["done"] > 315, "%s: nine of ten honest requests or more are done (%d)" %
                      (what, said["done"]))
        finally:
            attack.close()
            world.close()


SCENARIOS = {"A20": trickled_through, "A20b": deaf_receiver, "A20c": buffers_kept}
