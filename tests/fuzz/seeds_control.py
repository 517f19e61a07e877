# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Seeds of fuzz_ctlreq and fuzz_ctlreply: requests and replies of nodes, as attributes."""

import glob
import os
import struct

from seedlib import TESTS, packets, seed, u16, u32, u64


def attr(kind, data):
    return (u16(len(data) + 4) + u16(kind) + data).ljust((len(data) + 7) & ~3, b"\0")


def scalar(value):
    return attr(6, u64(value)) if isinstance(value, int) else attr(5, value.encode() + b"\0")


def value(val):
    return attr(0x8001, req(val)) if isinstance(val, (dict, list)) else scalar(val)


def req(doc):
    """A mapping as keys and values, a sequence as its items."""
    if isinstance(doc, dict):
        return b"".join(scalar(name) + value(val) for name, val in doc.items())
    return b"".join(value(val) for val in doc)


DUMP, CREATE, EXCL, REPLACE, APPEND, STAGED = 0x300, 0x400, 0x200, 0x100, 0x800, 0x4000
CONFIGURE, NETS, PEERS, ROUTES, CMD_PING, CPT, UDSP, RECOV, FAULT, STATS, TUNABLES, RESET, NODE, TRANSACTION, RULES = \
    1, 2, 3, 4, 6, 7, 9, 11, 12, 16, 64, 65, 66, 67, 69


def ask(cmd, flags, doc=None, version=5):
    data = b"" if doc is None else value(doc) if isinstance(doc, list) else req(doc)
    return bytes([cmd, version]) + u16(flags) + u16(len(data)) + data


def ctlreq(name, *asks):
    seed("ctlreq", name, b"\3" + b"".join(asks))


def transactions(net, peer, show):
    """Transactions that are begun, filled, and carried out or not; interfaces that wait, are shown and deleted."""
    later = {"net type": "tcp3", "local NI(s)": [{"interfaces": {"0": "later0"}}, {
        "nid": "10.3.3.3@tcp3", "interfaces": {"0": "later1"}, "CPT": [0]}]}
    begin, commit = ask(TRANSACTION, CREATE), ask(TRANSACTION, REPLACE)
    add = ask(NETS, CREATE | STAGED | APPEND, [net]), ask(NETS, CREATE | STAGED | APPEND, [later])
    rest = (ask(PEERS, CREATE | STAGED, [peer]), ask(TUNABLES, REPLACE | STAGED, {"retry_count": 3}),
            ask(FAULT, CREATE | STAGED, {"rule_type": 0, "fa_src": "<?>", "fa_dst": "<?>", "da_rate": 3}),
            ask(FAULT, STAGED, {"rule_type": 5, "fa_src": "<?>", "fa_dst": "<?>"}))
    ctlreq("transaction", begin, *add, *rest[:3], commit, *show)
    ctlreq("transaction-waiting", begin, add[1], commit, show[1], ask(NETS, DUMP | 0x20, version=1),
           ask(NETS, DUMP, [{"net type": "tcp3"}]), begin, add[1], commit, ask(NETS, 0, [later]), show[0])
    ctlreq("transaction-waiting-net", begin, add[1], commit, ask(NETS, 0, [{"net type": "tcp3"}]), show[0])
    ctlreq("transaction-undone", begin, *add, ask(PEERS, STAGED, [{"primary nid": "10.0.0.2@tcp"}]), *rest[:2],
           ask(PEERS, CREATE | STAGED, [{"primary nid": "10.0.0.1@tcp"}]), commit, *show)
    ctlreq("transaction-forgotten", begin, *rest, ask(TRANSACTION, 0), commit)
    ctlreq("transaction-never", *rest, commit, begin, ask(NETS, REPLACE | STAGED, [net]), ask(CONFIGURE, STAGED),
           ask(NETS, CREATE | STAGED, [{"net type": "gni", "local NI(s)": [{"nid": "1@gni"}]}]),
           ask(PEERS, CREATE | STAGED, [{"primary nid": "no"}]), ask(FAULT, CREATE | STAGED, {"rule_type": 2}))


def policies(net, peer, show):
    """Policies of all kinds, added, rejected, shown and deleted, alone and in a transaction."""
    rules = ({"idx": 0, "src": "tcp[0-1]", "priority": 3}, {"src": "10.0.0.1@tcp", "action": {"priority": 5}},
             {"dst": "tcp1", "priority": 0}, {"idx": 1, "dst": "10.0.[0-3].*@tcp", "priority": 2},
             {"src": "*@tcp", "dst": "10.0.0.0/8@tcp"}, {"dst": "10.1.0.9@tcp1", "rte": "10.0.0.[2,4-9/2]@tcp"})
    wrong = ({}, {"rte": "tcp"}, {"src": "tcp"}, {"src": "tcp", "dst": "tcp", "priority": 1},
             {"src": "no", "priority": 1}, {"src": "tcp", "priority": -1}, {"src": "tcp", "priority": "x"},
             {"idx": -2, "src": "tcp", "priority": 1},
             {"src": "1" * 200 + "@tcp", "priority": 1}, {"src": [1], "priority": [2]})
    more = [{"src": "tcp%d" % i, "priority": i} for i in range(130)]
    add = [ask(UDSP, CREATE, [rule]) for rule in rules]
    shown = [ask(UDSP, DUMP)] + [ask(UDSP, DUMP, [{"idx": idx}]) for idx in (1, -1, -9)]
    ctlreq("udsp", ask(NETS, CREATE, [net]), ask(PEERS, CREATE, [peer]), *add, *add, *shown, *show,
           *[ask(UDSP, 0, [{"idx": idx}]) for idx in (0, 99, 1, -1)], ask(UDSP, 0, [{}]),
           ask(UDSP, REPLACE, [rules[0]]))
    ctlreq("udsp-wrong", *[ask(UDSP, CREATE, [rule]) for rule in wrong], ask(UDSP, CREATE), ask(UDSP, 0, [{"idx": -5}]))
    ctlreq("udsp-many", *[ask(UDSP, CREATE, [rule]) for rule in more], shown[0])
    ctlreq("udsp-staged", ask(TRANSACTION, CREATE), ask(UDSP, CREATE | STAGED, [rules[0]]),
           ask(UDSP, STAGED, [{"idx": 0}]), ask(UDSP, CREATE | STAGED, [rules[2]]),
           ask(UDSP, CREATE | STAGED, [wrong[1]]), ask(TRANSACTION, REPLACE), *shown)


def routes(show):
    """Routes, added, rejected, shown by filters and deleted, alone and in a transaction."""
    good = [{"net": "tcp2", "gateway": "10.0.0.3@tcp"},
            {"net": "tcp3", "gateway": "10.0.0.4@tcp", "hop": 2, "priority": 7}]
    wrong = ({}, {"net": "tcp2"}, {"net": "no", "gateway": "10.0.0.3@tcp"}, {"net": [1], "gateway": "10.0.0.3@tcp"},
             {"net": "tcp2", "gateway": "no"}, {"net": "tcp", "gateway": "10.0.0.3@tcp"},
             {"net": "tcp2", "gateway": "10.9.0.3@tcp9"}, {"net": "tcp2", "gateway": "0@lo"},
             {"net": "tcp2", "gateway": "10.0.0.5@tcp", "hop": 0},
             {"net": "tcp2", "gateway": "10.0.0.5@tcp", "hop": 300},
             {"net": "tcp2", "gateway": "10.0.0.5@tcp", "priority": -1})
    shown = [ask(ROUTES, DUMP, version=v) for v in (0, 1)] + [
        ask(ROUTES, DUMP, [item], version=1) for item in
        (good[1], {"net": "tcp2"}, {"gateway": "10.0.0.4@tcp"}, {"hop": 2}, {"priority": 7}, {"net": "tcp9"},
         {"net": "no"})]
    ctlreq("route", shown[0], ask(ROUTES, CREATE, good), *shown, ask(ROUTES, DUMP | 0x20, version=1),
           ask(ROUTES, CREATE, good),
           ask(NETS, CREATE, [{"net type": "tcp2", "local NI(s)": [{"nid": "10.2.0.1@tcp2"}]}]),
           ask(PEERS, 0, [{"primary nid": "10.0.0.3@tcp"}]), ask(ROUTES, 0, good), ask(ROUTES, 0, good))
    ctlreq("route-gateway", ask(ROUTES, CREATE, good + [{"net": "tcp4", "gateway": "10.0.0.3@tcp"}]),
           *[ask(PEERS, 0, [{"primary nid": item["gateway"]}]) for item in good], *shown)
    ctlreq("route-wrong", *[ask(ROUTES, CREATE, [item]) for item in wrong], ask(ROUTES, CREATE), ask(ROUTES, 0, [{}]),
           ask(ROUTES, REPLACE, good), ask(ROUTES, 0, [{"net": "tcp7", "gateway": "10.0.0.3@tcp"}]))
    ctlreq("route-notify", ask(ROUTES, CREATE, good),
           *[ask(ROUTES, REPLACE, [dict(good[0], **said)]) for said in
             ({"state": "down", "notify_time": 1}, {"state": "up"}, {"state": "away"}, {"notify_time": -1})],
           ask(ROUTES, REPLACE, [{"net": "tcp2", "gateway": "10.9.0.3@tcp9", "state": "up"}]))
    ctlreq("route-undone", ask(ROUTES, CREATE, good), ask(TRANSACTION, CREATE), ask(ROUTES, STAGED, [good[0]]),
           ask(ROUTES, CREATE | STAGED, [{"net": "tcp4", "gateway": "10.0.0.3@tcp"}]),
           ask(ROUTES, CREATE | STAGED, [good[1]]), ask(ROUTES, CREATE | STAGED, [wrong[4]]),
           ask(TRANSACTION, REPLACE), shown[1], *show[:2])


def ctl_seeds():
    net = {"net type": "tcp1", "local NI(s)": [{"nid": "10.1.0.1@tcp1", "tunables": {
        "peer_timeout": 100, "peer_credits": 8, "peer_buffer_credits": 0, "credits": 64},
        "lnd tunables": {"conns_per_peer": 2, "tos": 8}, "CPT": [0]}]}
    by_if = {"net type": "tcp2", "local NI(s)": [{"interfaces": {"0": "lo"}, "CPT": "[0]"}]}
    peer = {"primary nid": "10.0.0.9@tcp", "Multi-Rail": 1, "peer ni": [{"nid": "10.1.0.9@tcp1"},
        {"nid": "10.0.0.8@tcp"}]}
    show = [ask(NETS, DUMP, version=v) for v in range(6)]
    ctlreq("net-add-show-del", ask(NETS, CREATE | EXCL, [net]), *show, ask(NETS, 0, [net]))
    ctlreq("net-add-interface", ask(NETS, CREATE | EXCL, [by_if]), ask(NETS, CREATE | EXCL, [by_if]), show[2])
    ctlreq("net-show-filtered", ask(NETS, DUMP, [{"net type": "tcp"}]), ask(NETS, DUMP, [{"net type": "what"}]),
           ask(NETS, DUMP | 0x20, version=1))
    ctlreq("net-set", ask(NETS, REPLACE, [{"net type": "tcp", "local NI(s)": [
        {"nid": "10.0.0.1@tcp", "health stats": {"health value": 5}, "lnd tunables": {"conns_per_peer": 3}}]}]),
        ask(NETS, REPLACE, [{"net type": "tcp", "local NI(s)": [{"nid": "10.0.0.1@tcp", "health stats": {
            "fatal_error": 1}}]}]), show[4])
    for name, num in (("peer_credits", -1), ("credits", "many"), ("conns_per_peer", 9999), ("tos", 300)):
        bad = {"net type": "tcp1", "local NI(s)": [{"nid": "10.1.0.1@tcp1", "tunables": {name: num},
                                                    "lnd tunables": {name: num}}]}
        ctlreq("net-add-bad-" + name, ask(NETS, CREATE | EXCL, [bad]))
    for name, text in (("any", "tcp5(lo) *.*.*.*"),
                       ("two", "tcp5(lo[0]), tcp6 *.*.*.*; tcp5(lo) 127.0.0.*; lo *.*.*.*"),
                       ("first", "tcp7 127.*.*.*"), ("none", "tcp5(lo) 1.2.3.[4-9/2]"), ("bad", "tcp5(lo"),
                       ("gone", "tcp5(no9) *.*.*.*")):
        ctlreq("net-rules-" + name, ask(NETS, CREATE | EXCL, [{"net type": "tcp5", "ip2net": text}]),
               ask(NETS, CREATE | EXCL, [{"ip2net": text}]), show[2])
    single = {"primary nid": "10.0.0.9@tcp", "Multi-Rail": 0}
    ctlreq("peer-further", ask(PEERS, CREATE | EXCL, [dict(peer, **single)]), ask(PEERS, CREATE, [single]),
           *[ask(PEERS, CREATE, [dict(single, **more)]) for more in (peer, {"peer ni": [{"nid": "10.0.0.8@tcp"}]})])
    ctlreq("peer-log", ask(PEERS, CREATE | EXCL, [peer]),
           ask(PEERS, REPLACE, [{"primary nid": "10.0.0.9@tcp", "log": 1}]),
           ask(PEERS, REPLACE, [{"primary nid": "10.1.0.9@tcp1", "log": 1, "peer state": 1 << 40}]),
           ask(PEERS, REPLACE, [{"primary nid": "10.7.0.9@tcp1", "log": 1}]))
    ctlreq("peer-add-show-del", ask(PEERS, CREATE | EXCL, [peer]), *[ask(PEERS, DUMP, version=v) for v in range(6)],
           ask(PEERS, DUMP, [{"primary nid": "10.0.0.9@tcp"}]), ask(PEERS, 0, [peer]),
           ask(PEERS, 0, [{"primary nid": "10.0.0.9@tcp"}]), ask(PEERS, 0, [{"primary nid": "10.0.0.9@tcp"}]))
    transactions(net, peer, show)
    routes(show)
    policies(net, peer, show)
    ctlreq("peer-lock", ask(PEERS, CREATE | EXCL, [dict(peer, **{"primary nid": "10.0.0.7@tcp", "peer ni": []})]),
           ask(PEERS, 0, [{"primary nid": "10.0.0.7@tcp"}]), ask(PEERS, EXCL, [{"primary nid": "10.0.0.7@tcp"}]))
    ctlreq("peer-set", ask(PEERS, REPLACE, [{"primary nid": "10.0.0.2@tcp", "peer ni": [
        {"nid": "10.0.0.2@tcp", "health stats": {"health value": 7}}]}]),
        ask(PEERS, REPLACE, [{"primary nid": "10.0.0.2@tcp", "peer state": 5}]))
    ctlreq("ping", ask(CMD_PING, DUMP, {"timeout": 100, "source": "10.0.0.1@tcp", "nids": ["10.0.0.2@tcp",
        "1.2.3.4@tcp"]}),
           ask(CMD_PING, DUMP, {"nids": ["10.0.0.2@tcp"] * 3}), ask(CMD_PING, DUMP, {"nids": ["none"]}),
           ask(CMD_PING, DUMP), ask(CMD_PING, 0, {"nids": ["10.0.0.2@tcp"]}))
    for name, how in (("discover", CREATE), ("discover-force", CREATE | EXCL)):
        ctlreq(name, ask(CMD_PING, how, {"nids": ["10.0.0.2@tcp", "0@lo", "1.2.3.4@tcp"]}),
               ask(CMD_PING, how, {"nids": ["10.0.0.9@tcp", "10.0.0.9@tcp"]}), ask(CMD_PING, how, {"nids": ["none"]}),
               ask(CMD_PING, how))
    ctlreq("cpt-of-nid", ask(CPT, DUMP, {"nids": ["10.0.0.2@tcp", "...", "fd00::1@tcp"]}), ask(CPT, DUMP))
    ctlreq("recovery", ask(RECOV, DUMP, {"queue_type": 0}), ask(RECOV, DUMP, {"queue_type": 1}), ask(RECOV, DUMP,
        {"queue_type": 9}),
           ask(RECOV, DUMP))
    drop = {"rule_type": 0, "fa_src": "*", "fa_dst": "10.0.0.1@tcp", "fa_local_nid": "*", "fa_ptl_mask": 0,
        "fa_msg_mask": 3,
            "da_rate": 10, "da_interval": 0, "da_health_error_mask": 1, "da_random": 1, "da_drop_all": 0}
    delay = {"rule_type": 4, "fa_src": "*@tcp", "fa_dst": "*", "la_rate": 1, "la_interval": 0, "la_latency": 3}
    for name, rule_of in (("drop", drop), ("delay", delay)):
        base = rule_of["rule_type"]
        ctlreq("fault-" + name, ask(FAULT, CREATE, rule_of), ask(FAULT, CREATE, [rule_of]),
               ask(FAULT, DUMP, {"rule_type": base + 3}), ask(FAULT, DUMP, [{"rule_type": base + 3}]),
               ask(FAULT, 0, dict(rule_of, rule_type=base + 1)), ask(FAULT, 0, {"rule_type": base + 2}),
               ask(FAULT, CREATE, dict(rule_of, fa_src="no")))
    for nr, rule in enumerate((
            {"kind": "drop", "permille": 5, "count": 3, "seed": 7, "name": "a", "at": "send", "from": "1s", "to": "1h",
             "period": "10ms", "duty": 100}, {"kind": "drop", "rate": 2, "source": "10.0.0.1@tcp", "dest": "*@tcp",
             "local_nid": "*", "message": "PUT,ACK", "portal": "0,63"},
            {"kind": "delay", "delay": "5ms", "jitter": "1us", "interval": "2m"},
            {"kind": "reorder", "delay": "0ns", "behind": 2}, {"kind": "corrupt", "where": "pages"},
            {"kind": "partition", "left": "10.0.0.1@tcp,*@tcp1", "right": "*"}, {"kind": "slow", "bandwidth": 5000,
             "burst": 0}, {"kind": "degrade", "loss": 5, "over": "1s"}, {"kind": "outcome", "outcome":
             "local_error,remote_timeout", "when": "posted"})):
        ctlreq("rule-%d" % nr, ask(RULES, CREATE, [rule]), ask(RULES, DUMP), ask(RULES, DUMP | 0x20), ask(RULES, DUMP,
               {"kind": rule["kind"]}), ask(RULES, CREATE, [rule]), ask(RULES, CREATE | STAGED, [rule]), ask(RULES, 0,
               [{"kind": rule["kind"]}]), ask(RULES, 0, [{"id": 1, "name": "a"}]), ask(RULES, DUMP))
    for nr, (kind, key, bad) in enumerate((
            ("drop", "permille", 1001), ("drop", "interval", "5"), ("drop", "interval", "5x"),
            ("drop", "interval", "x"),
            ("drop", "interval", "25h"), ("drop", "interval", "9" * 19 + "ns"), ("drop", "source", "x"),
            ("drop", "message", "HELLO"), ("drop", "portal", "64"), ("drop", "at", "x"), ("drop", "name", "/"),
            ("drop", "delay", "5ms"), ("drop", "x", "y"), ("drop", "rate", [1, 2]), ("delay", "jitter", "5ms"),
            ("drop", "duty", 5), ("drop", "source", "x" * 200), ("drop", "source", "x" * 600), ("drop", "y" * 50, "x"),
            ("outcome", "outcome", "ok"), ("outcome", "when", "before"), ("degrade", "over", "1s"),
            ("partition", "left", ",".join("*" * 9)), ("partition", "left", "x" * 100), ("explode", "rate", 1))):
        ctlreq("rule-bad-%d" % nr, ask(RULES, CREATE, [{"kind": kind, key: bad}]), ask(RULES, 0, [{"kind": kind}]))
    ctlreq("rule-both", ask(RULES, CREATE, [{"kind": "drop", "rate": 2, "permille": 5}]), ask(RULES, CREATE, [
        {"kind": "drop", "from": "5s", "to": "1s"}]), ask(RULES, CREATE, [{"kind": "drop", "portal": "1", "message":
        "ACK"}]), ask(RULES, CREATE, [{"kind": "drop", "rate": 2}, {"rate": 2}]), ask(RULES, CREATE), ask(RULES, 0),
           ask(RULES, REPLACE, [{"kind": "drop"}]), ask(RULES, STAGED, [{"kind": "drop"}]),
           ask(RULES, 0, [{"id": "x"}]),
           ask(RULES, 0, [{"name": "x" * 40}]), ask(RULES, DUMP, {"kind": "x" * 50}))
    ctlreq("global", ask(TUNABLES, REPLACE, {"retry_count": 3, "transaction_timeout": 10}), ask(TUNABLES, DUMP),
           ask(TUNABLES, REPLACE, {"retry_count": "default"}), ask(TUNABLES, REPLACE, {"nothing": 1}),
           ask(TUNABLES, REPLACE, {"retry_count": "x"}), ask(TUNABLES, REPLACE, {"retry_count": -5}),
           ask(TUNABLES, REPLACE, {"transaction_timeout": "0.5"}))
    ctlreq("stats", ask(STATS, DUMP), ask(RESET, 0), ask(NODE, DUMP), ask(ROUTES, DUMP), ask(200, DUMP))
    own, other = "10.0.0.1@tcp", "10.0.0.2@tcp"

    def nis(*elements, **more):
        return [dict({"net type": more.get("net", "tcp"), "local NI(s)": list(elements)})]
    for name, doc in (("lo", nis({"nid": "0@lo"}, net="lo")), ("unknown", nis({"nid": own}, net="what")), ("o2ib", nis(
            {"nid": "1.1.1.1@o2ib"}, net="o2ib")), ("other-net", nis({"nid": "1.1.1.1@tcp5"})), ("twice", nis(
            {"nid": "1.1.1.1@tcp"}, {"nid": "1.1.1.1@tcp"})), ("there", nis({"nid": own})), ("cpt", nis(
            {"nid": "1.1.1.1@tcp", "CPT": [9]})), ("cpts", nis({"nid": "1.1.1.1@tcp", "CPT": []})), ("dots", nis(
            {"nid": "1.1.1.1@tcp", "CPT": [0, "..."]})), ("no-nid", nis({"nothing": 1})), ("health", nis(
            {"nid": own, "health stats": {"health value": 5000}})), ("fatal", nis({"nid": own, "health stats": {
                "fatal_error": 7}})), ("name-long", nis({"interfaces": {"0": "x" * 40}})), ("no-such", nis(
                {"interfaces": {"0": "nosuch0"}})), ("all", nis({"nid": "<?>"})), ("whole", [{"net type": "tcp"}]),
            ("no-type", [{"local NI(s)": []}]), ("ip2net", [{"ip2net": "tcp 10.*.*.*"}]), ("type-list",
                [{"net type": []}]),
            ("many", nis(*[{"nid": "1.1.%d.%d@tcp" % (nr // 200, nr % 200)} for nr in range(300)])),
            ("many-names", nis({"interfaces": {str(nr): "if%d" % nr for nr in range(300)}})), ("absent", nis(
                {"nid": "9.9.9.9@tcp"}))):
        ctlreq("net-%s" % name, *[ask(NETS, flags, doc) for flags in (CREATE, REPLACE, 0)])
    ctlreq("net-empty", ask(NETS, CREATE), ask(NETS, CREATE, {"a": 1}), ask(PEERS, CREATE), ask(PEERS, CREATE,
        {"a": 1}))
    for name, doc in (("own", [{"primary nid": own}]), ("any", [{"primary nid": "<?>"}]), ("lo",
        [{"primary nid": "0@lo"}]),
                      ("none", [{"Multi-Rail": 1}]), ("bad", [{"primary nid": "x"}]), ("mr",
                          [{"primary nid": "5.5.5.5@tcp",
                      "Multi-Rail": 7}]), ("taken", [{"primary nid": "5.5.5.5@tcp", "peer ni": [{"nid": other}]}]),
                      ("absent", [{"primary nid": "9.9.9.9@tcp", "peer ni": [{"nid": "9.9.9.8@tcp"}]}]), ("second", [
                          {"primary nid": "10.0.0.3@tcp"}]), ("health", [{"primary nid": other,
                              "peer ni": [{"nid": other,
                          "health stats": {"health value": 1001}}]}]), ("many", [{"primary nid": "5.5.5.5@tcp",
                              "peer ni": [
                              {"nid": "5.5.6.%d@tcp" % nr} for nr in range(200)]}])):
        ctlreq("peer-%s" % name, *[ask(PEERS, flags, doc) for flags in (CREATE, REPLACE, 0)], ask(PEERS, DUMP, doc))
    ctlreq("peer-show-second", ask(PEERS, DUMP, [{"primary nid": "10.0.0.3@tcp"}], 5), ask(PEERS, DUMP,
        [{"primary nid": 5}]))
    low = [{"net type": "tcp", "local NI(s)": [{"nid": own, "health stats": {"health value": 5}}]}]
    sick = [{"primary nid": other, "peer ni": [{"nid": other, "health stats": {"health value": 7}}]}]
    ctlreq("recovering", ask(NETS, REPLACE, low), ask(PEERS, REPLACE, sick), ask(RECOV, DUMP, {"queue_type": 0}),
           ask(RECOV, DUMP, {"queue_type": 1}), ask(RECOV, DUMP, [{"queue_type": 1}]))
    for name, num in (("da_rate", -1), ("da_interval", 5), ("fa_msg_mask", 99), ("da_random", 2), ("rule_type", 99),
                      ("rule_type", 3), ("da_when", 1), ("da_drop_all", 1)):
        ctlreq("fault-%s-%d" % (name, num), ask(FAULT, CREATE, dict(drop, **{name: num})), ask(FAULT, DUMP,
            {"rule_type": 3}))
    good = {"rule_type": 0, "fa_src": "*", "fa_dst": "*", "da_rate": 10}
    slow = {"rule_type": 4, "fa_src": "*", "fa_dst": "*", "la_rate": 1, "la_latency_ms": 300}
    for nr, (one, kind) in enumerate(((good, 3), (slow, 7))):
        ctlreq("fault-good-%d" % nr, ask(FAULT, CREATE, dict(one, fa_src="<?>", fa_dst=own)), ask(FAULT, DUMP, {
            "rule_type": kind}), ask(FAULT, DUMP | 0x20, {"rule_type": kind}), ask(FAULT, CREATE, dict(one,
                fa_src="<?>",
            fa_dst="255.255.255.255@tcp")), ask(FAULT, 0, dict(one, rule_type=kind - 2, fa_src="<?>", fa_dst=own)),
            ask(FAULT, 0, dict(one, rule_type=kind - 2, fa_src="<?>", fa_dst=own)))
    ctlreq("fault-no-latency", ask(FAULT, CREATE, {"rule_type": 4, "fa_src": "<?>", "fa_dst": "<?>", "la_rate": 1}))
    ctlreq("global-many", ask(TUNABLES, REPLACE, {"%d" % nr: 1 for nr in range(300)}), ask(TUNABLES, REPLACE, [1, 2]),
           ask(TUNABLES, REPLACE, ["retry_count", []]), ask(TUNABLES, REPLACE, ["x" * 99, 1]), ask(TUNABLES, REPLACE,
               [1]))
    ctlreq("unconfigure", ask(CONFIGURE, 0), show[2], ask(CONFIGURE, CREATE), ask(CONFIGURE, CREATE | EXCL), show[2])
    deep = {"a": "b"}
    for _ in range(9):
        deep = [deep]
    ctlreq("deep", ask(NETS, CREATE, deep))
    seed("ctlreq", "not-configured", b"\1" + show[2] + ask(CONFIGURE, CREATE | EXCL) + show[2] + ask(NODE, DUMP))
    raw = b"".join(u32(20 + len(data)) + u16(0x20) + u16(0x305) + u32(9) + u32(0) + bytes([cmd, 5, 0, 0]) + data
                   for cmd, data in ((NETS, b""), (PEERS, b""), (NODE, b"")))
    seed("ctlreq", "datagram-of-three", b"\2" + u16(len(raw)) + raw)
    seed("ctlreq", "datagram-cut", b"\2" + u16(len(raw) - 9) + raw[:-9] + u16(7) + raw[:7])
    for number in (1, 2, 3):
        seed("ctlreq", "attribute-%d-bytes" % number, b"\3" + bytes([NETS, 1]) + u16(CREATE) + u16(number) +
            b"\5\0\5"[:number])


def netlink(path):
    """Yields (is a request, bytes) of each datagram between the tool and LNet."""
    for _, packet in packets(path):
        packet = packet[16:]
        kind, flags = struct.unpack_from("<HH", packet, 4)
        if kind > 16 or (kind in (2, 3)):
            yield bool(flags & 1), packet


def renumber(data):
    """The messages of a datagram as a node in user space would send them in reply to the first request."""
    out = b""
    while len(data) >= 16:
        length, kind, flags, _, _ = struct.unpack_from("<IHHII", data)
        if length < 16 or length > len(data):
            break
        out += u32(length) + u16(0x20 if kind > 16 else kind) + u16(flags) + u32(1) + u32(0) + data[16:length]
        data = data[(length + 3) & ~3:]
    return out


def netlink_seeds():
    for path in sorted(glob.glob(TESTS + "/captures/netlink/*.pcap")):
        name, asks, answers = "capture-" + os.path.basename(path)[:-5], b"", b""
        for is_request, data in netlink(path):
            length, _, flags = struct.unpack_from("<IHH", data)
            if is_request and length >= 20:
                attrs = data[20:length]
                asks += data[16:18] + u16(flags) + u16(len(attrs)) + attrs
            elif not is_request:
                said = renumber(data)
                answers += u16(len(said)) + said
        if asks:
            seed("ctlreq", name, b"\3" + asks)
        if answers:
            seed("ctlreply", name, b"\0" + answers)


def said(kind, data, flags=0):
    return bytes([kind]) + u16(flags) + u16(len(data)) + data


def key(index, name, kind, form=0, child=None, first=False):
    data = (attr(2, u16(3)) if first else b"") + attr(3, u16(index)) + attr(5, name.encode() + b"\0")
    data += (attr(7, u16(form)) if form else b"") + attr(4, u16(kind))
    return attr(0x8000 | index, data + (attr(0x8001, b"".join(child)) if child else b""))


def reply_seeds():
    child = [key(1, "nid", 5), key(2, "count", 3), key(3, "id", 13), key(4, "t", 15), key(5, "up", 6), key(6, "s", 14)]
    for name, form in (("sequence", 4), ("mapping", 2)):
        table = attr(0x8001, key(1, "net", 10, form, first=True) + key(2, "name", 5) + key(3, "list", 8, 4, child) +
                     key(4, "map", 8, 2, child) + key(5, "n64", 4) + key(6, "none", 5))
        elem = attr(0x8001, attr(1, b"1.2.3.4@tcp\0") + attr(2, u32(7)) + attr(3, u16(-3)) + attr(4, u64(-4)) +
            attr(5, b"") +
                    attr(6, u32(-9)))
        item = attr(1, b"\0") + attr(2, b"tcp\0") + attr(0x8003, elem * 2) + attr(0x8004, elem) + attr(5, u64(9)) + \
            attr(6, b"\n\0")
        data = said(0, table, 0x402) + said(0, item, 2) + said(0, item, 0x8002) + said(0, item, 2)
        seed("ctlreply", name, b"\1" + data + said(2, u32(0), 2))
        seed("ctlreply", name + "-failed", b"\1" + data + said(2, u32(-2) + attr(1, b"not so\0"), 2))
        again = attr(0x8001, key(1, "", 10, form, first=True) + key(2, "name", 5))
        seed("ctlreply", name + "-second-table", b"\1" + data + said(0, again, 0x502) + said(0, item, 2) + said(2,
            u32(0)))
    err = u32(-22) + b"\0" * 16
    seed("ctlreply", "error", b"\1" + said(1, err))
    seed("ctlreply", "error-of-change", b"\3" + said(1, u32(0) + b"\0" * 16))
    seed("ctlreply", "error-short", b"\1" + said(1, err[:7]))
    seed("ctlreply", "error-text", b"\3" + said(1, err + attr(1, b"this was wrong\0"), 0x300))
    seed("ctlreply", "error-text-uncapped", b"\1" + said(1, u32(-1) + u32(24) + b"\0" * 12 + b"12345678" +
                                                        attr(1, b"this too\0"), 0x200))
    seed("ctlreply", "value-without-table", b"\1" + said(0, attr(1, b"x\0"), 2))
    seed("ctlreply", "done-empty", b"\1" + said(2, b""))
    seed("ctlreply", "noop", b"\1" + said(3, b""))
    nested = []
    for depth in range(12):
        nested = [key(1, "k%d" % depth, 8, 4, nested or None)]
    seed("ctlreply", "tables-too-deep", b"\1" + said(0, attr(0x8001, nested[0]), 0x402))
