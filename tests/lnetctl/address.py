# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The cases of tests/lnetctl/run about an address with several nets: one listener; acceptor requests name the net."""

import socket
import struct
import time

from nodes import PORT, check, configured, equal

HELLO = struct.Struct("=IIQQIIQQII")


def nid4(net, address):
    """The 8-byte NID of an address on net tcp<net>."""
    return (2 << 16 | net) << 32 | struct.unpack(">I", socket.inet_aton(address))[0]


def request(net, address):
    return struct.pack("=IIQ", 0xacce7100, 1, nid4(net, address))


def hello(net, source, address):
    return HELLO.pack(0x45726963, 3, nid4(net, source), nid4(net, address), 12345, 0, 99, 0, 1, 0)


def dial(*pieces):
    """Returns the reply of the node at 127.0.0.2 to these bytes. Sends each piece separately."""
    with socket.create_connection(("127.0.0.2", int(PORT)), source_address=("127.0.0.77", 0), timeout=3) as s:
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for i, piece in enumerate(pieces):
            if i:
                time.sleep(0.05)
            s.sendall(piece)
        try:
            return s.recv(1000)
        except ConnectionResetError:
            return b""


def speaks_for(what, net, *pieces):
    answer = dial(*pieces)
    good = len(answer) == HELLO.size and HELLO.unpack(answer)
    check(what, good and good[0] == 0x45726963 and good[2] == nid4(net, "127.0.0.2"), answer)


def counters(node, net):
    return node.show("net", "show", "--net", net, "-v", "5")["net"][0]["local NI(s)"][0]["lnd counters"]


def reaches(what, node, nids):
    for nid in nids:
        rc, out, err = node.ctl("ping", "--timeout", "2", nid)
        check("%s: %s" % (what, nid), rc == 0 and nid in out, out + err)


def requests():
    text = request(1, "127.0.0.2") + hello(1, "127.0.0.77", "127.0.0.2")
    speaks_for("in one piece", 1, text)
    speaks_for("request and HELLO apart", 1, text[:16], text[16:])
    speaks_for("in many pieces", 1, text[:3], text[3:8], text[8:15], text[15:30], text[30:])
    speaks_for("for the one that listens", 0, request(0, "127.0.0.2") + hello(0, "127.0.0.77", "127.0.0.2"))
    large = struct.pack("=II", 0xacce7100, 2) + struct.pack(">BBH", 0, 2, 1) + socket.inet_aton("127.0.0.2") + bytes(12)
    speaks_for("a request of version 2 in pieces", 1, large[:20], large[20:] + text[16:])
    equal("for a net that is not here", dial(request(5, "127.0.0.2") + text[16:]), b"")
    equal("for loopback", dial(struct.pack("=IIQ", 0xacce7100, 1, 9 << 48) + text[16:]), b"")
    equal("the end before the request is whole", half_closed(text[:9]), b"")


def half_closed(text):
    with socket.create_connection(("127.0.0.2", int(PORT)), timeout=3) as s:
        s.sendall(text)
        s.shutdown(socket.SHUT_WR)
        try:
            return s.recv(1000)
        except ConnectionResetError:
            return b""


def test_address():
    """Nets that share an address share a listener, whichever of them is added or deleted."""
    a, b = configured("shares", "127.0.0.2@tcp"), configured("asks", "127.0.1.2@tcp,127.0.1.2@tcp1,127.0.1.2@tcp2")
    a.ok("net", "add", "--nid", "127.0.0.2@tcp1,127.0.0.2@tcp2")
    all_nids = ["127.0.0.2@tcp", "127.0.0.2@tcp1", "127.0.0.2@tcp2"]
    reaches("all at first", b, all_nids)
    equal("who listens hands on", [counters(a, net)["handed_on"] > 0 for net in ("tcp", "tcp1", "tcp2")],
          [True, False, False])
    requests()
    a.ok("net", "del", "--net", "tcp")
    speaks_for("at once after the one that listened went", 1,
               request(1, "127.0.0.2") + hello(1, "127.0.0.77", "127.0.0.2"))
    c = configured("late", "127.0.2.2@tcp", "127.0.2.2@tcp1", "127.0.2.2@tcp2")
    reaches("the one that listened went", c, all_nids[1:])
    check("and is gone", c.ctl("ping", "--timeout", "300ms", all_nids[0])[0] != 0)
    a.ok("net", "add", "--nid", "127.0.0.2@tcp")
    d = configured("later", "127.0.3.2@tcp", "127.0.3.2@tcp1", "127.0.3.2@tcp2")
    reaches("it is back", d, all_nids)
    a.ok("net", "del", "--net", "tcp2")
    a.ok("net", "del", "--net", "tcp")
    reaches("one is left", configured("last", "127.0.4.2@tcp1"), all_nids[1:2])
    a.ok("net", "del", "--net", "tcp1")
    try:
        check("nobody listens any more", not dial(b"x"))
    except ConnectionRefusedError:
        pass
    check("a net comes back to the address", not a.ctl("net", "add", "--nid", "127.0.0.2@tcp4")[0])
    for node in (a, b, c, d):
        equal("%s stops" % node.name, node.kill(15), 0)
