# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Seeds of fuzz_conn: steps of an unknown peer, in the format of the fuzzer."""

from seedlib import nid4, seed, u16, u32, u64


CONN = {name: nr for nr, name in enumerate(
    "DIAL FEED PICK RUN PUT GET CONNECTED END BUFFER BREAK BLOCK ROUTE SET".split())}


def conn(*steps):
    out = b""
    for step in steps:
        out += bytes([CONN[step[0]]])
        if step[0] == "FEED":
            out += u16(len(step[1])) + step[1]
        else:
            out += bytes(step[1:])
    return out


def request1(to="10.77.0.3@tcp"):
    return u32(0xacce7100) + u32(1) + nid4(to)


def hello3(ctype=1, version=3, source="10.77.0.2@tcp", to="10.77.0.3@tcp", ips=(), incarnation=77):
    return u32(0x45726963) + u32(version) + nid4(source) + nid4(to) + u32(12345) + u32(12345) + u64(incarnation) + \
        u64(0) + u32(ctype) + u32(len(ips)) + b"".join(u32(ip) for ip in ips)


def frame(hdr=b"", cookie=0, answer=0, kind=0xc1):
    return u32(kind) + u32(0) + u64(cookie) + u64(answer) + hdr


def hdr4(kind, body, payload=b"", length=None, source="10.77.0.2@tcp", to="10.77.0.3@tcp"):
    length = len(payload) if length is None else length
    return nid4(to) + nid4(source) + u32(12345) + u32(12345) + u32(kind) + u32(length) + body.ljust(40, b"\0") + payload


NONE = b"\xff" * 16


def put4(portal=4, handle=NONE, bits=1, payload=b"", length=None):
    return hdr4(1, handle + u64(bits) + u64(5) + u32(portal) + u32(0), payload, length)


def get4(portal=4, handle=u64(5) + u64(6), bits=1, sink=32):
    return hdr4(2, handle + u64(bits) + u32(portal) + u32(0) + u32(sink))


def ack4(handle, mlength=0):
    return hdr4(0, handle + u64(1) + u32(mlength))


def reply4(handle, payload):
    return hdr4(3, handle, payload)


def put_past(to, size, portal=4):
    """A PUT for another node."""
    return frame(hdr4(1, NONE + u64(1) + u64(5) + u32(portal) + u32(0), b"p" * size, to=to), cookie=5 if size else 0)


def router_seeds():
    door = request1() + hello3()
    far, near, nowhere = "10.78.0.4@tcp9", "10.77.0.4@tcp", "10.79.0.4@tcp7"
    sizes, rest = (0, 50, 4096, 9000), ("RUN", 9)
    hello = hello3(1, source=far, to="10.78.0.3@tcp9")
    for to in (far, near, nowhere):
        some = b"".join(put_past(to, size) for size in sizes)
        for name, last in (("timeout", (("RUN", 200),)), ("off", (("ROUTE", 0), ("RUN", 255), ("RUN", 255))),
                           ("broken", (("BREAK",), ("RUN", 90))), ("end", ()),
                           ("reached", (("CONNECTED", 0), ("FEED", hello), ("RUN", 9))),
                           ("refused", (("CONNECTED", 1), ("RUN", 99)))):
            seed("conn", "route-%s-%s" % (to, name), conn(("ROUTE", 1), ("DIAL", 0), ("FEED", door + some), *last))
        half = put_past(to, 9000)[:4000]
        seed("conn", "route-half-%s" % to, conn(("ROUTE", 1), ("DIAL", 0), ("FEED", door + half), ("BREAK",), rest))
        seed("conn", "route-full-%s" % to, conn(("ROUTE", 1), ("DIAL", 0), ("FEED", door + put_past(to, 3000, 68) * 6),
                                                ("RUN", 30), ("CONNECTED", 0), ("FEED", hello),
                                                ("RUN", 200)))
    for sizes in ((0,), (50,), (0, 50, 50, 50, 50), (4096, 4096, 4096)):
        some = b"".join(put_past(far, size, 68) for size in sizes)
        for kind in (1, 2, 3):
            told = hello3(kind, source=far, to="10.78.0.3@tcp9")
            seed("conn", "route-through-%d-%d" % (sum(sizes), kind), conn(
                ("ROUTE", 1), ("DIAL", 0), ("FEED", door + some), ("CONNECTED", 0), ("FEED", told), ("RUN", 2),
                ("PICK", 0), ("FEED", some), ("RUN", 2), ("PICK", 1), ("BREAK",), ("RUN", 99)))
    seed("conn", "route-waits", conn(
        ("ROUTE", 1), ("DIAL", 0), ("FEED", door + put_past(far, 50) * 9), ("RUN", 60), ("CONNECTED", 0),
        ("FEED", hello), ("BLOCK",), ("PICK", 0), ("FEED", put_past(far, 50) * 9), ("PICK", 1), ("BLOCK",), ("RUN", 2),
        ("PICK", 0), ("BREAK",), ("RUN", 99)))
    large = put_past(far, 65537)
    seed("conn", "route-credits", conn(
        ("ROUTE", 1), ("DIAL", 0), ("FEED", door + put_past(far, 50) * 12), ("SET", 1 << 4 | 8), ("RUN", 1),
        ("FEED", large[:60000]), ("FEED", large[60000:]), ("RUN", 9), ("SET", 15 << 4 | 8), ("CONNECTED", 0),
        ("FEED", hello), ("RUN", 200)))
    pass_on = frame(hdr4(2, u64(5) + u64(6) + u64(1) + u32(4) + u32(0) + u32(99), to=far)) + \
        frame(hdr4(0, u64(5) + u64(6) + u64(1) + u32(9), to=far)) + frame(hdr4(3, u64(5) + u64(6), b"r" * 99, to=far))
    seed("conn", "route-others", conn(("ROUTE", 1), ("DIAL", 0), ("FEED", door + pass_on), ("CONNECTED", 0),
                                      ("FEED", hello), ("BLOCK",), ("RUN", 200), ("BLOCK",)))
    # The sender has the address of another peer, 10.0.0.0: byte 10 of DIAL.
    first = request1() + hello3(source="10.0.0.0@tcp")
    second = request1() + hello3(source=near)
    by_second = frame(hdr4(1, NONE + u64(1) + u64(5) + u32(4) + u32(0), b"p" * 50, source=near, to=far), cookie=5)
    seed("conn", "route-address", conn(
        ("ROUTE", 1), ("DIAL", 10 << 3), ("FEED", first), ("DIAL", 10 << 3), ("FEED", second + by_second * 3),
        ("RUN", 9), ("CONNECTED", 0), ("FEED", hello), ("RUN", 99)))
    seed("conn", "route-none", conn(("ROUTE", 0), ("DIAL", 0), ("FEED", door + pass_on)))


PING, OPEN, CONFIRM = (0x8000000000000000 | n for n in range(0, 4) if n != 1)


def ping_info(nids, features=0x1e, seq=1, status=0x15aac0de, count=None):
    head = u32(0x70696e67) + u32(features) + u32(12345) + u32(1 + len(nids) if count is None else count)
    return head + u64(9 << 48) + u32(seq) + u32(0) + b"".join(nid4(nid) + u32(status) + u32(0) for nid in nids)


def push_of(info):
    return frame(put4(portal=0, handle=u64(3) + u64(4), bits=PING, payload=info))


def proof_seeds(infos, push, nids):
    """The node pings a listed NID, over an existing connection of the NID or over one that the node opens."""
    one, two, three = nids
    door = request1() + hello3()
    both = (("DIAL", 0), ("FEED", door), ("DIAL", 0), ("FEED", request1() + hello3(source=two)))
    dialled = (("PICK", 1), ("CONNECTED", 0), ("FEED", hello3(1, source=three, to="10.78.0.3@tcp9")), ("RUN", 1))
    alias, five, rest = "10.99.0.1@tcp99", "10.77.0.5@tcp", ("RUN", 99)
    for name, first, second in (
            ("alias", (two, alias), (one, alias, two)), ("alias-last", (two, alias), (one, two, alias)),
            ("part", (two, five), (one, two)), ("part-other", (five, two), (one, five)),
            ("part-alias", (two, five, alias), (one, alias, two))):
        whole = ping_info(sorted({*first, *second}), seq=9)
        theirs = push_of(ping_info(first, seq=5)).replace(nid4(one), nid4(two), 1)
        said = [frame(hdr4(3, b"H" * 16, info, source=source)) for info, source in (
            (ping_info(first), five), (whole, two), (ping_info(second), two), (whole, five))]
        seed("conn", "proof-of-" + name, conn(
            *both, ("FEED", theirs), ("RUN", 1), ("PICK", 2), ("CONNECTED", 0), ("FEED", hello3(1, source=five)),
            ("RUN", 1), ("FEED", said[0]), ("RUN", 1), ("FEED", said[0]), ("RUN", 5), ("PICK", 0),
            ("FEED", push_of(ping_info(second))), ("RUN", 1), ("PICK", 1), ("FEED", said[1]), ("RUN", 1),
            ("FEED", said[2]), ("RUN", 9), ("PICK", 2), ("FEED", said[3]), ("RUN", 9), ("PICK", 1), ("FEED", said[1]),
            rest, ("PICK", 0), ("FEED", push["alone"]), rest))
    for name, info in infos.items():
        said = frame(hdr4(3, b"H" * 16, info, source=two))
        listed = (("PICK", 0), ("FEED", push["two"]), ("RUN", 1))
        answers = (("PICK", 1), ("FEED", said), ("RUN", 1), ("FEED", said), ("RUN", 20), ("FEED", said), rest)
        seed("conn", "proof-" + name, conn(*both, *listed, *answers))
        seed("conn", "proof-first-" + name, conn(
            *both, ("PICK", 0), ("FEED", push["other-first"]), ("RUN", 1), *answers, ("PICK", 0),
            ("FEED", push["alone"]), ("PUT", 0x21), rest))
        seed("conn", "proof-used-" + name, conn(
            *both, ("PUT", 1), ("PUT", 0x21), ("RUN", 1), ("FEED", said), *listed, *answers, ("PUT", 0x21), rest))
        for how in (0, 1, 4, 5):
            seed("conn", "proof-set-%d-%s" % (how, name), conn(
                *both, ("SET", how), *listed, *answers, ("PUT", 0x21), ("PICK", 0), ("FEED", push["alone"]), rest))
        far = frame(hdr4(3, b"H" * 16, info, source=three, to="10.78.0.3@tcp9"))
        seed("conn", "proof-far-" + name, conn(("DIAL", 0), ("FEED", door), ("FEED", push["far"]), ("RUN", 1), *dialled,
                                               ("FEED", far), ("RUN", 1), ("FEED", far), ("RUN", 99), ("PICK", 0),
                                               ("FEED", push["alone"]), ("RUN", 99), ("RUN", 255)))


def discovery_seeds():
    """Ping infos of an unknown peer, in replies to pings and in pushes."""
    door = request1() + hello3()
    one, two, three = "10.77.0.2@tcp", "10.77.0.4@tcp", "10.78.0.4@tcp9"
    other = request1() + hello3(source=two)
    infos = {
        "two": ping_info((one, two)), "far": ping_info((one, three)), "other-first": ping_info((two, one)),
        "alone": ping_info((one,)), "old": ping_info((one, two), 0x06), "quiet": ping_info((one, two), 0x0e),
        "router": ping_info((one, three), 0x1a), "down": ping_info((one, two), status=0xdeadface),
        "ours": ping_info((one, two), 0x4000001e), "our-nids": ping_info((one, "10.77.0.3@tcp")),
        "none": ping_info(()), "many": ping_info(["10.77.1.%d@tcp" % n for n in range(30)]),
        "cut": ping_info((one, two), count=9), "noise": b"x" * 48, "short": b"gnip", "later": ping_info((one,), seq=9),
        "crowd": ping_info(["10.77.1.%d@tcp" % n for n in range(140)]),
        "crowd-far": ping_info(["10.77.%d.%d@tcp" % (n // 200 + 1, n % 200 + 1) for n in range(280)]),
        "aliases": ping_info((one, "10.99.0.1@tcp99", two, "10.99.0.2@tcp99")),
        "twice": ping_info((one, one, two, two)), "strange": ping_info((one, "10.99.0.1@tcp99")),
    }
    push = {name: push_of(info) for name, info in infos.items()}
    told = {name: frame(reply4(b"H" * 16, info)) for name, info in infos.items()}
    start = (("DIAL", 0), ("FEED", door), ("PUT", 1))
    for name in infos:
        seed("conn", "ping-" + name, conn(*start, ("FEED", told[name]), ("RUN", 1), ("FEED", told[name]), ("PUT", 0x21),
                                          ("RUN", 99), ("RUN", 255)))
        seed("conn", "push-" + name, conn(("DIAL", 0), ("FEED", door + push[name]), ("RUN", 1), ("PUT", 1),
                                          ("FEED", told["two"]), ("FEED", push[name] + push["alone"]), ("RUN", 99)))
        seed("conn", "push-of-two-" + name, conn(
            ("DIAL", 0), ("FEED", door), ("DIAL", 0), ("FEED", other + push[name]), ("PUT", 0x21), ("PICK", 0),
            ("FEED", push["two"]), ("RUN", 3), ("FEED", push["alone"]), ("PUT", 1), ("RUN", 99)))
    for how in (0, 1, 2, 3, 4, 5, 16, 17, 48, 49):
        seed("conn", "push-set-%d" % how, conn(
            ("DIAL", 0), ("FEED", door), ("DIAL", 0), ("FEED", other), ("PUT", 1), ("PUT", 0x21), ("SET", how),
            ("FEED", push["two"]), ("RUN", 3), ("FEED", push["down"]), ("PICK", 0), ("FEED", push["two"]), ("RUN", 99),
            ("SET", how ^ 1), ("FEED", push["alone"]), ("RUN", 99), ("FEED", push["far"]), ("RUN", 255)))
    proof_seeds(infos, push, (one, two, three))
    taken = frame(ack4(b"H" * 16, 64))
    # No listed NID needs a proof, so the push is the last message of the node.
    for pause in (1, 9, 99):
        seed("conn", "push-taken-%d" % pause, conn(*start, ("FEED", told["alone"]), ("RUN", pause), ("PICK", 0),
                                                   ("FEED", taken), ("RUN", 99), ("PICK", 0), ("FEED", push["alone"])))
    seed("conn", "push-old-again", conn(
        *start, ("FEED", told["alone"]), ("RUN", 1), ("PICK", 0), ("FEED", push["later"]), ("RUN", 99), ("PICK", 0),
        ("FEED", push["alone"] + push["alone"]), ("RUN", 99), ("FEED", told["later"]), ("RUN", 99), ("PICK", 0),
        ("FEED", push["alone"] + push["noise"]), ("RUN", 255)))
    claimed = push["two"].replace(nid4("10.77.0.2@tcp"), nid4("10.88.0.2@tcp9"), 1)
    seed("conn", "push-claimed", conn(("DIAL", 0), ("FEED", door + claimed), ("RUN", 1), ("FEED", claimed),
                                      ("RUN", 99)))
    seed("conn", "push-acknowledged", conn(*start, ("FEED", told["two"]), ("RUN", 1), ("FEED", taken), ("RUN", 9),
                                           ("FEED", push["quiet"]), ("RUN", 9), ("FEED", push["two"])))


def conn_seeds():
    door = request1() + hello3()
    seed("conn", "v3-control", conn(("DIAL", 0), ("FEED", door)))
    for name, data in (
            ("put", frame(put4(payload=b"x" * 40))),
            ("put-with-ack", frame(put4(handle=u64(9) + u64(8), payload=b"y" * 9))),
            ("put-cookie", frame(put4(payload=b"y" * 9), cookie=3)),
            ("put-large", frame(put4(payload=b"z" * 4096))),
            ("put-too-long", frame(put4(payload=b"z" * 5000))),
            ("put-lazy", frame(put4(portal=7, payload=b"1" * 50)) * 2),
            ("put-no-portal", frame(put4(portal=9, payload=b"1" * 50))),
            ("put-marked", frame(put4(portal=68, payload=b"1" * 50))),
            ("push", frame(put4(portal=0, bits=0x8000000000000000, payload=b"1" * 64))),
            ("get", frame(get4())), ("get-marked", frame(get4(portal=68))),
            ("ping", frame(get4(portal=0, bits=0x8000000000000000, sink=4096))),
            ("opening", frame(get4(portal=64, bits=0x8000000000000002, sink=32))),
            ("confirm", frame(put4(portal=64, bits=0x8000000000000003))),
            ("ack-of-nothing", frame(ack4(u64(1) + u64(2)))),
            ("reply-of-nothing", frame(reply4(u64(1) + u64(2), b"r" * 30))),
            ("noop-keepalive", frame(kind=0xc0, cookie=0, answer=1)),
            ("noop-unknown", frame(kind=0xc0, cookie=0, answer=5)),
            ("noop-range", frame(kind=0xc0, cookie=3, answer=5)),
            ("noop-bad", frame(kind=0xc0, cookie=1, answer=5)),
            ("frame-bad", frame(kind=0xc7)), ("cookie-reserved", frame(put4(), cookie=1)),
            ("answer-in-message", frame(put4(), answer=7)),
            ("type-bad", frame(hdr4(9, b""))), ("nid-bad", frame(hdr4(1, NONE, to="10.9.9.9@tcp"))),
            ("length-bad", frame(put4(length=0x200000)))):
        seed("conn", "v3-" + name, conn(("DIAL", 0), ("FEED", door + data)))
        seed("conn", "v3-%s-in-pieces" % name, conn(("DIAL", 0), ("FEED", door), ("FEED", data[:20]),
                                                      ("FEED", data[20:100]), ("FEED", data[100:]), ("RUN", 9)))
    lazy = frame(put4(portal=7, payload=b"1" * 3000))
    bulk = request1() + hello3(3)
    seed("conn", "v3-lazy-stops", conn(("DIAL", 0), ("FEED", door + lazy * 2 + frame(get4())), ("BUFFER",), ("RUN", 2),
                                       ("BUFFER",), ("FEED", lazy[:100]), ("END",)))
    seed("conn", "v3-lazy-broken", conn(("DIAL", 0), ("FEED", door + lazy * 2), ("BREAK",), ("RUN", 99)))
    seed("conn", "v3-lazy-held", conn(("DIAL", 0), ("FEED", door + frame(put4(portal=7, payload=b"1" * 900), cookie=4)
                                                    * 3), ("BUFFER",), ("BUFFER",), ("RUN", 99)))
    seed("conn", "v3-set-of-three", conn(("DIAL", 0), ("FEED", door), ("DIAL", 0), ("FEED", bulk), ("DIAL", 0),
                                         ("FEED", request1() + hello3(2)), ("DIAL", 0), ("FEED", bulk), ("RUN", 200)))
    seed("conn", "v3-restarted", conn(("DIAL", 0), ("FEED", door), ("DIAL", 0),
                                      ("FEED", request1() + hello3(incarnation=78)), ("RUN", 3)))
    for name, hello in (("v1", u32(0xeebc0ded) + u32(1)), ("v1-later", u32(0xeebc0ded) + u32(2)), ("version-9",
        hello3(version=9)),
                        ("magic", b"GET / HTTP/1.0\r\n\r\n"), ("v2-addresses", hello3(version=2, ips=(1, 2))),
                        ("address-0", hello3(ips=(1, 0))), ("addresses-17", hello3(ips=(1,) * 17)),
                        ("type-none", hello3(0xffffffff)), ("type-9", hello3(9)),
                        ("other-net", hello3(source="10.77.0.2@tcp5"))):
        seed("conn", "hello-" + name, conn(("DIAL", 0), ("FEED", request1() + hello), ("RUN", 60)))
        seed("conn", "answer-" + name, conn(("PUT", 1), ("CONNECTED", 0), ("FEED", hello), ("RUN", 90)))
    for name, request in (("query", u32(0x45726963)), ("version-7", u32(0xacce7100) + u32(7)), ("noise", b"\x16\3\1\2"),
                          ("not-here", request1("10.77.0.9@tcp")), ("none", b"")):
        seed("conn", "request-" + name, conn(("DIAL", 0), ("FEED", request), ("RUN", 90), ("RUN", 90)))
    ours = hello3(1)
    seed("conn", "dial", conn(("PUT", 1), ("CONNECTED", 0), ("FEED", ours), ("RUN", 1), ("CONNECTED", 0),
                              ("FEED", hello3(3)), ("CONNECTED", 0), ("FEED", hello3(2)), ("PUT", 3), ("GET", 2),
                              ("RUN", 90), ("RUN", 90)))
    seed("conn", "dial-refused", conn(("PUT", 1), ("CONNECTED", 1), ("RUN", 20), ("CONNECTED", 0), ("RUN", 200)))
    seed("conn", "dial-race", conn(("PUT", 1), ("DIAL", 0), ("FEED", door), ("PICK", 0), ("CONNECTED", 0),
                                   ("FEED", hello3(0xffffffff)), ("RUN", 50)))
    seed("conn", "dial-v4", conn(("PUT", 0x11), ("CONNECTED", 0), ("FEED", hello3(1)), ("RUN", 50)))
    seed("conn", "dial-blocked", conn(("PUT", 1), ("CONNECTED", 0), ("BLOCK",), ("FEED", ours), ("PUT", 3), ("GET", 3),
                                      ("RUN", 9), ("BLOCK",), ("RUN", 200)))
    many = b"".join(frame(put4(payload=b"%02d" % nr), cookie=10 + nr) for nr in range(70))
    seed("conn", "v3-many-small", conn(("DIAL", 0), ("FEED", door + many), ("RUN", 1)))
    seed("conn", "v3-many-empty", conn(("DIAL", 0), ("FEED", door + frame(put4(portal=9), cookie=7) * 40), ("RUN", 1)))
    opening = frame(get4(portal=64, bits=0x8000000000000002, sink=32))
    named = b"G" * 8 + u64(1)
    mine = put4(portal=68, handle=named, payload=b"m" * 4000)
    parked = put4(portal=71, handle=named, payload=b"m" * 900)
    half = frame(mine)[:900]
    seed("conn", "marked", conn(("DIAL", 0), ("FEED", door + opening), ("FEED", frame(mine)), ("FEED", frame(mine)),
                                ("FEED", frame(get4(portal=68, handle=b"G" * 8 + u64(2)))), ("FEED", frame(put4(
                                    portal=64, handle=b"G" * 8 + u64(3), bits=0x8000000000000003)))))
    seed("conn", "marked-on-two", conn(("DIAL", 0), ("FEED", door + opening), ("FEED", half), ("DIAL", 0), ("FEED",
        bulk),
                                       ("FEED", frame(mine)), ("PICK", 0), ("FEED", b"m" * 9000), ("RUN", 3)))
    for stop in range(3):
        first = (frame(put4(portal=7, payload=b"1" * 9)), frame(put4(portal=7, payload=b"1" * 3000)), b"")[stop]
        seed("conn", "marked-parked-%d" % stop, conn(
            ("DIAL", 0), ("FEED", door + opening), ("FEED", frame(put4(portal=7, payload=b"0"))), ("FEED", first +
            frame(parked)), ("DIAL", 0), ("FEED", bulk), ("FEED", frame(parked)[:300]), ("BUFFER",), ("BUFFER",),
                ("BUFFER",),
            ("FEED", b"m" * 900), ("RUN", 90), ("BREAK",)))
    seed("conn", "marked-parked-broken", conn(("DIAL", 0), ("FEED", door + opening), ("FEED", frame(put4(portal=7,
        payload=
         b"0"))), ("FEED", frame(parked)[:300]), ("BREAK",), ("RUN", 9)))
    seed("conn", "lazy-late", conn(("DIAL", 0), ("FEED", door + frame(put4(portal=7)) + frame(put4(portal=7,
        payload=b"1" *
         900))[:200]), ("RUN", 120), ("FEED", b"1" * 900)))
    stopped = frame(put4(portal=7, payload=b"1" * 3000))
    seed("conn", "lazy-stopped-late", conn(("DIAL", 0), ("FEED", door + frame(put4(portal=7)) + stopped), ("RUN", 255),
                                           ("FEED", frame(get4()))))
    asked = conn(("GET", 0), ("CONNECTED", 0), ("FEED", hello3(1)))
    plain = frame(reply4(b"H" * 16, u32(0x70696e67) + u32(0x13) + b"\0" * 40))
    seed("conn", "answered", asked + conn(("FEED", plain), ("FEED", frame(reply4(b"H" * 16, b"r" * 16))), ("RUN", 9)))
    seed("conn", "answered-large", conn(("GET", 2), ("CONNECTED", 0), ("FEED", hello3(1)), ("FEED", plain), ("FEED",
        frame(
        reply4(b"H" * 16, b"r" * 4096))[:2000]), ("FEED", b"r" * 2192), ("RUN", 9)))
    seed("conn", "answered-and-cut", conn(("GET", 2), ("CONNECTED", 0), ("FEED", hello3(1)), ("FEED", plain), ("FEED",
        frame(
        reply4(b"H" * 16, b"r" * 4096))[:3000]), ("BREAK",), ("RUN", 99)))
    seed("conn", "acked", conn(("PUT", 1), ("CONNECTED", 0), ("FEED", hello3(1)), ("FEED", plain), ("FEED", frame(ack4(
        b"H" * 16, 16))), ("RUN", 9)))
    seed("conn", "acked-too-much", conn(("PUT", 1), ("CONNECTED", 0), ("FEED", hello3(1)), ("FEED", plain), ("FEED",
        frame(
        ack4(b"H" * 16, 17000))), ("RUN", 9)))
    seed("conn", "unprivileged", conn(("DIAL", 2), ("FEED", door)))
