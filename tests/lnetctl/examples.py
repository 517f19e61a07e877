# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The examples of lnetctl's man pages and of the chapter on operations are correct. The case runs those of each page in
order, on a node with eth0 and eth1. Its peer 10.77.0.3@tcp has the other ends of both nets.

In an example a line that begins with "# " or "$ " is a command of root or of nobody. The lines after it are its output.
Numbers in the output may differ, and "[...]" means omitted text. If the output has "errno", the command fails."""

import glob
import os
import re
import shutil
import subprocess
import tempfile

from nodes import BIN, NOBODY, ROOT, Node, Score, check
from spaces import in_namespaces


def man_examples(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    blocks = re.findall(r"^\.EX\n(.*?)^\.EE", text, re.S | re.M)
    return [re.sub(r"^\\&", "", block, flags=re.M).replace("\\-", "-").replace("\\e", "\\") for block in blocks]


def chapter_examples(path):
    with open(path, encoding="utf-8") as file:
        return re.findall(r"^```console\n(.*?)^```", file.read(), re.S | re.M)


def steps(block):
    """Returns (user, command, expected output) of each command."""
    found, end = [], None
    for line in block.rstrip("\n").split("\n"):
        if end:
            found[-1][1] += "\n" + line
            end = None if line == end else end
        elif line[:2] in ("# ", "$ ") and not line.startswith("# lnetctl export of "):
            found.append([line[0], line[2:], []])
            end = (re.findall(r"<<'?(\w+)", line) or [None])[0]
        elif found:
            found[-1][2].append(line)
    return found


def pattern(lines):
    """The regular expression that the output must match."""
    parts = []
    for line in lines:
        if line.strip() == "[...]":
            parts.append(r"(?:.*\n)*?")
            continue
        line = re.escape(line).replace(re.escape("[...]"), ".*")
        if "errno" not in line:
            line = re.sub(r"(:\\ )-?\d+$", r"\g<1>-?\\d+", line)
        parts.append(line + r"\n")
    return "".join(parts)


class World:
    """The nodes and the folder for the examples of one page."""

    def __init__(self, spaces, name):
        self.far = Node("far", netns=spaces[1]).start()
        self.far.ok("lnet", "configure")
        self.far.ok("net", "add", "--net", "tcp", "--if", "eth0,eth1")
        self.node = Node(name, netns=spaces[0]).start()
        self.dir = tempfile.mkdtemp(prefix="examples.")
        os.chmod(self.dir, 0o755)
        self.tool = os.path.join(self.dir, "bin")
        os.mkdir(self.tool)
        shutil.copy(BIN + "/lnetctl", self.tool)
        self.env = dict(os.environ, PATH=self.tool + ":" + os.environ["PATH"], LNET_NODE="0/" + self.node.name)
        self.spaces = spaces

    def run(self, user, command):
        prefix = ["ip", "netns", "exec", self.spaces[0]]
        if user == "$":
            prefix += ["setpriv", "--reuid", str(NOBODY), "--regid", str(NOBODY), "--clear-groups"]
        done = subprocess.run(prefix + ["bash", "-c", command], cwd=self.dir, env=self.env, text=True, timeout=60,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return done.returncode, done.stdout

    def end(self):
        self.node.stop()
        self.far.stop()
        shutil.rmtree(self.dir)


def try_step(world, page, user, command, want):
    rc, out = world.run(user, command)
    fails = any("errno:" in line for line in want)
    wrong = not re.fullmatch(pattern(want), out)
    if wrong or bool(rc) != fails:
        check("%s: %s" % (page, command), False, "exit %d, prints\n%s\nnot\n%s" % (rc, out, "\n".join(want)))
    else:
        check("%s: %s" % (page, command), True)


def page_examples(page, blocks):
    def body(spaces):
        world = World(spaces, "examples")
        for user, command, want in (step for block in blocks for step in steps(block)):
            try_step(world, page, user, command, want)
        world.end()
    before = Score.passed
    in_namespaces("examples of " + page, body)
    return Score.passed - before


def test_examples():
    for path in sorted(glob.glob(os.path.join(ROOT, "manual/man/lnetctl*.8"))):
        page, blocks = os.path.basename(path), man_examples(path)
        check(page + " has examples", blocks)
        page_examples(page, blocks)


def test_operations():
    path = os.path.join(ROOT, "manual/operator/operations.md")
    page_examples("operations.md", chapter_examples(path))
