# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A peer opens many sessions and sends tracked requests in them, which the node must store."""

import struct
import time

import lib
from lib import H, X, Conn, Pair, World, nid4

MARK, OPEN, FEATURE = 64, 0x8000000000000002, 1 << 62


def opening(nonce, source=X, hold_ms=600000):
    """A session open request: exactly-once rule 2."""
    body = struct.pack("<QQQIII", 7, nonce, OPEN, MARK, hold_ms, 32)
    return lib.message(nid4(source), nid4(H), 2, body)


def put(grant, seq, source=X, portal=40):
    """A tracked PUT whose sender has finished no request; nothing matches it."""
    distance = min(seq - 1, 1023)
    body = struct.pack("<QQQQII", grant, seq | distance << 48 | FEATURE, seq, 0, MARK + portal, 0)
    return lib.message(nid4(source), nid4(H), 1, body)


def frame(conn):
    """The next LNet message: (type, 40 bytes of its body, payload)."""
    while True:
        head = conn.read(24)
        if len(head) < 24:
            return None
        kind, _, _, ack = struct.unpack("<IIQQ", head)
        if kind == 0xc1:
            break
    message = conn.read(72)
    if len(message) < 72:
        return None
    kind, length = struct.unpack_from("<II", message, 24)
    return kind, message[32:], conn.read(length)


def session(conn, nonce, source=X):
    """Opens a session and returns its ID; 0: no reply."""
    conn.send(opening(nonce, source))
    while True:
        got = frame(conn)
        if not got:
            return 0
        if got[0] == 3 and len(got[2]) >= 32:
            return struct.unpack_from("<Q", got[2], 24)[0]


def drain(conn):
    """Discards all bytes that were received so far."""
    conn.sock.settimeout(0)
    try:
        while conn.sock.recv(1 << 20):
            pass
    except OSError:
        pass


def fill(conn, source):
    """Sends 1,024 unfinished requests in each of eight sessions; returns how many were sent."""
    sent = 0
    for nonce in range(1, 9):
        conn.sock.settimeout(2)
        grant = session(conn, nonce, source)
        for base in range(1, 1025, 64) if grant else ():
            conn.sock.settimeout(2)
            sent += 64 * conn.send(b"".join(put(grant, seq, source) for seq in range(base, base + 64)))
            drain(conn)
    return sent


def many_entries(tap):
    """sessions of invented NIDs, full of requests that match nothing: their entries stay for 20 minutes."""
    world = World()
    try:
        pair = Pair(world, settings=("hello_address=off",))
        pair.load(9)
        world.enter("x")
        before, begin, sent = pair.measure()["kB"], time.monotonic(), 0
        for i in range(1, 101):
            if time.monotonic() - begin > 5:
                break
            source = "10.9.1.%d" % i
            conn = Conn(nid4(source))
            try:
                sent += fill(conn, source) if conn.taken else 0
            except OSError:     # the node reads too slowly
                pass
            conn.close()
        spent = time.monotonic() - begin
        time.sleep(1)
        kept = pair.measure()["kB"] - before
        tap.rate("entries: requests", sent, spent)
        print("# entries: the node keeps %d kB after the peer has gone" % kept)
        tap.check(sent > 20000, "entries: the attack reaches the node")
        tap.check(kept * 1024 < 64 * sent, "entries: a rejected request costs at most 64 bytes")
        tap.check(kept < 65536, "entries: all of them cost at most 64 MiB")
        tap.honest(pair.result(), "entries")
    finally:
        world.close()


SCENARIOS = {"A16": many_entries}
