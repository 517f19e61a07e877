# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The command lines of the other programs: help, version, and the messages for rejected words."""

import os
import subprocess

from nodes import BIN, NOBODY, check, configured, equal, of_all, skip

SERVER = "server --nid 127.0.0.1@tcp --port 10999 "
# program and words: standard error up to the hint about --help
REJECTED = {
    "lnetperf": "lnetperf: the first argument must be server or client",
    "lnetperf frob": "lnetperf: the first argument must be server or client, not 'frob'",
    "lnetperf server --port abc": "lnetperf: --port must be 1 to 65535, not 'abc'",
    "lnetperf server --port 65536": "lnetperf: --port must be 1 to 65535, not '65536'",
    "lnetperf server --port": "lnetperf: --port needs a value: 1 to 65535",
    "lnetperf server --frob": "lnetperf: there is no option '--frob'",
    "lnetperf server --json=3": "lnetperf: --json takes no value",
    "lnetperf server --op frob": "lnetperf: --op must be put, put-noack or get, not 'frob'",
    "lnetperf server --duration 0": "lnetperf: --duration must be a time above 0, as 5, 300ms or 20us, not '0'",
    "lnetperf server --nid 127.0.0.1@tcp x": "lnetperf: unexpected argument 'x'",
    "lnetperf server --nid nonsense": "lnetperf: --nid must be a NID such as 10.0.0.1@tcp, not 'nonsense'",
    "lnetperf " + SERVER + "--set nosuch=1": "lnetperf: no tunable 'nosuch'; 'lnetctl global show' lists them",
    "lnetperf " + SERVER + "--set nosuch": "lnetperf: --set must be NAME=VALUE, not 'nosuch'",
    "lnetperf " + SERVER + "--set retry_count=999": "lnetperf: tunable retry_count does not accept '999'",
    "lnetsim --seed abc": "lnetsim: --seed must be 0 to 18446744073709551615, not 'abc'",
    "lnetsim --seed -1": "lnetsim: --seed must be 0 to 18446744073709551615, not '-1'",
    "lnetsim --seeds 5..1": "lnetsim: --seeds must be A..B with A <= B, not '5..1'",
    "lnetsim --nodes 0": "lnetsim: --nodes must be 2 to 100000, not '0'",
    "lnetsim --jobs 0": "lnetsim: --jobs must be 1 to 256, not '0'",
    "lnetsim --lnd frob": "lnetsim: --lnd must be sim or sock, not 'frob'",
    "lnetsim --nodes": "lnetsim: --nodes needs a value",
    "lnetsim --twice=1": "lnetsim: --twice takes no value",
    "lnetsim --frob": "lnetsim: there is no option '--frob'",
    "lnetsim word": "lnetsim: unexpected argument 'word'",
    "lnetsim --crowd 8 --nodes 4": "lnetsim: --nodes must be above --crowd (8), not 4",
    "lnetsim --selftest --selftest-tree":
        "lnetsim: at most one of --replay, --crowd, --selftest-tree and --selftest may be given",
    "nettest frob": "nettest: ",
    "lnetd frob": "lnetd: ",
    "lst --frob": "lst: there is no option '--frob'; options are --node, --help and --version",
    "lnetd --frob": "lnetd: there is no option '--frob'; ",
    "lnetd --shards 65": "lnetd: --shards must be 1 to 64, not '65'; ",
    "lnetd --shards": "lnetd: --shards needs a value: 1 to 64; ",
    "lnetd --name a/b": "lnetd: --name must be 1 to 63 characters without '/', not 'a/b'; ",
    "lnetd --name " + 64 * "a": "lnetd: --name must be 1 to 63 characters without '/', not '" + 64 * "a" + "'; ",
    "lnetd --log-level loud": "lnetd: --log-level must be error, warning, info or debug, not 'loud'; ",
    "lnetd --selftest": "lnetd: --selftest needs a value: '*' or a list of NIDs, such as "
                        "'10.0.0.[1-4]@tcp 10.1.0.1@tcp1'; ",
    "lnetd --selftest 10.0.0.1": "lnetd: --selftest must be '*' or a list of NIDs, such as "
                                 "'10.0.0.[1-4]@tcp 10.1.0.1@tcp1', not '10.0.0.1'; ",
    "lnetd --verbose=3": "lnetd: --verbose takes no value; ",
}


def run(words, program=None, **how):
    words = words.split()
    done = subprocess.run([program or os.path.join(BIN, words[0])] + words[1:], capture_output=True, text=True,
                          timeout=20, stdin=subprocess.DEVNULL, **how)
    return done.returncode, done.stdout, done.stderr


def helped():
    """Names of all programs. Makes bulk_server and bulk_write, which are links to lst."""
    for name in ("bulk_server", "bulk_write"):
        if not os.path.exists(os.path.join(BIN, name)):
            os.symlink("lst", os.path.join(BIN, name))
    return ("lnetctl", "lnetd", "lnetperf", "lnetsim", "lst", "nettest", "bulk_server", "bulk_write")


def test_programs():
    for program in helped():
        for word in ("-h", "--help", "help"):
            code, out, err = run(program + " " + word)
            equal("%s %s" % (program, word), (code, err), (0, ""))
            check("%s %s prints the usage" % (program, word), out.strip(), out)
        for word in ("-V", "--version"):
            equal("%s %s" % (program, word), run(program + " " + word), (0, program + " 0.1\n", ""))
    for line in ("lnetctl help net add", "lnetctl help ping", "lst help stat", "lnetperf help client", "lnetd help me",
                 "lnetsim help me", "nettest help me", "bulk_write help me"):
        equal(line, run(line)[0::2], (0, ""))
    out = run("lnetctl help")[1]
    check("lnetctl help names what every command has", all(word in out for word in (
        "--node:", "--wait:", "--json:", "LNET_NODE")), out[-400:])
    for words, want in REJECTED.items():
        code, out, err = run(words)
        equal("%s: status" % words, (code, out), (2, ""))
        check("%s: what is wrong" % words, err.startswith(want) and err.count("\n") == 1, err)
    if os.geteuid() == 0:
        equal("a port below 1024 without the right to it",
              run("lnetperf server --nid 127.0.0.1@tcp", of_all("lnetperf"), user=NOBODY, group=NOBODY,
                  extra_groups=[]),
              (4, "", "lnetperf: port 988 needs CAP_NET_BIND_SERVICE; choose another with --port\n"))


def test_interfaces_example():
    """The example of liblnetctl(3) prints the interfaces of a node, or why it cannot."""
    if not os.path.exists(os.path.join(BIN, "examples/interfaces")):
        return skip("examples/interfaces", "it is not built")
    node = configured("example", "127.0.0.2@tcp")
    node.ok("net", "set", "--nid", "127.0.0.2@tcp", "--link", "down")
    equal("interfaces", run("examples/interfaces " + node.name), (0, "0@lo up\n127.0.0.2@tcp down\n", ""))
    node.ok("lnet", "unconfigure")
    code, out, err = run("examples/interfaces " + node.name)
    check("of a node that is not configured", (code, out) == (1, "") and "not configured" in err, (code, out, err))
    code, out, err = run("examples/interfaces nobody.there")
    check("of no node", (code, out) == (1, "") and err.startswith("interfaces: no node 'nobody.there'"), err)
    node.stop()
