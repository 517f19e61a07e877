# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The cases of tests/lnetctl/run with fault rules of operators, between two live nodes over TCP."""

import json
import time

from __main__ import check, configured, equal

A, B = "127.0.0.2@tcp", "127.0.0.3@tcp"


def stat(node, name):
    return json.loads(node.ok("--json", "stats", "show"))["statistics"][name]


def ping(node, timeout="0.3"):
    """Pings node B. Returns the exit status and the duration."""
    start = time.monotonic()
    rc = node.ctl("ping", "--timeout", timeout, B)[0]
    return rc, time.monotonic() - start


def fails(node, what, counter, *rule):
    """With the rule, a ping fails and increases @counter. Without the rule, pings succeed."""
    before = stat(node, counter)
    node.ok("fault", "drop", "add", "--source", "*", "--dest", "*@tcp", *rule)
    rc, took = ping(node)
    check("%s: the ping fails" % what, rc == 255, rc)
    check("%s: not after its time" % what, took < 0.3 * 1.05 + 0.2, took)
    check("%s: counted in %s" % (what, counter), stat(node, counter) > before, stat(node, counter))
    node.ok("fault", "drop", "del", "--all")
    equal("%s: the next ping" % what, ping(node, "5")[0], 0)


def test_faults():
    """tst-005, dbg-005/015/020/035/040, cfg-030, lnt-100: fault rules of operators between two live nodes."""
    node, other = configured("fault-a", A), configured("fault-b", B)
    node.ok("set", "retry_count", "0")
    equal("a ping", ping(node, "5")[0], 0)
    fails(node, "a lost REPLY", "fault_drops", "--rate", "1", "--message", "REPLY")
    fails(node, "all messages are lost", "fault_drops", "--drop_all")
    for outcome, when in (("local_timeout", "before"), ("network_timeout", "posted"), ("remote_timeout", "completed"),
                          ("remote_dropped", "before"), ("local_error", "posted")):
        fails(node, outcome, outcome + "_count", "--rate", "1", "--message", "GET", "--health_error", outcome,
              "--when", when)
    node.ok("fault", "delay", "add", "--source", "*", "--dest", "*@tcp", "--rate", "1", "--message", "GET",
            "--latency", "300ms")
    rc, took = ping(node, "5")
    check("a late GET", rc == 0 and took >= 0.3, (rc, took))
    node.ok("fault", "delay", "del", "--all")
    node.stop()
    other.stop()


def test_hooks():
    """tst-005, dbg-025/030: an interface whose link an operator sets down is down, and can be set up again."""
    node, other = configured("hook-a", A), configured("hook-b", B)
    equal("a ping", ping(node, "5")[0], 0)
    node.ok("net", "set", "--nid", A, "--link", "down")
    show = json.loads(node.ok("--json", "net", "show", "-v", "5"))["net"][1]["local NI(s)"][0]
    equal("down", (show["status"], show["more"]["down_events"]), ("down", 1))
    node.ok("net", "set", "--nid", A, "--link", "up")
    equal("a ping again", ping(node, "5")[0], 0)
    node.stop()
    other.stop()
