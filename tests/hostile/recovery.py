# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A hostile server replies to all pings, but makes all requests fail: its client must not ping it without end."""

import struct
import time

import lib
import lists
from lib import X, Pair, World

VICTIM = "10.9.0.3"     # a client on the host H
SECONDS = 12


class Refuser(lists.Imitation):
    """It replies to each ping. It discards each PUT, or resets its connection."""

    def __init__(self, resets):
        self.resets = resets
        self.pings = []         # time of each ping
        super().__init__()

    def put(self, conn, dst, src, body, payload):
        self.puts += 1
        if self.resets:
            conn.sock.setsockopt(lib.socket.SOL_SOCKET, lib.socket.SO_LINGER, struct.pack("ii", 1, 0))
            conn.close()
        return not self.resets

    def ping(self, conn, dst, src, body):
        self.pings.append(time.monotonic())
        return super().ping(conn, dst, src, body)


def endless_pings(tap):
    """a server replies to all pings, and discards all PUTs or resets their connections: recovery would never end."""
    for what, resets in (("discards", False), ("resets", True)):
        world = World(extra=[("h", VICTIM)])
        try:
            pair = Pair(world)
            pair.load(SECONDS + 1)
            world.enter("x")
            server = Refuser(resets)
            client = world.start("h", "lnetperf", "client", "--nid", VICTIM + "@tcp", "--peer", X + "@tcp",
                                 "--interval", "5ms", "--timeout", "1s", "--json", "--duration",
                                 "%ds" % SECONDS, log="victim")
            begin = time.monotonic()
            client.wait(60)
            spent = time.monotonic() - begin
            said = pair.result()
            each = [sum(begin + i <= at < begin + i + 1 for at in server.pings) for i in range(int(spent) + 1)]
            tap.rate("%s PUTs: pings answered" % what, len(server.pings), spent)
            print("# %s PUTs: %d PUTs; pings in each second: %s" % (what, server.puts, each))
            tap.check(server.puts > 50, "%s PUTs: the client sends requests" % what)
            tap.check(len(server.pings) > (0 if resets else 100), "%s PUTs: the client recovers the path" % what)
            tap.check(len(server.pings) <= 2000 + 20 * (spent + 1), "%s PUTs: pings are at most a burst of 2,000 and "
                      "20 per second" % what)
            tap.check(resets or max(each[-3:]) <= 25, "%s PUTs: in the end 20 pings per second" % what)
            tap.honest(said, "%s PUTs" % what)
            server.close()
        finally:
            world.close()


SCENARIOS = {"A26": endless_pings}
