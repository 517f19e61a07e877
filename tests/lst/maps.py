# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Cases of tests/lst/run: maps from a file."""

import os
import subprocess

from console import Console, answer
from harness import ENV, case, command, equal, lst, work


def map_file(name, what):
    path = os.path.join(work, name)
    with open(path, "wb") as file:
        file.write(what if isinstance(what, bytes) else what.encode())
    return path


def add_test(console, path, *words, fails=False, verb=("add_test", "--from", "c", "--to", "s")):
    """Runs add_test. Returns (verb, map) of each request that the console received."""
    console.asked = []
    lst(console, *verb, "--map", "file:" + path, *words, "ping", fails=fails)
    return [(name, asked.get("map")) for name, asked in console.asked]


@case("a map from a file: its lines go to the console as they are, comments and space do not")
def map_words():
    sent = []

    def taken(words):
        sent.append(words)
        return answer(failed=0)
    console = Console(add_test=taken)
    console.all_of = "send"
    path = map_file("map", "# who to whom\n\n 0 \t1  2\r\n10.0.0.1@tcp s@tcp # and why\n   #\n3 4")
    equal(add_test(console, path), [("add_test", "10")], "asked")
    equal(sent[0]["send"], ["3 0 1 2", "4 10.0.0.1@tcp s@tcp", "6 3 4"], "lines")
    lst(console, "pattern", "--group", "g", "file:" + path)
    equal((sent[1]["map"], sent[1]["type"], len(sent[1]["send"])), ("10", "bulk", 3), "pattern")
    with open(path) as file:
        subprocess.run(command(console, "pattern", "--group", "g", "file:/dev/stdin"), env=ENV, stdin=file, check=True,
                       stdout=subprocess.DEVNULL)
    equal(len(sent[2]["send"]), 3, "what another program writes")


@case("a map from a file: what the console finds wrong is told with file, line and word")
def map_refused():
    def refused(words):
        return -22, answer(bad={"line": 5, "word": int(words["loop"]), "why": "is not in group s"})
    console = Console(add_test=refused)
    path = map_file("bad", "\n\n1 2\n\n3   10.0.0.9@tcp 5\n")
    for word, text in ((1, "3 "), (2, "10.0.0.9@tcp "), (3, "5 "), (4, ""), (1000000, "")):
        add_test(console, path, "--loop", word, fails=True)
        equal(lst.err, "%s:5: %sis not in group s\n" % (path, text), "told")
    add_test(Console(add_test=-22), path, fails=True)
    assert lst.err.startswith("Invalid parameters list in command line: group "), lst.err


@case("a map from a file: none, empty, huge, binary, endless; the console is not asked")
def map_files():
    console = Console(add_test=answer(failed=0))
    for what, why in (("", "the map has no pair"), ("# nobody\n\n  \t\n", "the map has no pair"),
                      (b"1 2\n3 \0 4\n", ":2: the line contains a NUL character"),
                      ("#" * 2 ** 20 + "\n", "must have at most 1 MiB"),
                      ("0 1\n" * 20000, "longer than a request may be: 65536 bytes"),
                      ("0 " + "1 " * 40000, ":1: the map up to this line is longer than")):
        equal(add_test(console, map_file("what", what), fails=True), [], "asked")
        assert why in lst.err and len(lst.err) < 300, (why, lst.err[:300])
    for path, why in (("/dev/zero", "1 MiB"), (work, "Is a directory"), (work + "/no", "No such file"),
                      ("", "a name is missing")):
        equal(add_test(console, path, fails=True), [], "asked")
        assert why in lst.err, (why, lst.err)
    path = map_file("what", "0 1\n" * 4000)
    equal(add_test(console, path, "--map", "file:" + path, fails=True), [], "two of them")
    equal(add_test(console, path, fails=True, verb=("tree", "add_test", "--from", "c", "--to", "s")), [], "a tree")
    equal(add_test(console, path), [("add_test", "10")], "what fits")
