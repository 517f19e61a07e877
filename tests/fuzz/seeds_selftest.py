# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Seeds of fuzz_selftest: steps, as the fuzzer has them."""

from seedlib import seed, u16, u32, u64

STEP = {name: nr for nr, name in enumerate("CODEC ASK RAW RUN ANSWERS COMMAND".split())}
ASK = {name: nr for nr, name in enumerate("make remove batch stat test debug brw ping".split())}
MAGIC = 0xeeb0f00d


def step(name, *args):
    return bytes([STEP[name]]) + b"".join(bytes([arg]) if isinstance(arg, int) else arg for arg in args)


def ask(kind, how=0, body=b"", rest=b""):
    """A request with its body behind the match bits; what the kind needs besides."""
    return step("ASK", ASK[kind], how, len(body), body, rest)


def message(kind, order="little"):
    """One of each type, every byte of the body another one."""
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


def selftest_seeds():
    for kind in range(19):
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
    seed("selftest", "console-force", lab + groups + command("new_session", name="lab", key=1, force=1) + later)
