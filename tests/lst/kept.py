# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The parts of a measurement that describe the session and the node of the console."""

import json
import os
import re
import subprocess
import time

from console import Console, answer, tally
from harness import BUILD, case, equal, fresh, history, lst


class Lnetd:
    """The node of a fake console, which has counters, interfaces and a peer."""

    def __init__(self, name):
        self.name = name
        self.process = subprocess.Popen([os.path.join(BUILD, "lnetd"), "--name", name], stderr=subprocess.DEVNULL)
        end = time.monotonic() + 20
        while self.ctl("node", "show").returncode and time.monotonic() < end:
            time.sleep(0.05)
        for words in (["lnet", "configure"], ["peer", "add", "--prim_nid", "10.9.9.9@tcp"], ["ping", "0@lo"]):
            done = self.ctl(*words)
            assert done.returncode == 0, done.stderr

    def ctl(self, *words):
        return subprocess.run([os.path.join(BUILD, "lnetctl"), "--node", self.name, *words], capture_output=True,
                              text=True, timeout=60)

    def show(self, *words):
        return json.loads(self.ctl("--json", *words).stdout)

    def end(self):
        self.process.terminate()
        self.process.wait(20)


def skeleton(value):
    """All keys of a document, and its texts, without the numbers, which may change."""
    if isinstance(value, dict):
        return {key: skeleton(one) for key, one in value.items()}
    if isinstance(value, list):
        return [skeleton(one) for one in value]
    return value if isinstance(value, str) and not re.fullmatch(r"-?\d+", value) else 0


@case("r.c2.net.self-test.statistics.complete: all groups and batches, and the node's counters, interfaces and peers")
def complete_node():
    path = fresh("complete_node")
    groups = [{"name": name, "nodes": [{"id": "12345-10.0.0.%d@tcp" % i, "state": "Active", "owner": "lab"}
                                       for i in range(1, 4)]} for name in "cs"]
    batches = [{"name": "batch%d" % i, "state": "Running", "tests": [{"type": "ping", "loop": i}]} for i in range(3)]
    console = Console(tally=answer(tally=[tally([1000] * 10)], missing=[]), list_group=answer(groups=groups),
                      list_batch=answer(batches=batches))
    node = Lnetd(console.name)
    try:
        before = node.show("stats", "show")["statistics"]
        lst(console, "stat", "--once", "--file", path)
        now = {**node.show("stats", "show"), **node.show("net", "show", "-v", "2"),
               **node.show("peer", "show", "-v", "2")}
    finally:
        node.end()
    shown = json.loads(history(path, "show", "--json", 1))
    equal(shown["begin"]["groups"], groups, "groups")
    equal(shown["begin"]["batches"], batches, "batches")
    assert int(before["send_count"]) > 0, before
    for when in ("begin", "end"):
        kept = shown[when]["node"]
        equal(skeleton(kept), skeleton(now), when)
        for name in ("send_count", "send_length", "recv_count"):
            assert int(before[name]) <= int(kept["statistics"][name]) <= int(now["statistics"][name]), (when, name)
        equal(kept["peer"][0]["primary nid"], "10.9.9.9@tcp", when)
