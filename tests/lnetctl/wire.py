# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Sends captured requests of the stock tool, byte for byte, to a node of ours. Compares the replies with those of the
stock node: messages, flags, key tables, nesting, types and lengths of values."""

import ctypes
import errno
import os
import socket
import struct

from nodes import CAPTURES, Node, check, equal
from spaces import in_namespaces

ERROR, DONE, CONTROL = 2, 3, 16
DUMP = 0x300
NESTED = 0x8000
PEERS, PING = 3, 6
FLAGS = (3, 4)		# keys of Multi-Rail in the tables of peers and of pings
USER_TYPE = 0x20

# The captured requests, nearly in their original order: nothing may be in recovery when nothing was on the stock node.
ASKED = """01-lnet-configure 02-net-show-fresh 03-net-add-tcp 04-net-add-credits 28-debug-recovery-local
29-debug-recovery-peer 05-net-add-error-noif 06-net-show-v0 07-net-show-v1 08-net-show-v2 09-net-show-v4
10-net-show-net-filter 11-net-set-health 12-peer-add 13-peer-add-nonmr 14-peer-show 15-peer-show-v4
16-peer-list 17-peer-set-health 18-peer-del 19-peer-del-error 25-ping-self 26-ping-fail
27-discover-fail 20-route-add 21-route-show 22-route-show-v 23-route-add-dup 24-route-del 30-fault-drop-add
31-fault-drop-show 32-fault-drop-del 37-cpt-of-nid 43-net-del-if 44-net-del 45-export 46-export-backup
47-import 49-lnet-unconfigure 50-net-show-down""".split()
# Our rules have more keys, after those of the stock node.
LONGER = {"31-fault-drop-show"}


# ---- messages --------------------------------------------------------------------------------------------------

def messages(datagram):
    while len(datagram) >= 16:
        length, kind, flags, seq, _ = struct.unpack_from("=IHHII", datagram)
        if length < 16:
            return
        yield kind, flags, seq, datagram[16:length]
        datagram = datagram[(length + 3) & ~3:]


def captured_talk(name):
    """The requests of a capture with their replies, [(request, [message...])...], without look-ups of the family."""
    with open(os.path.join(CAPTURES, name + ".pcap"), "rb") as file:
        data = file.read()
    at, talks = 24, []
    while at < len(data):
        length = struct.unpack_from("=I", data, at + 8)[0]
        packet = data[at + 16:at + 16 + length]
        at += 16 + length
        if struct.unpack_from(">H", packet, 14)[0] != CONTROL:
            continue
        for kind, flags, seq, body in messages(packet[16:]):
            if flags & 1 and kind > CONTROL:
                talks.append((seq, packet[16:], []))
            elif talks and seq == talks[-1][0] and kind != CONTROL:
                talks[-1][2].append((kind, flags, body))
    return [(request, until_end(answer)) for _, request, answer in talks]


def until_end(answer):
    """A reply up to its end. The stock node sends an acknowledgement after the end of a discover; our node does not."""
    kinds = [kind for kind, _, _ in answer]
    return answer[:kinds.index(DONE) + 1] if DONE in kinds else answer


def attributes(body):
    while len(body) >= 4:
        length, kind = struct.unpack_from("=HH", body)
        if length < 4 or length > len(body):
            yield "broken", body
            return
        yield kind, body[4:length]
        body = body[(length + 3) & ~3:]


def key_types(table):
    """Returns {index: (type, {the same for the child}, is a list)} from the body of a table message."""
    keys = {}
    for _, key in attributes(next(attributes(table))[1]):
        fields = {kind & 0x3fff: value for kind, value in attributes(key)}
        child = key_types(struct.pack("=HH", len(fields[1]) + 4, 1) + fields[1]) if 1 in fields else {}
        form = struct.unpack("=H", fields[7])[0] if 7 in fields else 0
        keys[struct.unpack("=H", fields[3])[0]] = (struct.unpack("=H", fields[4])[0], child, bool(form & 4))
    return keys


def shape(body, keys):
    """The shape of a value message: attributes with their nesting, numbers by their length, texts as text. A list has
    the shape of its first item, because the number of items may differ."""
    found = []
    for kind, value in attributes(body):
        index = kind if kind == "broken" else kind & 0x3fff
        known, child, is_list = keys.get(index, (0, {}, False))
        if known == 8:
            inner = [(elem if elem == "broken" else elem & NESTED, shape(data, child))
                     for elem, data in attributes(value)]
            found.append((kind, inner[:1] if is_list else inner))
        else:
            found.append((kind, "text" if known in (5, 10) else len(value)))
    return sorted(found, key=lambda attr: attr[0] if attr[0] == "broken" else attr[0] & 0x3fff)


class Channel:
    """The netlink socket of one client."""

    def __init__(self, node, prefix):
        self.port = prefix(node)
        self.raw = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 2)
        self.raw.setsockopt(270, 11, 1)		# NETLINK_EXT_ACK, as stock's tool
        self.raw.settimeout(20)
        self.raw.bind((0, 0))

    def ask(self, request):
        """Sends a captured request. Returns the reply: [(kind, flags, body)...]."""
        head = list(struct.unpack_from("=IHHII", request))
        head[1] = USER_TYPE
        self.raw.sendto(struct.pack("=IHHII", *head) + request[16:], (self.port, 0))
        answer = []
        while True:
            for kind, flags, seq, body in messages(self.raw.recv(1 << 17)):
                if seq == head[3]:
                    answer.append((kind, flags, body))
                if kind in (ERROR, DONE):
                    return answer


# ---- comparison ------------------------------------------------------------------------------------------------

def verdict(message):
    """Returns (error or done, flags, errno, is there a text) of the last message."""
    kind, flags, body = message
    err = struct.unpack_from("=i", body)[0] if len(body) >= 4 else 0
    rest = body[4:]
    if kind == ERROR:
        size = struct.unpack_from("=I", body, 4)[0]
        rest = body[20:] if flags & 0x100 else body[4 + size:]
    return kind, flags, err, bool(rest)


def compare(name, cmd, ours, theirs):
    equal(name + ": how it ends", verdict(ours[-1]), verdict(theirs[-1]))
    tables = lambda answer: [(flags, body) for kind, flags, body in answer if flags & 0x400 and kind >= CONTROL]
    mine, stock = tables(ours), tables(theirs)
    if name in LONGER:
        mine = [(flags, key_types(body[4:]).keys() >= key_types(stock[i][1][4:]).keys())
                for i, (flags, body) in enumerate(mine)]
        stock = [(flags, True) for flags, _ in stock]
    equal(name + ": tables, byte for byte", mine, stock)
    equal(name + ": headers", set(body[:4] for kind, _, body in ours if kind >= CONTROL),
          set(bytes([cmd, 5, 0, 0]) for kind, _, _ in theirs if kind >= CONTROL))
    compare_values(name, ours, theirs)


def values(answer):
    """The shapes of the value messages of a reply, with their flags."""
    keys, found = {}, []
    for kind, flags, body in answer:
        if kind < CONTROL:
            continue
        if flags & 0x400:
            keys = key_types(body[4:])
        else:
            found.append((flags, shape(body[4:], keys)))
    return found


def compare_values(name, ours, theirs):
    """Values must be equal, except for peers and pings: a stock node discovers peers and their Multi-Rail flag by
    itself. There the first value must be equal, and each of ours must be like one of the stock node's."""
    mine, stock = values(ours), values(theirs)
    if name in LONGER:
        longest = max(attr[0] & 0x3fff for attr in stock[0][1])
        mine = [(flags, [attr for attr in item if attr[0] & 0x3fff <= longest]) for flags, item in mine]
    if ours[0][0] < CONTROL or ours[0][2][0] not in (PEERS, PING):
        return equal(name + ": values", mine, stock)
    flagless = lambda items: [(flags, [attr for attr in item if attr[0] not in FLAGS]) for flags, item in items]
    mine, stock = flagless(mine), flagless(stock)
    check(name + ": there are values", mine or not stock, stock)
    equal(name + ": the first value", mine[:1], stock[:1])
    return check(name + ": each is like one", all(item in stock for item in mine), (mine, stock))


def stock_requests(node, channel):
    for name in ASKED:
        for i, (request, theirs) in enumerate(captured_talk(name)):
            compare(name if not i else "%s.%d" % (name, i), request[16], channel.ask(request), theirs)


# ---- requests without a capture --------------------------------------------------------------------------------

def attr(kind, data):
    return struct.pack("=HH", len(data) + 4, kind) + data + b"\0" * (-len(data) % 4)


def encode(body):
    """Encodes texts, numbers and lists as attributes of a request."""
    if isinstance(body, list):
        return attr(NESTED | 1, b"".join(encode(item) for item in body))
    return attr(6, struct.pack("=q", body)) if isinstance(body, int) else attr(5, body.encode() + b"\0")


def request(cmd, flags, *body):
    attrs = b"".join(encode(item) for item in body)
    return struct.pack("=IHHIIBBH", 20 + len(attrs), USER_TYPE, flags, cmd, 0, cmd, 5, 0) + attrs


def distances(channel, *nids):
    """Returns {nid: (distance, order)} from command 8, which `lctl which_nid' uses."""
    found, names = {}, None
    for kind, flags, body in channel.ask(request(8, 0x305, "peer", list(nids))):
        if kind >= CONTROL and flags & 0x400:
            names = key_types(body[4:])
        elif kind >= CONTROL:
            fields = {number & 0x3fff: value for number, value in attributes(body[4:])}
            found[fields[2].rstrip(b"\0").decode()] = struct.unpack("=II", fields[3] + fields[4])
    equal("types of distances", {index: key[0] for index, key in (names or {}).items()}, {1: 10, 2: 5, 3: 3, 4: 3})
    return found


def other_requests(node, channel):
    node.ok("lnet", "configure")
    node.ok("net", "add", "--net", "tcp", "--if", "eth0,eth1")
    near = distances(channel, "10.77.0.3@tcp", "10.77.1.2@tcp", "0@lo", "10.0.0.1@tcp9", "10.77.0.2@tcp")
    equal("loopback and what cannot be reached are left out", sorted(near),
          ["10.77.0.2@tcp", "10.77.0.3@tcp", "10.77.1.2@tcp"])
    check("our own are nearer", near["10.77.1.2@tcp"] < near["10.77.0.3@tcp"] and
          near["10.77.0.2@tcp"] == near["10.77.1.2@tcp"], near)
    do = lambda *what: verdict(channel.ask(request(*what))[-1])[2]
    equal("a range of NUMA distances", do(15, 0x405, "range", 7), 0)
    equal("is set", node.show("global", "show")["global"]["numa_range"], 7)
    equal("one that is none", do(15, 0x405, "range", "far"), -22)
    equal("routing stays off", do(13, 0x405, "enable", 0), 0)
    equal("unknown keys do not matter", do(13, 0x405, "colour", "blue", "enable", 0), 0)
    equal("it is on or off", do(13, 0x405, "enable", 2), -22)
    equal("on", do(13, 0x405, "enable", 1), 0)
    equal("buffers", do(14, 0x405, "tiny", 5, "small", -1, "large", 7), 0)
    equal("are", node.show("routing", "show")["buffers"], {"tiny": 5, "small": 16384, "large": 7})
    equal("too many", do(14, 0x405, "small", 1 << 40), -22)
    equal("off again", do(13, 5, "enable", 0), 0)
    equal("but not on while it is stopping", do(13, 0x405, "enable", 1), -errno.EBUSY)
    for cmd in (2, 3):
        equal("command %d of nothing" % cmd, do(cmd, 0x405), -errno.ENOMSG)
        equal("command %d of no list" % cmd, do(cmd, 0x405, "net type", "tcp"), -errno.EINVAL)
    equal("a ping of nothing", do(6, 0x305), -errno.ENOENT)
    equal("a backup of a net that is not there", do(2, 0x325, [["net type", "tcp9"]]), -errno.ESRCH)
    equal("one of no net", do(2, 0x305, [["net type", "bogus"]]), -errno.ENOENT)
    equal("a NID fails once", do(10, 0x405, [["nid", "10.77.0.9@tcp", "threshold", 1]]), 0)
    check("it is not asked", "errno: -5" in node.ctl("ping", "10.77.0.9@tcp")[1])
    equal("all fail", do(10, 0x405, [["nid", "<?>", "threshold", -1]]), 0)
    check("none is asked", "errno: -5" in node.ctl("ping", "10.77.0.2@tcp")[1])
    equal("none fails", do(10, 0x405, [["nid", "<?>", "threshold", 0]]), 0)
    node.ok("ping", "10.77.0.2@tcp")
    equal("one that is no NID", do(10, 0x405, [["nid", "bogus", "threshold", 1]]), -errno.EINVAL)
    equal("less than always", do(10, 0x405, [["nid", "10.77.0.9@tcp", "threshold", -2]]), -errno.ERANGE)
    equal("how often is not said", do(10, 0x405, [["nid", "10.77.0.9@tcp"]]), -errno.EINVAL)
    equal("who fails is not said", do(10, 0x405, [["threshold", 1]]), -errno.EINVAL)
    equal("nothing is said", do(10, 0x405), -errno.ENOMSG)
    equal("nothing is shown of it", do(10, 0x305), -95)
    equal("command 5 is none", do(5, 0x405, "x", 1), -95)


def test_wire():
    """cfg-010: the stock tool works with our node, which replies to its requests as the stock node does."""
    in_namespaces("the stock tool's requests", wire)


def wire(spaces):
    node = Node("wire", netns=spaces[0]).start()
    here = os.open("/proc/self/ns/net", os.O_RDONLY)
    there = os.open("/run/netns/" + spaces[0], os.O_RDONLY)
    libc = ctypes.CDLL(None, use_errno=True)
    libc.setns(there, 0x40000000)
    channel = Channel(node, port)
    libc.setns(here, 0x40000000)
    stock_requests(node, channel)
    other_requests(node, channel)
    channel.raw.close()
    node.stop()


def port(node):
    number = 2166136261
    for byte in struct.pack("=I", 0) + node.name.encode():
        number = ((number ^ byte) * 16777619) & 0xffffffff
    return (number & 0x3fffffff) | 0x40000000
