# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The cases of tests/lnetctl/run about the choice of a rail: policies, and administratively drained interfaces."""

import json

from nodes import NO_DIFFERENCE, check, configured, equal

A, A1, B, B1 = "127.0.0.2@tcp", "127.0.0.2@tcp1", "127.0.0.3@tcp", "127.0.0.3@tcp1"


def policy(node, *words):
    node.ok("udsp", "add", *words)


def interfaces(node, what):
    """Returns {NID: its item in `show -v 5'}."""
    out = {}
    for item in json.loads(node.ok("--json", what, "show", "-v", "5"))[what]:
        for one in item["local NI(s)" if what == "net" else "peer ni"]:
            out[one["nid"]] = one
    return out


def info(node, what, nid):
    shown = interfaces(node, what)[nid]["udsp info"]
    return shown["net priority"], shown["nid priority"]


def sent(node):
    shown = interfaces(node, "net")
    return shown[A]["statistics"]["send_count"], shown[A1]["statistics"]["send_count"]


def test_policy_info():
    """lnt-030: priorities and preferred NIDs as stock's tests 401 to 404 expect, also for NIDs that are added later."""
    node = configured("policy", A)
    policy(node, "--src", "tcp", "--priority", "0")
    policy(node, "--src", "127.0.0.2@tcp1", "--priority", "7")
    policy(node, "--dst", "tcp1", "--priority", "5")
    policy(node, "--dst", "10.7.0.[1-9]@tcp", "--priority", "9")
    policy(node, "--src", "127.0.0.*@tcp1", "--dst", "10.7.1.2@tcp1")
    node.ok("net", "add", "--nid", A1)
    node.ok("peer", "add", "--prim_nid", "10.7.0.2@tcp", "--nid", "10.7.1.2@tcp1")
    equal("our net", info(node, "net", A), (0, -1))
    equal("our NID", info(node, "net", A1), (-1, 7))
    equal("the peer's NID", info(node, "peer", "10.7.0.2@tcp"), (-1, 9))
    equal("the peer's net", info(node, "peer", "10.7.1.2@tcp1"), (5, -1))
    equal("preferred", interfaces(node, "peer")["10.7.1.2@tcp1"]["udsp info"]["Preferred source NIDs"], {"NID-0": A1})
    check("none", "Preferred source NIDs" not in interfaces(node, "peer")["10.7.0.2@tcp"]["udsp info"])
    backup = node.ok("export", "--backup")
    node.ok("udsp", "del", "--all")
    for what, nid in (("net", A), ("net", A1), ("peer", "10.7.0.2@tcp"), ("peer", "10.7.1.2@tcp1")):
        equal("nothing of %s" % nid, info(node, what, nid), (-1, -1))
    node.ok("import", stdin=backup[backup.index("udsp:"):backup.index("fault:") if "fault:" in backup else None])
    equal("export, import, export", node.ok("export", "--backup"), backup)
    rules = node.ok("udsp", "show")
    equal("import --show", node.ok("import", "--show", stdin=rules).count("idx: "), 5)
    node.ok("import", "--del", stdin=rules)
    equal("import --del", node.ok("udsp", "show"), "")
    node.ok("apply", "-", stdin=backup)
    equal("apply", node.ok("export", "--backup"), backup)
    equal("and again there is nothing to do", node.ok("plan", "-", stdin=backup), NO_DIFFERENCE)
    node.ok("apply", "-", stdin=backup.replace("priority: 5", "priority: 6"))
    equal("another priority", info(node, "peer", "10.7.1.2@tcp1"), (6, -1))
    before = node.ok("export", "--backup")
    bad = rules + "    - idx: 5\n      src: tcp9\n      action:\n          priority: -3\n"
    rc, _, err = node.ctl("import", stdin=bad.replace("tcp", "tcp8"))
    check("all or nothing", rc == 234 and "it must be 0 to 2147483647" in err and "line " in err, (rc, err))
    equal("nothing", node.ok("export", "--backup"), before)
    node.stop()


def test_policy_choice():
    """lnt-030: pings use the net that a policy prefers. When the policy changes, they use the other net."""
    node, other = configured("policy-a", A, A1), configured("policy-b", B, B1)
    node.ok("peer", "add", "--prim_nid", B, "--nid", B1)
    for first, rail in (("tcp", 0), ("tcp1", 1), ("tcp", 0)):
        node.ok("udsp", "del", "--all")
        policy(node, "--src", first, "--priority", "0")
        before = sent(node)
        for _ in range(5):
            node.ok("ping", "--timeout", "5", B)
        now = sent(node)
        moved = (now[0] - before[0], now[1] - before[1])
        check("all go by %s" % first, moved[rail] >= 5 and moved[1 - rail] == 0, moved)
    node.stop()
    other.stop()


def status(node, nid):
    return interfaces(node, "net")[nid]["status"]


def moved(node, other):
    """Sends 5 pings, and returns the number of messages sent on each rail."""
    before = sent(node)
    for _ in range(5):
        node.ok("ping", "--timeout", "5", other)
    return tuple(now - then for now, then in zip(sent(node), before))


def test_drain():
    """A drained rail is not used while there is another. `net show' reports it. After undrain it is used again."""
    node, other = configured("drain-a", A, A1), configured("drain-b", B, B1)
    node.ok("peer", "add", "--prim_nid", B, "--nid", B1)
    both = moved(node, B)
    check("both rails", both[0] > 0 and both[1] > 0, both)
    for out, left in ((A, 1), (A1, 0)):
        node.ok("drain", out)
        node.ok("drain", out)
        equal("%s is out" % out, status(node, out), "drained")
        now = moved(node, B)
        check("all go by the other", now[left] >= 5 and now[1 - left] == 0, now)
        node.ok("undrain", out)
        equal("%s is back" % out, status(node, out), "up")
    both = moved(node, B)
    check("both rails again", both[0] > 0 and both[1] > 0, both)
    rc, _, err = node.ctl("drain", A, A1)
    check("the last one stays in use", rc == 0 and "no other interface of this node is up" in err, (rc, err))
    now = moved(node, B)
    check("what can go no other way goes", now[0] + now[1] >= 5, now)
    node.ok("undrain", A, A1)
    for bad, rc in (("127.0.0.77@tcp", 2), ("bogus", 2)):
        got = node.ctl("drain", bad)
        check("drain %s" % bad, got[0] == rc and got[2], got)
    node.stop()
    other.stop()


def test_explain():
    """explain reports the choice of a policy, and pings use the explained path. All candidates have all ranks."""
    node, other = configured("explain-a", A, A1), configured("explain-b", B, B1)
    node.ok("peer", "add", "--prim_nid", B, "--nid", B1)
    node.ok("ping", "--timeout", "5", B)
    for first, source, nid in (("tcp", A, B), ("tcp1", A1, B1)):
        node.ok("udsp", "del", "--all")
        policy(node, "--src", first, "--priority", "0")
        one = json.loads(node.ok("--json", "explain", B))["explain"][0]
        equal("the path", [one[key] for key in ("primary nid", "source", "nid", "decided by")],
              [B, source, nid, "priority"])
        equal("candidates", len(one["candidates"]), 2)
        equal("one is chosen", [c["source"] for c in one["candidates"] if c["chosen"]], [source])
        equal("nobody ails", [[c[k] for k in ("path health", "source health", "nid health", "attributed to")]
                              for c in one["candidates"]], 2 * [[1000, 1000, 1000, "nobody"]])
        best = max(one["candidates"], key=lambda c: c["ranks"]["priority"])
        equal("by the rank", best["source"], source)
        check("times", one["timeline"]["transaction_timeout_us"] >= one["timeline"]["attempt_timeout_us"] > 0, one)
        now = moved(node, B)
        check("so it is sent", now[0 if source == A else 1] >= 5, now)
    node.ok("net", "set", "--nid", A1, "--health", "0")
    explained = json.loads(node.ok("--json", "explain", B))["explain"][0]
    blamed = {c["source"]: c["attributed to"] for c in explained["candidates"]}
    check("who is blamed", blamed[A] == "nobody" and blamed[A1] in ("source", "nobody"), blamed)
    check("as YAML", node.ok("explain", B).startswith("explain:\n-     primary nid: " + B))
    for words, rc in (([], 2), (["bogus"], 234), (["10.9.9.9@tcp"], 234), ([A, B], 2)):
        equal("explain %s" % words, node.ctl("explain", *words)[0], rc)
    node.stop()
    other.stop()
