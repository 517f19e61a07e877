# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The cases of tests/lnetctl/run about nodes that do not exist, do not reply, or end during a request."""

import json
import os
import re
import signal
import subprocess
import time

from nodes import BIN, Node, check, configured, equal

UNKNOWN = "; it is unknown whether the change was made"


def tool(node, *args):
    """Starts lnetctl as a separate process, which the case can check while lnetctl waits."""
    return subprocess.Popen([BIN + "/lnetctl", "--node", node.name, *args], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True)


def frozen(node):
    node.process.send_signal(signal.SIGSTOP)
    return "node '%s' (pid %d) has not replied for " % (node.name, node.process.pid)


def thawed(node):
    node.process.send_signal(signal.SIGCONT)


def silence(node, *args):
    """Runs a command for a frozen node. Returns its duration, status and output, and the expected message."""
    words = frozen(node)
    begin = time.monotonic()
    rc, out, err = node.ctl(*args)
    took = time.monotonic() - begin
    thawed(node)
    return took, rc, out, err, words


def asked_before(node, option, value, *command):
    """A shell to which the node has replied once, so the shell sends its next request to the frozen node."""
    shell = subprocess.Popen([BIN + "/lnetctl", "--node", node.name, option, value], stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    shell.stdin.write("net show\n")
    shell.stdin.flush()
    time.sleep(1)
    words = frozen(node)
    shell.stdin.write(" ".join(command) + "\n")
    shell.stdin.flush()
    return shell, words


def test_frozen():
    node = configured("frozen", "127.0.0.2@tcp")
    took, rc, out, err, words = silence(node, "--wait", "3", "set", "retry_count", "4")
    check("it ends after --wait", 2.9 < took < 20 and rc and not out, (took, rc, out))
    equal("a line after 2 s", err.split("\n")[0], "lnetctl: " + words + "2 s; waiting up to 3 s (--wait)")
    check("nothing was sent, so there is no doubt", words + "3 s" in err and UNKNOWN not in err, err)
    asks, words = asked_before(node, "--wait", "3", "set", "retry_count", "4")
    _, err = asks.communicate(timeout=60)
    thawed(node)
    check("after a request: the node, the time, and the doubt", words + "3 s" + UNKNOWN in err, err)
    took, rc, out, err, words = silence(node, "--wait=300ms", "net", "show")
    check("a short --wait", 0.2 < took < 15 and rc and words + "0.3 s" in err, (took, rc, err))
    check("a command that only shows leaves no doubt", UNKNOWN not in err and "for 2 s" not in err, err)
    took, rc, out, err, words = silence(node, "--wait", "2500ms", "ping", "127.0.0.2@tcp")
    check("a request that takes long and was not read", words + "2 s" in err and UNKNOWN not in err, err)
    check("it answers again", node.ctl("net", "show")[0] == 0)
    rc, _, err = node.ctl("ping", "--timeout", "3", "127.0.0.99@tcp")
    check("a ping that takes long says nothing of the node", "has not replied" not in err, (rc, err))
    for text in ("x", "0", "-1", "2d"):
        rc, out, err = node.ctl("--wait", text, "net", "show")
        check("--wait %s" % text, rc == 2 and not out and "--wait must be" in err and "'%s'" % text in err, (rc, err))
    node.stop()


def test_killed():
    for args, doubt in ((("net", "add", "--nid", "127.0.0.3@tcp"), True), (("net", "show"), False)):
        node = configured("killed", "127.0.0.2@tcp")
        asks, _ = asked_before(node, "--wait", "20", *args)
        time.sleep(0.5)
        node.kill()
        _, err = asks.communicate(timeout=60)
        ended = "node '%s' ended before it replied" % node.name
        check("%s: it ended" % args[1], asks.returncode and ended in err, err)
        equal("%s: is there doubt" % args[1], UNKNOWN in err, doubt)


def listed(node):
    """The nodes by name. Other tests may start and stop nodes at the same time."""
    return {n["name"]: n for n in json.loads(node.ok("--json", "node", "list"))["nodes"]}


def test_nodes_list():
    one, other = configured("here", "127.0.0.2@tcp"), Node("there").start()
    rows = listed(one)
    check("both are listed", one.name in rows and other.name in rows, rows)
    row = dict(rows.get(one.name, {}))
    check("its version", row.pop("version", ""), rows)
    equal("what is known of one", row, {"name": one.name, "uid": os.getuid(), "pid": one.process.pid, "responds": True,
                                        "configured": True})
    equal("of a fresh one", rows[other.name]["configured"], False)
    frozen(other)
    rows = listed(one)
    thawed(other)
    equal("of a frozen one", rows.get(other.name), {"name": other.name, "uid": os.getuid(), "pid": other.process.pid,
                                                    "responds": False})
    run = subprocess.run([BIN + "/lnetctl", "--node", "no.such", "net", "show"], capture_output=True, text=True)
    check("a name that is not there", run.returncode and "no node 'no.such' in network namespace " in run.stderr,
          run.stderr)
    names = re.findall(r"nodes here: (.*)", run.stderr)
    check("the names that are there", names and {one.name, other.name} <= set(names[0].split(", ")), run.stderr)
    namespace = os.readlink("/proc/self/ns/net")
    check("and the namespace", namespace in run.stderr or re.search(r"namespace '[^']+';", run.stderr), run.stderr)
    one.stop()
    other.stop()
