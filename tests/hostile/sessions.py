# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A peer opens many sessions and sends tracked requests in them, which the node must store."""

import struct
import time

import lib
import receives
from lib import H, X, Conn, Pair, World, nid4

MARK, OPEN, FEATURE = 64, 0x8000000000000002, 1 << 62
IDLE = "10.9.0.4"       # another honest client on the host P


def opening(nonce, source=X, hold_ms=600000):
    """A session open request: exactly-once rule 2."""
    body = struct.pack("<QQQIII", 7, nonce, OPEN, MARK, hold_ms, 32)
    return lib.message(nid4(source), nid4(H), 2, body)


def put_body(grant, seq, portal):
    distance = min(seq - 1, 1023)
    return struct.pack("<QQQQII", grant, seq | distance << 48 | FEATURE, seq, 0, MARK + portal, 0)


def put(grant, seq, source=X, portal=40, size=0):
    """A tracked PUT that declares all earlier ones unfinished. Portal 40 has no match. Only the header has @size."""
    message = lib.message(nid4(source), nid4(H), 1, put_body(grant, seq, portal))
    return message[:52] + struct.pack("<I", size) + message[56:]


def frame(conn):
    """Reads the next LNet message. Returns (type, 40 bytes of its body, payload)."""
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
    """Sends 1,024 unfinished requests in each of eight sessions. Returns the number of requests."""
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
    """sessions of invented NIDs, full of requests without a match: their reply cache entries would stay 20 minutes."""
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
        tap.check(sent > (5000 if lib.KERNEL else 20000), "entries: the attack reaches the node")
        tap.check(kept * 1024 < 64 * sent, "entries: a rejected request costs at most 64 bytes")
        tap.check(kept < 65536, "entries: all of them cost at most 64 MiB")
        tap.honest(pair.result(), "entries")
    finally:
        world.close()


class Idle:
    """An honest peer that sends a request every 3 s. The node must keep its session."""

    def __init__(self, world):
        self.proc = world.start("p", "lnetperf", "client", "--nid", IDLE + "@tcp", "--peer", H + "@tcp", "--interval",
                                "3s", "--json", "--duration", "11s", log="idle")

    def check(self, tap, what):
        self.proc.wait(30)
        said = lib.figures_of(self.proc)
        if not said:
            raise RuntimeError("no idle peer: " + lib.text_of(self.proc))
        print("# idle peer: %d done, %d failed, %d unknown" % (said["done"], said["failed"], said["perhaps"]))
        tap.honest(said, what + ", idle peer")


def many_openings(tap):
    """103,600 session open requests in 8 s: each would create a window and displace another window."""
    world = World(extra=[("p", IDLE)])
    try:
        pair = Pair(world)
        idle = Idle(world)
        pair.load(9)
        world.enter("x")
        conn = Conn(nid4(X))

        begin, sent = time.monotonic(), 0
        while time.monotonic() - begin < 8:
            if sent > 12950 * (time.monotonic() - begin):
                time.sleep(0.002)
                continue
            conn.sock.settimeout(2)
            if not conn.send(b"".join(opening(nonce) for nonce in range(sent + 1, sent + 257))):
                break
            drain(conn)
            sent += 256
        tap.rate("session_opens", sent, time.monotonic() - begin)
        idle.proc.wait(30)      # the oracle judges all logs
        said = pair.result()
        found = pair.stats("session_opens", "session_opens_limited", "windows_displaced", "windows_of_peer",
                           "no_window")
        tap.check(sent > (20000 if lib.KERNEL else 90000), "openings: the attack reaches the node")
        tap.check(found["session_opens"] < 400, "openings: the node serves 32 requests of a peer per second")
        tap.check(found["windows_displaced"] == found["windows_of_peer"] and not found["no_window"],
                  "openings: no other peer loses a window")
        tap.honest(said, "session_opens")
        idle.check(tap, "session_opens")
    finally:
        world.close()


def busy_session(source):
    """Opens a session with a PUT whose payload never arrives, so its window stays busy. None: rejected."""
    conns = [Conn(nid4(source), source=source), Conn(nid4(source), source=source, ctype=lib.BULK_OUT)]
    conns[0].sock.settimeout(1)
    try:
        grant = session(conns[0], 1, source) if conns[1].taken else 0
    except OSError:
        grant = 0
    if grant:
        conns[1].send(put(grant, 1, source, portal=receives.PORTAL, size=4096))
    return conns if grant else None


def busy_windows(tap):
    """all windows of the node are busy: requests of new peers must not wait for a session."""
    many = ["10.9.0.%d" % i for i in range(100, 108)]
    world = World(extra=[("x", address) for address in many] + [("p", IDLE)])
    try:
        pair = Pair(world, settings=("windows_max=8",))
        pair.load(8)
        world.enter("x")
        begin = time.monotonic()
        held = [conns for conns in map(busy_session, many) if conns]
        tap.rate("busy windows", len(held), time.monotonic() - begin)
        tap.check(len(held) >= 7, "busy windows: the attack reaches the node")
        fresh = world.start("p", "lnetperf", "client", "--nid", IDLE + "@tcp", "--peer", H + "@tcp", "--interval",
                            "5ms", "--json", "--duration", "4s", log="fresh")
        fresh.wait(30)
        new = lib.figures_of(fresh)
        print("# new peer: %d done, %d failed, %d unknown, gap %.1f ms" %
              (new["done"], new["failed"], new["perhaps"], new["gap_ms"]))
        said = pair.result()
        pair.stats("session_opens", "session_opens_rejected", "windows_displaced", "no_window")
        tap.honest(new, "busy windows, new peer")
        tap.check(new["gap_ms"] <= 500, "busy windows: the requests of a new peer do not wait")
        tap.honest(said, "busy windows")
        for conn in sum(held, []):
            conn.close()
    finally:
        world.close()


SCENARIOS = {"A3": busy_windows, "A16": many_entries, "A19": many_openings}
