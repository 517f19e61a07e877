# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The cases of tests/lnetctl/run about discovery that is switched off and on, at either node, while peers are known."""

import time

from nodes import configured, equal

KNOWN = 273		# as in stock LNet: multi-rail, discovered, its NIDs are known
OFF = 274		# not multi-rail, has discovery off, discovered, its NIDs are known
FROZEN = 275		# as OFF, but discovery is off at this node as well: the peer stays multi-rail
NIDS = {"swa": ["127.0.0.2@tcp", "127.0.0.4@tcp"], "swb": ["127.0.0.3@tcp", "127.0.0.5@tcp"]}


def peers(node):
    """State, multi-rail and NIDs of the first peer only: a removed NID may reappear as a second peer."""
    shown = node.show("peer", "show", "-v", "4").get("peer") or []
    return [(peer["peer state"], peer["Multi-Rail"], [ni["nid"] for ni in peer["peer ni"]]) for peer in shown[:1]]


def becomes(what, node, want):
    until = time.monotonic() + 5
    while peers(node) != want and time.monotonic() < until:
        time.sleep(0.05)
    equal(what, peers(node), want)


def stays(what, node, want):
    time.sleep(0.3)
    equal(what, peers(node), want)


def pings(node, nid):
    """A ping reports both NIDs of the other node, whatever this node knows of it."""
    equal("ping %s" % nid, len(node.show("ping", nid)["ping"][0]["peer_ni"]), 2)


def switch(node, value):
    equal("set discovery %d" % value, node.ctl("set", "discovery", str(value)), (0, "", ""))
    equal("shown", node.show("global", "show")["global"]["discovery"], value)


def begin():
    """Starts two nodes with two interfaces each, which know each other."""
    a, b = (configured(name, *nids) for name, nids in NIDS.items())
    equal("discovered", a.show("discover", NIDS["swb"][0])["discover"][0]["Multi-Rail"], True)
    whole = {a: (KNOWN, True, NIDS["swb"]), b: (KNOWN, True, NIDS["swa"])}
    for node, peer in whole.items():
        becomes("known", node, [peer])
    return a, b, whole


def end(*nodes):
    for node in nodes:
        node.stop()


def test_discovery_switched():
    """A node notifies its peer, which keeps only one NID of the node until discovery is on again."""
    a, b, whole = begin()
    for node, other in ((a, b), (b, a)):
        nids = whole[other][2]
        switch(node, 0)
        becomes("the other is told", other, [(OFF, False, nids[:1])])
        stays("here all is as it was", node, [whole[node]])
        pings(node, whole[node][2][0])
        pings(other, nids[0])
        shown = other.show("discover", nids[0])["discover"][0]
        equal("discovered: one NID", (shown["Multi-Rail"], [ni["nid"] for ni in shown["peer_ni"]]), (False, nids[:1]))
        equal("off twice", node.ctl("set", "discovery", "0"), (0, "", ""))
        stays("that is no news", other, [(OFF, False, nids[:1])])
        switch(node, 1)
        becomes("the other is told again", other, [whole[other]])
        becomes("and here all is known", node, [whole[node]])
    end(a, b)


def test_discovery_off_first():
    """A node with discovery off pings and learns nothing. Once it is on, the node learns."""
    a, b = (configured(name, *nids) for name, nids in NIDS.items())
    for node in (a, b):
        switch(node, 0)
    a.ok("discover", NIDS["swb"][0])
    becomes("one NID", a, [(OFF, False, NIDS["swb"][:1])])
    pings(a, NIDS["swb"][0])
    switch(b, 1)
    time.sleep(0.3)
    a.ok("discover", NIDS["swb"][0])
    becomes("one NID, as it is off here", a, [(OFF, False, NIDS["swb"][:1])])
    switch(a, 1)
    becomes("all", a, [(KNOWN, True, NIDS["swb"])])
    becomes("there, too", b, [(KNOWN, True, NIDS["swa"])])
    end(a, b)


def test_discovery_off_at_both():
    """If discovery is off at both nodes, they keep the known NIDs. When it is on again, both learn, in either order."""
    a, b, whole = begin()
    for node in (a, b):
        node.ok("set", "push_delay", "0.5")
        switch(node, 0)
    for node in (a, b):
        becomes("what the other says is not learned", node, [(FROZEN, True, whole[node][2])])
        pings(node, whole[node][2][0])
    for node in (a, b):
        switch(node, 1)
    for node in (a, b):
        becomes("known again", node, [whole[node]])
    end(a, b)


def test_discovery_on_late():
    """If discovery is off at both nodes at first, and then on, they discover each other without a command."""
    a, b = (configured(name, *nids) for name, nids in NIDS.items())
    for node in (a, b):
        switch(node, 0)
    a.ok("discover", NIDS["swb"][0])
    becomes("one NID", a, [(OFF, False, NIDS["swb"][:1])])
    for node in (a, b):
        switch(node, 1)
    becomes("all", a, [(KNOWN, True, NIDS["swb"])])
    becomes("there, too", b, [(KNOWN, True, NIDS["swa"])])
    end(a, b)


def test_discover_while_off():
    """Bit 1 of the peer state: a reply while discovery is off at this node sets this bit, and changes nothing else."""
    a, b, whole = begin()
    switch(a, 0)
    becomes("told", b, [(OFF, False, NIDS["swa"][:1])])
    stays("not asked", a, [whole[a]])
    a.ok("discover", NIDS["swb"][0])
    becomes("asked", a, [(FROZEN, True, NIDS["swb"])])
    switch(a, 1)
    becomes("on again", a, [whole[a]])
    end(a, b)
