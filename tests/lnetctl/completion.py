# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""bash completes each command and each option that the tool's tables have, and nothing else; and values that the node
has."""

import importlib.machinery
import importlib.util
import os
import shutil
import subprocess
import sys

from nodes import BIN, ROOT, TMP, check, configured, equal, skip

BUILTINS = {"help", "version", "list-commands", "quit", "exit", "ignore_errors"}
# Completes each line of the input; a line of words for each.
DRIVER = """. "$1"
while IFS= read -r COMP_LINE; do
	COMP_POINT=${#COMP_LINE} COMPREPLY=()
	_lnetctl
	echo "${COMPREPLY[*]}"
done
"""


def command_tree():
    sys.dont_write_bytecode = True
    loader = importlib.machinery.SourceFileLoader("generate", os.path.join(ROOT, "manual/generate"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("generate", loader))
    loader.exec_module(module)
    here = os.getcwd()
    os.chdir(ROOT)
    tree = list(module.command_tree())
    os.chdir(here)
    return tree


def completed(lines, node=""):
    env = dict(os.environ, PATH=BIN + ":" + os.environ["PATH"], LNET_NODE=node)
    done = subprocess.run(["bash", "-c", DRIVER, "bash", os.path.join(ROOT, "packaging/completion.bash")], env=env,
                          input="".join(line + "\n" for line in lines), text=True, capture_output=True, timeout=120)
    equal("no words on stderr", done.stderr, "")
    answers = [set(line.split()) for line in done.stdout.split("\n")[:-1]]
    check("an answer per line", len(answers) == len(lines), (len(answers), len(lines)))
    return dict(zip(lines, answers))


def test_completion():
    if not shutil.which("bash"):
        return skip("completion", "no bash")
    tree = command_tree()
    node = configured("completion", "127.0.0.2@tcp")
    node.ok("peer", "add", "--prim_nid", "127.0.0.9@tcp")
    check("there are commands", len(tree) > 40, len(tree))
    groups = {}
    for words, _, _ in tree:
        for depth in range(len(words)):
            groups.setdefault(tuple(words[:depth]), set()).add(words[depth])
    lines = {" ".join(("lnetctl",) + group + ("",)): names for group, names in groups.items()}
    options = {"lnetctl %s --" % " ".join(words): {"--" + opt[0] for opt in opts} for words, _, opts in tree}
    got = completed(list(lines) + list(options), node.name)
    for line, names in lines.items():
        if line == "lnetctl set ":
            check("tunables are completed, too", names < got[line] and "hedge" in got[line], got[line])
        else:
            equal("commands after '%s'" % line, got[line] - BUILTINS, names)
    for line, names in options.items():
        equal("options after '%s'" % line, got[line], names)
    check_values(node)
    node.stop()


def check_values(node):
    os.makedirs(TMP, exist_ok=True)
    wanted = {
        "lnetctl net add --peer-c": {"--peer-credits"},
        "lnetctl --json net sh": {"show"},
        "lnetctl -": {"--node", "--json"},
        "lnetctl --node %s peer del --prim_nid " % node.name: {"127.0.0.9@tcp"},
        "lnetctl peer show --nid 127.0.0.9@t": {"tcp"},
        "lnetctl net show --net t": {"tcp"},
        "lnetctl net set --nid 127.0.0.2": {"127.0.0.2@tcp"},
        "lnetctl net set --nid 127.0.0.2@tcp --link ": {"up", "down"},
        "lnetctl fault drop add --health_error remote_t": {"remote_timeout"},
        "lnetctl drill --rail ": {"0@lo", "127.0.0.2@tcp"},
        "lnetctl drill --peer ": {"127.0.0.9@tcp"},
        "lnetctl fault cut add --at ": {"any", "send", "receive"},
        "lnetctl fault outcome add --outcome network_": {"network_timeout"},
        "lnetctl fault corrupt add --where p": {"pages"},
        "lnetctl set retry": {"retry_count"},
        "lnetctl import packaging/lnet.c": {"packaging/lnet.conf"},
        "lnetctl bogus ": set(),
    }
    here = os.getcwd()
    os.chdir(ROOT)
    got = completed(list(wanted), node.name)
    os.chdir(here)
    for line, names in wanted.items():
        equal("after '%s'" % line, got[line], names)
