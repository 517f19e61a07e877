# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Compares every command with the tables of the reference: names, options, ranges, exit codes, errors, output."""

import json
import os
import pty
import re
import select
import time

from nodes import BIN, Node, as_json, captured, check, configured, equal, error_of, keys, yaml

# ---- names and options ----------------------------------------------------------------------------------------------

GROUPS = {
    "lnet": "configure unconfigure",
    "route": "add del show",
    "net": "add del show set",
    "routing": "show",
    "set": "tiny_buffers small_buffers large_buffers routing numa_range max_interfaces discovery drop_asym_route "
           "retry_count transaction_timeout health_sensitivity recovery_interval router_sensitivity "
           "response_tracking recovery_limit max_recovery_ping_interval",
    "stats": "show reset",
    "debug": "recovery peer nidlist",
    "global": "show",
    "peer": "add del show list set",
    "udsp": "add del show",
    "fault": "drop delay",
    "fault drop": "add del show reset",
    "fault delay": "add del show reset",
}
TOP = ("lnet route net routing set import export stats debug global peer ping discover service-id udsp fault "
       "setup-mrrouting setup-sysctl cpt-of-nid").split()
BUILTIN = "help version list-commands quit exit ignore_errors".split()

FAULT = ("source/s= dest/d= rate/r= interval/i= portal/p= message/m= local_nid/o= rule_type=")
# name, /letter, = for an argument, ? for an optional number
OPTIONS = {
    "lnet configure": "all/a large/l",
    "lnet unconfigure": "",
    "net add": "net/n= if/i= nid= ip2net/p= peer-timeout/t= peer-credits/c= peer-buffer-credits/b= credits/r= cpt/s= "
               "conns-per-peer/m= skip-mr-route-setup/k auth-key/a= traffic-class/T= tos=",
    "net del": "net/n= if/i= nid=",
    "net show": "net/n= verbose/v?",
    "net set": "nid/n= all/a health/t= conns-per-peer/m= net/i= lnd-timeout/l=",
    "peer add": "prim_nid/k= nid/n= non_mr lock_prim/l",
    "peer del": "prim_nid/k= nid/n= force",
    "peer show": "nid/n= verbose/v?",
    "peer list": "",
    "peer set": "nid/n= all/a health/t= state/s=",
    "ping": "source/s= timeout/t=",
    "global show": "",
    "stats show": "",
    "stats reset": "",
    "import": "add/a del/d show/s exec/e old-api/o",
    "export": "backup/b",
    "route add": "net/n= gateway/g= hop-count/c= priority/p=",
    "route del": "net/n= gateway/g=",
    "route show": "net/n= gateway/g= hop-count/c= priority/p= verbose/v",
    "udsp add": "src/s= dst/d= rte/r= priority/p= idx/i=",
    "udsp del": "all/a idx/i=",
    "udsp show": "idx/i=",
    "fault drop add": FAULT + " health_error/e= random/n drop_all/x",
    "fault delay add": FAULT + " latency/l=",
    "fault drop del": "all/a source= dest=",
    "fault delay del": "all/a source= dest=",
    "fault drop show": "",
    "fault drop reset": "",
    "debug recovery": "local/l peer/p",
    "debug peer": "nid=",
    "cpt-of-nid": "",
    "service-id": "",
}
COMPLAINTS = ("unrecognized option", "invalid option", "requires an argument", "is ambiguous", "doesn't allow")


def options_of(command):
    """Returns (name, letter or None, kind) of each option."""
    return [re.fullmatch(r"([\w-]+)(?:/(\w))?([=?]?)", word).groups() for word in OPTIONS[command].split()]


def complains(node, command, *words):
    """Does getopt report an error? The node is not configured, so a correct command line has no effect."""
    rc, out, err = node.ctl(*command.split(), *words, stdin="")
    return [text for text in COMPLAINTS if text in err] and (rc, out, err)


def test_conform_names():
    node = Node("names").start()
    out = node.ok("--list-commands")
    names = [name for line in out.split("\n") for name in [line[i:i + 20].strip() for i in range(0, 80, 20)] if name]
    for name in TOP + BUILTIN:
        check("%s is listed" % name, name in names, names)
    check("four columns of 20", all(len(line) <= 80 for line in out.split("\n")), out)
    for group, subs in GROUPS.items():
        rc, out, err = node.ctl(*group.split())
        equal("%s alone" % group, (rc, err), (234, ""))
        for sub in subs.split():
            check("%s alone has the help of %s" % (group, sub), "\n%s %s: " % (group, sub) in "\n" + out, out)
        rc, out, err = node.ctl(*group.split(), "bogus")
        words = ("there is no tunable 'bogus'; 'lnetctl global show' lists them" if group == "set" else
                 "'bogus' is not a valid command. See 'lnetctl --list-commands'.")
        equal("%s bogus" % group, (rc, out, err), (255, "", "lnetctl: %s\n" % words))
        for sub in subs.split():
            first = sub[:-1]
            if first not in subs.split():
                equal("%s %s: names are not shortened" % (group, first), node.ctl(*group.split(), first)[0], 255)
    for word in BUILTIN:
        for form in (word, "--" + word):
            for before in ([], ["net"], ["fault", "drop"]):
                equal("%s %s" % (" ".join(before), form), node.ctl(*before, form)[::2], (0, ""))
    check("version", re.fullmatch(r"lnetctl \S+\n", node.ok("version")))
    node.stop()


def test_conform_options():
    node = Node("options").start()
    for command in OPTIONS:
        for ask in ("-h", "--help"):
            rc, out, err = node.ctl(*command.split(), ask)
            check("%s %s" % (command, ask), rc == 0 and not err and out.startswith(command + ": "), (rc, out, err))
        shown = re.findall(r"^\t--([\w-]+): .", out, re.M)
        for name, _, _ in options_of(command):
            check("%s --help has %s" % (command, name), name in shown, shown)
        rc, out, err = node.ctl(*command.split(), "--bogus")
        check("%s --bogus" % command, rc == 2 and not out and "'--bogus'" in err, (rc, out, err))
        for name, letter, kind in options_of(command):
            value = ["1"] if kind == "=" else []
            alone = [end for end in range(1, len(name)) if sum(word.startswith(name[:end]) for word in shown) == 1]
            # every command also has the options help and json
            alone = [end for end in alone if not any(word.startswith(name[:end]) for word in ("help", "json"))]
            short = alone[0] if alone else len(name)
            if short > 1 and name[:short - 1] not in shown:
                check("%s --%s is ambiguous" % (command, name[:short - 1]),
                      complains(node, command, "--" + name[:short - 1], *value))
            for word in {name[:short], name}:
                check("%s --%s" % (command, word), not complains(node, command, "--" + word, *value))
            if letter:
                check("%s -%s" % (command, letter), not complains(node, command, "-" + letter, *value))
            if kind == "=":
                check("%s --%s needs a value" % (command, name), complains(node, command, "--" + name))
                check("%s --%s=1" % (command, name), not complains(node, command, "--%s=1" % name))
    node.stop()


# ---- values and exit codes ------------------------------------------------------------------------------------------

YES, NO = 0, 234
ADD = "net add --nid 127.0.0.20@tcp9 "
VALUES = [
    # command, accepted values, {exit code: rejected values}
    (ADD + "--conns-per-peer", "0 1 127 0x7f 010", {2: "128 -1 -2 x 1x 99999999999999999999 ''"}),
    (ADD + "--tos", "-1 0 104 106 255 0xff", {2: "300 256 -2 x"}),
    (ADD + "--peer-timeout", "-1 0 60 180 0x10", {2: "x -2 2147483648"}),
    (ADD + "--peer-credits", "1 8 65535", {2: "65536 0 -1 -5 x"}),
    (ADD + "--peer-buffer-credits", "0 16", {2: "65536 -1 x"}),
    (ADD + "--credits", "1 256 0x100", {2: "1048577 0 -1 x abc"}),
    (ADD + "--cpt", "0 [0] [0-0]", {234: "[1-0] [] [99] x [0 0] 64"}),
    (ADD + "--traffic-class", "low " + "x" * 127, {2: "x" * 128}),
    (ADD + "--auth-key", "1 0x10", {2: "x"}),
    ("net set --nid 127.0.0.2@tcp --health", "0 1000 500", {2: "1001 5000 -1 x"}),
    ("net set --all --health", "1000", {2: "1001 -5 x"}),
    ("net set --nid 127.0.0.2@tcp --conns-per-peer", "0 4 127", {2: "128 x -1 -2"}),
    ("net set --net tcp --lnd-timeout", "0 10 3600 0x10", {2: "-1 x 100000"}),
    ("peer set --nid 10.77.0.3@tcp --health", "0 1000", {2: "1001 x -1"}),
    ("peer set --all --health", "1000", {2: "1001"}),
    ("peer set --nid 10.77.0.3@tcp --state", "9 0x9 1048585", {2: "-1 4294967296 x"}),
    ("net show -v", "0 1 2 3 4 255 256", {2: "x abc -1 99999999999"}),
    ("peer show --verbose", "0 1 2 3 4", {}),
    ("ping 127.0.0.2@tcp --timeout", "1 0 15 200 300ms 0.5", {2: "x 1x 86401"}),
    ("set retry_count", "0 2 255 0x2", {195: "-1 256", 2: "x 1x ''"}),
    ("set transaction_timeout", "1 150 0.3 300ms", {195: "0 100000 -1", 2: "x"}),
    ("set health_sensitivity", "0 100 1000 10%", {195: "1001 -1", 2: "x"}),
    ("set recovery_interval", "1 5", {195: "-1", 2: "x"}),
    ("set router_sensitivity", "0 100", {195: "101 -1", 2: "x"}),
    ("set response_tracking", "0 1 2 3", {234: "4 -1", 2: "x"}),
    ("set recovery_limit", "0 10", {234: "-1", 2: "x"}),
    ("set max_recovery_ping_interval", "1 900", {234: "0 -1", 2: "x"}),
    ("set routing", "1 0", {2: "2 -1 x ''"}),
    ("set tiny_buffers", "-1 0 1 2048 0x10", {234: "1000001", 222: "-2", 2: "x"}),
    ("set small_buffers", "-1 0 1 16384", {222: "-2", 2: "x 1k"}),
    ("set large_buffers", "-1 0 1 1024", {222: "-2", 2: "x"}),
    ("set discovery", "0 1 on off default", {2: "x", 234: "7 -1"}),
    ("set drop_asym_route", "0 1", {2: "x", 234: "2"}),
    ("set numa_range", "0 5 0x10", {2: "x"}),
    ("set max_interfaces", "16 128", {2: "x"}),
    ("fault drop add -s * -d * --rate", "1 2 1000", {2: "x -1 0"}),
    ("fault drop add -s * -d * --interval", "1 5", {2: "x 0 0.5"}),
    ("fault drop add -s * -d * -r 1 --portal", "0 63", {2: "64 -1 x"}),
    ("fault drop add -s * -d * -r 1 --message", "PUT put ACK get Reply", {2: "HELLO x"}),
    ("fault drop add -s * -d * -r 1 --health_error",
     "local_interrupt local_dropped local_aborted local_no_route local_error local_timeout remote_error "
     "remote_dropped remote_timeout network_timeout random", {2: "x none"}),
    ("route add --net tcp5 --gateway 127.0.0.7@tcp --hop", "1 255", {2: "0 256 -1 x"}),
    ("route add --net tcp5 --gateway 127.0.0.7@tcp --hop-count", "2", {2: "0 x"}),
    ("route add --net tcp5 --gateway 127.0.0.7@tcp --priority", "0 7 4294967295", {2: "-1 x 4294967296"}),
    ("route add --gateway 127.0.0.7@tcp --net", "tcp5 o2ib tcp99", {234: "tcp bogus lo"}),
    ("route add --net tcp5 --gateway", "127.0.0.7@tcp 127.0.0.[7-8]@tcp", {234: "0@lo 10.0.0.1@tcp4 127.0.0.2@tcp x"}),
    ("route show --hop", "1 255", {2: "0 256 x"}),
    ("udsp add --src tcp --priority", "0 1 0x10 2147483647", {2: "-1 x 1x 2147483648 99999999999999999999"}),
    ("udsp add --src tcp --idx", "0", {2: "-1 x 2147483648 1 127 2147483647"}),
    ("udsp add --src", "tcp tcp0 tcp[1-3] 10.0.0.*@tcp *@tcp 10.0.[0-3].[1,5-9/2]@o2ib[1] 10.0.0.0/8@tcp fd00::/64@tcp "
     "5@gni tcp99", {234: "bogus 10.0.0.1 10.0.0@tcp 10.0.0.[2-1]@tcp @tcp tcp[] tcp,tcp1 10.0.0.1@bogus", 2: "''"}),
    ("udsp add --priority 5 --dst", "tcp 10.0.0.1@tcp", {234: "bogus"}),
    ("udsp add --src tcp --dst", "tcp 10.0.0.1@tcp", {234: "bogus"}),
    ("udsp add --dst tcp --rte", "tcp 10.0.0.1@tcp", {234: "bogus"}),
    ("udsp del --idx", "-1", {254: "0 5", 2: "-2 x"}),
    ("udsp show --idx", "-1 0 5", {2: "-2 x"}),
    ("fault delay add -s * -d * -r 1 --latency", "1 0.2 300ms", {2: "0 x -1"}),
]

EXITS = [
    # command, exit code, part of stdout, part of stderr
    ("net add --net tcp", 2, "", "at least one interface"),
    ("net add --if lo", 2, "", "missing mandatory parameters in NI config: '"),
    ("net add", 2, "", "missing mandatory parameters in NI config: '"),
    ("net add --net tcp --nid 127.0.0.9@tcp", 2, "", "--net is invalid with --nid option"),
    ("net add --net tcp --if %s" % ("x" * 128), 234, "", "errno: -22"),
    ("net add --nid 127.0.0.2@tcp", 234, "", "errno: -17"),
    ("net add --net bogus --if lo", 234, "", "errno: -2"),
    ("net add --nid 127.0.0.9@tcp --cpt [99]", 234, "", "errno: -34"),
    ("net add --nid 127.0.0.*@tcp", 234, "", "errno: -22"),
    ("net add --nid 127.0.0.9", 234, "", "errno: -22"),
    ("net del --net lo", 234, "", "del:\n-     net:\n      errno: -"),
    ("net del --net tcp --nid 127.0.0.2@tcp", 2, "", "--net is invalid with --nid option"),
    ("net show --net bogus", 234, "", "show:\n-     net:\n      errno: -2\n"),
    ("net show --net tcp8", 234, "", "show:\n-     net:\n      errno: -3\n"),
    ("net set --all --nid 127.0.0.2@tcp --health 1", 2, "", "--all is invalid"),
    ("net set --nid 127.0.0.2@tcp", 2, "", "missing mandatory parameters: 'health', "),
    ("net set --all", 2, "", "missing mandatory parameters: 'health', "),
    ("net set", 2, "", "missing mandatory parameters: 'health', "),
    ("net set --nid 127.0.0.2@tcp --conns-per-peer 128", 2, "",
     "parser:\n    - net:\n          errno: -22\n          descr: \"--conns-per-peer must be 0 to 127, not 128\"\n"),
    ("net set --nid 127.0.0.2@tcp --link dwon", 2, "", "--link must be up or down, not 'dwon'"),
    ("net set --all --link down", 0, "", ""),
    ("net set --all --link up", 0, "", ""),
    ("net show extra", 2, "", "unexpected argument 'extra': net show accepts no arguments"),
    ("peer show 10.77.0.3@tcp", 2, "", "unexpected argument '10.77.0.3@tcp'"),
    ("lnet unconfigure extra", 2, "", "unexpected argument 'extra'"),
    ("set retry_count 3 4", 2, "", "unexpected argument '4': set retry_count accepts at most 1: VALUE"),
    ("set reply_cache_max 3 4", 2, "", "unexpected argument '4'"),
    ("export a b", 2, "", "unexpected argument 'b': export accepts at most 1: FILE"),
    ("ping 127.0.0.2@tcp --count 5", 2, "", "unrecognized option '--count': ping accepts --source, --timeout"),
    ("drain --all", 2, "", "unrecognized option '--all': drain accepts --wait"),
    ("net del --net", 2, "", "option '--net' requires an argument: a net"),
    ("net del --net --if lo", 2, "", "option '--net' requires an argument: a net"),
    ("net show --net tcp --net tcp1", 2, "", "option '--net' is given twice"),
    ("net del --nid 127.0.0.2@tcp --if lo", 2, "", "--if is invalid with --nid option"),
    ("import --del --show", 2, "", "--del is invalid with --show option"),
    ("fault drop add -s * -d * --drop_all --rate 5", 2, "", "--rate is invalid with --drop_all option"),
    ("peer set --all --state 77", 2, "", "--state requires --nid"),
    ("peer set", 2, "", "missing mandatory parameters: 'nid' or 'all'"),
    ("net set --all=1 --health 5", 2, "", "option '--all' doesn't allow an argument"),
    ("net set --nid 127.0.0.77@tcp --health 1", 234, "", "...\nnet:\n    - set:\n          errno: "),
    ("net set --lnd-timeout 5", 2, "", "'net'"),
    ("net set --net ptlf --lnd-timeout 5", 234, "", "set:\n-     net:\n      errno: -22\n"),
    ("peer add", 2, "", "missing mandatory parameters: 'prim_nid'"),
    ("peer add --nid 10.77.0.3@tcp", 2, "", "prim_nid"),
    ("peer add --prim_nid foobar", 234, "", "add:\n-     peer:\n      errno: -22\n"),
    ("peer add --prim_nid 10.77.0.4@tcp --nid 10.[0-9].0.[0-99]@tcp", 234, "", "more NIDs than allowed"),
    ("peer add --prim_nid 10.77.0.4@tcp --nid 10.77.0.[5-4]@tcp", 234, "", "errno: -22"),
    ("peer add --prim_nid 10.77.0.4@tcp --nid 10.77.0.[5@tcp", 234, "", "errno: -22"),
    ("peer add --prim_nid 10.77.0.3@tcp --nid 10.77.0.3@tcp,10.77.1.3@tcp", 0, "", ""),
    ("peer del --nid 10.77.0.3@tcp", 2, "", "prim_nid"),
    ("peer del --prim_nid 10.77.0.99@tcp", 234, "", "del:\n-     peer:\n      errno: -2\n"),
    ("peer del --prim_nid 10.77.1.3@tcp", 234, "", "del:\n-     peer:\n      errno: -19\n"),
    ("peer show --nid 10.77.0.99@tcp", 234, "", "show:\n-     peer:\n      errno: -2\n"),
    ("peer set --nid 10.77.0.99@tcp --health 5", 234, "", "...\nnet:\n    - set:\n"),
    ("ping", 2, "", "Missing nid argument"),
    ("ping 127.0.0.2", 234, "", "manage:\n-     ping:\n      errno: -22\n"),
    ("ping --source 127.0.0.99@tcp 127.0.0.2@tcp", 255, "manage:\n- ping:\n  errno: -22\n", ""),
    ("route add --net bogus --gateway 127.0.0.7@tcp", 234, "", "errno: -6\n"),
    ("net add --ip2net tcp8(lo)", 234, "", "errno: -2\n"),
    ("ping 12345-127.0.0.2@tcp", 0, "\n  - nid: 12345-127.0.0.2@tcp\n", ""),
    ("ping localhost@gni --timeout 1", 234, "", "errno: -22"),
    ("set", 234, "set retry_count: ", ""),
    ("set retry_count", 2, "", "Missing value argument: set retry_count VALUE"),
    ("set bogus 1", 255, "", "there is no tunable 'bogus'; 'lnetctl global show' lists them"),
    ("set retrycount 1", 255, "", "there is no tunable 'retrycount' (did you mean 'retry_count'?); "),
    ("set lnd_timeout 5", 2, "", "lnd_timeout cannot be set: it is derived from transaction_timeout"),
    ("set tiny_buffers default", 0, "", ""),
    ("set transaction_timeout 5 s", 2, "", "unexpected argument 's'"),
    ("set response_tracking 4", 234, "",
     "add:\n    - response_tracking:\n          errno: -22\n          descr: \"Valid values are: 0, 1, 2, or 3\"\n"),
    ("set retry_count x", 2, "",
     "parser:\n    - set:\n          errno: -1\n          descr: \"cannot parse retry_count value: retry_count must "
     "be 0 to 255, not 'x'\"\n"),
    ("set large_buffers -5", 222, "",
     "add:\n    - buf:\n          errno: -34\n          descr: \"tiny, small and large must be >= 0\"\n"),
    ("set routing 2", 2, "", "parser:\n    - set:\n          errno: -1\n          descr: \"cannot parse routing value: "
     "it must be 0, 1, on, off or 'default' (off), not '2'\"\n"),
    ("set retry_count -1", 195, "", "cannot configure retry count: Invalid argument: "),
    ("fault drop add --source *", 2, "", "source , dest"),
    ("fault drop add -s * -d *", 2, "", "exactly one"),
    ("fault drop add -s * -d * -r 1 -i 1", 2, "", "--rate is invalid with --interval option"),
    ("fault delay add -s * -d * -r 1", 2, "", "latency"),
    ("fault drop add -s * -d * -r 2 --random", 234, "", "'random' needs an interval"),
    ("fault delay add -s * -d * -r 2 -l 1 -o 127.0.0.2@tcp", 234, "", "a delay rule cannot have 'local_nid'"),
    ("fault drop add -s * -d * -r 2 -m ACK -p 5", 234, "", "'portal' needs 'message' PUT or GET"),
    ("fault drop del", 2, "", "source , dest"),
    ("fault drop del --all", 254, "", "failed to delete drop rule: "),
    ("fault delay del -s 1.1.1.1@tcp -d *", 254, "", "failed to delete delay rule: "),
    ("fault drop reset", 0, "", ""),
    ("fault drop reset extra", 2, "", "unexpected argument 'extra'"),
    ("fault drop show", 0, "", ""),
    ("udsp add", 2, "", "missing mandatory parameters: 'src', 'dst' or 'rte'"),
    ("udsp add --priority 3", 2, "", "missing mandatory parameters: 'src', "),
    ("udsp add --src tcp --rte tcp", 234, "",
     "add:\n    - udsp:\n          errno: -22\n          descr: \"'rte' needs"),
    ("udsp add --src tcp --dst tcp --rte tcp", 234, "", "'rte' needs 'dst'"),
    ("udsp add --rte tcp", 234, "", "'rte' needs 'dst'"),
    ("udsp add --src tcp --dst tcp --priority 0", 234, "", "a priority needs either 'src' or 'dst', not both"),
    ("udsp add --src tcp", 0, "", ""),
    ("udsp add --src tcp", 142, "",
     "add:\n    - udsp:\n          errno: -114\n          descr: \"this UDSP rule already exists"),
    ("udsp add --src tcp0 --prio 7", 0, "", ""),
    ("udsp show", 0, "udsp:\n    - idx: 0\n      src: tcp0\n      action:\n          priority: 7\n", ""),
    ("udsp add --src *@tcp --dst 10.0.0.7@tcp --idx 0", 0, "", ""),
    ("udsp show --idx 0", 0, "udsp:\n    - idx: 0\n      src: '*@tcp'\n      dst: 10.0.0.7@tcp\n", ""),
    ("udsp show --idx 1", 0, "udsp:\n    - idx: 1\n      src: tcp0\n", ""),
    ("udsp del --idx 2", 254, "",
     "del:\n    - udsp:\n          errno: -2\n          descr: \"UDSP rule with index 2 not found"),
    ("udsp del", 2, "", "missing mandatory parameters: 'all' or 'idx'"),
    ("udsp del --all --idx 0", 2, "", "--all is invalid with --idx option"),
    ("udsp del --idx 0", 0, "", ""),
    ("udsp del --idx -1", 0, "", ""),
    ("udsp del --all", 0, "", ""),
    ("udsp show", 0, "", ""),
    ("debug recovery", 2, "", "'local' or 'peer'"),
    ("debug recovery --local", 0, "", ""),
    ("debug recovery -p", 0, "", ""),
    ("debug peer", 2, "", "'nid'"),
    ("debug peer --nid 10.77.0.3@tcp", 0, "", ""),
    ("debug peer --prim_nid 10.77.0.3@tcp", 0, "", ""),
    ("debug peer --nid 10.77.0.99@tcp", 234, "", "errno: -2"),
    ("debug nidlist", 2, "", "Missing pattern [nid] argument"),
    ("debug nidlist 10.77.[0-3].*@tcp 10.77.2.9@tcp", 0,
     "nidlist parsed to: 10.77.[0-3].*@tcp\n10.77.2.9@tcp matches nidlist 10.77.[0-3].*@tcp\n", ""),
    ("debug nidlist 10.0.0.0/8@tcp 11.0.0.1@tcp", 0, "11.0.0.1@tcp does not match nidlist 10.0.0.0/8@tcp\n", ""),
    ("debug nidlist foo", 234, "", "cannot parse nidlist 'foo'"),
    ("service-id", 0, "service_id:\n    value: 0xdb03060100000000\n", ""),
    ("discover", 2, "", "Missing nid argument"),
    ("discover --force", 2, "", "Missing nid argument"),
    ("discover nonsense", 234, "", "errno: -22"),
    ("discover *@tcp", 234, "", "errno: -22"),
    ("discover 127.0.0.2@tcp", 0, "discover:\n- primary nid: 127.0.0.2@tcp\n  Multi-Rail: true\n  peer_ni:\n"
     "  - nid: 127.0.0.2@tcp\n", ""),
    ("discover --forc 0@lo", 0, "discover:\n- primary nid: 127.0.0.2@tcp\n", ""),
    ("discover 10.9.9.9@o2ib", 255, "manage:\n- discover:\n  errno: -113\n  descr: ! 'failed to discover "
     "10.9.9.9@o2ib: No route to host'\n", ""),
    ("discover -f 0@lo,10.9.9.9@o2ib", 255, "discover:\n- primary nid: 127.0.0.2@tcp\n", ""),
    ("lnet configure", 0, "", ""),
    ("lnet configure --large", 0, "", ""),
    ("stats reset", 0, "", ""),
    ("route add", 2, "", "missing mandatory parameters:'net , gateway'"),
    ("route add --net tcp5", 2, "", "missing mandatory parameters:'gateway'"),
    ("route del --gateway 10.0.0.1@tcp", 2, "", "missing mandatory parameters:'net'"),
    ("route show", 0, "", ""),
    ("route add --net tcp5 --gateway 127.0.0.7@tcp --hop 2", 0, "", ""),
    ("route add --net tcp5 --gateway 127.0.0.7@tcp", 234, "", "errno: -17"),
    ("route add --net tcp5 --gateway 127.0.0.7@tcp7", 234, "", "errno: -113"),
    ("route show --net tcp5", 0, "route:\n-     net: tcp5\n      gateway: 127.0.0.7@tcp\n", ""),
    ("route del --net tcp5 --gateway 127.0.0.9@tcp", 234, "", "errno: -2"),
    ("route del --net tcp5 --gateway 127.0.0.7@tcp", 0, "", ""),
]


def undo(node, line):
    if line.startswith("route add"):
        for item in re.findall(r"net: (\S+)\n\s+gateway: (\S+)", node.ok("route", "show")):
            node.ctl("route", "del", "--net", item[0], "--gateway", item[1])
    if line.startswith("udsp add"):
        node.ctl("udsp", "del", "--all")
    if line.startswith("net add"):
        node.ctl("net", "del", "--net", "tcp9")
    for kind in ("drop", "delay"):
        if line.startswith("fault %s" % kind):
            node.ctl("fault", kind, "del", "--all")


def test_conform_values():
    node = configured("values", "127.0.0.2@tcp")
    node.ok("peer", "add", "--prim_nid", "10.77.0.3@tcp")
    for line, good, bad in VALUES:
        rows = [(value, 0) for value in good.split()]
        rows += [(value, rc) for rc, values in bad.items() for value in re.findall(r"'[^']*'|\[[^]]*\]|\S+", values)]
        for value, rc in rows:
            value = value.strip("'")
            got = node.ctl(*line.split(), value)
            check("%s %s" % (line, value), got[0] == rc and (rc == 0) == (not got[2]), "want %d, got %r" % (rc, got))
            undo(node, line)
    node.stop()


def test_conform_exits():
    node = configured("exits", "127.0.0.2@tcp")
    node.ok("peer", "add", "--prim_nid", "10.77.0.3@tcp", "--nid", "10.77.1.3@tcp")
    for line, rc, out, err in EXITS:
        got = node.ctl(*line.split())
        check(line, got[0] == rc and out in got[1] and err in got[2] and (out or not got[1]) and (err or not got[2]),
              "want %r, got %r" % ((rc, out, err), got))
        if yaml and err and got[2].count("\n") > 3:
            parts = got[2].split("\n...\n")
            check("%s: the error is YAML" % line, all(isinstance(yaml.safe_load(part or "{}"), dict) for part in parts))
    equal("a file that is absent", node.ctl("import", "/nowhere/x"),
          (254, "", "yaml:\n    - builder:\n          errno: -1\n          descr: cannot open '/nowhere/x': "
           "No such file or directory\n"))
    node.ok("net", "add", "--ip2net", "tcp8(lo) 10.99.*.*; tcp9(lo) 127.0.[0-1].1 # ours\ntcp9(nosuch0) *.*.*.*")
    equal("rules", [net["net type"] for net in node.show("net", "show")["net"]], ["lo", "tcp", "tcp9"])
    rc, _, err = node.ctl("net", "add", "--ip2net", "tcp8(lo) 10.99.*.*")
    check("no rule matches", rc == 234 and error_of(err) == ("add", "net", -2, "no matching rule: no address of this "
          "node matches 'ip2net'"), (rc, err))
    node.stop()


# ---- output ---------------------------------------------------------------------------------------------------------

SHOWS = ["net show", "net show -v 4", "net show --net tcp", "peer show", "peer show -v 4", "peer list", "global show",
         "stats show", "udsp show", "fault drop show", "fault delay show", "debug recovery --local",
         "debug recovery --peer",
         "ping 127.0.0.2@tcp", "ping --timeout 1 127.0.0.66@tcp", "cpt-of-nid 10.0.0.1@tcp 10.0.0.2@tcp", "service-id",
         "node show"]
STAT = ["send_count", "recv_count", "drop_count"] + [
    "%s_%s" % (what, rest) for what in ("put_egress", "get_rtt", "put_ack")
    for rest in ("samples", "min_nsec", "max_nsec", "avg_nsec")]
TYPES = ["put", "get", "reply", "ack", "hello"]
MESSAGES = {"sent_stats": TYPES, "received_stats": TYPES, "dropped_stats": TYPES}
UDSP = {"udsp info": ["net priority", "nid priority"]}


def net_keys(level, lo):
    """The keys that an interface has at @level, in order, with the keys of each mapping."""
    ni = {"nid": None, "status": None}
    if not lo:
        ni["interfaces"] = ["0"]
    if level < 1:
        return ni
    ni["statistics"] = STAT
    if level >= 4:
        ni.update(UDSP)
    if level >= 2:
        ni.update(MESSAGES)
        ni["health stats"] = ["fatal_error", "health value", "interrupts", "dropped", "aborted", "no route", "timeouts",
                              "error", "ping_count", "next_ping"]
    ni["tunables"] = ["peer_timeout", "peer_credits", "peer_buffer_credits", "credits"]
    if not lo:
        ni["lnd tunables"] = ["conns_per_peer", "timeout", "tos"]
    ni.update({"dev cpt": None, "CPT": None})
    return ni


def peer_keys(level):
    pni = {"nid": None}
    if level >= 4:
        pni.update(UDSP)
    pni["state"] = None
    if level >= 1:
        pni.update(dict.fromkeys(["max_ni_tx_credits", "available_tx_credits", "min_tx_credits", "tx_q_num_of_buf",
                                  "available_rtr_credits", "min_rtr_credits", "refcount"]))
        pni["statistics"] = STAT
    if level >= 2:
        pni.update(MESSAGES)
        pni["health stats"] = ["health value", "dropped", "timeout", "error", "network timeout", "ping_count",
                               "next_ping"]
    return pni


def at_rest(value):
    """Masks numbers, and the reasons of failed pings: these change between two commands."""
    if isinstance(value, dict):
        return {key: at_rest(val) for key, val in value.items() if key != "descr"}
    if isinstance(value, list):
        return [at_rest(val) for val in value]
    return value if isinstance(value, (str, bool)) else 0


def skeleton(mapping):
    return {key: list(val) if isinstance(val, dict) else None for key, val in mapping.items()}


def same_shape(what, got, want):
    got = skeleton(got)
    equal(what, json.dumps(got), json.dumps(want))


def test_conform_shows():
    node = configured("levels", "127.0.0.2@tcp", "127.0.0.3@tcp1")
    node.ok("peer", "add", "--prim_nid", "10.77.0.3@tcp", "--nid", "10.77.1.3@tcp1")
    for level in range(5):
        nets = json.loads(node.ok("net", "show", "-v", str(level), "--json"))["net"]
        equal("nets at %d" % level, [net["net type"] for net in nets], ["lo", "tcp", "tcp1"])
        for net in nets:
            equal("a net at %d" % level, list(net), ["net type", "local NI(s)"])
            for ni in net["local NI(s)"]:
                same_shape("%s at %d" % (ni["nid"], level), ni, net_keys(level, net["net type"] == "lo"))
        for peer in json.loads(node.ok("peer", "show", "-v", str(level), "--json"))["peer"]:
            equal("a peer at %d" % level, list(peer),
                  ["primary nid", "Multi-Rail"] + ["peer state"] * (level >= 3) + ["peer ni"])
            for pni in peer["peer ni"]:
                same_shape("%s at %d" % (pni["nid"], level), pni, peer_keys(level))
    text = node.ok("net", "show", "-v", "4")
    check("CPT is a quoted list", re.search(r'^ {12}CPT: "\[[\d,]+\]"$', text, re.M), text)
    node.ok("fault", "drop", "add", "-s", "*@tcp", "-d", "*", "-r", "2", "-p", "5", "-m", "PUT")
    node.ok("fault", "delay", "add", "-s", "*", "-d", "*", "-i", "2", "-l", "3")
    node.ok("udsp", "add", "--src", "tcp", "--priority", "2")
    node.ok("udsp", "add", "--dst", "tcp", "--rte", "10.0.0.[1-3]@tcp1")
    node.ok("net", "set", "--nid", "127.0.0.3@tcp1", "--health", "400")
    check("recovery", node.ok("debug", "recovery", "-l").startswith("Local NI recovery:\n      nid-0: 127.0.0.3@"))
    rule = ["rule_type", "fa_src", "fa_dst", "fa_ptl_mask", "fa_msg_mask"]
    counts = ["fs_count", "fs_put", "fs_ack", "fs_get", "fs_reply"]
    for kind, own in (("drop", ["da_rate", "da_interval", "ds_dropped"]),
                      ("delay", ["la_rate", "la_interval", "la_latency", "ls_delayed"])):
        got = list(json.loads(node.ok("fault", kind, "show", "--json"))["fault"][0])
        equal("a %s rule begins as stock's" % kind, got[:len(rule + own + counts)], rule + own + counts)
    for line in SHOWS:
        rc, text, err = node.ctl(*line.split())
        for form in (["--json"] + line.split(), line.split() + ["--json"]):
            also, out, more = node.ctl(*form)
            equal("%s" % form, (also, more), (rc, err))
            doc = json.loads(out)
            if yaml:
                equal("%s: JSON as YAML" % form, at_rest(as_json(yaml.safe_load(text) or {})), at_rest(doc))
    node.stop()


SAMPLES = [
    # command, capture of stock: our output must begin with the keys of the capture
    ("global show", "33-global-show"), ("stats show", "34-stats-show"), ("cpt-of-nid 10.77.0.3@tcp", "37-cpt-of-nid"),
    ("debug recovery --local", "28-debug-recovery-local"), ("debug recovery --peer", "29-debug-recovery-peer"),
]


def test_conform_stock():
    """Compares what the node shows and accepts with a stock node."""
    node = configured("stock", "127.0.0.2@tcp", "127.0.0.3@tcp1")
    node.ok("ping", "0@lo")
    shown = json.loads(node.ok("net", "show", "--net", "lo", "-v", "2", "--json"))["net"][0]["local NI(s)"][0]
    equal("health of 0@lo after a ping", shown["health stats"]["health value"], 1000)
    equal("ping 0@lo", re.findall("nid: (.*)", node.ok("ping", "0@lo"))[0], "0@lo")
    for words, why in (("net del --net tcp77", "net 'tcp77' not found"),
                       ("net add --net o2ib --if lo", "no driver for net 'o2ib'")):
        rc, _, err = node.ctl(*words.split())
        check("errno of " + words, rc == 234 and "errno: -22" in err and why in err, (rc, err))
    node.ok("peer", "add", "--prim_nid", "10.77.0.3@tcp", "--nid", "10.77.1.3@tcp5")
    for net in ("tcp5", "tcp6"):
        node.ok("route", "add", "--net", net, "--gateway", "10.77.0.3@tcp", "--hop", "1")
    types = {route["net"]: route["type"] for route in json.loads(node.ok("route", "show", "-v", "--json"))["route"]}
    equal("single-hop: the gateway has an interface on that net", types, {"tcp5": "single-hop", "tcp6": "multi-hop"})
    for value, note in (("3", "small"), ("200", "large"), ("4096", "large")):
        node.ok("set", "max_interfaces", "16")
        equal("max_interfaces %s is replaced" % value, node.ctl("set", "max_interfaces", value),
              (0, "", "note: max_interfaces was set to 128, because %s is too %s\n" % (value, note)))
    equal("too many to count", node.ctl("set", "max_interfaces", "4294967296")[0], 195)
    for command in ("set transaction_timeout 1", "set retry_count 5", "set health_sensitivity 0"):
        equal("tunables are independent: " + command, node.ctl(*command.split()), (0, "", ""))
    shown = json.loads(node.ok("global", "show", "--json"))["global"]
    equal("they stay", [shown[name] for name in ("max_interfaces", "transaction_timeout", "retry_count",
                                                 "health_sensitivity")], [128, 1, 5, 0])
    rows = [line[:-1] for line in node.ok("export").split("\n") if re.match(r"[a-z]\w*:$", line)]
    order = ["net", "route", "peer", "routing", "buffers", "global"]
    equal("sections of an export", [name for name in rows if name in order], [name for name in order if name in rows])
    node.stop()


def test_conform_loopback():
    """As stock: 0@lo has health 0 until this node has sent a message to itself, and 1000 from then on."""
    node = configured("lo", "127.0.0.2@tcp")
    health = lambda: node.show("net", "show", "-v", "2")["net"][0]["local NI(s)"][0]["health stats"]["health value"]
    equal("before", health(), 0)
    node.ok("ping", "0@lo")
    equal("after a ping", health(), 1000)
    node.ok("stats", "reset")
    equal("after a reset of the counters", health(), 1000)
    node.stop()


def test_conform_samples():
    node = configured("samples", "127.0.0.2@tcp")
    for line, name in SAMPLES:
        want = keys(captured(name))
        equal("%s has the keys of %s" % (line, name), keys(node.ok(*line.split()))[:len(want)], want)
    rc, _, err = node.ctl("peer", "del", "--prim_nid", "10.77.0.99@tcp")
    check("peer del of nobody tells why", rc == 234 and error_of(err)[:3] == ("del", "peer", -2), (rc, err))
    rc, _, err = node.ctl("set", "retry_count", "-1")
    check("set of what cannot be", rc == 195 and err.startswith(captured("36-set-bad").rstrip("\"\n")), (rc, err))
    for line in ("stats show", "global show"):
        for name in ("retry_count", "resend_count", "failed_resends", "successful_resends"):
            found = node.ok(*line.split()).count(name)
            check("%s names %s at most once" % (line, name), found <= 1, found)
    node.stop()


def test_conform_peers():
    """A locked primary NID stays until it is deleted with --force. An operator can set the peer state."""
    node = configured("locked", "127.0.0.2@tcp")
    add = ["peer", "add", "--prim_nid", "10.77.0.9@tcp", "--nid", "10.77.[0-1].9@tcp,10.77.2.9@tcp"]
    node.ok(*add, "--lock_prim")

    def peers():
        return [(peer["peer state"], [pni["nid"] for pni in peer["peer ni"]])
                for peer in node.show("peer", "show", "-v", "3").get("peer", [])]
    equal("locked", peers(), [(1048585, ["10.77.0.9@tcp", "10.77.1.9@tcp", "10.77.2.9@tcp"])])
    node.ok("peer", "del", "--prim_nid", "10.77.0.9@tcp", "--nid", "10.77.1.9@tcp")
    equal("others go", peers(), [(1048585, ["10.77.0.9@tcp", "10.77.2.9@tcp"])])
    node.ok("peer", "del", "--prim_nid", "10.77.0.9@tcp")
    equal("the primary stays", peers(), [(1048585, ["10.77.0.9@tcp"])])
    node.ok(*add)
    node.ok("peer", "del", "--prim_nid", "10.77.0.9@tcp", "--nid", "10.77.0.9@tcp,10.77.1.9@tcp")
    equal("named or not", peers(), [(1048585, ["10.77.0.9@tcp"])])
    node.ok("peer", "del", "--prim_nid", "10.77.0.9@tcp", "--force")
    equal("by force", peers(), [])
    node.ok(*add)
    for state in (5, 1048585, 9):
        node.ok("peer", "set", "--nid", "10.77.1.9@tcp", "--state", str(state))
        equal("state %d" % state, peers()[0][0], state)
    node.ok("peer", "del", "--prim_nid", "10.77.0.9@tcp")
    equal("not locked any more", peers(), [])
    node.stop()


# ---- the shell ------------------------------------------------------------------------------------------------------

class Terminal:
    """lnetctl at a terminal, with a node that does not exist: only commands that need no node succeed."""

    def __init__(self):
        self.pid, self.fd = pty.fork()
        if not self.pid:
            os.environ["TERM"] = "dumb"
            os.execv(BIN + "/lnetctl", ["lnetctl", "--node", "nobody.there"])
        self.said = ""

    def until(self, text):
        """Returns the output up to @text, or all output of ten seconds."""
        end = time.time() + 10
        while text not in self.said and time.time() < end:
            if select.select([self.fd], [], [], 0.1)[0]:
                try:
                    self.said += os.read(self.fd, 4096).decode()
                except OSError:
                    break
        said, _, self.said = self.said.partition(text)
        return said

    def type(self, keys):
        os.write(self.fd, keys.encode())


def test_conform_shell():
    """At a terminal, lnetctl prints a prompt, completes names, and has a history of lines."""
    term = Terminal()
    equal("a prompt", term.until("lnetctl > "), "")
    term.type("serv\t\n")
    check("a name completes itself", "service_id:\r\n    value: 0x" in term.until("lnetctl > "))
    term.type("help fault\n")
    term.until("lnetctl > ")
    term.type("\x1b[A\x1b[A\n")
    check("the line before the last comes back", "service_id:\r\n    value: 0x" in term.until("lnetctl > "))
    term.type("help fault d\t")
    term.type("\x15fault drop a\t--so\t")
    check("options do, too", "fault drop add" in term.until("--source "), term.said)
    term.type("\x15version\nquit\n")
    check("a line can be wiped", re.search(r"lnetctl \d", term.until("quit\r\n")))
    equal("it ends well", os.waitpid(term.pid, 0)[1], 0)
