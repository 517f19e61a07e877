# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The cases of tests/lnetctl/run about files that must not empty a node, and about printed plans."""

import json
import os
import re
import socket
import subprocess
import time

from nodes import BIN, NO_DIFFERENCE, PORT, TMP, Node, check, configured, equal

PEERS = "peer:\n" + "".join("- primary nid: 10.1.1.%d@tcp\n" % i for i in range(1, 40))


def write(name, text):
    path = os.path.join(TMP, name)
    with open(path, "w") as out:
        out.write(text)
    return path


def unchanged(node, before, what):
    equal("%s changes nothing" % what, node.ok("export", "--backup"), before)


def test_empty_files():
    """No missing, empty or truncated file removes the configuration of a node."""
    node = configured("empty", "127.0.0.2@tcp")
    node.ok("import", stdin=PEERS)
    before = node.ok("export", "--backup")
    for verb in ("apply", "plan"):
        rc, out, err = node.ctl(verb, stdin="")
        check("%s without FILE" % verb, (rc, out) == (2, "") and "Missing file argument: %s FILE" % verb in err,
              (rc, out, err))
        for text in ("", "\n", "# a comment\n", "---\n", "{}\n", "peer:\n", "peer: []\nnet: []\n", "net: ~\n"):
            for words in ((verb, "-"), (verb, write("empty.yaml", text))):
                rc, out, err = node.ctl(*words, stdin=text)
                check("%s of %r" % (" ".join(words[:1]), text),
                      (rc, out) == (2, "") and "the file has no sections; with --empty" in err, (rc, out, err))
    unchanged(node, before, "none of them")
    whole = node.ctl("export", "--backup")[1]
    lines = whole.splitlines(True)
    for nr in (2, 20, len(lines) // 2, len(lines) - 1):
        for command in (["apply", "-"], ["plan", "-"], ["import"], ["import", "--del"]):
            rc, out, err = node.ctl(*command, stdin="".join(lines[:nr]))
            check("%s of %d lines of %d" % (" ".join(command), nr, len(lines)),
                  rc == 234 and "this export is truncated" in err, (rc, out, err))
    unchanged(node, before, "nor a part of an export")
    check("an export with more behind it is whole", node.ctl("plan", "-", stdin=whole + "\n# more\n")[0] == 0)
    equal("one of stock has no such lines", node.ok("plan", "-", stdin=before), NO_DIFFERENCE)
    out = node.ok("apply", "-", "--empty", stdin="")
    check("--empty says what it deletes", "127.0.0.2@tcp" in out and "10.1.1.39@tcp" in out, out)
    equal("the summary", out.splitlines()[-1], "summary: 40 deleted, 0 changed, 0 added")
    equal("all is gone", node.show("peer", "show"), {})
    node.stop()


def test_plan_shown():
    """A plan has old values, replaced rails and a summary. --check sets the exit status. apply prints the same text."""
    node = configured("shown", "127.0.0.2@tcp", "127.0.0.3@tcp", "127.0.0.4@tcp1")
    before = node.ok("export", "--backup")
    text = before.replace("retry_count: 2", "retry_count: 5").replace("credits: 256", "credits: 64", 1) + PEERS
    path = write("shown.yaml", text)
    same = write("same.yaml", before)
    equal("no difference", node.ctl("plan", "--check", same), (0, NO_DIFFERENCE, ""))
    out = node.ok("plan", path)
    for words in ("      global:\n            retry_count: 2 -> 5\n",
                  "127.0.0.2@tcp is removed and added again: its traffic moves to 127.0.0.3@tcp (credits: 256 -> "
                  "64)", "summary: 1 deleted, 1 changed, 40 added\n"):
        check("the plan has %r" % words, words in out, out)
    equal("--check", node.ctl("plan", "--check", path)[0::2], (1, ""))
    doc = json.loads(node.ok("--json", "plan", path))
    equal("JSON", doc["set"], {"global": {"retry_count": {"old": 2, "new": 5}}})
    unchanged(node, before, "a plan")
    equal("apply prints the same", node.ok("apply", path), out)
    equal("then nothing is left", node.ctl("plan", "--check", path), (0, NO_DIFFERENCE, ""))
    one = "net:\n- net type: tcp1\n  local NI(s):\n  - { nid: 127.0.0.4@tcp1, tunables: { credits: 9 } }\n"
    check("the last one", "its traffic has no other interface" in node.ok("plan", write("one.yaml", one)))
    node.ok("net", "add", "--net", "tcp2", "--if", "lo")
    text = re.sub(r"(?s)(net type: tcp2.*?credits: )256", r"\g<1>64", node.ok("export", "--backup"))
    out = node.ok("plan", "-", stdin=text)
    check("a rail without a NID in the file", "interface lo on tcp2 is removed and added again" in out, out)
    node.stop()


UNKNOWN = [
    # file, place, unknown key, mapping that contains it
    ("net:\n- net type: tcp9\n  colour: red\n", "line 3 column 3", "colour", "net"),
    ("net:\n- net type: tcp9\n  local NI(s):\n  - nid: 127.0.0.9@tcp9\n    speed: 5\n", "line 5 column 5", "speed",
     "local NI(s)"),
    ("net:\n- net type: tcp9\n  lnd tunables: { tos: 1, map_on_demand: 1 }\n", "line 3 column 27", "map_on_demand",
     "lnd tunables"),
    ("peer:\n- primary nid: 10.1.1.1@tcp\n  Multirail: true\n", "line 3 column 3", "Multirail", "peer"),
    ("peer:\n- primary nid: 10.1.1.1@tcp\n  peer ni:\n  - nid: 10.1.1.2@tcp\n    nids: 1\n", "line 5 column 5", "nids",
     "peer ni"),
    ("route:\n- net: tcp7\n  gateway: 127.0.0.9@tcp\n  hops: 2\n", "line 4 column 3", "hops", "route"),
    ("buffers:\n  tin: 1\n", "line 2 column 3", "tin", "buffers"),
    ("routing:\n- enabel: 1\n", "line 2 column 3", "enabel", "routing"),
    ("routing:\n  enabled: 1\n", "line 2 column 3", "enabled", "routing"),
    ("numa:\n  ranges: 1\n", "line 2 column 3", "ranges", "numa"),
    ("udsp:\n- idx: 0\n  src: tcp\n  action: { prio: 1, priority: 1 }\n", "line 4 column 13", "prio", "action"),
    ("ip2nets:\n- net-spec: tcp9\n  ip_range: 1\n  interfaces: { 0: lo }\n", "line 3 column 3", "ip_range", "ip2nets"),
]


def test_unknown_keys():
    """An unknown key causes a note with its place; with --strict, and in sections that stock lacks, an error."""
    node = configured("unknown", "127.0.0.2@tcp")
    before = node.ok("export", "--backup")
    for text, place, key, group in UNKNOWN:
        path = write("unknown.yaml", text)
        note = "%s %s: Ignoring unrecognized key '%s' for '%s'\n" % (path, place, key, group)
        err = node.ctl("plan", path)[2]
        check("a note for %r" % text, err.startswith(note) and err.count("Ignoring") == 1, err)
        for words in (["import", "--strict"], ["apply", "--strict"], ["plan", "--strict"]):
            rc, _, err = node.ctl(*words, path)
            check("%s of %r" % (" ".join(words), text),
                  rc == 234 and "%s %s: unknown key '%s' in '%s'" % (path, place, key, group) in err, (rc, err))
    for text, place in (("fault:\n- { rule_type: drop, da_rate: 5, da_rat: 6 }\n", "line 2 column 34"),
                        ("faults:\n- kind: cut\n  colour: red\n", "line 3 column 3"),
                        ("global:\n  retry_count: 1\n  retry_cnt: 1\n", "line 3 column 3"),
                        ("global:\n  retry_count: 1\nnosuch:\n  a: 1\n", "line 3 column 1"),
                        ("nosuch:\n\n\n- a: 1\n", "line 1 column 1")):
        for verb in ("import", "plan"):
            rc, _, err = node.ctl(verb, write("ours.yaml", text))
            check("%s of %r" % (verb, text), rc == 234 and "ours.yaml %s: " % place in err, (rc, err))
    unchanged(node, before, "none of them")
    full = node.ctl("export")[1]
    equal("every key of a full export is known", node.ctl("plan", "--strict", "-", stdin=full)[::2], (0, ""))
    node.stop()


def test_export_replaces():
    """An export replaces its file as a whole, or leaves it unchanged. Output that cannot be written is an error."""
    node = configured("replaces", "127.0.0.2@tcp")
    whole = node.ctl("export", "--backup")[1]
    for options in ([], ["--backup"]):
        rc, out, err = node.ctl("export", *options, "/dev/full")
        check("export to /dev/full", rc == 255 and "cannot write '/dev/full'" in err, (rc, out, err))
        with open("/dev/full", "w") as full:
            run = subprocess.run([BIN + "/lnetctl", "--node", node.name, "export", *options], stdout=full,
                                 stderr=subprocess.PIPE, text=True)
        check("export > /dev/full", run.returncode == 251 and "cannot write standard output" in run.stderr, run)
    path, link = write("kept.yaml", "yesterday's\n"), os.path.join(TMP, "link.yaml")
    os.chmod(path, 0o640)
    os.symlink(path, link)
    node.ok("export", "--backup", link)
    equal("what a link leads to is replaced", (open(path).read(), os.path.islink(link)), (whole, True))
    equal("its rights stay", os.stat(path).st_mode & 0o777, 0o640)
    write("kept.yaml", "yesterday's\n")
    node.ok("lnet", "unconfigure")
    check("an export that fails", node.ctl("export", path)[0] == 3)
    equal("leaves the old file", open(path).read(), "yesterday's\n")
    limit = subprocess.run("ulimit -f 0; trap '' XFSZ; exec %s/lnetctl --node %s global show > %s" %
                           (BIN, node.name, path + ".cut"), shell=True, stderr=subprocess.PIPE, text=True)
    equal("no room", limit.returncode, 251)
    equal("no other file is left", [name for name in os.listdir(TMP) if name.startswith("kept.yaml.") and
                                    not name.endswith(".cut")], [])
    node.stop()


def test_output_programs():
    """Every program fails if its standard output cannot be written."""
    for words in (["lnetctl", "version"], ["lnetctl", "help"], ["lnetd", "--help"], ["lnetperf", "--help"],
                  ["lnetsim", "--help"], ["lnetsim", "--seed", "1"], ["lst", "help"], ["nettest", "--help"]):
        program = os.path.join(BIN, words[0])
        with open("/dev/full", "w") as full:
            run = subprocess.run([program, *words[1:]], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
        said = subprocess.run([program, *words[1:]], capture_output=True, text=True, timeout=60)
        if not said.stdout:
            continue
        check("%s > /dev/full" % " ".join(words), run.returncode not in (0, said.returncode) or said.returncode, run)
        check("%s says why" % " ".join(words), "cannot write standard output" in run.stderr, run)


def repaired(node):
    nis = [ni for net in node.show("net", "show", "-v", "5")["net"] for ni in net["local NI(s)"]]
    return [(ni["nid"], ni.get("service"), ni.get("link")) for ni in nis if "service" in ni or "link" in ni]


def test_under_repair():
    """Drained interfaces, and links that an operator set down, are exported and planned, and survive a restart."""
    node = Node("repair", "--state", os.path.join(TMP, "repair.yaml")).start()
    text = "global:\n  accept_port: %s\n  accept: all\n" % PORT
    node.ok("apply", "-", stdin=text + "net:\n- net type: tcp\n  local NI(s):\n" +
            "".join("  - nid: 127.0.0.%d@tcp\n" % i for i in (2, 3, 4)) +
            "- net type: tcp5\n  local NI(s):\n  - interfaces: { 0: late0 }\n    service: drained\n    link: down\n")
    before = node.ok("export", "--backup")
    node.ok("drain", "127.0.0.2@tcp")
    node.ok("net", "set", "--nid", "127.0.0.3@tcp", "--link", "down")
    want = [("127.0.0.2@tcp", "drained", None), ("127.0.0.3@tcp", None, "down"), ("<?>", "drained", "down")]
    equal("shown", repaired(node), want)
    saved = node.ok("export", "--backup")
    equal("in the export", (saved.count("service: drained"), saved.count("link: down")), (2, 2))
    equal("its own export is no difference", node.ok("plan", "-", stdin=saved), NO_DIFFERENCE)
    equal("a file that does not name them leaves them", node.ok("plan", "-", stdin=before), NO_DIFFERENCE)
    node.ok("apply", "-", stdin=before.replace("credits: 256", "credits: 64"))
    equal("also where interfaces are replaced", repaired(node), want)
    node.ok("apply", "-", stdin=saved)
    node.kill(9)
    node.start()
    equal("after a restart", repaired(node), want)
    for options in ([], ["--backup"]):
        full = node.ok("export", *options)
        node.ok("lnet", "unconfigure")
        node.ok("lnet", "configure")
        node.ok("import", stdin=full)
        equal("from an export", repaired(node), want)
    back = saved.replace("service: drained", "service: normal", 1).replace("link: down", "link: up", 1)
    out = node.ok("apply", "-", stdin=back)
    for words in ("service:\n            127.0.0.2@tcp: drained -> normal\n",
                  "link:\n            127.0.0.3@tcp: down -> up\n",
                  "summary: 0 deleted, 2 changed, 0 added"):
        check("apply says %r" % words, words in out, out)
    equal("they are back", repaired(node), want[2:])
    rc, _, err = node.ctl("import", stdin=saved.replace("127.0.0.", "127.0.1.") + "nosuch: 1\n")
    check("a transaction that fails", rc, err)
    equal("leaves them", repaired(node), want[2:])
    node.ok("drain", "127.0.0.4@tcp")
    bad = saved + "route:\n- net: tcp\n  gateway: 10.1.1.1@tcp66\n"
    rc, out, err = node.ctl("apply", "-", stdin=bad.replace("credits: 256", "credits: 99"))
    check("a commit that fails", rc == 234, (rc, out, err))
    equal("puts them back", repaired(node), [("127.0.0.4@tcp", "drained", None), want[2]])
    node.stop()


def test_awaited():
    """If this machine lacks an interface, the node waits for it, and a note with its place reports this."""
    node = configured("awaited")
    text = "net:\n- net type: tcp\n  local NI(s):\n  - interfaces: { 0: lo, 1: 'etho[0]' }\n"
    path = write("awaited.yaml", text)
    note = "%s line 4 column 26: there is no interface 'etho' (here: lo" % path
    for verb in ("plan", "import"):
        rc, _, err = node.ctl(verb, path)
        check("%s says so" % verb, rc == 0 and err.startswith(note) and "as soon as it exists\n" in err, (rc, err))
        equal("once: %s" % verb, err.count("there is no interface"), 1)
    equal("with its state", node.show("net", "show")["net"][1]["local NI(s)"][1]["nid"], "<?>")
    node.stop()


def primaries(node):
    return [peer["nid"] for peer in node.show("peer", "list").get("peer list", [])]


def gone(node, nid):
    """Is there no peer @nid within 10 s?"""
    end = time.monotonic() + 10
    while nid in primaries(node) and time.monotonic() < end:
        time.sleep(0.1)
    return nid not in primaries(node)


def test_dynamic_peers():
    """A peer that never replied is removed after the ping. An imported full export configures no dynamic peer."""
    other = configured("dynamic-other", "127.0.0.4@tcp")
    node = configured("dynamic", "127.0.0.2@tcp")
    node.ok("set", "accept_port", str(int(PORT)))
    node.ok("peer", "add", "--prim_nid", "10.1.1.1@tcp")
    before = node.ok("export", "--backup")
    for verb in ("ping", "discover"):
        words = [verb] + (["--timeout", "1"] if verb == "ping" else [])
        check("%s to nobody fails" % verb, node.ctl(*words, "127.0.0.77@tcp")[0] == 255)
        check("and its peer goes: %s" % verb, gone(node, "127.0.0.77@tcp"), primaries(node))
        node.ctl(*words, "127.0.0.78@tcp,127.0.0.79@tcp")
        check("two: %s" % verb, gone(node, "127.0.0.78@tcp") and gone(node, "127.0.0.79@tcp"), primaries(node))
    node.ctl("ping", "--timeout", "1", "10.1.1.1@tcp")
    time.sleep(1.5)
    check("one that is configured stays", "10.1.1.1@tcp" in primaries(node))
    node.ok("ping", "127.0.0.2@tcp")
    full = node.ok("export")
    equal("plan of the node's own export", node.ok("plan", "-", stdin=full), NO_DIFFERENCE)
    other.stop()
    node.ok("lnet", "unconfigure")
    node.ok("lnet", "configure")
    made = full.replace("peer:\n", "peer:\n-     primary nid: 10.9.9.9@tcp\n      Multi-Rail: true\n"
                        "      peer state: 1\n      peer ni:\n      -     nid: 10.9.9.9@tcp\n", 1)
    equal("plan passes over one that traffic made", "10.9.9.9" in node.ok("plan", "-", stdin=made), False)
    node.ok("import", stdin=made)
    equal("and import", node.ok("export", "--backup"), before)
    node.stop()


def test_plan_checks():
    """plan fails for each file that apply rejects, with the same message."""
    node = configured("checks", "127.0.0.2@tcp")
    before = node.ok("export", "--backup")
    for text in ("global:\n  retry_count: 999\n", "peer:\n- primary nid: junk\n",
                 "route:\n- net: tcp7\n  gateway: 127.0.0.9@tcp\n  hop: 0\n",
                 "net:\n- net type: tcp\n  local NI(s):\n  - nid: 127.0.0.5@tcp\n    tunables: { credits: 0 }\n"):
        planned = node.ctl("plan", "-", stdin=text)
        equal("plan of %r as apply" % text, planned, node.ctl("apply", "-", stdin=text))
        check("and it fails", planned[0] == 234 and "line " in planned[2], planned)
    with socket.socket() as busy:
        busy.bind(("127.0.0.6", int(PORT)))
        busy.listen()
        for nid, errno, said in (("10.255.255.1@tcp", -99, "the address is not on this machine"),
                                 ("127.0.0.6@tcp", -98, "address and port are in use")):
            text = "net:\n- net type: tcp\n  local NI(s):\n  - nid: 127.0.0.2@tcp\n  - nid: %s\n" % nid
            planned = node.ctl("plan", "-", stdin=text)
            equal("plan of %s as apply" % nid, planned, node.ctl("apply", "-", stdin=text))
            check("and it fails: %s" % nid, planned[0] == 234 and "errno: %d\n" % errno in planned[2] and
                  "cannot add interface %s: %s" % (nid, said) in planned[2], planned)
    moved = before.replace("net type: tcp", "net type: tcp3").replace("127.0.0.2@tcp", "127.0.0.2@tcp3")
    check("an address may move to another net", "1 deleted, 0 changed, 1 added" in node.ok("plan", "-", stdin=moved))
    unchanged(node, before, "none of them")
    node.stop()


def test_apply_configures():
    """apply configures an unconfigured node. If the file has an error, the node stays unconfigured."""
    node = Node("fresh").start()
    text = "global:\n  retry_count: 5\npeer:\n- primary nid: 10.1.1.1@tcp\n"
    out = node.ok("plan", "-", stdin=text)
    said = out.replace("''", "'")
    check("plan says so", "the node is not configured: 'lnetctl apply' configures it" in said and "1 added" in out, out)
    rc, out, err = node.ctl("apply", "-", stdin=text.replace("5", "999"))
    check("a file with a mistake", rc == 234 and "retry_count" in err, (rc, out, err))
    rc, out, err = node.ctl("apply", "-", stdin="")
    check("an empty one", rc == 2, (rc, out, err))
    equal("leave it as it was", node.ctl("net", "show")[0], 3)
    node.ok("apply", "-", stdin=text)
    equal("the peer is there", node.show("peer", "list")["peer list"], [{"nid": "10.1.1.1@tcp"}])
    node.stop()
