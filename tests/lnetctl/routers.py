# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The cases of tests/lnetctl/run about routing: on and off, buffers, output as of stock's tool, files."""

import re
import time

from nodes import NO_DIFFERENCE, check, configured, equal, yaml

SHOWN = """routing:
    - cpt[0]:
          tiny:
              npages: 0
              nbuffers: 2048
              credits: 2048
              mincredits: 2048
          small:
              npages: 1
              nbuffers: 16384
              credits: 16384
              mincredits: 16384
          large:
              npages: 256
              nbuffers: 1024
              credits: 1024
              mincredits: 1024
    - enable: 3
buffers:
    tiny: 2048
    small: 16384
    large: 1024
"""


def enabled(node):
    """The state of routing. One command, because the state may change between the two commands of Node.show()."""
    return int((re.findall(r"^    - enable: (\d)$", node.ok("routing", "show"), re.M) or ["-1"])[0])


def becomes(node, want):
    until = time.monotonic() + 5
    while enabled(node) != want and time.monotonic() < until:
        time.sleep(0.02)
    return enabled(node)


def sections(text):
    """The sections of a file about routing and buffers."""
    return "".join(re.findall(r"^(?:routing|buffers):\n(?:[ -].*\n)*", text, re.M))


def quick(node):
    node.ok("set", "alive_router_check_interval", "0.1")
    node.ok("set", "router_ping_timeout", "0.1")


def test_routing_show():
    node = configured("rtshow", "127.0.0.2@tcp")
    equal("never routed: nothing", node.ctl("routing", "show"), (0, "", ""))
    equal("off: as it was", node.ctl("set", "routing", "0"), (0, "", ""))
    node.ok("set", "routing", "1")
    equal("as stock prints it", node.ok("routing", "show"), SHOWN)
    node.ok("set", "routing", "1")
    node.ok("set", "tiny_buffers", "100")
    node.ok("set", "large_buffers", "-1")
    equal("buffers", node.show("routing", "show")["buffers"], {"tiny": 100, "small": 16384, "large": 1024})
    node.ok("set", "routing", "0")
    equal("stopping", enabled(node), 2)
    rc, _, err = node.ctl("set", "routing", "1")
    check("not while it is stopping", rc == 240 and "routing" in err, (rc, err))
    node.stop()


def test_routing_states():
    node = configured("rtstates", "127.0.0.2@tcp")
    quick(node)
    node.ok("set", "routing", "1")
    equal("on after its time", becomes(node, 1), 1)
    node.ok("set", "routing", "0")
    equal("off after its time", becomes(node, 0), 0)
    equal("its buffers stay as they were set", node.show("routing", "show")["buffers"]["tiny"], 2048)
    node.ok("set", "routing", "1")
    equal("and on again", becomes(node, 1), 1)
    node.stop()


def test_routing_files():
    node = configured("rtfiles", "127.0.0.2@tcp")
    quick(node)
    before = node.ok("export", "--backup")
    check("a node that never routed says nothing", "routing" not in before.split("global:")[0], before)
    node.ok("import", stdin="routing:\n    enable: 1\nbuffers:\n    tiny: 1024\n    small: 2048\n    large: 4096\n")
    equal("on", becomes(node, 1), 1)
    backup, full = node.ok("export", "--backup"), node.ok("export")
    want = "routing:\n    enable: 1\n"
    want += "buffers:\n    tiny: 1024\n    small: 2048\n    large: 4096\n"
    equal("a backup has what is needed", sections(backup), want)
    node.ok("peer", "add", "--prim_nid", "127.0.0.9@tcp")
    node.ok("route", "add", "--net", "tcp9", "--gateway", "127.0.0.9@tcp")
    for name, text in (("a backup", node.ok("export", "--backup")), ("a full export", node.ok("export"))):
        equal("sections of %s as in stock's" % name, [key for key in re.findall(r"^(\w+):", text, re.M)][:6],
              ["net", "route", "peer", "routing", "buffers", "global"])
    node.ok("set", "routing", "0")
    equal("off", becomes(node, 0), 0)
    node.ok("import", stdin="buffers:\n    tiny: 7\n")
    for name, text in (("a backup", backup), ("a full export", full)):
        node.ok("import", stdin=sections(text))
        equal("%s brings it back" % name, becomes(node, 1), 1)
        equal("%s and its buffers" % name, node.show("routing", "show")["buffers"],
              {"tiny": 1024, "small": 2048, "large": 4096})
        node.ok("import", "--del", stdin="routing:\n    enable: 0\n")
        equal("--del sets, too", becomes(node, 0), 0)
    node.ok("apply", "-", stdin=sections(backup))
    equal("so does apply", becomes(node, 1), 1)
    equal("once", node.ok("plan", "-", stdin=sections(backup)), NO_DIFFERENCE)
    node.ok("apply", "-", stdin="routing:\n    enable: 0\n")
    equal("and it takes it away", becomes(node, 0), 0)
    rc, _, err = node.ctl("import", stdin="routing:\n    enable: 1\nbuffers:\n    small: -2\n")
    check("all or nothing", rc == 234 and enabled(node) == 0, (rc, err, enabled(node)))
    rc, _, err = node.ctl("import", "--exec", stdin="routing:\n    enable: 1\n")
    check("--exec knows no routing", rc == 234 and "invalid key" in err, (rc, err))
    equal("--show changes nothing", (node.ctl("import", "--show", stdin="routing:\n    enable: 1\n")[0], enabled(node)),
          (0, 0))
    if yaml:
        equal("the full export is YAML", yaml.safe_load(full)["routing"][-1], {"enable": 1})
    node.stop()
