# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Lists of NIDs: an unknown peer pushes a ping info that lists NIDs of other peers, or thousands of NIDs."""

import struct
import threading
import time

import connections
import lib
from lib import H, P, X, Conn, nid4

FULL = 0x1e		# features: status, no routing, multi-rail, discovery


def info(nids, seq):
    """A ping info (manual/internals/wire.md)."""
    head = struct.pack("<IIII", 0x70696e67, FULL, 12345, len(nids) + 1)
    return head + struct.pack("<QII", 9 << 48, seq, 0) + \
        b"".join(struct.pack("<QII", nid, 0x15aac0de, 0) for nid in nids)


def push(nids, seq):
    body = struct.pack("<QQQQII", 2**64 - 1, 2**64 - 1, 1 << 63, 0, 0, 0)
    return lib.message(nid4(X), nid4(H), 1, body, info(nids, seq))


class Imitation(threading.Thread):
    """A node at X that listens as an honest peer does, replies to pings with the list @nids, and acknowledges PUTs."""

    def __init__(self):
        super().__init__(daemon=True)
        self.nids, self.seq = [nid4(X)], 1
        self.puts = self.gets = 0       # PUTs of programs; received pings
        self.ends = []
        self.listener = lib.socket.socket()
        self.listener.setsockopt(lib.socket.SOL_SOCKET, lib.socket.SO_REUSEADDR, 1)
        self.listener.bind((X, lib.PORT))
        self.listener.listen(16)
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                sock, _ = self.listener.accept()
            except OSError:
                return
            conn = Conn.__new__(Conn)
            conn.sock, conn.taken = sock, True
            threading.Thread(target=self.greet, args=(conn,), daemon=True).start()

    def greet(self, conn):
        try:
            conn.sock.settimeout(5)
            data = conn.read(16 + 56)
            node, ctype = struct.unpack_from("<Q", data, 16 + 8)[0], struct.unpack_from("<I", data, 16 + 48)[0]
            self.greeted(struct.unpack_from("<Q", data, 16 + 32)[0])
            conn.sock.sendall(lib.hello(nid4(X), node, {2: 3, 3: 2}.get(ctype, ctype)))
            self.serve(conn)
        except (OSError, struct.error):
            pass

    def greeted(self, incarnation):
        """Called when the node has sent a HELLO with that incarnation."""

    def serve(self, conn):
        conn.sock.settimeout(30)
        self.ends.append(conn)
        while True:
            try:
                if not self.one(conn):
                    return
            except (OSError, struct.error):
                return

    def one(self, conn):
        """Serves the next message. False: the connection ends."""
        head = conn.read(24)
        if len(head) < 24:
            return False
        if struct.unpack_from("<I", head)[0] != 0xc1:
            return True
        head = conn.read(72)
        dst, src, _, _, kind, size = struct.unpack_from("<QQIIII", head)
        body, payload = head[32:], conn.read(size) if size else b""
        if kind == 1:
            return self.put(conn, dst, src, body, payload)
        if kind == 2 and struct.unpack_from("<I", body, 24)[0] == 0:
            return self.ping(conn, dst, src, body)
        return True

    def put(self, conn, dst, src, body, payload):
        self.puts += struct.unpack_from("<I", body, 32)[0] != 0
        return conn.send(lib.message(dst, src, 0, body[:24] + struct.pack("<I", len(payload))))

    def ping(self, conn, dst, src, body):
        self.gets += 1
        room = struct.unpack_from("<I", body, 32)[0]
        return conn.send(lib.message(dst, src, 3, body[:16], info(self.nids, self.seq)[:room]))

    def close(self):
        for conn in self.ends:
            conn.end()
            conn.close()
        self.listener.close()


class Liar(Imitation):
    """An Imitation that also connects to the node, and pushes lists."""

    def __init__(self):
        super().__init__()
        self.conn = Conn(nid4(X), ctype=lib.CONTROL)
        self.seq = 0

    def run(self):
        self.serve(self.conn)

    def push(self, nids):
        self.nids = nids
        self.seq += 1
        return self.conn.send(push(nids, self.seq))

    def close(self):
        super().close()
        self.conn.close()


def pings(pair, number):
    """Pings P from H with lnetctl. Returns the number of replies, and of replies that list P but not X."""
    texts = []
    for _ in range(number):
        asked = pair.world.call("h", "lnetctl", "--node", lib.NODE, "ping", "--timeout", "2000", P + "@tcp")
        texts.append(asked.stdout)
    return sum("primary nid" in text for text in texts), sum(P in text and X not in text for text in texts)


def counters(pair):
    names = ("pushes_received", "nids_pinged", "nids_proven", "nids_rejected", "nids_ignored", "merges_delayed")
    return pair.stats(*names)


def takes_nid(tap):
    """an unknown peer lists the NID of a peer, also as its primary NID: it must not receive requests to that peer."""
    for what, nids in (("lists the peer", [nid4(X), nid4(P)]), ("has its primary NID", [nid4(P), nid4(X)])):
        world, pair = connections.world_and_pair(8)
        try:
            liar = Liar()
            liar.start()
            tap.check(liar.conn.taken, "%s: the stranger is connected" % what)
            begin, tries, answered, right = time.monotonic(), 0, 0, 0
            while time.monotonic() - begin < 4:
                tries += liar.push(nids)
                got = pings(pair, 2)
                answered, right = answered + got[0], right + got[1]
            tap.rate(what, tries, time.monotonic() - begin)
            counters(pair)
            said = pair.result()
            print("# %s: %d pings answered, %d by the peer alone; %d pings and %d PUTs reached the stranger" %
                  (what, answered, right, liar.gets, liar.puts))
            tap.check(answered and answered == right and not liar.puts, "%s: no request to the peer is answered by "
                      "the stranger" % what)
            tap.honest(said, what)
            liar.close()
        finally:
            world.close()


def lists_thousands(tap):
    """an unknown peer pushes lists of 4,094 NIDs: the node must still serve other peers, and ping few of the NIDs."""
    world, pair = connections.world_and_pair(7)
    try:
        liar = Liar()
        liar.start()
        begin, tries = time.monotonic(), 0
        while time.monotonic() - begin < 4:
            first = nid4("10.9.%d.0" % (16 + tries % 64))
            if not liar.push([nid4(X)] + [first + i for i in range(1, 4094)]):
                break
            tries += 1
            time.sleep(0.02)
        seconds = time.monotonic() - begin
        tap.rate("long lists", tries, seconds)
        found = counters(pair)
        said = pair.result()
        cpu_s = pair.measure()["cpu_s"] - pair.before["cpu_s"]
        print("# long lists: %.2f s of processor time in %.1f s" % (cpu_s, seconds))
        tap.check(lib.KERNEL or said["latency_us"].get("p50", 1e9) < 200e3,
                  "long lists: half of the honest requests take less than 200 ms")
        tap.check(found.get("nids_pinged", 9999) <= 256, "long lists: few NIDs are pinged")
        tap.honest(said, "long lists")
        liar.close()
    finally:
        world.close()


class Keeper(Imitation):
    """An Imitation that stores the incarnation of each HELLO of the node."""

    def __init__(self):
        self.incarnations = []
        super().__init__()

    def greeted(self, incarnation):
        self.incarnations.append(incarnation)


def new_incarnations(tap):
    """HELLOs with new incarnations in the name of a connected peer: the node must keep its connection set."""
    other = "10.9.0.10"
    world, pair = connections.world_and_pair(8, hosts=(("x", other),))
    try:
        keeper = Keeper()

        def is_pinged():
            asked = world.call("h", "lnetctl", "--node", lib.NODE, "ping", "--timeout", "2000ms", X + "@tcp")
            return asked.returncode == 0

        tap.check(is_pinged(), "incarnation: the node has a set with the peer")
        begin, tries, served = time.monotonic(), 0, 0
        while time.monotonic() - begin < 3:
            for ctype in (lib.CONTROL, lib.BULK_IN, lib.BULK_OUT):
                Conn(nid4(X), source=other, ctype=ctype, incarnation=2 + tries, wait=0.3).close()
                tries += 1
            served += is_pinged()
        tap.rate("incarnation: HELLOs", tries, time.monotonic() - begin)
        first = set(keeper.incarnations)
        print("# incarnation: %d connections of the node, %d incarnations; %d pings served meanwhile" %
              (len(keeper.incarnations), len(first), served))
        tap.check(len(first) == 1, "incarnation: it stays while the set lives")
        tap.check(served > 0 and is_pinged(), "incarnation: the set lives")
        for conn in keeper.ends:
            conn.end()
        lib.wait_for(lambda: is_pinged() and len(set(keeper.incarnations)) > 1, 3)
        tap.check(max(keeper.incarnations) > max(first), "incarnation: the next set has a higher one")
        tap.honest(pair.result(), "incarnation")
        keeper.close()
    finally:
        world.close()


SCENARIOS = {"A8": takes_nid, "A9": lists_thousands, "A15": new_incarnations}
