# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Seeds of fuzz_selftest: steps, in the format of the fuzzer."""

from seedlib import seed, u16, u32, u64

STEP = {name: nr for nr, name in enumerate("CODEC ASK RAW RUN ANSWERS COMMAND".split())}
ASK = {name: nr for nr, name in enumerate("make remove batch stat test debug brw ping add tally start drill "
                                          "tree_ask tree_tell".split())}
MAGIC = 0xeeb0f00d


def step(name, *args):
    return bytes([STEP[name]]) + b"".join(bytes([arg]) if isinstance(arg, int) else arg for arg in args)


def ask(kind, how=0, body=b"", rest=b""):
    """A request with its body behind the match bits, and other arguments of its kind."""
    return step("ASK", ASK[kind], how, len(body), body, rest)


def message(kind, order="little"):
    """A message of type @kind, in which every byte of the body is different."""
    def num(value):
        return value.to_bytes(4, order)
    body = bytes(range(1, 137))
    return num(MAGIC) + num(1) + num(kind) + num(0) + num(0) + num(1) + body


def command(verb, **words):
    text = verb.encode() + b"\0"
    for name, value in words.items():
        for one in value if isinstance(value, list) else [value]:
            text += ("%s=%s" % (name, one)).encode() + b"\0"
    return step("COMMAND", len(text), text)


def batch(opc, index=0, arg=0):
    return ask("batch", 8, b"\0" * 16 + u64(7) + u32(opc) + u32(index) + u32(arg))


def drill(kind=68, tag=1, size=160, length=160, slot=0):
    """A request, or a reply, of a test of ours, to the portal of such tests."""
    numbers = [u32(MAGIC), u32(1), u32(kind), u32(0) * 3, u64(9), u64(1), u64(2), u32(tag), u32(slot), u32(1),
               u32(size), u64(11), u32(5)]
    body = b"".join(numbers).ljust(160, b"\0")
    if length == 160:
        return step("RAW", 2, body)
    return step("RAW", 66, length, body.ljust(length, b"x")[:length])


def ours(begin, later):
    """Tests of ours, by requests and by a console; invalid tests; messages without a test."""
    for what in range(0, 256, 3):
        seed("selftest", "add-%d" % what, begin + ask("add", 0, b"", bytes([what, 6, 0])) + batch(1) + later +
             ask("tally", 0, b"\0" * 24 + u64(7) + u32(1) + u32(what >> 2 & 1)) + batch(2) + ask("remove"))
    for at, value in ((0, 2), (8, 9), (16, 255), (24, 255), (200, 200), (240, 7), (270, 1)):
        seed("selftest", "add-bad-%d" % at, begin + ask("add", 0, b"", bytes([3, 6, 1]) + u16(at) + bytes([value])))
    seed("selftest", "add-refused", ask("add", 0, b"", bytes([3, 6, 0])) + begin + ask("add", 4) +
         ask("add", 8, b"", bytes([3, 6, 0])) + later + ask("tally", 0, b"\0" * 24 + u64(7) + u32(1)))
    for at in (0, 1, 1 << 40):
        seed("selftest", "start-%d" % at, begin + ask("test", 0, b"", bytes([5]) + u16(12)) +
             ask("start", 0, b"\0" * 16 + u64(7) + u64(at)) + later + ask("start", 0, b"\0" * 16) + ask("start", 2))
    for ping in (True, False):
        there = begin + ask("add", 0, b"", bytes([5 if ping else 7, 6, 0]))
        many = b"".join(drill(size=size, length=length) for size, length in
                        ((160, 160), (100, 100), (100, 160), (40, 40), (255, 255)))
        seed("selftest", "drill-%s" % ("ping" if ping else "bulk"), drill() + there + many + drill(tag=2) +
             drill(kind=69) + drill(kind=69, slot=9) + drill(kind=14) + ask("drill", 0, u64(1) * 2 + u32(1)) + later)
    lab = command("new_session", name="lab", key=1, timeout=5)
    groups = b"".join(command("add_group", name=name, key=1) +
                      command("add_nodes", name=name, key=1, nid="10.0.0.%d@tcp" % node)
                      for name, node in (("c", 2), ("s", 1)))
    for name, words in (("ping", {"type": "ping", "size": 64}), ("long", {"type": "ping", "size": 4000}),
                        ("bulk", {"type": "bulk", "size": 70000, "verify": 4, "mode": 4}),
                        ("marks", {"type": "bulk", "size": 5000, "verify": 2, "mode": 3, "frags": 3}),
                        ("large", {"type": "brw", "opc": 2, "size": 1000000}),
                        ("read", {"type": "bulk", "size": 5000, "verify": 3, "mode": 1})):
        words.update({"key": 1, "batch": "batch", "from": "c", "to": "s", "loop": 3})
        both = lab + groups + command("add_test", **words) + command("run", name="batch", key=1)
        seed("selftest", "ours-%s" % name, both + later + command("tally", key=1, batch="batch") +
             command("progress", key=1) + command("stop", name="batch", key=1) + later +
             command("end_session", key=1))
        seed("selftest", "ours-%s-lost" % name, both + step("ANSWERS", 0xf1) + step("RUN", 200, 100) +
             drill(kind=69, slot=1) + command("stop", name="batch", key=1) + later)


def tree():
    """Nodes of a tree: with requests of a console, and of any node."""
    lab, later = command("new_session", name="lab", key=1, timeout=60), step("RUN", 10, 10)
    join = lab + command("tree_join", key=1, ranges="10.0.0.[1-2]@tcp", k=2) + later
    test = command("tree_test", **{"key": 1, "batch": "batch", "from": "10.0.0.2@tcp", "to": "10.0.0.1@tcp",
                                   "type": "ping", "loop": 3})
    seed("selftest", "tree", join + test + later + command("tree_run", key=1, batch="batch") + later +
         command("tree_sample", key=1) + later + command("tree_stop", key=1, batch="batch") + later +
         command("tree_show", key=1) + command("tree_leave", key=1) + later)
    seed("selftest", "tree-lost", join + test + step("ANSWERS", 0xf1) + step("RUN", 200, 100))
    words = b"name=lab\0ranges=10.0.0.[1-2]@tcp\0k=2\0"
    ping = b"id=1\0bid=7\0type=ping\0loop=3\0from=10.0.0.2@tcp\0to=10.0.0.1@tcp\0"
    joined = ask("tree_ask", 0, b"", b"\x80\x11" + u16(len(words)) + words) + later
    for op in range(9):
        for head in (0x11, 0x21, 0x20):
            seed("selftest", "tree-ask-%d-%d" % (op, head), joined +
                 ask("tree_ask", 0, b"", bytes([0x80 + op, head]) + u16(len(words)) + words) + later +
                 ask("tree_ask", 0, b"", bytes([0x80 + op, head]) + u16(0)) + later +
                 ask("tree_ask", 0, b"", bytes([0x81, head + 32]) + u16(len(ping)) + ping) + later)
    for size in (20, 200):
        for head in (0x00, 0x10, 0x21):
            seed("selftest", "tree-tell-%d-%d" % (size, head), join +
                 ask("tree_tell", 0, b"", bytes([0x80, head]) + u16(size) + bytes(range(size))) + later +
                 ask("tree_tell", 4))


def selftest_seeds():
    for kind in list(range(19)) + list(range(64, 72)) + list(range(80, 84)):
        for order in ("little", "big"):
            seed("selftest", "codec-%d-%s" % (kind, order), step("CODEC", message(kind, order)))
    seed("selftest", "codec-short", step("CODEC", message(0)[:100]))
    seed("selftest", "codec-version", step("CODEC", message(0)[:4] + u32(2) + message(0)[8:]))
    make, later = ask("make"), step("RUN", 10, 10)
    seed("selftest", "session", make + make + ask("debug") + ask("remove") * 3 + ask("debug"))
    seed("selftest", "other-session", make + ask("make", 2, u64(5) + u64(6)) +
         ask("make", 2, u64(5) + u64(6) + u32(1)) + ask("stat") + ask("debug", 2))
    seed("selftest", "no-session", ask("make", 2, b"\xff" * 16) + ask("stat") + batch(1) + ask("test", 0, b"", u16(12)))
    seed("selftest", "features", ask("make", 0x31) + ask("make", 1) + ask("stat") + ask("ping", 0x31) +
         ask("brw", 0x31))
    seed("selftest", "expires", make + step("RUN", 255, 255) + ask("debug"))
    for what in range(0, 256, 2):
        seed("selftest", "test-%d" % what, make + ask("test", 0, b"", bytes([what]) + u16(12)) + batch(1) + later +
             batch(3) + batch(3, 1) + ask("stat") + batch(2, 0, what & 1) + later + ask("remove"))
    seed("selftest", "errors", make + ask("test", 0, b"", bytes([5]) + u16(12)) + step("ANSWERS", 0xf1) + batch(1) +
         step("RUN", 200, 100) + batch(2, 0, 1) + later)
    for name, what in (("fail", 0xf9), ("fail-some", 0x39), ("lose", 0xf1), ("lose-puts", 0xf3)):
        for kind in (4, 6, 0x84, 0x86, 0x16):
            begin = make + ask("test", 0, b"", bytes([kind]) + u16(12))
            seed("selftest", "errors-%s-%d" % (name, kind), begin + batch(1) + step("ANSWERS", what) +
                 step("RUN", 1, 1) + batch(2, 0, 1) + step("RUN", 100, 3) + batch(1) + step("RUN", 1, 2) +
                 step("ANSWERS", what) + step("RUN", 200, 100) + ask("stat") + batch(2) + later)
            seed("selftest", "errors-at-begin-%s-%d" % (name, kind), begin +
                 step("ANSWERS", what) + batch(1) + step("RUN", 5, 1) + batch(2) + step("RUN", 100, 3))
    seed("selftest", "list-fails", make + ask("test", 0, b"", bytes([1]) + u16(0x8000)) + step("RUN", 255, 200))
    seed("selftest", "batches", make + batch(1) + batch(9) + batch(3, 5) + batch(3, 0xffffffff))
    for flags in range(6):
        for rw in range(4):
            body = u64(0) + u32(rw) + u32(600) + u32(flags)
            for how in (0x0258, 0x4258, 0xc258):
                seed("selftest", "brw-%d-%d-%x" % (flags, rw, how), make + ask("brw", 0, body, u16(how)) + later)
    seed("selftest", "ping", ask("ping", 0, u32(0) + u32(4)) + ask("ping", 2))
    for portal in (0, 1):
        for bits in (0, 1, 11, 12):
            seed("selftest", "raw-%d-%d" % (portal, bits), step("RAW", portal | bits << 2, message(14)) +
                 step("RAW", 0x40 | portal, 20, b"x" * 20))
    lab = command("new_session", name="lab", key=1, timeout=5)
    groups = command("add_group", name="c", key=1) + command("add_nodes", name="c", key=1, nid="10.0.0.2@tcp") + \
        command("add_group", name="s", key=1) + command("add_nodes", name="s", key=1, nid="10.0.0.1@tcp")
    test = command("add_test", **{"key": 1, "batch": "batch", "from": "c", "to": "s", "type": "ping", "loop": 3})
    seed("selftest", "console", lab + groups + test + command("run", name="batch", key=1) + later +
         command("query", name="batch", key=1) + command("stat", key=1, group="c") + command("ping", key=1) +
         command("list_group", key=1) + command("list_batch", key=1) + command("stop", name="batch", key=1) +
         command("show_session") + command("end_session", key=1))
    seed("selftest", "console-groups", lab + groups + command("update_group", key=1, name="c", op="refresh") +
         command("update_group", key=1, name="c", op="clean", state="invalid") +
         command("update_group", key=1, name="c", op="remove", nid="10.0.0.2@tcp") +
         command("del_group", key=1, name="c") + step("RUN", 255, 20))
    ours(make, later)
    tree()
    seed("selftest", "console-force", lab + groups + command("new_session", name="lab", key=1, force=1) + later)
