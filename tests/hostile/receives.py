# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A remote host sends headers of large messages, then single bytes slowly. The node assigns buffers at the header."""

import struct
import time

import lib
import sessions
from lib import BULK_OUT, CONTROL, H, P, X, Conn, Pair, World, nid4

PORTAL = 11                     # lnetperf sends its verified PUTs there
MTU = 1 << 20


def put_header(src, dst, size=MTU, body=b"\xff" * 16 + struct.pack("<QQII", 1, 1, PORTAL, 0)):
    return struct.pack("<IIQQ", 0xc1, 0, 0, 0) + struct.pack("<QQIIII", dst, src, 12345, 12345, 1, size) + body


class Trickle:
    """Connections with these NIDs. Each sends a PUT of 1 MiB byte by byte. If one is closed, Trickle reopens it."""

    def __init__(self, nids, sources=(X,), dst=H, to=None):
        self.dst, self.to, self.sources = dst, to or nid4(dst), sources
        self.conns = {(nid, i): None for i, nid in enumerate(nids)}
        self.headers = 0

    def ctype(self, key):
        """The first connection of each NID must be of the type CONTROL."""
        return CONTROL if key == next(k for k in self.conns if k[0] == key[0]) else BULK_OUT

    def turn(self):
        for key, conn in self.conns.items():
            if conn and conn.send(b"x"):
                continue
            if conn:
                conn.close()
            source = self.sources[key[1] % len(self.sources)]
            conn = Conn(key[0], to=self.dst, source=source, ctype=self.ctype(key), wait=0.3)
            self.conns[key] = conn if conn.taken and conn.send(put_header(key[0], self.to)) else None
            self.headers += self.conns[key] is not None

    def run(self, seconds, pause=0.1):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.turn()
            time.sleep(pause)

    def close(self):
        for conn in self.conns.values():
            if conn:
                conn.close()


def trickled_puts(tap):
    """40 connections send a PUT header of 1 MiB, then single bytes, to use all buffers of a portal; they reconnect."""
    many = ["10.9.0.%d" % i for i in range(100, 140)]
    made_up = [nid4("10.9.1.%d" % i) for i in range(40)]
    for rule, nids, sources in (("strict", [nid4(X)] * 40, [X]), ("off", made_up, [X]),
                                ("addresses", [nid4(address) for address in many], many)):
        world = World(extra=[("x", address) for address in many])
        attack = Trickle(nids, sources)
        settings = ("hello_address=off",) if rule == "off" and lib.has_tunable("hello_address") else ()
        try:
            pair = Pair(world, settings=settings)
            pair.load(7)
            world.enter("x")
            begin = time.monotonic()
            attack.run(5)
            tap.rate("trickled PUTs, " + rule, attack.headers, time.monotonic() - begin)
            said = pair.result()
            print("# trickled PUTs, %s: %d receives closed as too slow; %d waited for the share of their address" %
                  (rule, pair.counter("too_slow"), pair.counter("throttled")))
            tap.honest(said, "trickled PUTs, " + rule)
            tap.check(said["done"] > 3500 / lib.INTERVAL_MS,
                      "trickled PUTs, %s: half of the honest requests or more are done (%d)" % (rule, said["done"]))
            tap.check(said["latency_us"].get("p50", 1e9) < 200e3, "trickled PUTs, %s: half of the honest requests take "
                      "less than 200 ms" % rule)
        finally:
            attack.close()
            world.close()


def close_inside(seconds, tracked):
    """Sends the header of a PUT of 1 MiB and closes the connection, again and again. Returns the number of headers."""
    end, headers, grant, conn = time.monotonic() + seconds, 0, 0, None
    while time.monotonic() < end:
        conn = Conn(nid4(X), wait=1)
        if tracked and not grant and conn.taken:
            grant = sessions.session(conn, 1)
        if conn.taken and (grant or not tracked):
            more = {"body": sessions.put_body(grant, headers + 1, portal=PORTAL)} if tracked else {}
            headers += conn.send(put_header(nid4(X), nid4(H), **more) + b"x" * 100)
            time.sleep(0.01)
        conn.close()
    return headers


def closed_puts(tap):
    """PUT headers of 1 MiB whose connections close before the payload is complete: no buffer may be held for them."""
    for what, tracked in (("closed PUTs", False), ("closed tracked PUTs", True)):
        world = World()
        try:
            pair = Pair(world)
            world.enter("x")
            begin = time.monotonic()
            pair.load(6)
            headers = close_inside(3, tracked)
            tap.rate(what, headers, time.monotonic() - begin)
            said = pair.result()
            tap.check(headers > 20, "%s: the attack reaches the node" % what)
            tap.honest(said, what)
            tap.check(said["done"] > 600 and said["latency_us"].get("p50", 1e9) < 200e3,
                      "%s: half of the honest requests or more take less than 200 ms" % what)
        finally:
            world.close()


SCENARIOS = {"A11": trickled_puts, "A11b": closed_puts}
