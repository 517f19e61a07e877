# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Seeds of fuzz_session: steps, in the format of the fuzzer."""

from seedlib import seed, u16, u32, u64


STEP = {name: nr for nr, name in enumerate(
    "PUT GET RULE RUN RELEASE RESTART FORGE LIE LAND GIVE LOST TUNE AGAIN PARK CODEC CLEAR GONE".split())}
FATE = {name: nr for nr, name in enumerate(
    "DELIVER REFUSE FAIL KEEP LOSE POST POST_FAIL CONFIRM TWICE DELAY HALF LATE".split())}
ACK, PUTS, GETS, REPLIES, CORE, ANY = range(6)


def rule(kind, fate, count=1, node=None):
    """A byte of type and node (0: any), and a byte of fate and count."""
    who = 0 if node is None else node + 1
    return ("RULE", kind | who << 4, FATE[fate] | (count - 1) << 4)


def run(how, *steps):
    out = bytes([how])
    for step in steps:
        out += bytes([STEP[step[0]]])
        for arg in step[1:]:
            out += bytes([arg]) if isinstance(arg, int) else arg
    return out


def forge(what, handle, rest, payload=b""):
    """Flags, the way to make the handle with its arguments, the fields of the message type, the payload."""
    return ("FORGE", bytes([what]) + handle + u16(len(payload)) + rest + payload)


def session_seeds():
    put, noack, get = ("PUT", 0x26), ("PUT", 0x24), ("GET", 0x24)
    later = ("RUN", 40, 40)
    good = u32(0x6e65706f) + u32(1) + u32(16) + u32(0) + u64(99) + u64(0x1234567812345678)
    bodies = (("good", good), ("magic", b"\0" + good[1:]), ("version", good[:4] + u32(2) + good[8:]), ("short",
        good[:31]),
              ("window-0", good[:8] + u32(0) + good[12:]), ("window-large", good[:8] + u32(16384) + good[12:]),
              ("id-0", good[:24] + u64(0)), ("id-ones", good[:24] + u64(-1)))
    for name, body in bodies:
        seed("session", "codec-" + name, run(0, ("CODEC", len(body), body)))
        seed("session", "lie-" + name, run(1, rule(CORE, "DELIVER", 2, 1), put, later, put))
        seed("session", "opened-with-" + name, run(1, rule(CORE, "DELAY", 1, 1), put, ("RELEASE",), later))
        seed("session", "answer-" + name, run(1, rule(CORE, "DELIVER", 1, 1), rule(CORE, "DELAY", 1, 1), put,
                                              ("LIE", 0, len(body), body), later, put, later))
    for name, body in (("magic", b"\0\0\0\0"), ("swapped", b"\x70\x69\x6e\x67\x40\0\0\x11"), ("no-open",
        u32(0x70696e67) + u32(0x11))):
        seed("session", "ping-" + name, run(1, rule(CORE, "DELAY", 1, 1), put, ("LIE", 0, len(body), body), later, put))
    for fate in FATE:
        for name, kind in (("put", PUTS), ("get", GETS), ("ack", ACK), ("reply", REPLIES), ("any", ANY), ("core",
            CORE)):
            seed("session", "%s-%s" % (name, fate.lower()), run(
                0, rule(kind, fate, 2), put, get, noack, later, ("LAND", 1), ("LAND", 0), ("GIVE", 0), ("RELEASE",),
                    later))
    seed("session", "restart-under-way", run(0, rule(PUTS, "DELAY", 3), put, put, noack, ("RESTART",), ("RELEASE",),
        later))
    seed("session", "restart-between-copies", run(0, rule(PUTS, "LATE"), rule(ACK, "LOSE"), ("PUT", 0x27), ("RESTART",),
        ("RELEASE",), later))
    seed("session", "window-small", run(1, ("TUNE", 0x80, u16(2)), rule(PUTS, "DELAY", 4), put, put, put, noack, noack,
                                        ("RELEASE",), later, get))
    seed("session", "no-copies", run(0, ("TUNE", 0x82, u16(0)), rule(REPLIES, "LOSE", 2), get, get, later, ("RUN", 99,
        99)))
    lazy, not_lazy, memory = ("PARK", 7), ("PARK", 3), ("PARK", 2)
    for name, steps in (
            ("lands", (put, noack, get, memory)), ("dropped", (put, noack, get, not_lazy)),
            ("late", (put, put, ("RUN", 200, 120))), ("gone", (put, noack, ("GONE", 0), ("GONE", 0))),
            ("twice", (rule(ANY, "TWICE", 9), put, noack, get, memory)),
            ("twice-gone", (rule(ANY, "TWICE", 9), put, put, ("GONE", 1), ("GONE", 0), ("GONE", 0), memory)),
            ("twice-first-gone", (rule(ANY, "TWICE", 9), put, ("GONE", 0), later, memory)),
            ("twice-dropped", (rule(ANY, "TWICE", 9), put, noack, not_lazy)),
            ("twice-gone-dropped", (rule(ANY, "TWICE", 9), put, ("GONE", 0), not_lazy, ("GONE", 0))),
            ("restart", (put, noack, ("RESTART",), later, lazy, put, memory))):
        for how in (4, 12, 20):
            seed("session", "parked-%s-%d" % (name, how), run(how, lazy, ("GET", 0x25), later, *steps, later))
    seed("session", "no-memory", run(4, put, get, noack, later))
    seed("session", "other-type", run(0, put, forge(0x08, b"\0", bytes([9]) + u64(1) + b"\3" + u32(0) + u32(8)), later))
    seed("session", "gone-answer", run(0, ("TUNE", 0x82, u16(0)), rule(REPLIES, "LOSE", 9), get, ("RUN", 250, 250),
        later))
    seed("session", "many-answers", run(0, rule(ACK, "KEEP", 16), put, *[forge(0x04, b"\0", bytes([9]) + u64(1) +
        b"\3" +
                                        u16(0), b"p" * 8)] * 20, ("GIVE", 0), later))
    seed("session", "too-long", run(0, forge(0x04, bytes([33]), bytes([9]) + u64(1) + b"\3" + u16(9000), b"p" * 80),
        later))
    seed("session", "window-full-restart", run(1, ("TUNE", 0x80, u16(2)), ("TUNE", 1, u16(0)), get, rule(PUTS,
        "DELAY", 2),
                                               put, put, put, put, noack, ("RESTART",), ("RELEASE",), later))
    seed("session", "window-full-rejected", run(1, ("TUNE", 0x80, u16(2)), get, later, rule(PUTS, "LOSE", 9), put, put,
                                                put, put, forge(0x01, b"\0", b"\0" + u32(0xffffff01)), later))
    seed("session", "opening-lost", run(1, rule(CORE, "DELIVER", 1, 0), rule(CORE, "LOSE", 9, 0), put, ("RUN", 110,
        110),
                                        put, later, ("RUN", 200, 200), put))
    seed("session", "becomes-stock", run(0, rule(PUTS, "LOSE", 9), put, rule(CORE, "DELAY", 1, 1), ("RUN", 40, 10),
                                         ("LIE", 4, 4, u32(0x11)), later, ("RUN", 90, 90), put, later))
    seed("session", "apart", run(0x11, put, get, rule(PUTS, "TWICE", 4), put, noack, later))
    seed("session", "two-shards", run(8, rule(ANY, "TWICE", 9), put, get, noack, put, later))
    seed("session", "rail-lost", run(0, rule(PUTS, "LOSE", 2), put, put, ("LOST", 0), later, ("LOST", 2), later))
    seed("session", "again", run(0, rule(PUTS, "DELAY", 1), put, ("AGAIN",), ("AGAIN",), ("RELEASE",), later))
    for portal in range(6):
        for bits in range(3):
            seed("session", "forged-put-%d-%d" % (portal, bits), run(
                0, put, forge(0x04, bytes([1 | 16, 1]), bytes([bits, portal]) + u16(0), b"p" * 20), later))
            seed("session", "forged-get-%d-%d" % (portal, bits), run(
                0, get, forge(0x08, bytes([1 | 16, 1]), bytes([bits, portal]) + u32(10) + u32(64)), later))
    for reason in range(7):
        seed("session", "refused-%d" % reason, run(0, rule(PUTS, "LOSE", 9), rule(GETS, "LOSE", 9), put,
                                                   forge(0x01, b"\0", b"\0" + u32(0xffffff00 + reason)), get,
                                                   forge(0x01, b"\0", b"\0" + u32(0xffffff00 + reason)), later))
    seed("session", "forged-ack", run(0, rule(PUTS, "LOSE", 9), put, forge(0x01, b"\0", b"\0" + u32(4)), later))
    seed("session", "forged-ack-long", run(0, rule(PUTS, "LOSE", 9), put, forge(0x01, b"\0", b"\0" + u32(4000)), later))
    seed("session", "forged-ack-merged", run(0, rule(PUTS, "LOSE", 9), noack, noack,
                                             forge(0x01, b"\0", b"\0" + u32(0)), later))
    seed("session", "forged-reply", run(0, rule(GETS, "LOSE", 9), get, forge(0x0d, b"\0", b"", b"r" * 8), later))
    seed("session", "forged-reply-half", run(0, rule(GETS, "LOSE", 9), get, forge(0x2d, b"\0", b"", b"r" * 8),
        ("LAND", 1),
                                             later))
    seed("session", "forged-reply-long", run(0, rule(GETS, "LOSE", 9), get, forge(0x0d, b"\0", b"", b"r" * 800), later))
