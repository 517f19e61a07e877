# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Hostile files, and files with errors: lnetctl rejects each at once with a reason, and nothing changes."""

import time

from nodes import NO_DIFFERENCE, check, configured, equal, placed

NI = "net:\n- net type: tcp\n  local NI(s):\n  - nid: 127.0.0.3@tcp\n"
NAMED = "net:\n- net type: tcp\n  local NI(s):\n  - interfaces: "
PEER = "peer:\n- primary nid: 10.9.9.9@tcp\n"
RULE = "fault:\n- { rule_type: drop, da_rate: 5, fa_dst: '*', fa_src: "
DELAY = "fault:\n- { rule_type: delay, la_rate: 1, fa_src: '*', fa_dst: '*', "

ROWS = [
    # not YAML, or larger than any configuration
    (bytes(range(256)) * 10, "line 1: control characters are not allowed"),
    (b"\0" * 1000, "line 1: control characters are not allowed"),
    (b"peer:\n- primary nid: \xff\xfe\n", "invalid leading UTF-8 octet"),
    ("peer: " + "[" * 100000, "line 1: mappings and lists are nested too deeply"),
    ("".join(" " * i + "a:\n" for i in range(200)), "line 18: mappings and lists are nested too deeply"),
    ("peer: &a [*a]\n", "line 1: aliases are not supported"),
    ("peer: &a\n- primary nid: 10.9.9.9@tcp\nnet: *a\n", "line 3: aliases are not supported"),
    ("peer: !!python/object:os.system\n- primary nid: 10.9.9.9@tcp\n", "line 1: tags are not supported"),
    ("global:\n  retry_count: !!str 5\n", "line 2: tags are not supported"),
    (PEER + "---\n" + PEER, "line 3: the file must have only one YAML document"),
    (PEER + PEER, "line 3: the key 'peer' occurs twice"),
    (PEER + "  primary nid: 10.9.9.7@tcp\n", "line 3: the key 'primary nid' occurs twice"),
    ("[a]: 5\n", "line 1: a key must be a plain text"),
    ("- a\n", "line 1: the file must be a mapping"),
    ("".join("k%d: 1\n" % i for i in range(60000)), "line 1: more than 4096 keys in one mapping"),
    ("global:\n" + "".join("  k%d: 1\n" % i for i in range(60000)), "line 2: more than 4096 keys in one mapping"),
    (b"peer:\n" + b"- primary nid: 10.9.9.9@tcp\n" * 4000000, "longer than 64 MiB"),
    (b"peer:\n- primary nid: " + b"x" * 20000000 + b"\n", "line 2: the request is longer than 64 KiB"),
    # values of a wrong type
    ("peer: 5\n", "line 1: 'peer' must be a sequence"),
    ("peer:\n- primary nid: [a, b]\n", "line 2: each item of 'peer' must have a 'primary nid'"),
    (PEER + "  peer ni: { nid: 10.9.9.8@tcp }\n", "line 3: 'peer ni' must be a sequence"),
    (PEER + "  peer ni: [10.9.9.8@tcp]\n", "line 3: each item of 'peer ni' must have a 'nid'"),
    (PEER + "  Multi-Rail: [1]\n", "line 3: 'Multi-Rail' must be true or false, not a list"),
    (PEER + "  Multi-Rail: 2\n", "line 3: 'Multi-Rail' must be true or false, not 2"),
    ("net: { net type: tcp }\n", "line 1: 'net' must be a sequence"),
    ("net:\n- net type: [tcp]\n", "line 2: each item of 'net' must have a 'net type'"),
    ("net:\n- net type: tcp\n  local NI(s): 5\n", "line 3: 'local NI(s)' must be a sequence"),
    ("net:\n- net type: tcp\n  local NI(s): [eth0]\n", "line 3: each item of 'local NI(s)' must be a mapping"),
    ("net:\n- net type: tcp\n  local NI(s):\n  - nid: [127.0.0.3@tcp]\n", "line 4: the value of 'nid' must be one"),
    (NAMED + "eth0\n", "line 4: 'interfaces' must be a mapping"),
    (NAMED + "{ 0: { 1: eth0 } }\n", "line 4: each item of 'interfaces' must have the name of an interface"),
    (NI + "    tunables: 5\n", "line 5: 'tunables' must be a mapping"),
    (NI + "    lnd tunables: [tos]\n", "line 5: 'lnd tunables' must be a mapping"),
    (NI + "    tunables: { credits: [1] }\n", "line 5: invalid value '' for key 'credits': not a number"),
    ("ip2nets:\n- net-spec: tcp\n  interfaces: eth0\n", "line 3: 'interfaces' must be a mapping"),
    ("ip2nets:\n- net-spec: tcp\n  ip-range: '*.*.*.*'\n", "line 3: 'ip-range' must be a mapping"),
    ("global: [retry_count]\n", "line 1: 'global' must be a mapping"),
    ("global:\n  retry_count: { a: 1 }\n", "line 2: no value specified for key 'retry_count'"),
    (RULE + "['*'] }\n", "line 2: the value of 'fa_src' must be one word"),
    ("fault:\n- drop\n", "line 2: each fault rule must be a mapping"),
    ("colour: blue\n", "line 1: invalid key 'colour'"),
    # numbers
    (NI + "    tunables: { credits: 99999999999999999999999 }\n",
     "line 5: invalid value '99999999999999999999999' for key 'credits': out of range"),
    (NI + "    tunables: { credits: -9223372036854775808 }\n",
     "line 5: invalid value '-9223372036854775808' for key 'credits': out of range"),
    (NI + "    tunables: { credits: -5 }\n", "line 5: invalid value '-5' for key 'credits': it must be 1 to 1048576"),
    (NI + "    tunables: { credits: 1.5 }\n", "line 5: invalid value '1.5' for key 'credits': not a number"),
    (NI + "    lnd tunables: { tos: 256 }\n", "line 5: invalid value '256' for key 'tos': it must be -1 to 255"),
    (NI + "    CPT: '[0-4294967295]'\n", "line 5: --cpt '[0-4294967295]': expected a list"),
    (DELAY + "la_latency: 4294967 }\n", "line 2: invalid value '4294967' for key 'la_latency': it must be 0 to 86400"),
    ("global:\n  retry_count: 99999999999999999999\n",
     "line 2: invalid value '99999999999999999999' for key 'retry_count': retry_count must be 0 to 255"),
    ("fault:\n" + "- { rule_type: drop, fa_src: '*', fa_dst: '*', da_rate: 5 }\n" * 300,
     "cannot add the fault rule: more rules than allowed"),
    (PEER + "  peer ni:\n" + "".join("  - nid: 10.8.0.%d@tcp\n" % i for i in range(1, 200)),
     "line 2: more NIDs than allowed (128)"),
    (NAMED + "{ " + ", ".join("%d: e%d" % (i, i) for i in range(2000)) + " }\n", "more interfaces than allowed"),
    ("net:\n- net type: tcp\n  local NI(s):\n" + "".join("  - nid: 127.0.%d.%d@tcp\n" % (i // 200, i % 200 + 3)
                                                     for i in range(400)), "more interfaces than allowed"),
    # names
    (NAMED + "{ 0: \"a\\nb\" }\n", "line 4: bad name of an interface"),
    (NAMED + "{ 0: a b }\n", "line 4: bad name of an interface"),
    (NAMED + "{ 0: ../eth0 }\n", "line 4: bad name of an interface"),
    (NAMED + "{ 0: \"a\\0b\" }\n", "line 4: a text must not contain a NUL character"),
    (NAMED + "{ 0: '' }\n", "line 4: each item of 'interfaces' must have the name of an interface"),
    (NAMED + "{ 0: %s }\n" % ("x" * 5000), "line 4: bad name of an interface"),
    ("peer:\n- primary nid: \"a\\nb\\e[31m\"\n", "line 2: 'a\\nb\\u001b[31m' is not a valid NID"),
    ("\"a\\nb\\e[31m\": 5\n", "line 1: invalid key 'a\\nb\\u001b[31m'"),
]


def test_hostile():
    node = configured("hostile", "127.0.0.2@tcp")
    node.ok("peer", "add", "--prim_nid", "10.0.0.9@tcp", "--nid", "10.0.1.9@tcp")
    before = node.ok("export", "--backup")
    for text, words in ROWS:
        data = text if isinstance(text, bytes) else text.encode()
        what = repr(data[:60])
        for command in (["import"], ["apply", "-"], ["import", "--exec"]):
            if len(data) > 1000000 and command != ["import"]:
                continue
            begin = time.monotonic()
            rc, _, err = node.raw(data, *command)
            took = time.monotonic() - begin
            # import --exec ignores some sections
            check("%s of %s" % (" ".join(command), what), rc in (2, 234) or "--exec" in command, err)
            check("import of %s says why" % what, command != ["import"] or words in placed(err), err)
            check("%s of %s is refused at once" % (" ".join(command), what), took < 10, took)
            equal("%s of %s changes nothing" % (" ".join(command), what), node.ok("export", "--backup"), before)
    node.ok("ping", "127.0.0.2@tcp")
    node.stop()


def test_quotes():
    """Interface names with quotes are accepted, and are exported and shown unchanged."""
    node = configured("quotes", "127.0.0.2@tcp")
    for name in ("e\"t'h", "'eth'", '"eth"', "#eth", "*eth", "!eth", "{e}", "-", "e:", "null", "~", "yes", "12",
                 "0x1f", "-7"):
        file = "net:\n- net type: tcp3\n  local NI(s):\n  - interfaces: { 0: '%s' }\n" % name.replace("'", "''")
        node.ok("import", stdin=file)
        saved = node.ok("export", "--backup")
        equal("%s: nothing is to do" % name, node.ok("plan", "-", stdin=saved), NO_DIFFERENCE)
        nis = node.show("net", "show", "--net", "tcp3")["net"][0]["local NI(s)"]
        equal("%s is shown" % name, [ni["interfaces"]["0"] for ni in nis], [name])
        node.ok("import", "--del", stdin=file)
    node.stop()
