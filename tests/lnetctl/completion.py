# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""bash and zsh complete exactly the commands and options that the tool's tables have, and values that the node has."""

import importlib.machinery
import importlib.util
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import time

from nodes import BIN, ROOT, TMP, check, configured, equal, skip

BUILTINS = {"help", "version", "list-commands", "quit", "exit", "ignore_errors"}
# Completes each line of the input, and prints the matches of each as one line.
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


# ---- zsh -------------------------------------------------------------------------------------------------------

# The widget `report' prints the matches instead of inserting one. With -A, -O or -D, compadd adds no matches.
ZSHRC = """PROMPT='ready> '
unset zle_bracketed_paste
fpath=(%s $fpath)
autoload -Uz compinit && compinit -u -D
typeset -ga matches
compadd() {
	local -a added
	case " $* " in *' -'[AOD]' '*) builtin compadd "$@"; return ;; esac
	builtin compadd -O added "$@"
	matches+=($added)
	return $(( ! $#added ))
}
report() {
	matches=()
	_main_complete
	print -r -- "<<matches ${(j: :)${(u)matches}}>>"
	compstate[insert]= compstate[list]=
}
zle -C report complete-word report
bindkey -e
bindkey '^I' report
"""


class Zsh:
    """An interactive zsh on a terminal."""

    def __init__(self, node):
        home = os.path.join(TMP, "zsh")
        os.makedirs(home, exist_ok=True)
        shutil.copy(os.path.join(ROOT, "packaging/completion.zsh"), os.path.join(home, "_lnet"))
        with open(os.path.join(home, ".zshrc"), "w") as file:
            file.write(ZSHRC % home)
        env = dict(os.environ, PATH=BIN + ":" + os.environ["PATH"], ZDOTDIR=home, LNET_NODE=node, TERM="vt100",
                   LNET_COMPLETION=os.path.join(ROOT, "packaging/completion.bash"))
        self.process, self.terminal = pty.fork()
        if not self.process:
            os.chdir(ROOT)
            os.execvpe("zsh", ["zsh", "-d", "-i"], env)
        self.hear("ready> ")

    def hear(self, end, seconds=20):
        heard, until = "", time.time() + seconds
        while end not in heard and time.time() < until:
            if select.select([self.terminal], [], [], 0.1)[0]:
                try:
                    heard += os.read(self.terminal, 65536).decode("utf-8", "replace")
                except OSError:
                    break
        return heard

    def completed(self, line):
        """The words that zsh offers after LINE; None: zsh printed no list."""
        os.write(self.terminal, line.encode() + b"\t")
        match = re.search(r"<<matches (.*?)>>", self.hear(">>"))
        os.write(self.terminal, b"\x15")
        return set(match.group(1).split()) if match else None

    def stop(self):
        os.kill(self.process, signal.SIGKILL)
        os.waitpid(self.process, 0)
        os.close(self.terminal)


def options_of(program):
    done = subprocess.run([os.path.join(BIN, program), "--help"], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL)
    return set(re.findall(r"--[a-z][a-z0-9_-]*", done.stdout))


def test_completion_zsh():
    if not shutil.which("zsh"):
        return skip("completion", "no zsh")
    node = configured("completion-zsh", "127.0.0.2@tcp")
    node.ok("peer", "add", "--prim_nid", "127.0.0.9@tcp")
    wanted = {
        "lnetctl net ": {"add", "del", "set", "show"} | BUILTINS,
        "lnetctl net add --peer-c": {"--peer-credits"},
        "lnetctl --node %s peer del --prim_nid " % node.name: {"127.0.0.9@tcp"},
        "lnetctl --node %s" % node.name[:-1]: {node.name},
        "lnetctl drain ": {"0@lo", "127.0.0.2@tcp"},
        "lnetctl drain 127.0.0.2@t": {"127.0.0.2@tcp"},
        "lnetctl undrain 127": {"127.0.0.2@tcp"},
        "lnetctl explain ": {"127.0.0.9@tcp"},
        "lnetctl peer show --nid 127.0.0.9@t": {"127.0.0.9@tcp"},
        "lnetctl net set --nid 127.0.0.2@tcp --link ": {"up", "down"},
        "lnetctl set retry": {"retry_count"},
        "lnetctl import packaging/lnet.c": {"lnet.conf"},
    }
    zsh = Zsh(node.name)
    for line, names in wanted.items():
        equal("zsh after '%s'" % line, zsh.completed(line), names)
    for program in ("lnetd", "lnetperf", "lnetsim", "lst", "nettest"):
        wants = {name for name in options_of(program) if name.startswith("--")}
        equal("zsh: options of %s" % program, zsh.completed(program + " --"), wants)
    check("zsh: commands of lst", {"new_session", "stat"} <= (zsh.completed("lst ") or set()))
    zsh.stop()
    node.stop()
