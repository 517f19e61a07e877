# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""An unknown peer controls the self-test of a node: the node would send it bulk data, and leave the honest session."""

import os
import time

from lib import OUT, Pair, World, text_of, wait_for

NAME = "test"
TARGET, CONSOLE, STRANGER = "10.9.0.4", "10.9.0.5", "10.9.0.9"


def has_list():
    """Does lnetd have a list of consoles? The scenario also runs against older builds."""
    with open(os.path.join(OUT, "lnetd"), "rb") as file:
        return b"--selftest CONSOLES" in file.read()


def daemon(world, host, address, consoles):
    words = ("--selftest", consoles) if consoles and has_list() else ()
    proc = world.start(host, "lnetd", "--name", NAME, *words, log="lnetd-" + host)
    if not wait_for(lambda: "started" in text_of(proc)):
        raise RuntimeError(text_of(proc))
    for more in (("lnet", "configure"), ("net", "add", "--nid", address + "@tcp")):
        world.call(host, "lnetctl", "--node", NAME, *more)
    return proc


def lst(world, host, *words):
    return world.call(host, "lst", "--node", NAME, *words).stdout.strip()


def received(world, host):
    """Bytes that the host's interface has received."""
    return int(world.call(host, "/bin/cat", "/sys/class/net/e0/statistics/rx_bytes").stdout)


def attack(world, seconds):
    """Returns the outputs of the attacker's commands, and the number of bytes that the attacker received."""
    begin = received(world, "x")
    said = [lst(world, "x", "new_session", "--force", "mine"),
            lst(world, "x", "add_group", "g", TARGET + "@tcp"),
            lst(world, "x", "add_group", "me", STRANGER + "@tcp"),
            lst(world, "x", "add_test", "--concurrency", "8", "--from", "g", "--to", "me", "brw", "write", "size=1M"),
            lst(world, "x", "run")]
    time.sleep(seconds)
    sent = received(world, "x") - begin
    lst(world, "x", "end_session")
    return said, sent


def commands(tap):
    """an unknown peer controls the self-test of a node: one with the default options, then one with a console."""
    os.environ["LST_SESSION"] = "7"
    for consoles, what in ((None, "not asked for"), (CONSOLE + "@tcp", "a list")):
        world = World(extra=(("h", TARGET), ("p", CONSOLE)))
        try:
            pair = Pair(world)
            pair.load(10)
            node = daemon(world, "h", TARGET, consoles)
            daemon(world, "p", CONSOLE, CONSOLE + "@tcp")
            daemon(world, "x", STRANGER, "*")
            honest = lst(world, "p", "new_session", "honest"), lst(world, "p", "add_group", "h", TARGET + "@tcp")
            said, sent = attack(world, 2)
            tap.rate("self-test, %s: bytes to the stranger" % what, sent, 2)
            print("# self-test, %s: console: %s; stranger: %s" % (what, honest[1].splitlines(), said[1].splitlines()))
            tap.check(sent < 1000000, "self-test, %s: the node sends the stranger nothing" % what)
            if consoles:
                tap.check("are added to session" in honest[1], "self-test, %s: its console leads the node" % what)
                held = lst(world, "p", "ping", "--group", "h")
                print("# self-test, %s: then: %s" % (what, held.splitlines()))
                tap.check("Active" in held, "self-test, %s: its console still has it" % what)
                tap.check("list of consoles" in said[1], "self-test, %s: the stranger gets the reason" % what)
                tap.check("10.9.0.9@tcp may not lead this node" in text_of(node), "self-test, %s: it is logged" % what)
            tap.honest(pair.result(), "self-test, " + what)
        finally:
            world.close()


def of_itself(tap):
    """a node tests itself with requests that never end: it must still serve its peers and its operator."""
    os.environ["LST_SESSION"] = "7"
    world = World(extra=(("h", TARGET), ("p", CONSOLE)))
    try:
        pair = Pair(world)
        pair.load(6)
        daemon(world, "h", TARGET, TARGET + "@tcp")
        daemon(world, "p", CONSOLE, None)
        said = [lst(world, "h", "new_session", "own"), lst(world, "h", "add_group", "me", TARGET + "@tcp"),
                lst(world, "h", "add_test", "--concurrency", "64", "--loop", "-1", "--from", "me", "--to", "me",
                    "ping"),
                lst(world, "h", "run")]
        slowest, served, begin = 0, 0, time.monotonic()
        for _ in range(20):
            at = time.monotonic()
            asked = world.call("p", "lnetctl", "--node", NAME, "ping", "--timeout", "1000ms", TARGET + "@tcp")
            served += asked.returncode == 0
            slowest = max(slowest, time.monotonic() - at)
        sent = world.counters("h", NAME).get("send_count", 0)
        tap.rate("own test: messages", sent, time.monotonic() - begin)
        print("# own test: %s; %d of 20 pings served, the slowest in %.0f ms" % (said[1:], served, slowest * 1e3))
        lst(world, "h", "end_session")
        tap.check(sent > 10000, "own test: the test runs")
        tap.check(served == 20, "own test: a peer is served meanwhile")
        tap.check(slowest < 1, "own test: within a second")
        ended = time.monotonic()
        tap.check(world.call("h", "lnetctl", "--node", NAME, "net", "show").returncode == 0 and
                  time.monotonic() - ended < 2, "own test: the operator is served after it")
        tap.honest(pair.result(), "own test")
    finally:
        world.close()


SCENARIOS = {"A4": of_itself, "A18": commands}
