# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A fake console: it replies to lst's requests as a test defines, and makes tallies of known times."""

import atexit
import os
import socket
import struct
import threading

COUNTS = ("sent received lost under_way late duplicated reordered corrupt refused bytes_out bytes_in").split()


def bucket_of(ns):
    """As in lnet/selftest/tally.h: the first bucket ends at 512 ns. Then each power of two has eight of equal width."""
    if ns < 512:
        return 0
    octave = ns.bit_length() - 1
    return min(1 + (octave - 9) * 8 + (ns >> octave - 3) % 8, 217)


def tally(times, batch="batch", test=1, what="ping", nodes=2, window=(0, 10 ** 9), **counts):
    """A tally as the console reports it, with one round trip for each of the times."""
    buckets = {}
    for ns in times:
        buckets[bucket_of(ns)] = buckets.get(bucket_of(ns), 0) + 1
    values = dict.fromkeys(COUNTS, 0)
    values.update(received=len(times), **counts)
    values["sent"] = values["received"] + values["lost"] + values["under_way"]
    item = {"batch": batch, "test": test, "what": what, "nodes": nodes, **values, "times": len(times)}
    item["sum_ns"] = hex(sum(times))
    item["sum_ns2"] = hex(sum(ns * ns for ns in times))
    item.update(min_ns=min(times, default=0), max_ns=max(times, default=0), min_at="10.0.0.1@tcp",
                max_at="10.0.0.2@tcp", first_ns=window[0], last_ns=window[1], slow=[], bad=[],
                buckets=sorted(map(list, buckets.items())))
    return item


def text(value):
    if isinstance(value, dict):
        return "{" + ", ".join("%s: %s" % (key, text(one)) for key, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(text, value)) + "]"
    return "null" if value is None else '"%s"' % value if isinstance(value, str) else str(value)


def answer(**parts):
    return "".join("%s: %s\n" % (key, text(value)) for key, value in parts.items())


def counters(good=("10.0.0.1@tcp", "10.0.0.2@tcp"), bad=(), running_ms=1000, messages=0):
    """The reply to "stat"; nodes in @bad do not reply in time."""
    nodes = [{"id": "12345-" + nid, "errno": 0, "running_ms": running_ms, "send_count": messages,
              "recv_count": messages, "send_length": 1000 * messages, "recv_length": 500 * messages} for nid in good]
    return answer(nodes=nodes + [{"id": "12345-" + nid, "errno": 110} for nid in bad])


SESSION = answer(session={"name": "lab", "stamp": 1, "nid": "10.0.0.1@tcp", "key": 1, "features": 1, "timeout": 300,
                          "lease": 100, "nodes": 2})
GROUPS = answer(groups=[{"name": "c", "nodes": [{"id": "12345-10.0.0.1@tcp", "state": "Active", "owner": "lab"}]}])
BATCHES = answer(batches=[{"name": "batch", "state": "Idle", "tests": []}])


class Console:
    """Replies to verbs. A reply is a text, a number (the status), both, or a function that returns those."""

    def __init__(self, **verbs):
        self.name = "fake%d-%d" % (os.getpid(), id(self))
        self.verbs = {"show_session": SESSION, "list_group": GROUPS, "list_batch": BATCHES, "stat": counters(), **verbs}
        self.asked, self.all_of = [], None
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self.address())
        self.listener.listen(64)
        threading.Thread(target=self.accept, daemon=True).start()

    def address(self):
        """Returns the path for the socket of a node with this name (utils/lib/selftest_socket.h)."""
        uid = os.getuid()
        runtime = os.environ.get("XDG_RUNTIME_DIR", "/run/user/%d" % uid)
        place = os.path.join(runtime, "lnet") if uid else "/run/lnet"
        os.makedirs(place, 0o755, exist_ok=True)
        path = "%s/selftest.%d.%s" % (place, os.stat("/proc/thread-self/ns/net").st_ino, self.name)
        atexit.register(os.unlink, path)
        return path

    def accept(self):
        while True:
            client, _ = self.listener.accept()
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    @staticmethod
    def read(client, size):
        got = b""
        while len(got) < size:
            more = client.recv(size - len(got))
            if not more:
                raise EOFError
            got += more
        return got

    def words_of(self, words):
        """Returns {name: last value}; for the name @all_of, all its values."""
        found = {}
        for name, value in (word.split("=", 1) for word in words):
            found[name] = found.get(name, []) + [value] if name == self.all_of else value
        return found

    def serve(self, client):
        try:
            while True:
                size, = struct.unpack("I", self.read(client, 4))
                verb, *words = self.read(client, size)[:-1].decode().split("\0")
                words = self.words_of(words)
                self.asked.append((verb, words))
                said = self.verbs.get(verb, -95)
                said = said(words) if callable(said) else said
                status, said = (said, "") if isinstance(said, int) else said if isinstance(said, tuple) else (0, said)
                client.sendall(struct.pack("iI", status, len(said.encode())) + said.encode())
        except (EOFError, OSError):
            client.close()
