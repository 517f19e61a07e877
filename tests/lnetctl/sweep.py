# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Runs each command of lnetctl's list with each kind of usage error. Each run must fail and change nothing. Its message
must name the wrong option or argument, the received value, and the accepted values."""

import json
import os
import re
import subprocess

from nodes import BIN, check, configured, equal

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
        "span": "2s", "level": "1", "wait": "2s", "match": "*@tcp9"}
# Values that the library or the node cannot read, by the kind of the option or argument.
UNREADABLE = {
    "nid": ("nonsense", "10.0.0.300@tcp", "10.0.0.1@nosuch"),
    "nids": ("nonsense", "10.0.0.300@tcp", "10.0.0.1@nosuch", "10.9.9.[3-1]@tcp", "10.9.9.9@tcp,"),
    "net": ("nonsense", "tcp99999999"),
    "match": ("nonsense", "*@nosuch"),
    "file": ("/nonexistent/file",),
}
# The same for options of the kind text, by their names.
UNREADABLE_TEXT = {
    "if": ("@?/", "eth0["), "cpt": ("x", "[3-1]", "[999]"), "ip2net": ("@?", "nosuch(lo)"), "size": ("x", "-1"),
    "src": ("@?", "nosuch"), "dst": ("@?",), "rte": ("@?",), "name": ("a/b", 32 * "n"), "message": ("HELLO",),
    "portal": ("64", "x"), "outcome": ("nosuch",), "traffic-class": (128 * "x",)}
ANY_TEXT = {"rule_type": "accepted and not used, as stock"}
# Further options that make a command complete, so that only the option under test is wrong. An option that excludes the
# one under test is left out.
COMPLETE = {
    "net add": {"net": "tcp9", "if": "lo"}, "net del": {"net": "tcp"},
    "net set": {"nid": "127.0.0.2@tcp", "health": "7"},
    "net set net": {"lnd-timeout": "5"},
    "peer add": {"prim_nid": "10.9.9.9@tcp"}, "peer del": {"prim_nid": "10.9.0.1@tcp"},
    "peer set": {"nid": "10.9.0.1@tcp", "health": "7"},
    "route add": {"net": "tcp8", "gateway": "127.0.0.9@tcp"}, "route del": {"net": "tcp7", "gateway": "127.0.0.9@tcp"},
    "udsp add": {"dst": "tcp"}, "drill": {"peer": "127.0.0.2@tcp"}, "debug record start": {},
    "fault drop add": {"source": "*", "dest": "*", "rate": "9"},
    "fault delay add": {"source": "*", "dest": "*", "rate": "9", "latency": "1"},
    "fault drop del": {"source": "*", "dest": "*"}, "fault delay del": {"source": "*", "dest": "*"},
    "fault reorder add": {"source": "*", "delay": "5ms"}, "fault partition add": {"left": "*", "right": "*"},
    "fault slow add": {"source": "*", "bandwidth": "1000"}, "fault flap add": {"source": "*", "period": "1s"},
    "fault degrade add": {"source": "*", "over": "1s", "loss": "1"},
    "fault outcome add": {"source": "*", "outcome": "local_error"},
}
FURTHER_WORDS = {"ping": ["127.0.0.2@tcp"]}
# Texts of stock's tool, which scripts compare. They do not name the received value.
STOCK_WORDS = {"discovery": ("Valid values are: ",), "drop_asym_route": ("Valid values are: ",),
               "response_tracking": ("Valid values are: ",), "recovery_limit": ("Must be greater than or equal to 0",),
               "max_recovery_ping_interval": ("must be strictly positive",),
               "tiny_buffers": ("tiny, small and large must be >= 0",),
               "small_buffers": ("tiny, small and large must be >= 0",),
               "large_buffers": ("tiny, small and large must be >= 0",)}
# Parts of messages that list the existing objects, or name a command that does, instead of an accepted form.
LISTED = ("lists them)", " here)", "is not a parameter of '", "CPTs of this node are ", " show')")


def commands(node):
    return json.loads(node.ok("list-commands", "--json"))["commands"]


def state_of(node):
    """The output of the commands that show the node's configuration; counters and times are masked."""
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
    """Values beyond the ends of the option's range."""
    if option["value"] in ("time", "span", "wait"):
        return ["99999h"]
    if option["value"] == "level":
        return ["99999999999"]
    if option["value"] != "number":
        return []
    low, high = map(int, re.match(r"(-?\d+) to (\d+)", option["accepted"]).groups())
    return [str(low - 1), str(high + 1)]


def option_mistakes(option):
    """Yields (words, required parts of the message) for each usage error with one option."""
    name, accepted = "--" + option["name"], option["accepted"]
    if option["value"] == "flag":
        yield [name + "=1"], (name, "not '%s=1'" % name, "takes no value")
        yield [name, name], (name, "given twice", "once")
        return
    if option["value"] not in ("level", "wait"):
        yield [name], (name, accepted)
        yield [name, "--json"], (name, accepted)
    values = out_of_range(option)
    values += ["@?"] if option["value"] in ("number", "time", "span", "word", "level", "wait") else []
    for value in values:
        yield [name + "=" + value], (name, value, accepted)
    yield [name + "="], (name, "not ''", accepted)
    if not option["repeatable"]:
        good = good_value(option)
        yield [name + "=" + good] * 2, (name, "twice, as '%s' and '%s'" % (good, good), "once")


def mistakes(command):
    """Yields (words, required parts of the message) for each usage error that the tool itself detects."""
    words, name = command["name"].split(), command["name"]
    enough, takes = ["1"] * command["words_min"], ["--" + option["name"] for option in command.get("options", ())]
    more = command["words_max"] + 1
    if command["raw"]:
        yield words + ["x"] * more, ("unexpected argument 'x'", name, command["word"])
        return
    for wrong in ("--frobnicate", "-Z"):
        yield words + [wrong] + enough, ("'%s'" % wrong, name, *(takes or ["accepts no options"]))
    if more > 0:
        yield words + ["x"] * more, ("unexpected argument 'x'", name, command["word"] or "accepts no arguments")
    for option in command.get("options", ()):
        for line, said in option_mistakes(option):
            yield words + line, said


def completing(command, option):
    """Options that make the command complete, without those that exclude @option."""
    name = option["name"]
    clash = {other for row in command["clash"].split(";") if name in row.split() for other in row.split()} | {name}
    rule = {"source": "*"} if re.match(r"fault [\w-]+ add", command["name"]) else {}
    others = COMPLETE.get(command["name"] + " " + name) or COMPLETE.get(command["name"], rule)
    return ["--%s=%s" % (other, value) for other, value in others.items() if other not in clash]


def unreadable(command):
    """Yields (words, wrong value, accepted values) for values that the library or the node reads."""
    words = command["name"].split()
    for option in command.get("options", ()):
        values = UNREADABLE.get(option["value"], ())
        if option["value"] == "text" and option["name"] not in ANY_TEXT:
            values = UNREADABLE_TEXT[option["name"]]
        for value in values:
            yield (words + completing(command, option) + ["--%s=%s" % (option["name"], value)] +
                   FURTHER_WORDS.get(command["name"], []), value, option["accepted"])
    for value in UNREADABLE.get(command["word_value"], ()):
        if "export" not in words:
            yield words + [value], value, "cannot open" if command["word_value"] == "file" else "NID such as"


def names_value(said, value):
    """Does the message have the value, or its wrong part? A long value may be cut after 80 characters."""
    parts = ["'%s'" % part for part in re.split(r"[,@\[\]]|\(lo\)", value) if part]
    return value[:80] in said or any(part in said for part in parts) or re.search("is not a parameter of '", said)


def says_accepted(said, accepted):
    forms = (accepted, re.sub("^an? ", "", accepted), "net such as tcp", "nets such as tcp")
    if "NID" in accepted:
        forms += ("NID such as", "NIDs such as")
    return any(form in said for form in forms + LISTED)


def sweep_unreadable(node, command):
    count = 0
    for words, value, accepted in unreadable(command):
        rc, out, err = node.ctl(*words)
        said = err + (out if "manage:" in out else "")
        check("'%s' fails, names the value and what is accepted" % " ".join(words),
              rc and (not out or said != err) and names_value(said, value) and says_accepted(said, accepted),
              (rc, out, err))
        count += 1
    return count


def alone_fails(command):
    """Must the command fail without an argument? None: it may succeed, because it only shows, or ALONE lists it."""
    name = command["name"]
    if name in ALONE or name.split()[-1] in ("show", "list", "export") or name == "service-id":
        return None
    return True


def sweep(node, command, before):
    count = 0
    for words, said in mistakes(command):
        line = " ".join(words)
        rc, out, err = node.ctl(*words)
        check("'%s' is a usage error on standard error" % line, (rc, out) == (2, ""), (rc, out, err))
        check("'%s': the message has all parts" % line, all(part in err for part in said), (said, err))
        count += 1
    count += sweep_unreadable(node, command)
    if alone_fails(command):
        rc, out, err = node.ctl(*command["name"].split())
        named = [option["name"] for option in command.get("options", ())] + command["word"].split()
        check("'%s' alone fails and names what is missing" % command["name"],
              rc and not out and (any(name in err for name in named) or not named), (rc, out, err))
        count += 1
    after = state_of(node)
    if not check("no mistake with '%s' changed the node" % command["name"], after == before):
        print("\n".join(set(after[1].split("\n")) ^ set(before[1].split("\n"))))
    return count


def test_sweep():
    """B3, B4, B6, B7 for every command of the tool's tables, so that new commands are covered."""
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
    """With --json all errors are JSON, whether tool, library or node reports them. Values of set are also checked."""
    node = configured("sweep-json", "127.0.0.2@tcp")
    for line, rc, said in (("net add --frob", 2, "unrecognized option '--frob'"), ("net show --net tcp9", 234, "net"),
                           ("set retry_count -1", 195, "0 to 255"),
                           ("set retry_count x", 2, "must be 0 to 255, not 'x'"),
                           ("set nosuch 1", 255, "no tunable"), ("nosuch", 255, "not a valid command"),
                           ("fault drop del --all", 254, "failed to delete"),
                           ("peer show --nid 10.8.8.8@tcp", 234, "")):
        got, out, err = node.ctl("--json", *line.split())
        error = json.loads(err)["error"]
        check("%s: an error as JSON" % line, (got, out) == (rc, "") and said in error["descr"] and
              error["errno"] < 0 and error["verb"] and error["object"], (got, out, err))
    sweep_tunables(node)
    node.stop()


def sweep_tunables(node):
    before = state_of(node)
    names = [command["name"].split()[1] for command in commands(node) if command["name"].startswith("set ")]
    names += [name for name in node.show("global", "show")["global"] if name not in names and name != "lnd_timeout"]
    check("there are many tunables", len(names) > 60, len(names))
    for name in names:
        for value in ("@?", "-99", "99999999999999999999"):
            rc, out, err = node.ctl("set", name, value)
            if rc == 0 and name in ("max_interfaces", "recovery_interval"):
                continue    # as stock: max_interfaces is set to its default, and recovery_interval has no effect
            check("set %s %s fails" % (name, value), rc and err and not out, (rc, out, err))
            fixed = name in STOCK_WORDS and any(words in err for words in STOCK_WORDS[name])
            check("set %s %s: the message has name, value and what is accepted" % (name, value),
                  fixed or re.search("must be .*, not '?%s" % re.escape(value), err) and name in err or
                  "it must be " in err and "not '%s'" % value in err, err)
    check("no value changed the node", state_of(node) == before)


def test_sweep_before():
    """Options before the command: the same usage errors cause the same messages, also as JSON."""
    node = configured("before", "127.0.0.2@tcp")
    for line, said in (("--frob net show", ("unrecognized option '--frob'", "--node, --wait and --json")),
                       ("-x", ("unrecognized option '-x'", "--node, --wait and --json")),
                       ("--node", ("option '--node' requires an argument: the name of a node",)),
                       ("--node a --node b net show", ("option '--node' is given twice", "once")),
                       ("--node= net show", ("--node must be the name of a node", "not ''")),
                       ("--json=1 net show", ("option '--json' doesn't allow an argument", "takes no value, not '1'")),
                       ("--wait", ("option '--wait' requires an argument: a time from 1ms to 1 day",)),
                       ("--wait 2 --wait 3 net show", ("option '--wait' is given twice", "once")),
                       ("--wait 2d net show", ("--wait must be a time from 1ms to 1 day", "not '2d'"))):
        for json_too in ([], ["--json"]):
            done = subprocess.run([BIN + "/lnetctl", *json_too, *line.split()], capture_output=True, text=True,
                                  stdin=subprocess.DEVNULL, env=dict(os.environ, LNET_NODE=node.name), timeout=10)
            err = json.loads(done.stderr)["error"]["descr"] if json_too and done.stderr[0] == "{" else done.stderr
            check("lnetctl %s" % " ".join(json_too + line.split()), (done.returncode, done.stdout) == (2, "") and
                  all(part in err for part in said) and (err != done.stderr) == bool(json_too), done)
    node.stop()


def test_sweep_acts():
    """Commands check all arguments before they act, and their errors name what stays unchanged."""
    node = configured("acts", "127.0.0.2@tcp", "127.0.0.3@tcp")
    drained = lambda: re.findall(r"drain\w*: .*", node.ctl("net", "show", "-v", "5")[1] + node.ok("export", "--backup"))
    plain, before = drained(), state_of(node)
    for verb in ("drain", "undrain"):
        for nid, said in (("nonsense", "'nonsense' is not an interface"), ("0@lo", "loopback interface 0@lo cannot")):
            rc, out, err = node.ctl(verb, "127.0.0.2@tcp", nid)
            check("%s with %s" % (verb, nid), (rc, out) == (2, "") and said in err, (rc, err))
            equal("%s changed nothing" % verb, (drained(), state_of(node)), (plain, before))
    equal("one of two is drained", node.ctl("drain", "127.0.0.2@tcp"), (0, "", ""))
    rc, out, err = node.ctl("drain", "127.0.0.3@tcp", "--wait", "3")
    check("the last one stays in use", rc == 0 and "no other interface of this node is up" in err, (rc, err))
    node.ok("undrain", "127.0.0.2@tcp", "127.0.0.3@tcp")
    equal("--wait without a time", node.ctl("drain", "--wait", "127.0.0.2@tcp"), (0, "", ""))
    equal("-w with one", node.ctl("drain", "-w", "5s", "127.0.0.2@tcp"), (0, "", ""))
    node.ok("undrain", "127.0.0.2@tcp")
    equal("the id of a rule", json.loads(node.ok("--json", "fault", "cut", "add", "--source", "10.9.9.9@tcp")),
          {"faults": [{"id": 1, "kind": "cut"}]})
    rc, out, err = node.ctl("net", "show")
    check("net show has a note", rc == 0 and "net type: tcp" in out and "note: 1 fault rule is on this node" in err,
          err)
    node.ok("set", "routing", "on")
    check("set routing on", "enable: 3\n" in node.ok("routing", "show"), node.ok("routing", "show"))
    for word in ("off", "default"):
        node.ok("set", "routing", word)
    check("it is off, or stops", re.search(r"enable: [02]\n", node.ok("routing", "show")), node.ok("routing", "show"))
    for line, said in (("fault cut add --local_nid 10.9.9.9@tcp", "--local_nid must be an interface of this node"),
                       ("udsp add --src tcp --idx 9", "--idx must be 0 to 0, not 9"),
                       ("peer add --prim_nid 0.0.0.0@tcp", "0.0.0.0@tcp is not the address of a peer"),
                       ("drain", "Missing nid argument: drain [--wait [TIME]] NID...: end the use of interfaces"),
                       ("set hedge", "Missing value argument: set hedge VALUE"),
                       ("set retry_count", "VALUE (how many times a message is retried, 0 to 255; 0: never)"),
                       ("peer add --prim_nid 10.9.9.9@tcp --nid ::@tcp", "not the address of a peer")):
        rc, out, err = node.ctl(*line.split())
        check(line, (rc, out) == (2, "") and said in err, (rc, err))
    for nid in ("255.255.255.255@tcp", "224.0.0.1@tcp", "ff02::1@tcp"):
        rc, _, err = node.ctl("peer", "add", "--prim_nid", nid)
        check("%s is no peer" % nid, rc == 234 and nid + " cannot be a peer: it is not the NID of one host" in err, err)
        rc, _, err = node.ctl("route", "add", "--net", "tcp9", "--gateway", nid)
        check("%s is no gateway" % nid, rc == 234 and nid + " cannot be the gateway to tcp9: it is not the NID of one "
              "interface" in err, err)
    rc, _, err = node.ctl("route", "add", "--net", "tcp9", "--gateway", "0.0.0.0@tcp")
    check("0.0.0.0 is no gateway", rc == 234 and "it is not the NID of one interface" in err, err)
    equal("none is a peer", node.ok("peer", "list"), "")
    node.ok("peer", "add", "--prim_nid", "127.0.0.9@tcp")
    node.ok("net", "set", "--all", "--link", "down")
    check("explain says that nothing works",
          node.ok("explain", "127.0.0.9@tcp").startswith("usable: no, all interfaces of this node are down\n"))
    node.ok("net", "set", "--all", "--link", "up")
    check("or not", node.ok("explain", "127.0.0.9@tcp").startswith("explain:"))
    node.stop()
