# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The errors that lst prints for usage errors and failures, and its exit statuses."""

import os
import subprocess

from console import Console, answer
from harness import ENV, LST, case, command, equal

USAGE, NO_NODE, NOT_PERMITTED, NODES, FAILED = 2, 3, 4, 254, 255
SESSION = answer(session={"name": "s1", "stamp": 1092927, "nid": "10.0.0.1@tcp", "key": 1, "features": 1,
                          "timeout": 300, "lease": 100, "nodes": 2})
GROUPS = {"c": 1, "s": 1}


def list_group(words):
    name = words.get("name")
    if name and name not in GROUPS:
        return -2
    nodes = [{"id": "12345-10.0.0.2@tcp", "state": "Active", "owner": "s1"}]
    return answer(groups=[{"name": one, "nodes": nodes} for one in ([name] if name else GROUPS)])


def list_batch(words):
    name = words.get("name")
    if name and name not in ("batch", "b"):
        return -2
    return answer(batches=[{"name": name or "b", "state": "Idle", "tests": []}])


def console(**verbs):
    return Console(**{"show_session": SESSION, "list_group": list_group, "list_batch": list_batch, **verbs})


def run(where, *words, **env):
    done = subprocess.run(command(where, *words), env={**ENV, **env}, capture_output=True, text=True, timeout=60)
    return done.returncode, done.stderr, done.stdout


# Replies of the console, command, exit status, part of the text on standard error.
ROWS = [
    ({"list_group": -13}, "list_group", NOT_PERMITTED,
     "Unmatched session key or not root: this session belongs to 1092927@10.0.0.1@tcp; LST_SESSION here is 1; "
     "'lst new_session --force' takes it over"),
    ({}, "update_group g --clean frob", USAGE, "--clean must be active, busy, down, unknown or invalid, not 'frob'"),
    ({}, "update_group g --clean down --refresh", USAGE, "exactly one of --clean STATE, --refresh, --remove IDs"),
    ({"update_group": -2}, "update_group g --refresh", FAILED, "there is no group 'g' in session s1"),
    ({"update_group": -2}, "update_group c --remove 10.0.0.9@tcp", FAILED,
     "there is no node '10.0.0.9@tcp' in session"),
    ({"update_group": -16}, "update_group c --clean down", FAILED, "a test uses group c"),
    ({"add_test": -2}, "add_test --batch nosuch --from c --to s ping", FAILED,
     "there is no batch 'nosuch' in session s1"),
    ({"add_test": -2}, "add_test --batch b --from c --to x ping", FAILED, "there is no group 'x' in session s1"),
    ({"add_test": -16}, "add_test --batch b --from c --to s ping", FAILED, "batch b runs, 'lst stop b' first"),
    ({"add_test": -22}, "add_test --batch b --from c --to s --distribute 1:2 ping", FAILED,
     "group c has 1 active nodes, group s has 1; --distribute D:S needs S"),
    ({}, "add_test --batch b --from c ping", USAGE, "add_test needs both --from GROUP and --to GROUP"),
    ({}, "add_test --from c --to s --loop 0 ping", USAGE, "--loop must be -1 (endless) or 1 to 2147483647, not 0"),
    ({}, "add_test --from c --to s --concurrency 0 ping", USAGE, "--concurrency must be 1 to 1024, not '0'"),
    ({}, "add_test --from c --to s --distribute 1 ping", USAGE,
     "--distribute must be D:S, two numbers above 0, not '1'"),
    ({}, "add_test --from c --to s frob", USAGE, "the test must be ping, brw or bulk, not 'frob'"),
    ({}, "add_test --from c --to s brw size=2M", USAGE, "size must be 1 to 1048576 bytes, as 4096, 4K or 1M, not '2M'"),
    ({}, "add_test --from c --to s brw off=3", USAGE, "off must be a multiple of 8, not 3"),
    ({"run": -22}, "run b", FAILED, "batch b has no test: 'lst add_test --batch b ...' first"),
    ({"run": -2}, "run nosuch", FAILED, "there is no batch 'nosuch' in session s1"),
    ({"stop": -2}, "stop nosuch", FAILED, "there is no batch 'nosuch' in session s1"),
    ({"query": -2}, "query nosuch", FAILED, "there is no batch 'nosuch' in session s1"),
    ({"query": -2}, "query --test 9 b", FAILED, "batch b has no test 9"),
    ({}, "query --delay 0 b", USAGE, "--delay must be 1 to 3600, not '0'"),
    ({}, "list_batch nosuch", FAILED, "there is no batch 'nosuch' in session s1"),
    ({}, "list_batch b --test 9", FAILED, "batch b has no test 9"),
    ({}, "list_batch --active", USAGE, "need the name of a batch"),
    ({}, "list_group c nosuch", FAILED, "there is no group 'nosuch' in session s1"),
    ({"stat": -2}, "stat nosuch", FAILED, "there is no group 'nosuch' in session s1"),
    ({"stat": -2}, "show_error nosuch", FAILED, "there is no group 'nosuch' in session s1"),
    ({"stat": -2}, "stat 10.0.0.9@tcp", FAILED, "there is no node '10.0.0.9@tcp' in session s1"),
    ({}, "stat", USAGE, "stat needs groups or nodes"),
    ({"ping": -2}, "ping --group g", FAILED, "there is no group 'g' in session s1"),
    ({}, "ping", USAGE, "exactly one of --session, --group, --batch, --nodes"),
    ({"add_group": -17}, "add_group c 10.0.0.2@tcp", FAILED, "group already exists: 'c'"),
    ({"add_batch": -17}, "add_batch b", FAILED, "batch already exists: 'b'"),
    ({}, "add_group", USAGE, "add_group needs a name and at least one list of NIDs"),
    ({}, "add_batch " + 40 * "a", USAGE, "Name of batch should be shorter than 32 characters"),
    ({"del_group": -16}, "del_group c", FAILED, "a test uses group c"),
    ({"show_session": -3}, "show_session", FAILED, "No session exists: 'lst new_session' makes one"),
    ({"new_session": -17}, "new_session x", FAILED, "session already exists"),
    ({}, "new_session --timeout 0 x", USAGE, "--timeout must be 1 to 2147483647, not '0'"),
    ({}, "new_session --frob", USAGE, "--frob"),
    ({}, "new_session a b", USAGE, "new_session: unexpected argument 'b'"),
    ({}, "end_session now", USAGE, "end_session: unexpected argument 'now'"),
    ({}, "show_session x", USAGE, "unexpected argument 'x'"),
    ({}, "run b c", USAGE, "unexpected argument 'c'"),
    ({}, "stop b c", USAGE, "unexpected argument 'c'"),
    ({}, "query b c", USAGE, "unexpected argument 'c'"),
    ({}, "wait b c", USAGE, "unexpected argument 'c'"),
    ({}, "list_batch b c", USAGE, "unexpected argument 'c'"),
    ({}, "ping --session x", USAGE, "unexpected argument 'x'"),
    ({}, "frob", FAILED, "'frob' is not a command"),
    ({"add_nodes": answer(errors=[{"id": "12345-10.0.0.2@tcp", "what": "create session", "errno": 16, "remote": True,
                                   "owner": "mine"}]), "del_group": 0, "add_group": 0},
     "add_group g 10.0.0.2@tcp", NODES, "create session RPC failed on 12345-10.0.0.2@tcp"),
]


@case("a message names the object and what is accepted, and the status is that of all programs")
def messages():
    for verbs, words, status, text in ROWS:
        got, err, _ = run(console(**verbs), *words.split())
        assert text in err, "%s: %r, not %r" % (words, err, text)
        equal(got, status, words)


@case("what is wrong in the command line is not asked of the console")
def not_asked():
    for verbs, words, status, _ in ROWS:
        if status == USAGE:
            where = console(**verbs)
            run(where, *words.split())
            equal(where.asked, [], words)


@case("a session needs a key, which is a number above 0")
def key():
    for value in ("", "0", "12x", "x", "99999999999"):
        for words in (("new_session", "x"), ("list_group",)):
            where = console(new_session=0)
            status, err, _ = run(where, *words, LST_SESSION=value)
            assert "Can't find env LST_SESSION or value is not valid" in err and "export LST_SESSION=$$" in err, err
            equal((status, where.asked), (FAILED, []), value)
    status, err, _ = run(console(new_session=0), "new_session", "x", LST_FEATURES="7")
    assert "LST_FEATURES must be 0 or 1, not '7'" in err, err
    equal(status, USAGE, "features")


@case("each command rejects an unknown option and names what it accepts, before it asks a node")
def options_are_checked():
    said = subprocess.run([LST, "help"], env=ENV, capture_output=True, text=True, timeout=10).stdout
    verbs = {line.split()[1]: line for line in said.splitlines() if line.startswith("lst ")}
    assert len(verbs) > 20, said
    for line, what in (("tree leave x", "no arguments"), ("tree show x", "no arguments"),
                       ("tree run a b", "the name of a batch"), ("tree stop a b", "unexpected argument 'b'"),
                       ("add_batch --force", "add_batch NAME")):
        where = console()
        status, err, _ = run(where, *line.split(), LST_SESSION="1")
        equal((status, where.asked), (USAGE, []), line)
        assert what in err, (line, err)
    for verb, line in verbs.items():
        words = [verb] + {"tree": ["run"], "history": ["list"]}.get(verb, [])
        where = console()
        status, err, out = run(where, *words, "--frobnicate", LST_SESSION="1")
        equal((status, out, where.asked), (USAGE, "", []), verb)
        assert "--frobnicate'" in err and (verb in ("tree", "history") or line.rstrip() in err), (verb, err)


@case("-h, --help, --version and help COMMAND are answered, with status 0")
def help_is_there():
    for words in (["-h"], ["--help"], ["help"], ["--version"], ["help", "stat"], ["stat", "--help"], ["run", "-h"]):
        done = subprocess.run([LST, *words], env={**ENV, "LST_SESSION": ""}, capture_output=True, text=True, timeout=10)
        equal((done.returncode, done.stderr), (0, ""), words)
        assert "lst " in done.stdout, done.stdout
    equal(subprocess.run([LST, "help", "frob"], capture_output=True, timeout=10).returncode, USAGE, "no such command")
    equal(subprocess.run([LST, "--node"], capture_output=True, timeout=10).returncode, USAGE, "--node without a name")


@case("no node answers: its name, and the status")
def no_node():
    done = subprocess.run([LST, "--node", "nosuch%d" % os.getpid(), "list_group"], env=ENV, capture_output=True,
                          text=True, timeout=10)
    assert "nosuch%d" % os.getpid() in done.stderr, done.stderr
    assert "'lnetd --selftest CONSOLES' starts one" in done.stderr, done.stderr
    equal(done.returncode, NO_NODE, "status")
    if not os.path.exists("/dev/lnet_selftest") and not os.path.exists("/sys/module/lnet_selftest"):
        done = subprocess.run([LST, "--node", "kernel", "list_group"], env=ENV, capture_output=True, text=True,
                              timeout=10)
        assert "'modprobe lnet_selftest' first" in done.stderr, done.stderr
        equal(done.returncode, NO_NODE, "status")
