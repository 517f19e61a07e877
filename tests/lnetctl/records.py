# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The cases of tests/lnetctl/run with the flight recorder of a daemon: wrong input, stored records, and files."""

import json
import os
import subprocess

from __main__ import check, configured, equal, error_of
from nodes import BIN, NOBODY, TMP, of_all, skip

A, B = "127.0.0.2@tcp", "127.0.0.3@tcp"
BAD = [
    (["start", "--size", "x"], "--size must be a number of bytes, as 16M or 64k, not 'x'"),
    (["start", "--size", "0"], "--size must be a number of bytes, as 16M or 64k, not '0'"),
    (["start", "--size", "-1"], "--size must be a number of bytes, as 16M or 64k, not '-1'"),
    (["start", "--size", "1k"], "'size' must be at least 64 KiB for each of the"),
    (["start", "--size", "2G"], "'size' must be 0 to 1073741824, not 2147483648"),
    (["start", "--size", "99999999999999999999"],
     "--size must be a number of bytes, as 16M or 64k, not '99999999999999999999'"),
    (["stop"], "the flight recorder is not recording"),
    (["dump", "/nowhere/there"], "cannot open '/nowhere/there.new': No such file or directory"),
    (["dump", "/dev/full"], "the flight recorder has recorded nothing"),
    (["dump"], "dump FILE"),
    (["frobnicate"], "frobnicate"),
]


def record(node):
    return json.loads(node.ok("--json", "debug", "record", "show"))["record"]


def replayed(file):
    run = subprocess.run([BIN + "/lnetsim", "--replay", file], capture_output=True, text=True, timeout=60)
    check("the same decisions", run.returncode == 0 and "the same decisions" in run.stdout, run.stdout + run.stderr)


def pings(node, nr):
    for _ in range(nr):
        node.ok("ping", B)


def test_record_bad():
    """Errors are reported with their reason, and change neither the recorder nor existing files."""
    node = configured("record-bad", A)
    kept = os.path.join(TMP, "kept.record")
    with open(kept, "w") as out:
        out.write("something")
    before = record(node)
    for args, said in BAD + [(["dump", kept], "the flight recorder has recorded nothing")]:
        rc, out, err = node.ctl("debug", "record", *args)
        check("%s is refused" % args, rc != 0, rc)
        check("%s: %s" % (args, said), said in out + err, out + err)
        equal("%s: it is as before" % args, record(node), before)
    equal("a file that is there stays", open(kept).read(), "something")
    equal("and no other came", [name for name in os.listdir(TMP) if name.endswith(".new")], [])
    node.ok("debug", "record", "start", "--size", "64k")
    rc, _, err = node.ctl("debug", "record", "start")
    check("twice", rc != 0 and error_of(err)[3] == "the flight recorder is already recording", err)
    check("it goes on", record(node)["running"], record(node))
    node.ok("debug", "record", "stop")
    for name in ("/dev/full", "/nowhere/there"):
        rc, _, err = node.ctl("debug", "record", "dump", name)
        check("%s cannot be written" % name, rc != 0 and name in err, err)
    check("what is no file is not taken away", os.path.exists("/dev/full"))
    if os.getuid():
        skip("who may not change it", "not root")
    else:
        rc = node.ctl("debug", "record", "start", user=NOBODY, tool=of_all("lnetctl"))[0]
        equal("who may not change it", rc, 4)
    node.stop()


def test_record():
    """A replay makes the daemon's decisions, also from a ring buffer that wrapped. A failed dump loses no records."""
    node, other = configured("record-a", A), configured("record-b", B)
    file = os.path.join(TMP, "a.record")
    node.ok("debug", "record", "start")
    pings(node, 5)
    check("there is something", record(node)["records"] > 50, record(node))
    node.ok("debug", "record", "dump", file)
    check("it records on", record(node)["running"], record(node))
    if os.path.exists(BIN + "/lnetsim"):
        replayed(file)
    pings(node, 1)
    equal("it cannot be written", node.ctl("debug", "record", "dump", "/nowhere/there")[0], 234)
    left = record(node)
    equal("it does not record on", left["running"], 0)
    node.ok("debug", "record", "dump", file)
    equal("all is in the file, behind its head", os.path.getsize(file) // 64 - 1, left["records"])
    node.ok("set", "record_size", "64k")
    check("the tunable does it, too", record(node)["running"], record(node))
    pings(node, 60)
    check("it went round", record(node)["overwritten"] > 0, record(node))
    node.ok("debug", "record", "dump", file)
    if os.path.exists(BIN + "/lnetsim"):
        replayed(file)
    node.ok("set", "record_size", "0")
    equal("off", record(node)["running"], 0)
    node.stop()
    other.stop()
