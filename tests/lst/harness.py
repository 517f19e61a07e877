# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The list of cases of tests/lst/run, and calls of lst for them."""

import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.environ.get("OUT") or os.path.join(HERE, "../../build")
LST = os.path.join(BUILD, "lst")
work = tempfile.mkdtemp(dir=os.environ.get("TMPDIR", "/dev/shm"))
cases = []


def case(name):
    def add(function):
        cases.append((name, function))
        return function
    return add


def command(console, *words):
    return [LST, "--node", console.name, *map(str, words)]


ENV = dict(os.environ, LST_SESSION="1", XDG_STATE_HOME=os.path.join(work, "state"))
ENV.pop("LST_HISTORY", None)


def lst(console, *words, fails=False, **env):
    """Runs lst. Returns its standard output; lst.err has its standard error."""
    done = subprocess.run(command(console, *words), env={**ENV, **env}, capture_output=True, text=True, timeout=60)
    lst.err = done.stderr
    assert (done.returncode != 0) == fails, "%s: status %d, %s%s" % (words, done.returncode, done.stdout, done.stderr)
    return done.stdout


def history(path, *words, **kwargs):
    return lst(Nobody, "history", "--file", path, *words, **kwargs)


class Nobody:
    """In place of a Console, because lst reads the history without one."""
    name = "nobody"


def fresh(name):
    path = os.path.join(work, name)
    if os.path.exists(path):
        os.unlink(path)
    return path


def equal(got, want, what):
    assert got == want, "%s: %r, not %r" % (what, got, want)


def main():
    wanted = [one for one in cases if not sys.argv[1:] or any(word in one[0] for word in sys.argv[1:])]
    failed = 0
    for nr, (name, function) in enumerate(wanted, 1):
        try:
            function()
            print("ok %d - %s" % (nr, name), flush=True)
        except (AssertionError, ValueError, KeyError, IndexError, OSError, subprocess.SubprocessError) as why:
            failed += 1
            for line in ("%s: %s" % (type(why).__name__, why)).splitlines()[:40]:
                print("# " + line)
            print("not ok %d - %s" % (nr, name), flush=True)
    print("1..%d" % len(wanted))
    shutil.rmtree(work, ignore_errors=True)
    return failed != 0
