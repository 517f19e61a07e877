# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A remote host and its connections: NIDs that are not its own, and as many connections as it can open."""

import time

import lib
from lib import BULK_OUT, CONTROL, H, P, X, Conn, Pair, World, nid4


def world_and_pair(seconds, hosts=(), **more):
    world = World(extra=(("p", "10.9.0.3"), *hosts))
    try:
        pair = Pair(world, **more)
        pair.load(seconds)
        world.enter("x")
    except BaseException:
        world.close()
        raise
    return world, pair


def claims_false_nids(tap):
    """an unknown peer claims the node's own NID, and would be its loopback peer; or it claims 0.0.0.0 or 224.0.0.1."""
    world, pair = world_and_pair(3, settings=more_off())
    taken, tries, begin = [], 0, time.monotonic()
    try:
        while time.monotonic() - begin < 1.5:
            for address in (H, "0.0.0.0", "255.255.255.255", "224.0.0.1", "127.0.0.1"):
                conn = Conn(nid4(address))
                tries += 1
                if conn.taken and address not in taken:
                    taken.append(address)
                conn.close()
        tap.rate("false NIDs", tries, time.monotonic() - begin)
        own = Conn(nid4(X))
        tap.check(own.taken, "false NIDs: a stranger with its own NID is accepted")
        answered = [name for name, src in (("0@lo", 9 << 48), (H, nid4(H)))
                    if own.send(lib.ping(src, nid4(H))) and own.frames()]
        print("# false NIDs: accepted: %s; answered as: %s" % (taken, answered))
        tap.check(not taken, "false NIDs: each HELLO is rejected")
        tap.check(not answered, "false NIDs: a message from 0@lo or a NID of the node is dropped")
        tap.honest(pair.result(), "false NIDs")
    finally:
        world.close()


def more_off():
    """Switches off the check of addresses, if the node has it, so that a scenario tests only the check of NIDs."""
    return ("hello_address=off",) if lib.has_tunable("hello_address") else ()


def claims_peer(tap):
    """two HELLOs with the NID of a connected peer: the first would end its connections, the second replace them."""
    for rule in ("set", "strict"):
        if not lib.has_tunable("hello_address") and rule == "strict":
            continue
        settings = ("hello_address=" + rule,) if lib.has_tunable("hello_address") else ()
        world, pair = world_and_pair(4, settings=settings)
        taken = tries = came = 0
        begin = time.monotonic()
        try:
            while time.monotonic() - begin < 2:
                first = Conn(nid4(P), ctype=CONTROL, incarnation=2 + tries)
                conn = first if first.taken else Conn(nid4(P), ctype=CONTROL, incarnation=2 + tries)
                bulk = Conn(nid4(P), ctype=BULK_OUT, incarnation=2 + tries)
                tries += 3
                taken += conn.taken + bulk.taken
                came += conn.frames(0.05) if conn.taken else 0
                conn.close()
                bulk.close()
            tap.rate("peer's NID, " + rule, tries, time.monotonic() - begin)
            said = pair.result()
            print("# peer's NID, %s: %d of %d HELLOs accepted; %d bytes of the pair received; honest gap %.1f ms" %
                  (rule, taken, tries, came, said["gap_ms"]))
            tap.check(not taken and not came, "peer's NID, %s: no HELLO from another address is accepted" % rule)
            tap.honest(said, "peer's NID, " + rule)
        finally:
            world.close()


def unprivileged(tap):
    """with accept=all, a user without privileges sends HELLOs with a NID of another address."""
    world, pair = world_and_pair(3, settings=("accept=all",))
    try:
        begin, tries, taken = time.monotonic(), 0, 0
        while time.monotonic() - begin < 1:
            conn = Conn(nid4("10.9.0.77"), port=20000 + tries % 10000)
            tries += 1
            taken += conn.taken
            conn.close()
        own = Conn(nid4(X), port=40000)
        tap.rate("port above 1023", tries, time.monotonic() - begin)
        print("# port above 1023: %d of %d HELLOs with another address accepted" % (taken, tries))
        tap.check(not taken, "port above 1023: it speaks for its own address alone")
        tap.check(own.taken, "port above 1023: its own address is accepted")
        tap.honest(pair.result(), "port above 1023")
    finally:
        world.close()


def idle_connections(tap):
    """idle connections of one address use all descriptors; a new honest peer must be able to connect."""
    settings = ("hello_address=off",) if lib.has_tunable("hello_address") else ()
    world, pair = world_and_pair(9, files=150, settings=settings)
    try:
        begin = time.monotonic()
        conns = [Conn(nid4("10.9.1.%d" % i), wait=0.5) for i in range(1, 201)]
        tap.rate("idle connections", len(conns), time.monotonic() - begin)
        opened = sum(conn.taken for conn in conns)
        new = world.call("p", "lnetperf", "client", "--nid", "10.9.0.3@tcp", "--peer", H + "@tcp", "--count", "20",
                         "--duration", "10", "--timeout", "3s", "--verify", wait=30)
        print("# idle connections: %d of 200 accepted, node has %d descriptors of 150; a new peer: %s" %
              (opened, pair.measure()["descriptors"], new.stdout.strip().splitlines()[-1:]))
        tap.check(lib.KERNEL or pair.measure()["descriptors"] < 120, "idle connections: descriptors are left")
        tap.check("20 done, 0 failed" in new.stdout, "idle connections: a new peer gets in")
        for conn in conns:
            conn.close()
        tap.honest(pair.result(), "idle connections")
    finally:
        world.close()


SCENARIOS = {"A23": claims_false_nids, "A21": claims_peer, "A17": unprivileged, "A6": idle_connections}
