# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Requests of an unknown peer: in the session of another node, far beyond the window, with false sources."""

import random
import struct
import threading
import time

import lib
from connections import world_and_pair
from lib import H, X, Conn, nid4
from sessions import drain, frame, put, session

RAW = 10                # portal of lnetperf's server that any PUT matches
REASONS = 0xffffff00    # a rejection: an ACK with this plus a reason in place of its length
NO_WINDOW, NO_MATCH = 1, 2
# Outcomes of a request that the window accepts: the server in the kernel has no memory at RAW.
SERVED = ("done", NO_MATCH) if lib.KERNEL else ("done",)
OTHER = "10.9.0.10"     # another address of X, another peer


def outcome(conn):
    """Returns the result of the next ACK: "done", a reason, or None if no ACK was received."""
    conn.sock.settimeout(2)
    try:
        got = frame(conn)
    except OSError:
        return None
    while got and got[0] != 0:
        got = frame(conn)
    if not got:
        return None
    length = struct.unpack_from("<I", got[1], 24)[0]
    return length - REASONS if length >= REASONS else "done"


def of_another(tap):
    """the node must drop a request in the session of another peer, and reject requests with a guessed session ID."""
    world, pair = world_and_pair(6, hosts=(("x", OTHER),))
    try:
        # The thief is configured with two NIDs, so the node knows that the thief and the owner are different peers.
        world.call("h", "lnetctl", "--node", lib.NODE, "peer", "add", "--prim_nid", OTHER + "@tcp", "--nid",
                   "10.9.1.10@tcp")
        owner, thief = Conn(nid4(X)), Conn(nid4(OTHER), source=OTHER)
        grant = session(owner, 1)
        owner.send(put(grant, 1, portal=RAW))
        tap.check(outcome(owner) in SERVED, "session: its owner's request takes effect")
        # The reply to request 1 is cached, and the thief must not receive it.
        for seq in (1, 2):
            thief.send(put(grant, seq, source=OTHER, portal=RAW))
            tap.check(outcome(thief) is None, "session: request %d of another peer gets no reply" % seq)
        owner.send(put(grant, 2, portal=RAW))
        tap.check(outcome(owner) in SERVED, "session: the same of its owner takes effect")
        begin, tries = time.monotonic(), 0
        while time.monotonic() - begin < 3:
            guesses = [grant + random.choice((1, -1)) * random.randint(1, 1 << 20) for _ in range(32)]
            guesses += [random.getrandbits(64) for _ in range(32)]
            thief.send(b"".join(put(guess % (1 << 64), 3, source=OTHER, portal=RAW) for guess in guesses))
            tries += len(guesses)
            drain(thief)
        tap.rate("session: guesses", tries, time.monotonic() - begin)
        print("# session: %d requests rejected: no window" % pair.counter("no_window"))
        tap.honest(pair.result(), "session")
        tap.check(pair.counter("not_opener") >= 2, "session: not_opener counts them")
    finally:
        world.close()


def far_beyond(tap):
    """one request with sequence 2^47 must not make the window useless for the requests that follow."""
    world, pair = world_and_pair(4)
    try:
        conn = Conn(nid4(X))
        grant = session(conn, 1)
        done, seq, begin = 0, 0, time.monotonic()
        while seq < 100 and done >= seq - 2:
            seq += 1
            conn.send(put(grant, 1 << 47, portal=RAW))
            reason = outcome(conn)
            conn.send(put(grant, seq, portal=RAW))
            done += outcome(conn) in SERVED
        tap.rate("far sequences", seq, time.monotonic() - begin)
        print("# far sequences: rejected with reason %s; %d of %d requests of the same session done" %
              (reason, done, seq))
        tap.check(done == 100, "far sequences: each ordinary request of the session takes effect")
        tap.check(pair.counter("too_far") == 100, "far sequences: too_far counts them")
        tap.honest(pair.result(), "far sequences")
    finally:
        world.close()


class Flood(threading.Thread):
    """Sends GETs of the server's memory as fast as one connection permits. @sources are the sources, in turn."""

    def __init__(self, conn, sources, limit=2000000):
        super().__init__()
        self.conn, self.sources, self.limit, self.sent = conn, sources, limit, 0
        self.ending = False

    def run(self):
        frames = [lib.message(nid4(source), nid4(H), 2, struct.pack("<QQQIII", 7, i, 0, RAW, 0, 1024))
                  for i, source in enumerate(self.sources)]
        blocks = [b"".join(frames[at:at + 64]) for at in range(0, len(frames), 64)]
        self.conn.sock.settimeout(0.5)
        while not self.ending and self.sent < self.limit:
            if not self.conn.send(blocks[(self.sent // 64) % len(blocks)]):
                break       # the node reads no more, or has closed the connection
            self.sent += 64

    def end(self):
        self.ending = True
        self.join()
        self.conn.close()


def in_the_name(tap, what, sources, seconds):
    """The node must neither store nor reply to requests with the sources @sources, nor connect to them."""
    world, pair = world_and_pair(seconds + 2)
    try:
        world.count_dials()
        flood = Flood(Conn(nid4(X)), sources)
        begin = time.monotonic()
        flood.start()
        time.sleep(seconds - 1)
        peak = pair.measure()
        flood.end()
        tap.rate(what, flood.sent, time.monotonic() - begin)
        said = pair.result()
        kept = pair.measure()
        print("# %s: node grew by %d kB, kept %d kB; %d requests dropped as forged, %d peers" %
              (what, peak["kB"] - pair.before["kB"], kept["kB"] - pair.before["kB"], pair.counter("forged_source"),
               pair.peers()))
        tap.check(flood.sent >= 4096, "%s: the attack reaches the node" % what)
        tap.check(peak["kB"] - pair.before["kB"] < 65536, "%s: the node grows by less than 64 MB" % what)
        tap.check(kept["kB"] - pair.before["kB"] < 8192, "%s: it gives the memory back within 10 s" % what)
        tap.check(1 <= pair.peers() <= 4, "%s: no peer is made of a claimed source" % what)
        tap.check(peak["descriptors"] <= pair.before["descriptors"] + 16, "%s: few descriptors are in use" % what)
        tap.check(not world.dials(), "%s: the node dials nobody (%d)" % (what, world.dials()))
        tap.honest(said, what)
    finally:
        world.close()


def many_sources(tap):
    """2,000,000 GETs in the names of 500 nodes fill memory and descriptors."""
    in_the_name(tap, "500 sources", ["10.9.2.%d" % (i % 250) if i < 250 else "10.9.3.%d" % (i % 250)
                                     for i in range(500)], 6)


def many_peers(tap):
    """messages in the names of 40,000 nodes fill the table of peers."""
    in_the_name(tap, "40,000 sources", ["10.%d.%d.%d" % (20 + i // 62500, i // 250 % 250, i % 250 + 1)
                                        for i in range(40000)], 5)


def many_dials(tap):
    """requests in the names of 200 addresses of the attacker's choice make the node connect to them."""
    addresses = ["10.9.4.%d" % i for i in range(1, 201)]
    in_the_name(tap, "reflection", addresses, 6)


SCENARIOS = {"A1": of_another, "A2": far_beyond, "A5": many_sources, "A7": many_peers, "A14": many_dials}
