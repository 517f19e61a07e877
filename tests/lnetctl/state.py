# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The cases of tests/lnetctl/run about a state of lnetd that cannot be saved, or was saved only in part."""

import os
import resource
import subprocess

from nodes import BIN, TMP, Node, check, equal, error_of, skip


def refused(what, node, number, path, words="nothing was changed", command="peer add --prim_nid 10.77.0.3@tcp"):
    rc, out, err = node.ctl(*command.split())
    error = error_of(err)
    check(what, rc and error and error[2] == -number and words in error[3] and path in error[3], (rc, out, err))


def peers(node):
    return node.ok("peer", "list").count("nid:")


def restarted(node):
    node.kill(9)
    return node.start()


def test_unsaved():
    """cfg-010: if a change cannot be saved, the node does not make it, or notifies the client that it is not saved."""
    place = os.path.join(TMP, "place")
    path = os.path.join(place, "state.yaml")
    os.mkdir(place)
    node = Node("unsaved", "--state", path).start()
    node.ok("lnet", "configure")
    node.ok("peer", "add", "--prim_nid", "10.77.0.2@tcp")
    before = open(path).read()
    os.rename(place, place + ".away")
    refused("no directory", node, 2, path)
    node.ok("fault", "drop", "add", "--source", "*", "--dest", "*", "--rate", "9")
    node.ok("stats", "reset")
    os.rename(place + ".away", place)
    limits = resource.prlimit(node.process.pid, resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
    refused("no room", node, 27, path)
    refused("no room: tunables", node, 27, path, command="import %s" % config(node))
    resource.prlimit(node.process.pid, resource.RLIMIT_FSIZE, limits)
    equal("nothing came of it", (peers(node), open(path).read(), sorted(os.listdir(place))),
          (1, before, ["state.yaml", "state.yaml.lock"]))
    os.rename(path, path + ".away")
    os.mkdir(path)
    refused("cannot be replaced", node, 21, path, "in effect, but is not saved")
    equal("in effect", peers(node), 2)
    os.rmdir(path)
    os.rename(path + ".away", path)
    equal("but not after a restart", peers(restarted(node)), 1)
    node.ok("peer", "add", "--prim_nid", "10.77.0.3@tcp")
    equal("and goes on", peers(restarted(node)), 2)
    node.stop()


def config(node):
    path = os.path.join(TMP, "retry.yaml")
    with open(path, "w") as out:
        out.write("peer:\n- primary nid: 10.77.0.4@tcp\n")
    return path


def test_full():
    """A full disk and a read-only disk: a small tmpfs, which needs root."""
    place = os.path.join(TMP, "disk")
    os.mkdir(place)
    if os.getuid() or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=128k", "none", place],
                                     capture_output=True).returncode:
        return skip("full disks", "needs root and mount")
    try:
        full(place)
    finally:
        subprocess.run(["umount", "-l", place])


def full(place):
    path = os.path.join(place, "state.yaml")
    node = Node("full", "--state", path).start()
    node.ok("lnet", "configure")
    with open(os.path.join(place, "rest"), "wb", buffering=0) as rest:
        try:
            while rest.write(bytes(4096)):
                pass
        except OSError:
            pass
    refused("full", node, 28, path)
    os.unlink(os.path.join(place, "rest"))
    node.ok("peer", "add", "--prim_nid", "10.77.0.2@tcp")
    subprocess.run(["mount", "-o", "remount,ro", place])
    refused("read-only", node, 30, path)
    equal("it starts from a file that it cannot write", peers(restarted(node)), 1)
    node.stop()


def start_with(name, text):
    """Starts lnetd with a state file of that text. Returns (whether lnetd starts, its standard error)."""
    path = os.path.join(TMP, name)
    with open(path, "w") as out:
        out.write(text)
    run = subprocess.run(["timeout", "1", BIN + "/lnetd", "--name", name + str(os.getpid()), "--state", path],
                         capture_output=True, text=True)
    equal("%s: the file stays as it is" % name, open(path).read(), text)
    return run.returncode in (0, 124), run.stderr


def test_torn():
    """lnetd rejects an empty or truncated state file: it does not start as an unconfigured node."""
    path = os.path.join(TMP, "whole.yaml")
    node = Node("whole", "--state", path).start()
    empty = open(path).read()
    node.ok("lnet", "configure")
    node.ok("peer", "add", "--prim_nid", "10.77.0.3@tcp")
    node.ok("peer", "add", "--prim_nid", "10.77.0.4@tcp")
    node.stop()
    text = open(path).read()
    check("whole", start_with("whole", text)[0] and start_with("unconfigured", empty)[0])
    check("by hand", start_with("by-hand", "peer:\n- primary nid: 10.77.0.3@tcp\n")[0])
    lines = text.splitlines(keepends=True)
    rows = {"empty": "", "blank": "\n\n", "only-comments": "# by hand\n", "first-line": lines[0],
            "nul": "\0" * 64, "last-line-missing": "".join(lines[:-1]), "half": "".join(lines[:len(lines) // 2]),
            "half-of-unconfigured": empty[:len(empty) // 2]}
    for name, torn in rows.items():
        started, said = start_with(name, torn)
        check(name, not started and os.path.join(TMP, name) in said, said)
        if name != "nul":
            check("%s: it says what to do" % name, "remove it to start without a configuration" in said, said)


def test_fifo():
    """cfg-010: lnetd does not wait for the writer of a FIFO, and does not read a directory as its state."""
    for kind, make in (("FIFO", os.mkfifo), ("directory", os.mkdir)):
        path = os.path.join(TMP, "state." + kind)
        make(path)
        run = subprocess.run([BIN + "/lnetd", "--name", "fifo%d" % os.getpid(), "--state", path], capture_output=True,
                             text=True, timeout=10, check=False)
        check("a %s is no state" % kind, run.returncode and "the state file is not a regular file" in run.stderr and
              path in run.stderr, (run.returncode, run.stderr))
