# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Nodes for the tests of lnetctl, and functions that count the results."""

import json
import os
import re
import shutil
import subprocess
import tempfile
import time

try:
    import yaml
except ImportError:
    yaml = None

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CAPTURES = os.path.join(ROOT, "tests/captures/netlink")
BIN = os.environ.get("LNET_BIN", os.path.join(ROOT, "build"))
TMP = tempfile.mkdtemp(prefix="lnetctl-test.")
PORT = "9%03d" % (os.getpid() % 1000)
NOBODY = 65534
NO_DIFFERENCE = "summary: no difference\n"	# output of plan and apply if nothing differs


class Score:
    case = "?"
    passed = failed = skipped = 0


def check(what, good, got=""):
    if good:
        Score.passed += 1
        return True
    Score.failed += 1
    print("FAIL %s: %s%s" % (Score.case, what, ": " + str(got)[:600] if got != "" else ""))
    return False


def equal(what, got, want):
    return check(what, got == want, "got %r, want %r" % (got, want))


def skip(what, why):
    Score.skipped += 1
    print("skipped: %s: %s: %s" % (Score.case, what, why))


def as_json(value):
    """The value of a YAML text with keys as in JSON: keys are texts."""
    if isinstance(value, dict):
        return {str(key): as_json(val) for key, val in value.items()}
    return [as_json(val) for val in value] if isinstance(value, list) else value


class Node:
    """A running lnetd, and calls of lnetctl for it."""

    all = []

    def __init__(self, name, *options, netns=None, env=None):
        Node.all.append(self)
        self.name = "%s.%d" % (name, os.getpid())
        self.netns = netns
        self.options = options
        self.env = dict(os.environ, **(env or {}))
        self.log = os.path.join(TMP, name + ".log")
        self.process = None

    def prefix(self):
        return ["ip", "netns", "exec", self.netns] if self.netns else []

    def start(self):
        with open(self.log, "a") as log:
            self.process = subprocess.Popen(self.prefix() + [BIN + "/lnetd", "--name", self.name, *self.options],
                                            stderr=log, env=self.env)
        for _ in range(100):
            if self.ctl("node", "show")[0] == 0:
                return self
            if self.process.poll() is not None:
                break
            time.sleep(0.05)
        check("lnetd answers", False, open(self.log).read())
        return self

    def ctl(self, *args, stdin="", user=None, **kw):
        def drop():
            if user:
                os.setgroups([])
                os.setgid(user)
                os.setuid(user)
        node = "0/" + self.name if user else self.name
        run = subprocess.run(self.prefix() + [kw.get("tool", BIN + "/lnetctl"), "--node", node, *args],
                             input=stdin, capture_output=True, text=True, timeout=60,
                             preexec_fn=drop if user else None)
        return run.returncode, run.stdout, run.stderr

    def raw(self, data, *args):
        """Runs lnetctl with bytes on standard input. Output that is not UTF-8 is returned with substitutes."""
        run = subprocess.run([BIN + "/lnetctl", "--node", self.name, *args], input=data, capture_output=True,
                             timeout=60)
        return run.returncode, run.stdout.decode("utf-8", "replace"), run.stderr.decode("utf-8", "replace")

    def ok(self, *args, **kw):
        rc, out, err = self.ctl(*args, **kw)
        note = self.fault_note() if err.startswith("note: ") and args[-2:] == ("net", "show") else ""
        equal("%s succeeds" % " ".join(args), (rc, unawaited(err)), (0, note))
        return unmarked(out) if args[0] == "export" and args[-1][0] != "/" else out

    def fault_note(self):
        """The note of `net show' about the fault rules of this node; 0: it has none."""
        nr = 0
        for kind in ("", "drop", "delay"):
            words = ["fault", kind, "show"] if kind else ["fault", "show"]
            doc = json.loads(self.ctl("--json", *words)[1] or "{}")
            nr += sum(len(rules) for rules in doc.values())
        return nr and "note: %d fault rule%s on this node ('lnetctl fault show')\n" % (nr, "s are" if nr > 1 else " is")

    def show(self, *args):
        """Returns the output with --json, after a check that the YAML output is equal."""
        for attempt in range(3):    # counters may change between the two commands
            doc = json.loads(self.ok("--json", *args))
            text = self.ok(*args) if yaml else "statistics"
            same = "statistics" in text or as_json(yaml.safe_load(text) or {}) == doc
            if same or attempt == 2:
                check("%s: YAML as JSON" % " ".join(args), same, (text, doc))
                break
        return doc

    def kill(self, sig=9):
        self.process.send_signal(sig)
        return self.process.wait(10)

    def stop(self):
        if self.process and self.process.poll() is None:
            self.kill(15)


def of_all(program):
    """Copies a program to a folder in which the user nobody can run it, wherever the source tree is."""
    os.chmod(TMP, 0o755)
    return shutil.copy(os.path.join(BIN, program), TMP)


def captured(name):
    text = open(os.path.join(CAPTURES, name + ".txt")).read()
    return text.split("\n", 1)[1].rsplit("# rc=", 1)[0]


def keys(text, start="", end=None):
    """The skeleton of a YAML text: its keys and their columns, without values."""
    lines = text[text.index(start):].split("\n")
    if end:
        lines = lines[:next((i for i, line in enumerate(lines) if i and line.startswith(end)), len(lines))]
    return [re.sub(r"^(\s*(?:-\s+)?[^:]*:).*", r"\1", line) for line in lines if line]


def error_of(text):
    """Returns (verb, object, errno, text) of an error as the netlink commands print it."""
    form = r"---\n(\w+):\n-     ([\w-]+):\n      errno: (-\d+)\n      descr: ! \"(.*)\"\n\.\.\.\n"
    match = re.fullmatch(form, text)
    return (match[1], match[2], int(match[3]), match[4]) if match else None


def unmarked(text):
    """An export without its first and its last line, which contain the node's name."""
    match = re.fullmatch(r"# lnetctl export of (\S+), begin\n(.*)# lnetctl export of \1, end\n", text, re.DOTALL)
    check("an export has its first and its last line", match, text)
    return match[2] if match else text


def unawaited(err):
    """The standard error of a command without the notes about interfaces for which the node waits."""
    return re.sub(r"(?m)^.*there is no interface .*: the node adds it as soon as it exists\n", "", err)


def placed(err):
    """Removes the column from errors in files, because the expected texts have only the line."""
    return re.sub(r"(line \d+) column \d+", r"\1", err)


def until(done, seconds=20):
    """Waits until @done() is true. False: it was not within that time."""
    end = time.monotonic() + seconds
    while not done() and time.monotonic() < end:
        time.sleep(0.05)
    return done()


def configured(name, *nids, **kw):
    node = Node(name, **kw).start()
    node.ok("lnet", "configure")
    node.ok("set", "accept_port", PORT)
    node.ok("set", "accept", "all")
    if nids:
        node.ok("net", "add", "--nid", ",".join(nids))
    return node
