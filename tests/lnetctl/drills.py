# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The cases of tests/lnetctl/run with drills: a fault rule cuts a rail over TCP while requests are sent."""

import json
import os
import signal
import subprocess
import time

from __main__ import check, configured, equal
from nodes import BIN, until

RAILS = ["127.0.0.2@tcp", "127.0.1.2@tcp1"], ["127.0.0.3@tcp", "127.0.1.3@tcp1"]
BAD = [
    ([], "missing mandatory parameters: 'peer'"),
    (["--peer", "no"], "no"),
    (["--peer", RAILS[1][0], "--count", "0"], "--count must be 1 to 1000, not 0"),
    (["--peer", RAILS[1][0], "--rate", "x"], "--rate must be 1 to 1000, not 'x'"),
    (["--peer", RAILS[1][0], "--duration", "50ms"], "--duration must be 100ms to 10m, not '50ms'"),
    (["--peer", RAILS[1][0], "--rail", "10.9.9.9@tcp"], "--rail must be an interface of this node"),
    (["--peer", "127.0.0.9@tcp"], ""),
]


def pair(name):
    """Two nodes with two rails, each configured with both NIDs of the other."""
    nodes = [configured("%s-%d" % (name, nr), *nids) for nr, nids in enumerate(RAILS)]
    for node, nids in zip(nodes, reversed(RAILS)):
        node.ok("peer", "add", "--prim_nid", nids[0], "--nid", nids[1])
    return nodes


def rules(node):
    return json.loads(node.ok("--json", "fault", "show")).get("faults", [])


def test_drill():
    """Requests survive the cut of a rail. The drill reports the cut with its times, and removes its rule."""
    node, other = pair("drill")
    for args, said in BAD:
        rc, out, err = node.ctl("drill", *args)
        check("drill %s is refused" % " ".join(args), rc != 0, rc)
        check("drill %s: %s" % (" ".join(args), said), said in out + err, out + err)
    for rail in RAILS[0]:
        told = json.loads(node.ok("--json", "drill", "--peer", RAILS[1][0], "--rail", rail, "--duration", "1s",
                                  "--count", "2"))["drill"]
        equal("the rail", told["rail"], rail)
        equal("nothing is lost", told["lost"], 0)
        equal("nothing is done twice", told["duplicated"], 0)
        equal("two cuts", len(told["cuts"]), 2)
        # A rail that was cut before first catches up on its missed selections.
        check("the rail had a share", 0 < told["share_before_permille"] <= 1000, told)
        check("requests were made", told["requests"] > 50, told)
        for cut in told["cuts"]:
            check("it was noticed", cut["detection_ms"] is not None and cut["detection_ms"] <= 1100, told)
            check("no request waited for the end of the cut", cut["longest_request_ms"] < 1000, told)
            check("its share came back", cut["failback_ms"] is not None, told)
        equal("no rule is left", rules(node), [])
    node.stop()
    other.stop()


def begin(node, *args):
    """Starts a drill, and waits until it has cut its rail."""
    drill = subprocess.Popen([BIN + "/lnetctl", "--node", node.name, "drill", "--peer", RAILS[1][0], *args],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    until(lambda: drill.poll() is not None or "on" in [rule["state"] for rule in rules(node)])
    equal("the rail is cut", [(rule["name"], rule["state"]) for rule in rules(node)], [("drill", "on")])
    return drill


def test_drill_killed():
    """A killed drill leaves a rule, which ends by itself. The next drill removes the rule."""
    node, other = pair("killed")
    drill = begin(node, "--duration", "2s")
    os.kill(drill.pid, signal.SIGKILL)
    drill.communicate()
    check("and comes back", until(lambda: rules(node)[0]["state"] == "over"), rules(node))
    told = json.loads(node.ok("--json", "drill", "--peer", RAILS[1][0], "--duration", "300ms"))["drill"]
    equal("the next drill", (told["lost"], len(told["cuts"]), rules(node)), (0, 1, []))
    node.stop()
    other.stop()


def test_drill_stopped():
    """A drill that is stopped by a signal restores the rail at once."""
    node, other = pair("stopped")
    for number in (signal.SIGINT, signal.SIGTERM):
        drill = begin(node, "--duration", "60s")
        drill.send_signal(number)
        out, err = drill.communicate(timeout=20)
        check("it says so", drill.returncode != 0 and not out and "stopped by a signal" in err, (out, err))
        equal("no rule is left", rules(node), [])
    node.stop()
    other.stop()


def test_drill_two():
    """The node rejects a second drill at the same time: if both rails were cut, no request could succeed."""
    node, other = pair("two")
    drill = begin(node, "--duration", "60s", "--rail", RAILS[0][0])
    for rail in RAILS[0]:
        rc, _, err = node.ctl("drill", "--peer", RAILS[1][0], "--rail", rail)
        check("a second one is refused", rc != 0 and "another drill is in progress" in err, err)
    equal("the first goes on", ([rule["state"] for rule in rules(node)], drill.poll()), (["on"], None))
    node.ok("fault", "cut", "del", "--name", "drill")
    drill.send_signal(signal.SIGINT)
    drill.communicate(timeout=20)
    drill = begin(node, "--duration", "1s", "--rail", RAILS[0][0])
    node.ok("fault", "cut", "del", "--all")
    _, err = drill.communicate(timeout=20)
    check("a rule that was taken away is noticed", drill.returncode != 0 and "the fault rule was deleted" in err, err)
    node.stop()
    other.stop()


def test_drill_node_dies():
    """If the node is killed (kill -9), the drill ends soon with a reason. The rule ends with the node."""
    node, other = pair("dies")
    drill = begin(node, "--duration", "60s")
    start = time.monotonic()
    node.kill(signal.SIGKILL)
    out, err = drill.communicate(timeout=30)
    check("it ends soon", time.monotonic() - start < 20, time.monotonic() - start)
    check("it says why", drill.returncode != 0 and not out and "no longer replies" in err, (out, err))
    node.start()
    node.ok("lnet", "configure")
    equal("no rule came back", rules(node), [])
    node.stop()
    other.stop()
