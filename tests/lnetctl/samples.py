# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The samples of configuration files: unchanged they have no effect, and without the comment signs they work."""

import os
import re

from nodes import ROOT, Node, check, equal
from spaces import in_namespaces


def sample(name):
    with open(os.path.join(ROOT, "packaging", name), encoding="utf-8") as file:
        return file.read()


def used(text):
    """The sample without the comment signs of its examples."""
    return "".join(line[1:] + "\n" for line in text.split("\n") if re.match(r"#(?! |$|#)|# {3}", line))


def params(path, macros):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return set(re.findall(r"^(?:%s)\((\w+)," % macros, file.read(), re.M))


def test_samples():
    node = Node("samples").start()
    node.ok("lnet", "configure")
    before = node.ok("export")
    node.ok("import", os.path.join(ROOT, "packaging/lnet.conf"))
    equal("the sample as it is changes nothing", node.ok("export"), before)
    node.stop()
    in_namespaces("the sample in use", in_use)
    known = {"lnet": params("lnet/kernel/params.def", "TUNED|NUMBER|TEXT"),
             "ksocklnd": params("lnd/socklnd/params.def", "PARAM"),
             "lnet_selftest": params("lnet/selftest/kernel/module.c", "module_param")}
    lines = used(sample("modprobe.conf")).split("\n")[:-1]
    check("modprobe.conf has examples", len(lines) >= 4, lines)
    for line in lines:
        words = line.split()
        check("'%s' names parameters" % line, words[0] == "options" and len(words) > 2 and all(
            word.split("=")[0] in known[words[1]] for word in words[2:]))


def in_use(spaces):
    node = Node("inuse", netns=spaces[0]).start()
    node.ok("lnet", "configure")
    node.ok("import", stdin=used(sample("lnet.conf")))
    equal("interfaces", [ni["nid"] for ni in node.show("net", "show", "--net", "tcp")["net"][0]["local NI(s)"]],
          ["10.77.0.2@tcp", "10.77.1.2@tcp"])
    equal("peers", node.show("peer", "show", "--nid", "10.77.1.3@tcp")["peer"][0]["primary nid"], "10.77.0.3@tcp")
    equal("tunables", node.show("global", "show")["global"]["retry_count"], 5)
    node.stop()
