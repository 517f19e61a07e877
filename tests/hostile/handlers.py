# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A peer makes a handler of a server block. The server must still serve others, and must count the handler."""

import os
import select
import struct
import subprocess
import time

from lib import H, P, X, Conn, World, message, nid4, text_of, wait_for

TEXT = 1                        # portals of the example server


def put(portal, payload):
    return message(nid4(X), nid4(H), 1, b"\xff" * 16 + struct.pack("<QQII", 0, 0, portal, 0), payload)


def served(world, count):
    """Sends @count requests as the honest peer. Returns the number of replies, and the longest time of a request."""
    good, worst = 0, 0.0
    for _ in range(count):
        begin = time.monotonic()
        good += world.call("p", "examples/request", P + "@tcp", H + "@tcp", "honest").returncode == 0
        worst = max(worst, time.monotonic() - begin)
    return good, worst


def send_texts(world, tap, what, count):
    """Sends texts of 4000 bytes as the attacker."""
    begin = time.monotonic()
    world.enter("x")
    conn = Conn(nid4(X))
    sent = sum(conn.send(put(TEXT, b"x" * 4000)) for _ in range(count))
    tap.rate(what, sent, time.monotonic() - begin)
    return conn


def stopped_reader(tap):
    """nobody reads what the example server prints; a peer sends it texts."""
    world = World()
    try:
        # The reader exists, and does not read.
        server = subprocess.Popen(["ip", "netns", "exec", world.space("h"),
                                   os.path.join(os.environ.get("OUT", "build"), "examples/server"), H + "@tcp"],
                                  stdout=subprocess.PIPE)
        world.procs.append(server)
        if not wait_for(lambda: served(world, 1)[0], 20):
            raise RuntimeError("no server")
        conn = send_texts(world, tap, "stopped reader", 100)
        good, worst = served(world, 5)
        print("# stopped reader: %d of 5 requests answered, the slowest after %.1f s" % (good, worst))
        tap.check(good == 5, "stopped reader: the server answers its other peers")
        lines, end = b"", time.monotonic() + 5
        while b"texts dropped" not in lines and time.monotonic() < end and select.select([server.stdout], [], [], 3)[0]:
            lines += os.read(server.stdout.fileno(), 65536)
            conn.send(put(TEXT, b"more"))
        tap.check(b"texts dropped" in lines, "stopped reader: the server reports how many texts it dropped")
        conn.close()
    finally:
        world.close()


def blocking_handler(tap):
    """a handler of a server never returns: another thread serves the honest peer."""
    for mode in ("main", "service"):
        what = "blocking handler, " + mode
        world = World()
        try:
            server = world.start("h", "tests/tools/blocking", H + "@tcp", mode, log="blocking")
            if not wait_for(lambda: served(world, 1)[0], 20):
                raise RuntimeError("no server: " + text_of(server))
            send_texts(world, tap, what, 1)
            good, worst = served(world, 5)
            print("# %s: %d of 5 requests answered, the slowest after %.1f s" % (what, good, worst))
            tap.check(good == 5, "%s: the honest peer is served" % what)
            counted = wait_for(lambda: text_of(server).split("\n")[-2:-1] == ["slow_handlers 1"], 5)
            tap.check(counted, "%s: the handler is counted while it runs: %s" %
                      (what, text_of(server).split("\n")[-2:-1]))
        finally:
            world.close()


def both(tap):
    """a peer makes handlers of a server block: output that nobody reads, a handler that never returns."""
    stopped_reader(tap)
    blocking_handler(tap)


SCENARIOS = {"A25": both}
