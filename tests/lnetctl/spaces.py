# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The cases of tests/lnetctl/run that need interfaces: two namespaces with two rails, as root."""

import json
import os
import shutil
import subprocess
import time

from nodes import Node, captured, check, equal, keys, skip


def run(text):
    return subprocess.run(text.split(), capture_output=True).returncode


def in_namespaces(what, body):
    """Makes two namespaces with two rails, and calls @body with their names."""
    if os.getuid() or not shutil.which("ip"):
        return skip(what, "needs root and ip")
    spaces = ["ctl%d.%d" % (i, os.getpid()) for i in range(2)]
    if run("ip netns add " + spaces[0]):
        return skip(what, "no network namespaces here")
    try:
        run("ip netns add " + spaces[1])
        for rail in range(2):
            run("ip link add eth%d netns %s type veth peer name eth%d netns %s" % (rail, spaces[0], rail, spaces[1]))
        for i, space in enumerate(spaces):
            run("ip -n %s link set lo up" % space)
            for rail in range(2):
                run("ip -n %s addr add 10.77.%d.%d/24 dev eth%d" % (space, rail, i + 2, rail))
                run("ip -n %s link set eth%d up" % (space, rail))
        body(spaces)
    finally:
        for space in spaces:
            run("ip netns del " + space)


def test_interfaces():
    """Interfaces by name, two nodes in two namespaces: needs root."""
    in_namespaces("interfaces by name", interfaces)


def test_link():
    """lnd-010, stt-020, stt-025: link down and up are detected and counted; tests/netns/links measures the time."""
    in_namespaces("links", links)


def ni_of(node, level="0"):
    return json.loads(node.ok("--json", "net", "show", "--net", "tcp", "-v", level))["net"][0]["local NI(s)"][0]


def seen_after(node, space, status):
    """Sets the link, and returns the milliseconds until the node shows it. A damped interface counts as up."""
    run("ip -n %s link set eth0 %s" % (space, status))
    start = time.monotonic()
    while (ni_of(node)["status"] == "down") != (status == "down") and time.monotonic() - start < 5:
        pass
    return (time.monotonic() - start) * 1000


def links(spaces):
    # The kernel reports link changes of a veth pair at once if the indexes of its ends differ, else within a second.
    for what, number in (("numbers differ", 4711), ("numbers equal", 4712)):
        run("ip -n %s link del eth0" % spaces[0])
        run("ip link add eth0 index %d netns %s type veth peer name eth0 index 4712 netns %s" % (number, *spaces))
        run("ip -n %s addr add 10.77.0.2/24 dev eth0" % spaces[0])
        for space in spaces:
            run("ip -n %s link set eth0 up" % space)
        flap(what, spaces)


def flap(what, spaces):
    node = Node("link", netns=spaces[0]).start()
    node.ok("lnet", "configure")
    node.ok("net", "add", "--net", "tcp", "--if", "eth0")
    for i, end in enumerate(("this end", "the far end")):
        took = {status: [] for status in ("down", "up")}
        for _ in range(5):
            for status in took:
                took[status].append(seen_after(node, spaces[i], status))
        for status, times in took.items():
            check("%s, %s: %s is seen within 1 s" % (what, end, status), max(times) < 1000, times)
    more = ni_of(node, "5")["more"]
    equal("events", (more["down_events"], more["up_events"]), (10, 10))
    check("it flapped, and is held back", more["flaps"] == 9 and more["weight"] == 1000, more)
    node.stop()


def interfaces(spaces):
    nodes = [Node("if%d" % i, netns=space).start() for i, space in enumerate(spaces)]
    for node in nodes:
        node.ok("lnet", "configure")
        node.ok("net", "add", "--net", "tcp", "--if", "eth0,eth1", "--skip-mr-route-setup")
    nets = captured("06-net-show-v0").split("-     net type: tcp1")
    equal("net show as stock's", nodes[0].ok("net", "show"), nets[0])
    nodes[0].ok("net", "add", "--net", "tcp1", "--if", "eth0")
    equal("with a second net on an interface", nodes[0].ok("net", "show"), captured("06-net-show-v0"))
    equal("with a filter", nodes[0].ok("net", "show", "--net", "tcp1"), captured("10-net-show-net-filter"))
    equal("a ping of oneself", nodes[0].ok("ping", "10.77.0.2@tcp").replace("true", "false"),
          captured("25-ping-self"))
    nodes[0].ok("net", "del", "--net", "tcp1")
    check("a ping over a wire", "10.77.1.3@tcp" in nodes[0].ok("ping", "10.77.1.3@tcp"))
    rc, out, _ = nodes[0].ctl("ping", "--timeout", "1", "10.77.0.99@tcp")
    check("a ping of nobody", rc == 255 and keys(out) == keys(captured("26-ping-fail")), out)
    nodes[0].ok("net", "del", "--net", "tcp", "--if", "eth1")
    nis = nodes[0].show("net", "show")["net"]
    equal("one interface left", [n["nid"] for n in nis[1]["local NI(s)"]] + [len(nis)], ["10.77.0.2@tcp", 2])
    nodes[0].ok("import", stdin="net:\n- net type: tcp3\n  local NI(s):\n  - interfaces:\n      0: eth1\n"
                "    tunables:\n      peer_credits: 12\n")
    equal("import as stock's", keys(nodes[0].ok("net", "show", "--net", "tcp3", "-v", "1")),
          keys(captured("48-import-show")))
    equal("clean stops", [node.kill(15) for node in nodes], [0, 0])


def test_reasons():
    """C5: `reason' names the cause for each interface whose status is down."""
    in_namespaces("reasons", reasons)


def reasons(spaces):
    node = Node("reasons", netns=spaces[0]).start()
    node.ok("lnet", "configure")
    node.ok("set", "flap_hold", "0")
    node.ok("net", "add", "--net", "tcp", "--if", "eth0,eth1")
    node.ctl("import", stdin="net:\n- net type: tcp2\n  local NI(s):\n  - interfaces: { 0: late0 }\n")
    shown = lambda net: json.loads(node.ok("--json", "net", "show", "--net", net))["net"][0]["local NI(s)"]

    def becomes(at, reason):
        end = time.monotonic() + 10
        while shown("tcp")[at].get("reason") != reason and time.monotonic() < end:
            time.sleep(0.1)
        equal("status and reason", (shown("tcp")[at]["status"], shown("tcp")[at].get("reason")),
              ("down" if reason else "up", reason))
    equal("not started", shown("tcp2")[0]["reason"], "not started ('late0', interface not found)")
    node.ok("net", "set", "--nid", "10.77.0.2@tcp", "--health", "0")
    becomes(0, "health 0")
    node.ok("net", "set", "--nid", "10.77.0.2@tcp", "--health", "1000")
    becomes(0, None)
    node.ok("net", "set", "--nid", "10.77.0.2@tcp", "--link", "down")
    becomes(0, "set down by an operator (net set --link)")
    node.ok("net", "set", "--nid", "10.77.0.2@tcp", "--link", "up")
    run("ip -n %s link set eth0 down" % spaces[1])
    becomes(0, "no carrier")
    run("ip -n %s link set eth0 up" % spaces[1])
    becomes(0, None)
    run("ip -n %s link set eth0 down" % spaces[0])
    becomes(0, "set down by an operator (ip link)")
    run("ip -n %s link set eth0 up" % spaces[0])
    becomes(0, None)
    run("ip -n %s addr flush dev eth0" % spaces[0])
    becomes(0, "no address")
    run("ip -n %s addr add 10.77.0.2/24 dev eth0" % spaces[0])
    becomes(0, None)
    run("ip -n %s link del eth1" % spaces[0])
    becomes(1, "interface gone")
    node.stop()
