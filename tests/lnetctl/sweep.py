# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Runs each command of lnetctl's list with each kind of usage error: it fails with a reason and changes nothing."""

import json
import re

from nodes import check, configured, equal

# Commands that change the node and need neither a word nor an option.
ALONE = {"lnet configure": "succeeds if the node is configured, as stock", "lnet unconfigure": "changes the node",
         "stats reset": "changes counters", "import": "an empty file asks for nothing, as stock",
         "fault import": "an empty file asks for nothing, as import",
         "fault drop reset": "counters of no rule, as stock", "fault delay reset": "counters of no rule, as stock",
         "debug record start": "changes the node",
         "setup-mrrouting": "sets up the system", "setup-sysctl": "sets up the system"}
STATE = ("export --backup", "net show -v 1", "peer show", "route show", "routing show", "fault show", "fault drop show",
         "fault delay show", "udsp show", "global show", "debug record show")
GOOD = {"nid": "10.9.9.9@tcp", "nids": "10.9.9.9@tcp", "net": "tcp9", "text": "abc", "file": "abc", "time": "2s",
        "span": "2s", "level": "1"}


def commands(node):
    return json.loads(node.ok("list-commands", "--json"))["commands"]


def state_of(node):
    """All that the node's configuration shows; counters and times are masked."""
    rc, out, err = node.ctl(stdin="ignore_errors\n" + "".join(line + "\n" for line in STATE))
    moving = r"(?m)^.*(?:_nsec|_samples|_count|refcount|credits|interrupts|next_ping|CPT mask).*$"
    return rc, re.sub(moving, "", out), err


def rows_prepare(node):
    for line in ("net add --nid 127.0.0.2@tcp,127.0.0.3@tcp1", "peer add --prim_nid 10.9.0.1@tcp --nid 10.9.0.2@tcp",
                 "route add --net tcp7 --gateway 127.0.0.9@tcp", "udsp add --src tcp --priority 3",
                 "fault drop add --source 10.9.0.7@tcp --dest 10.9.0.8@tcp --rate 9",
                 "fault cut add --source 10.9.0.7@tcp --name kept", "set retry_count 4"):
        node.ok(*line.split())


def good_value(option):
    if option["value"] == "word":
        return re.split(r", | or ", option["accepted"])[0]
    if option["value"] == "number":
        return re.match(r"(-?\d+) to", option["accepted"]).group(1)
    return GOOD[option["value"]]


def out_of_range(option):
    """Values beyond both ends of the range, as far as there are any."""
    if option["value"] in ("time", "span"):
        return ["99999h"]
    if option["value"] == "level":
        return ["99999999999"]
    if option["value"] != "number":
        return []
    low, high = map(int, re.match(r"(-?\d+) to (\d+)", option["accepted"]).groups())
    return [str(low - 1), str(high + 1)]


def option_mistakes(option):
    """(words, what the message must name) for each mistake with one option."""
    name = "--" + option["name"]
    if option["value"] == "flag":
        yield [name + "=1"], name
        yield [name, name], name
        return
    if option["value"] != "level":
        yield [name], name
        yield [name, "--json"], name
    bad = "@?" if option["value"] in ("number", "time", "span", "word", "level") else ""
    yield [name + "=" + bad], name
    for value in out_of_range(option):
        yield [name + "=" + value], name
    if not option["repeatable"]:
        yield [name + "=" + good_value(option)] * 2, name


def mistakes(command):
    words = command["name"].split()
    enough = ["1"] * command["words_min"]
    if command["raw"]:
        yield words + ["x"] * (command["words_max"] + 1), "unexpected word 'x'"
        return
    yield words + ["--frobnicate"] + enough, "'--frobnicate'"
    yield words + ["-Z"] + enough, "'-Z'"
    if command["words_max"] >= 0:
        yield words + ["x"] * (command["words_max"] + 1), "unexpected word 'x'"
    for option in command.get("options", ()):
        for more, said in option_mistakes(option):
            yield words + more, said


def alone_fails(command):
    """Must it fail without an argument? None: it may succeed, as it shows, or is meant so."""
    name = command["name"]
    if name in ALONE or name.split()[-1] in ("show", "list", "export") or name == "service-id":
        return None
    return True


def sweep(node, command, before):
    count = 0
    for words, said in mistakes(command):
        line = " ".join(words)
        rc, out, err = node.ctl(*words)
        check("'%s' is a usage error on standard error" % line, (rc, out) == (2, "") and said in err, (rc, out, err))
        count += 1
    if alone_fails(command):
        rc, out, err = node.ctl(*command["name"].split())
        check("'%s' alone fails and says why" % command["name"], rc and not out and err, (rc, out, err))
        count += 1
    after = state_of(node)
    if not check("no mistake with '%s' changed the node" % command["name"], after == before):
        print("\n".join(set(after[1].split("\n")) ^ set(before[1].split("\n"))))
    return count


def test_sweep():
    """B3, B4, B6, B7 of every command that the tables have, so that new ones are covered."""
    node = configured("sweep")
    rows_prepare(node)
    listed = commands(node)
    check("the list has the commands", len(listed) > 60, len(listed))
    equal("exceptions are commands", set(ALONE) - {command["name"] for command in listed}, set())
    before, count = state_of(node), 0
    equal("the state is shown", before[0], 0)
    check("it has what was configured", "10.9.0.2@tcp" in before[1] and "kept" in before[1], before[1])
    for command in listed:
        count += sweep(node, command, before)
    check("there were many", count > 1000, count)
    node.stop()


def test_sweep_errors():
    """Errors are JSON with --json, whoever finds them; values of set are checked as well."""
    node = configured("sweep-json", "127.0.0.2@tcp")
    for line, rc, said in (("net add --frob", 2, "unrecognized option '--frob'"), ("net show --net tcp9", 234, "net"),
                           ("set retry_count -1", 195, "0 to 255"), ("set retry_count x", 2, "it takes"),
                           ("set nosuch 1", 255, "no tunable"), ("nosuch", 255, "not a valid command"),
                           ("fault drop del --all", 254, "failed to delete"),
                           ("peer show --nid 10.8.8.8@tcp", 234, "")):
        got, out, err = node.ctl("--json", *line.split())
        error = json.loads(err)["error"]
        check("%s: an error as JSON" % line, (got, out) == (rc, "") and said in error["descr"] and
              error["errno"] < 0 and error["verb"] and error["object"], (got, out, err))
    before = state_of(node)
    for name in [command["name"] for command in commands(node) if command["name"].startswith("set ")]:
        for value in ("@?", "-99", "99999999999999999999"):
            rc, out, err = node.ctl(*name.split(), value)
            check("%s %s fails" % (name, value), rc and err and not out, (rc, out, err))
    check("no value changed the node", state_of(node) == before)
    node.stop()


def test_sweep_acts():
    """Commands check all that they are given before they act, and name what stays as it was."""
    node = configured("acts", "127.0.0.2@tcp", "127.0.0.3@tcp")
    drained = lambda: re.findall(r"drain\w*: .*", node.ctl("net", "show", "-v", "5")[1] + node.ok("export", "--backup"))
    plain, before = drained(), state_of(node)
    for verb in ("drain", "undrain"):
        rc, out, err = node.ctl(verb, "127.0.0.2@tcp", "nonsense")
        check("%s with a bad NID" % verb, (rc, out) == (2, "") and "nonsense is not an interface" in err, (rc, err))
        equal("%s changed nothing" % verb, (drained(), state_of(node)), (plain, before))
    equal("one of two is drained", node.ctl("drain", "127.0.0.2@tcp"), (0, "", ""))
    rc, out, err = node.ctl("drain", "127.0.0.3@tcp", "--wait", "3")
    check("the last one stays in use", rc == 0 and "no other interface of this node is up" in err, (rc, err))
    node.ok("undrain", "127.0.0.2@tcp", "127.0.0.3@tcp")
    equal("the id of a rule", json.loads(node.ok("--json", "fault", "cut", "add", "--source", "10.9.9.9@tcp")),
          {"faults": [{"id": 1, "kind": "cut"}]})
    rc, out, err = node.ctl("net", "show")
    check("net show has a note", rc == 0 and "net type: tcp" in out and "note: 1 fault rule is on this node" in err,
          err)
    for line, said in (("fault cut add --local_nid 10.9.9.9@tcp", "--local_nid 10.9.9.9@tcp is not an interface"),
                       ("udsp add --src tcp --idx 9", "--idx must be 0 to 0, not 9"),
                       ("peer add --prim_nid 0.0.0.0@tcp", "0.0.0.0@tcp is not the address of a peer"),
                       ("peer add --prim_nid 10.9.9.9@tcp --nid ::@tcp", "not the address of a peer")):
        rc, out, err = node.ctl(*line.split())
        check(line, (rc, out) == (2, "") and said in err, (rc, err))
    node.ok("peer", "add", "--prim_nid", "127.0.0.9@tcp")
    node.ok("net", "set", "--all", "--link", "down")
    check("explain says that nothing works",
          node.ok("explain", "127.0.0.9@tcp").startswith("usable: no, all interfaces of this node are down\n"))
    node.ok("net", "set", "--all", "--link", "up")
    check("or not", node.ok("explain", "127.0.0.9@tcp").startswith("explain:"))
    node.stop()
