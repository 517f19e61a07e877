# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Four hostile nodes attack one node at the same time; each chooses its next attack at random."""

import collections
import glob
import os
import random
import signal
import socket
import struct
import sys
import time

import claims
import lib
import lists
import load
import receives
import sessions
from lib import BULK_OUT, H, P, Conn, Pair, World, nid4

ATTACKERS = {"w": "10.9.0.9", "x": "10.9.0.10", "y": "10.9.0.11", "z": "10.9.0.12"}
LONGEST = 8.0           # longest time of one attack in seconds


def connected(me):
    conn = Conn(nid4(me), source=me)
    conn.sock.settimeout(1)
    return conn


def false_nids(me, end):
    tries = 0
    while time.monotonic() < end:
        for address in (H, P, "0.0.0.0", "255.255.255.255", "224.0.0.1", "127.0.0.1"):
            Conn(nid4(address), source=me, wait=0.3).close()
            tries += 1
    return tries


def names_of_others(me, end):
    conn, sent = connected(me), 0
    frames = b"".join(lib.message(nid4("10.9.%d.%d" % (20 + i // 250, i % 250 + 1)), nid4(H), 2,
                                  struct.pack("<QQQIII", 7, i, 0, claims.RAW, 0, 1024)) for i in range(1000))
    while time.monotonic() < end and conn.send(frames):
        sent += 1000
    conn.close()
    return sent


def trickled(me, end):
    attack = receives.Trickle([nid4(me)] * 40, [me])
    attack.run(end - time.monotonic())
    attack.close()
    return attack.headers


def closed_payloads(me, end):
    """Closes each connection in the middle of a payload."""
    tries = 0
    while time.monotonic() < end:
        conn = connected(me)
        tries += conn.taken and conn.send(receives.put_header(nid4(me), nid4(H)) + b"x" * 1000)
        conn.close()
    return tries


def open_requests(me, end):
    conn, sent = connected(me), 0
    while time.monotonic() < end and conn.send(b"".join(sessions.opening(sent + i, me) for i in range(64))):
        sessions.drain(conn)
        sent += 64
        time.sleep(0.005)
    conn.close()
    return sent


def full_sessions(me, end):
    sent = 0
    while time.monotonic() < end:
        conn = connected(me)
        try:
            sent += sessions.fill(conn, me) if conn.taken else 0
        except OSError:         # the node does not read, or has closed the connection
            pass
        conn.close()
    return sent


def far_sequences(me, end):
    conn, sent = connected(me), 0
    grant = sessions.session(conn, 1, me) if conn.taken else 0
    while time.monotonic() < end and conn.send(sessions.put(grant, 1 << 47, me, claims.RAW) * 64):
        sessions.drain(conn)
        sent += 64
    conn.close()
    return sent


def long_lists(me, end):
    conn, sent = connected(me), 0
    body = struct.pack("<QQQQII", 2**64 - 1, 2**64 - 1, 1 << 63, 0, 0, 0)
    while time.monotonic() < end:
        sent += 1
        nids = [nid4(me)] + [nid4("10.9.%d.0" % (16 + sent % 64)) + i for i in range(1, 4094)]
        if not conn.send(lib.message(nid4(me), nid4(H), 1, body, lists.info(nids, sent))):
            break
        sessions.drain(conn)
        time.sleep(0.02)
    conn.close()
    return sent


def silent_connections(me, end):
    """Opens as many connections as possible, and sends nothing."""
    conns, tries = [], 0
    while time.monotonic() < end:
        try:
            conn = socket.socket()
            conn.settimeout(0.5)
            conn.bind((me, 0))
            conn.connect((H, lib.PORT))
            conns.append(conn)
        except OSError:
            time.sleep(0.05)
        tries += 1
        if len(conns) > 400:
            conns.pop(0).close()
    for conn in conns:
        conn.close()
    return tries


def idle_connections(me, end):
    conns = [Conn(nid4(me), source=me, ctype=BULK_OUT if i else lib.CONTROL, wait=0.3) for i in range(64)]
    time.sleep(max(0, end - time.monotonic()))
    for conn in conns:
        conn.close()
    return len(conns)


def garbage(me, end):
    tries = 0
    while time.monotonic() < end:
        conn = connected(me)
        tries += conn.send(random.randbytes(4096))
        conn.close()
    return tries


ATTACKS = (false_nids, names_of_others, trickled, closed_payloads, open_requests, full_sessions, far_sequences,
           long_lists, silent_connections, idle_connections, garbage)


def ring(signum, frame):
    raise TimeoutError


def attacker(world, name, seconds, seed):
    """Forks a process at host @name, which attacks and prints how much it sent. Returns the process ID."""
    pid = os.fork()
    if pid:
        return pid
    status = 1
    try:
        rng = random.Random(seed)
        world.enter(name)
        load.in_child()
        signal.signal(signal.SIGALRM, ring)
        sent, end = collections.Counter(), time.monotonic() + seconds
        order = []
        while time.monotonic() < end:
            order = order or rng.sample(ATTACKS, len(ATTACKS))
            attack = order.pop()
            until = min(end, time.monotonic() + rng.uniform(1, LONGEST))
            # The alarm ends an attack that blocks because the node does not read.
            signal.setitimer(signal.ITIMER_REAL, until + 1 - time.monotonic(), 0.5)
            try:
                sent[attack.__name__] += attack(ATTACKERS[name], until)
            except (OSError, struct.error):
                sent[attack.__name__ + " (broken off)"] += 1
            signal.setitimer(signal.ITIMER_REAL, 0)
        print("# attacker %s: %s" % (ATTACKERS[name], ", ".join("%s %d" % pair for pair in sorted(sent.items()))))
        status = 0 if sum(sent.values()) > 0 else 1
        load.save(os.path.join(world.work, name + ".load"))
    finally:
        sys.stdout.flush()
        os._exit(status)


def together(tap):
    """all attacks at random, from four hostile nodes at once (SECONDS, SEED)."""
    seconds, seed = float(os.environ.get("SECONDS", 12)), int(os.environ.get("SEED", random.randrange(1 << 31)))
    print("# together: SEED=%d" % seed, flush=True)
    world = World(attackers=list(ATTACKERS.items()))
    try:
        pair = Pair(world)
        world.count_dials()
        pair.load(seconds + 2)
        pids = [attacker(world, name, seconds, seed + i) for i, name in enumerate(ATTACKERS)]
        peak, most = pair.before["kB"], 0
        ends = []
        while pids:
            time.sleep(0.2)
            now = pair.measure()
            peak, most = max(peak, now["kB"]), max(most, now["descriptors"])
            ends += [os.waitpid(pid, os.WNOHANG) for pid in pids]
            pids = [pid for pid in pids if pid not in [end[0] for end in ends]]
        tap.check(sum(not status for pid, status in ends if pid) == len(ATTACKERS),
                  "together: the attacks reach the node")
        for path in glob.glob(world.work + "/*.load"):
            load.add(path)
        said = pair.result()
        said["p99_times"] = 4
        lib.wait_for(lambda: pair.measure()["kB"] - pair.before["kB"] < 8192, 10)
        kept = pair.measure()["kB"] - pair.before["kB"]
        print("# together: the node grew by %d kB, had %d descriptors, kept %d kB; it dialled %d times" %
              (peak - pair.before["kB"], most, kept, world.dials()))
        tap.honest(said, "together")
        tap.check(peak - pair.before["kB"] < 65536, "together: the node grows by less than 64 MB")
        tap.check(lib.KERNEL or kept < 8192, "together: it gives the memory back within 10 s")
        # The node proves 128 listed NIDs per peer, then one per second. A connection attempt sends two SYNs.
        tap.check(world.dials() <= 2 * len(ATTACKERS) * (128 + seconds), "together: it dials few listed NIDs")
    finally:
        world.close()


SCENARIOS = {"together": together}
