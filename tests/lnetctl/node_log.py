# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The cases of tests/lnetctl/run about lnetd's log: the formats of a file and of the journal, and the levels."""

import os
import re
import time

from nodes import TMP, Node, check

STAMP = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"


def log_of(name, *options, journal=False):
    """The log of a node that was configured, received a fault rule, and was stopped."""
    path = os.path.join(TMP, name + ".log")
    with open(path, "w"):
        pass
    stat = os.stat(path)
    stream = "%d:%d" % (stat.st_dev, stat.st_ino if journal else stat.st_ino + 1)
    node = Node(name, *options, env={"JOURNAL_STREAM": stream}).start()
    node.ok("lnet", "configure")
    node.ok("fault", "cut", "add", "--dest", "10.9.9.9@tcp")
    node.kill(15)
    with open(path) as log:
        return node.name, log.read().splitlines()


def has(lines, pattern):
    return any(re.fullmatch(pattern, line) for line in lines)


def test_log_file():
    name, lines = log_of("logfile")
    for level, text in (("info", r"lnetd \S+ started: .*"),
                        ("info", r"configuration: lnet configure, by uid \d+, pid \d+"),
                        ("warning", r"fault rule 1 \(cut.*\) is active, by uid \d+, pid \d+"),
                        ("info", r"lnetd \S+ stopped: .*")):
        check("%s: %s" % (level, text), has(lines, "%s %s %s: %s" % (STAMP, level, re.escape(name), text)),
              "\n".join(lines))
    check("each line has time, level and node",
          all(re.match("%s (info|warning) %s: " % (STAMP, re.escape(name)), line) for line in lines), "\n".join(lines))


def test_log_journal():
    name, lines = log_of("logjournal", journal=True)
    check("info", has(lines, r"<6>%s: lnetd \S+ started: .*" % re.escape(name)), "\n".join(lines))
    check("warning", has(lines, r"<4>%s: fault rule 1 .*" % re.escape(name)), "\n".join(lines))
    check("each line has priority and node", all(re.match("<[46]>%s: " % re.escape(name), line) for line in lines),
          "\n".join(lines))


def test_log_level():
    _, lines = log_of("logwarning", "--log-level", "warning")
    check("only warnings", len(lines) == 2 and all(" warning " in line and "fault rule 1" in line for line in lines),
          "\n".join(lines))
    begin = time.monotonic()
    check("no line", not log_of("logerror", "--log-level", "error")[1], "lines")
    check("the node stops at once", time.monotonic() - begin < 10, "slow")
