# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The cases of tests/lnetctl/run with drills: a rail over TCP is cut by rule while requests are made."""

import json
import os
import signal
import subprocess
import time

from __main__ import check, configured, equal
from nodes import BIN

RAILS = ["127.0.0.2@tcp", "127.0.1.2@tcp1"], ["127.0.0.3@tcp", "127.0.1.3@tcp1"]
BAD = [
    ([], "missing mandatory parameters: 'peer'"),
    (["--peer", "no"], "no"),
    (["--peer", RAILS[1][0], "--count", "0"], "'0' must be a number from 1 to 1000"),
    (["--peer", RAILS[1][0], "--rate", "x"], "'x' must be a number from 1 to 1000"),
    (["--peer", RAILS[1][0], "--duration", "50ms"], "'50ms' must be a time from 100ms to 600s"),
    (["--peer", RAILS[1][0], "--rail", "10.9.9.9@tcp"], "no request to %s goes over 10.9.9.9@tcp" % RAILS[1][0]),
    (["--peer", "127.0.0.9@tcp"], ""),
]


def pair(name):
    """Two nodes with two rails that know each other's."""
    nodes = [configured("%s-%d" % (name, nr), *nids) for nr, nids in enumerate(RAILS)]
    for node, nids in zip(nodes, reversed(RAILS)):
        node.ok("peer", "add", "--prim_nid", nids[0], "--nid", nids[1])
    return nodes


def rules(node):
    return json.loads(node.ok("--json", "fault", "show")).get("faults", [])


def test_drill():
    """Requests survive the cut of a rail, which is told with its times; the rule is gone then."""
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
        # one that was cut before catches up on its turns first
        check("the rail had a share", 0 < told["share_before_permille"] <= 1000, told)
        check("requests were made", told["requests"] > 50, told)
        for cut in told["cuts"]:
            check("it was noticed", cut["detection_ms"] is not None and cut["detection_ms"] <= 1100, told)
            check("no request waited for the end of the cut", cut["longest_request_ms"] < 1000, told)
            check("its share came back", cut["failback_ms"] is not None, told)
        equal("no rule is left", rules(node), [])
    node.stop()
    other.stop()


def test_drill_killed():
    """A drill that is killed leaves a rule that ends by itself."""
    node, other = pair("killed")
    drill = subprocess.Popen([BIN + "/lnetctl", "--node", node.name, "drill", "--peer", RAILS[1][0], "--duration",
                              "3s"], stdout=subprocess.DEVNULL)
    end = time.monotonic() + 20
    while not rules(node) and time.monotonic() < end:
        time.sleep(0.05)
    os.kill(drill.pid, signal.SIGKILL)
    drill.wait()
    equal("the rail is cut", [rule["state"] for rule in rules(node)], ["on"])
    end = time.monotonic() + 20
    while rules(node)[0]["state"] != "over" and time.monotonic() < end:
        time.sleep(0.1)
    equal("and comes back", rules(node)[0]["state"], "over")
    node.stop()
    other.stop()
