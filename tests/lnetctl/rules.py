# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The cases of tests/lnetctl/run with fault rules of the new grammar: wrong input, files, and effects over TCP."""

import json
import os
import re
import subprocess
import time

from __main__ import check, configured, equal
from nodes import BIN, NO_DIFFERENCE, TMP, placed

A, B = "127.0.0.2@tcp", "127.0.0.3@tcp"

CUT_HAS = "name source dest local_nid at rate interval permille count seed from to period duty"
# (kind and options, the error message)
BAD = [
    ("cut --delay 5ms", "'delay' is not a parameter of 'cut', which has " + CUT_HAS),
    ("cut --source 1.2.3", "'source': '1.2.3' is not a valid NID, *@net or *"),
    ("cut --dest *@nonet", "'dest': '*@nonet' is not a valid NID, *@net or *"),
    ("cut --local_nid x", "'local_nid': 'x' is not a valid NID, *@net or *"),
    ("cut --at here", "--at must be any, send or receive, not 'here'"),
    ("cut --from 5", "--from must be 0 to 24h, with a unit (ns, us, ms, s, m or h), not 5"),
    ("cut --to 5y", "--to must be 1ns to 24h, with a unit (ns, us, ms, s, m or h), not '5y'"),
    ("cut --from 3s --to 2s", "'to' must be later than 'from'"),
    ("cut --period 0s", "--period must be 2ns to 24h, with a unit (ns, us, ms, s, m or h), not '0s'"),
    ("cut --duty 5", "'duty' needs 'period'"),
    ("cut --name a/b", "'name' must be up to 31 letters, digits, . - _, not 'a/b'"),
    ("duplicate --message HELLO", "'message' must be PUT, ACK, GET or REPLY, not 'HELLO'"),
    ("duplicate --portal 64", "'portal' must be a portal from 0 to 63, not '64'"),
    ("duplicate --rate 0", "--rate must be 1 to 4294967295, not 0"),
    ("duplicate --interval 2", "--interval must be 1ns to 24h, with a unit (ns, us, ms, s, m or h), not 2"),
    ("duplicate --permille 1001", "--permille must be 0 to 1000, not 1001"),
    ("duplicate --rate 2 --permille 5", "at most one of 'rate', 'interval' and 'permille' may be given"),
    ("duplicate --count -1", "--count must be 1 to 18446744073709551615, not -1"),
    ("duplicate --seed x", "--seed must be 0 to 18446744073709551615, not 'x'"),
    ("reorder", "a rule of kind 'reorder' needs 'delay'"),
    ("reorder --delay 20ms --behind 0", "--behind must be 1 to 1000, not 0"),
    ("corrupt --where else", "--where must be bit or pages, not 'else'"),
    ("partition --left *", "a rule of kind 'partition' needs 'right'"),
    ("partition --left *,*,*,*,*,*,*,*,* --right *", "'left' must be at most 8 NIDs"),
    ("partition --left * --right a", "'right': 'a' is not a valid NID, *@net or *"),
    ("slow", "a rule of kind 'slow' needs 'bandwidth'"),
    ("slow --bandwidth 1", "--bandwidth must be 1000 to 1000000000000, not 1"),
    ("slow --bandwidth 1000 --burst many", "--burst must be 0 to 1073741824, not 'many'"),
    ("flap", "a rule of kind 'flap' needs 'period'"),
    ("flap --period 2s --duty 1000", "--duty must be 1 to 999, not 1000"),
    ("degrade --over 1m", "a rule of kind 'degrade' needs 'loss' or 'delay'"),
    ("degrade --loss 1001 --over 1m", "--loss must be 0 to 1000, not 1001"),
    ("degrade --loss 5 --over x", "--over must be 1ns to 24h, with a unit (ns, us, ms, s, m or h), not 'x'"),
    ("outcome", "a rule of kind 'outcome' needs the parameter 'outcome', or 'when' posted or completed"),
    ("outcome --outcome bad", "'outcome' must be local_interrupt, local_dropped, local_aborted, local_no_route, "
     "local_error, local_timeout, remote_error, remote_dropped, remote_timeout or network_timeout, not 'bad'"),
    ("outcome --when never", "--when must be before, posted or completed, not 'never'"),
    ("ack-timeout --message PUT", "'message' is not a parameter of 'ack-timeout', which has " + CUT_HAS),
    ("reply-timeout --delay 5ms", "'delay' is not a parameter of 'reply-timeout', which has " + CUT_HAS),
    ("drop --permille x", "--permille must be 0 to 1000, not 'x'"),
    ("drop --count 1 --random", "--random is invalid with --count option: use 'lnetctl fault outcome add' instead"),
    ("delay --count 1", "missing mandatory parameters: 'latency'"),
    ("delay --latency 5ms --jitter 5", "--jitter must be 0 to 24h, with a unit (ns, us, ms, s, m or h), not 5"),
]

# Rules that would act on every message of the node.
NO_SELECTION = ["cut add", "duplicate add", "corrupt add", "ack-timeout add", "reply-timeout add",
                "slow add --bandwidth 1000",
                "outcome add --outcome local_error", "drop add --permille 5", "delay add --latency 1 --jitter 5ms"]

FILES = [
    ("faults: 5\n", "line 1: 'faults' must be a sequence"),
    ("faults:\n- 5\n", "line 2: each fault rule must be a mapping"),
    ("faults:\n- { permille: 5 }\n", "line 2: 'kind' is missing"),
    ("faults:\n- { kind: cut, source: '*' }\n- kind: drop\n  permille: much\n",
     "line 4: 'permille' must be 0 to 1000, not 'much'"),
    ("faults:\n- kind: cut\n  colour: red\n", "line 3: 'colour' is not a parameter of a fault rule"),
    ("faults:\n- kind: explode\n", "line 2: 'explode' is not a kind of fault rule"),
]


def words(text):
    """The text of an error, without the YAML around it."""
    match = re.search(r'descr:\s*(?:! )?"?(.*?)"?$', text, re.M)
    return match.group(1) if match else text


def rules(node, *args):
    return json.loads(node.ok("--json", "fault", *(args or ("show",)))).get("faults", [])


def in_order(text):
    """Sorts the words in "must be a, b or c"."""
    return re.sub(r"must be (\w+(?:, \w+)* or \w+)$",
                  lambda m: "must be " + " ".join(sorted(re.split(", | or ", m.group(1)))), text)


def selecting(line):
    """A selection for a rule that has none, because the node requires one."""
    return [] if re.search("partition|--(source|dest|local_nid|message|portal) ", line) else ["--source", "*"]


def test_rules_bad():
    """dbg-005: each invalid value of a parameter is rejected with a reason, and no rule is added."""
    node = configured("rule-bad", A)
    for line, said in BAD:
        kind, *rest = line.split()
        rc, out, err = node.ctl("fault", kind, "add", *selecting(line), *rest)
        check("'%s' is refused" % line, rc != 0, rc)
        equal("'%s'" % line, in_order(words(err + out)), in_order(said))
    os.makedirs(TMP, exist_ok=True)
    for text, said in FILES:
        path = os.path.join(TMP, "rules.yaml")
        with open(path, "w") as out:
            out.write(text)
        rc, out, err = node.ctl("fault", "import", path)
        check("%r is refused" % text, rc != 0, rc)
        check("%r: %s" % (text, said), said in placed(err), err)
    for line in NO_SELECTION:
        rc, out, err = node.ctl("fault", *line.split())
        check("'%s' selects nothing" % line, (rc, out) == (2, "") and "needs an option that selects messages" in err and
              "--source '*' selects all" in err, (rc, out, err))
    equal("no rule came", rules(node), [])
    node.stop()


def test_rules_ids():
    """B2: each addition prints the ID of its rule, in stock's form as well; exports have no IDs."""
    node = configured("rule-ids", A)
    who = ("--source", "10.1.1.1@tcp", "--dest", "*", "--rate", "3")
    equal("drop", json.loads(node.ok("--json", "fault", "drop", "add", *who)),
          {"fault": [{"id": 1, "rule_type": "drop"}]})
    equal("delay", node.ok("fault", "delay", "add", *who, "--latency", "1"),
          "fault:\n-     id: 2\n      rule_type: delay\n")
    equal("one counter", json.loads(node.ok("--json", "fault", "cut", "add", "--source", A))["faults"][0]["id"], 3)
    equal("the same rule twice", json.loads(node.ok("--json", "fault", "drop", "add", *who))["fault"][0]["id"], 4)
    shown = lambda kind: [rule["id"] for rule in json.loads(node.ok("--json", "fault", kind, "show"))["fault"]]
    equal("fault show has them", (shown("drop"), shown("delay")), ([4, 1], [2]))
    for options in ((), ("--backup",)):
        text = node.ok("export", *options)
        equal("an export is no difference", node.ok("plan", "-", stdin=text), NO_DIFFERENCE)
        check("it has no IDs", not re.search(r"(?m)^fault:\n(?:[ -].*\n)*[ -] +id:", text), text)
    rc, _, err = node.ctl("apply", "-", stdin=text + "net:\n- net type: tcp\n  local NI(s):\n  - nid: 10.9.9.9@tcp\n")
    check("an apply that fails", rc, err)
    equal("keeps the IDs", shown("drop"), [4, 1])
    for kind, which, said in (("drop", "2", "drop rule with id 2"), ("cut", "99", "cut rule with id 99")):
        rc, out, err = node.ctl("fault", kind, "del", "--id", which)
        check("%s del --id %s" % (kind, which), rc == 234 and not out and
              "%s not found ('fault %s show' lists them)" % (said, kind) in err, (rc, out, err))
    node.ok("fault", "drop", "del", "--id", "1")
    equal("one of two like it", shown("drop"), [4])
    node.stop()


def test_rules_kept():
    """dbg-005: rules are shown, exported, imported and deleted. Stock's rules stay unchanged."""
    node = configured("rule-kept", A)
    node.ok("fault", "drop", "add", "--source", "*", "--dest", B, "--rate", "1000")
    node.ok("fault", "drop", "add", "--dest", B, "--message", "PUT", "--message", "ACK", "--interval", "2",
            "--count", "3", "--name", "few")
    node.ok("fault", "delay", "add", "--source", "*", "--latency", "0.3", "--jitter", "10ms", "--seed", "5")
    node.ok("fault", "partition", "add", "--left", A + ",*@tcp1", "--right", B, "--to", "1h")
    equal("stock's rules", len(json.loads(node.ok("--json", "fault", "drop", "show"))["fault"]), 1)
    shown = rules(node)
    equal("kinds", [rule["kind"] for rule in shown], ["drop", "delay", "partition"])
    equal("a list of two options", shown[0]["message"], "ACK,PUT")
    equal("seconds", shown[0]["interval"], "2s")
    equal("tenths", shown[1]["delay"], "300ms")
    equal("a list of NIDs", shown[2]["left"], A + ",*@tcp1")
    equal("state", shown[2]["state"], "on")
    equal("of a kind", rules(node, "partition", "show"), shown[2:])
    file = os.path.join(TMP, "rules.yaml")
    with open(file, "w") as out:
        out.write(node.ok("fault", "export"))
    check("no counters", "matched" not in open(file).read(), file)
    node.ok("fault", "drop", "del", "--name", "few")
    node.ok("fault", "delay", "del", "--id", "3")
    node.ok("fault", "partition", "del", "--all")
    equal("all gone", rules(node), [])
    equal("but stock's", len(json.loads(node.ok("--json", "fault", "drop", "show"))["fault"]), 1)
    node.ok("fault", "import", file)
    again = rules(node)
    equal("the same again", [{**rule, "id": 0} for rule in again], [{**rule, "id": 0} for rule in shown])
    node.ok("fault", "drop", "del", "--all")
    equal("of both kinds", (node.ok("fault", "drop", "show"), [rule["kind"] for rule in rules(node)]),
          ("", ["delay", "partition"]))
    node.ok("fault", "delay", "del", "--all")
    check("none is left of the kind", node.ctl("fault", "delay", "del", "--all")[0] != 0)
    check("a backup has them", "faults:" in node.ok("export", "--backup"), "")
    node.ok("lnet", "unconfigure")
    node.ok("lnet", "configure")
    equal("none is left", rules(node), [])
    node.stop()


SAME = '{\n  "summary": "no difference"\n}\n'


def apply(node, text, verb="apply"):
    path = os.path.join(TMP, "wanted.yaml")
    with open(path, "w") as out:
        out.write(text)
    return node.ctl("--json", verb, path)


def test_rules_files():
    """dbg-005: a file defines the rules. plan and a file with an error change nothing; apply makes the rules."""
    node = configured("rule-files", A)
    node.ok("fault", "cut", "add", "--source", "10.0.0.1", "--to", "3600s", "--name", "a")
    node.ok("fault", "drop", "add", "--source", "*", "--rate", "5", "--count", "7")
    node.ok("fault", "partition", "add", "--left", "10.0.0.1,*@tcp1", "--right", "*", "--permille", "0")
    for options in ((), ("--backup",)):
        backup = node.ok("export", *options)
        equal("an export is no difference", (apply(node, backup, "plan"), apply(node, backup)),
              ((0, SAME, ""), (0, SAME, "")))
    before = rules(node)
    equal("the same rules", [rule["id"] for rule in before], [1, 2, 3])
    head = backup.split("faults:\n")[0]
    wanted = head + "faults:\n- { kind: drop, source: '*', count: 7, rate: 5 }\n" \
                    "- { kind: flap, source: '*', period: 2s, seed: 5, interval: 1s }\n"
    rc, out, err = apply(node, wanted, "plan")
    todo = json.loads(out)
    equal("what goes", [(rule["id"], rule["kind"]) for rule in todo["del"]["faults"]], [(1, "cut"), (3, "partition")])
    equal("what comes", todo["add"],
          {"faults": [{"kind": "flap", "source": "*", "interval": "1s", "seed": 5, "period": "2s"}]})
    equal("a plan changes nothing", rules(node), before)
    for text, said in FILES:
        for verb in ("plan", "apply"):
            rc, out, err = apply(node, head + text, verb)
            err = placed(err)
            line = "line %d: " % (int(re.match(r"line (\d+): ", said)[1]) + head.count("\n"))
            check("%s of %r: %s" % (verb, text, said), rc and line in err and said.split(": ", 1)[1] in err, err)
    rc, _, err = apply(node, head + "faults:\n" + "- { kind: cut, source: '*' }\n" * 257)
    check("too many", rc and "more fault rules than allowed (256)" in err, err)
    for text in ("faults:\n- kind: cut\n", "fault:\n- rule_type: drop\n  da_rate: 3\n"):
        for how in (("plan", "-"), ("apply", "-"), ("import",), ("fault", "import")):
            rc, out, err = node.ctl(*how, stdin=head + text)
            check("%s of %r: it selects no messages" % (how, text), rc == 234 and not out and
                  "line %d: a fault rule must have a key " % (head.count("\n") + 2) in placed(err) and
                  "'*' selects all" in err, (rc, out, err))
    equal("nothing of all this came or went", rules(node), before)
    rc, _, err = node.ctl("fault", "import", stdin="faults:\n" + "- { kind: cut, source: '*' }\n" * 1000)
    check("a thousand", rc and "more fault rules than allowed (256)" in err, err)
    equal("nothing of them came", rules(node), before)
    equal("it is applied", apply(node, wanted)[::2], (0, ""))
    equal("what stays has its number", [(rule["id"], rule["kind"]) for rule in rules(node)][0], (2, "drop"))
    equal("and the other came", [rule["kind"] for rule in rules(node)], ["drop", "flap"])
    rc, _, err = node.ctl("fault", "import", "--del", stdin="faults:\n- { id: 2 }\n- { name: no }\n")
    check("one of them is not there", rc and "line 3: no matching rule" in placed(err), err)
    equal("so both stay", [rule["id"] for rule in rules(node)][0], 2)
    equal("without the section", apply(node, head)[::2], (0, ""))
    equal("none stays", rules(node), [])
    node.stop()


def ping(node, timeout="1"):
    start = time.monotonic()
    return node.ctl("ping", "--timeout", timeout, B)[0], time.monotonic() - start


def hit(node):
    return sum(rule["hit"] for rule in rules(node))


# kind and options, does a ping then fail, shortest duration of the ping in seconds
ACTS = [
    ("cut --dest " + B, True, 0),
    ("cut --source " + B, True, 0),                  # acts on replies, which this node receives
    ("cut --source " + B + " --at send", False, 0),   # this node sends no messages from B
    ("partition --left " + A + " --right *@tcp", True, 0),
    ("flap --period 1h", True, 0),
    ("reply-timeout", True, 0),
    ("ack-timeout", False, 0),
    ("outcome --outcome remote_timeout --when completed", True, 0),
    ("outcome --outcome local_error", True, 0),
    ("degrade --loss 1000 --over 1ns", True, 0),
    ("degrade --delay 300ms --over 1ns", False, 0.3),
    ("slow --bandwidth 1000", False, 0.05),
    ("reorder --delay 200ms", False, 0.2),
    ("delay --latency 250ms --count 1000", False, 0.25),
    ("duplicate", False, 0),
    ("drop --permille 1000", True, 0),
    ("drop --permille 0", False, 0),
]


def test_rules_act():
    """dbg-005/015/020/035/040, tst-005: the effect of each kind on a ping between two nodes, until its deletion."""
    node, other = configured("rule-act", A), configured("rule-far", B)
    node.ok("set", "retry_count", "0")
    equal("a ping", ping(node, "5")[0], 0)
    for line, fails, least in ACTS:
        kind, *rest = line.split()
        node.ok("fault", kind, "add", *selecting(line), *rest)
        rc, took = ping(node, "0.5" if fails else "5")
        equal("'%s': the ping %s" % (line, "fails" if fails else "succeeds"), rc, 255 if fails else 0)
        check("'%s': it takes its time" % line, took >= least, took)
        node.ok("fault", kind, "del", "--id", str(rules(node)[0]["id"]))
        equal("'%s': the next ping" % line, ping(node, "5")[0], 0)
    # A deleted rule releases the messages that it delays.
    node.ok("fault", "delay", "add", "--source", "*", "--latency", "20s", "--name", "long")
    waiting = subprocess.Popen(node.prefix() + [BIN + "/lnetctl", "--node", node.name, "ping", "--timeout", "10", B],
                               stdout=subprocess.DEVNULL)
    for _ in range(100):
        if hit(node):
            break
        time.sleep(0.05)
    node.ok("fault", "delay", "del", "--name", "long")
    equal("let go", waiting.wait(5), 0)
    node.stop()
    other.stop()
