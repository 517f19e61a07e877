# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Cases of tests/lnetctl/run about bounds: how much of each is in use, the largest user, how often it acted."""

import json
import os
import re
import socket

from nodes import PORT, ROOT, check, configured, equal, until

A = "127.0.0.2@tcp"


def limits(node, *words):
    shown = node.ok("--json", "limits", "show", *words)
    return {item["limit"]: item for item in json.loads(shown or "{}").get("limits", [])}


def test_limits():
    """lmt: each bound has a tunable and a counter; the list names an address at its bound until counters are reset."""
    node = configured("limits", A)
    found = limits(node)
    tunables = json.loads(node.ok("--json", "global", "show"))["global"]
    counters = json.loads(node.ok("--json", "stats", "show"))["statistics"]
    nis = json.loads(node.ok("--json", "net", "show", "-v", "5"))["net"]
    for item in nis:
        for ni in item["local NI(s)"]:
            counters.update(ni.get("lnd counters", {}))
    page = open(os.path.join(ROOT, "manual/operator/limits.md")).read()
    for name, item in found.items():
        check("%s is a tunable" % name, name in tunables)
        check("%s: its counter %s" % (name, item["counter"]), item["counter"] in counters)
        check("%s is in limits.md" % name, "`%s`" % name in page and "`%s`" % item["counter"] in page)
    equal("of the core and of the driver", {"windows_max", "peers_max", "conns_max"} - set(found), set())
    equal("nothing is at a bound", limits(node, "--at-bound"), {})
    equal("its value", found["half_open_per_address"]["bound"], 64)
    node.ok("set", "half_open_per_address", "3")
    open_ones = [socket.create_connection(("127.0.0.2", int(PORT)), source_address=("127.0.0.77", 0)) for _ in range(5)]
    reached = {}

    def is_reached():
        reached.update(limits(node, "--at-bound"))
        return reached.get("half_open_per_address", {}).get("hits") == 2

    check("at the bound, and it acted", until(is_reached), reached)
    item = reached["half_open_per_address"]
    equal("the largest user", (item["per"], item["bound"], item["most"], item["by"], item["at bound"]),
          ("address", 3, 3, "127.0.0.77@tcp", True))
    check("as YAML", re.search(r"^limits:\n +- limit: half_open_per_address\n +per: address\n",
                               node.ok("limits", "show", "--at-bound")), node.ok("limits", "show", "--at-bound"))
    for one in open_ones:
        one.close()
    check("none is left", until(lambda: limits(node)["half_open_per_address"]["most"] == 0))
    equal("a bound that acted is still shown", limits(node, "--at-bound")["half_open_per_address"]["at bound"], False)
    node.ok("stats", "reset")
    equal("until counters are reset", limits(node, "--at-bound"), {})
