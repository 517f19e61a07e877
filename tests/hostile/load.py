# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Records what attackers send, and replays it to a plain TCP server on another port of the attacked host.

While a scenario runs, each socket of its processes records its connects, writes and reads. A record has the time, and
the processor time that the process has used until then. The test's own calls of programs are part of the load as well.
A replay has the same processes. They use the same processor time, and connect, write and read at the same times.
"""

import array
import os
import pickle
import socket
import struct
import time

PORT = 5000             # of tests/tools/sink
LONGEST_S = 60          # recording ends after this time
CONNECT, WRITE, READ, CLOSE, COMMAND = range(5)
PLAIN = socket.socket

HOST = None             # the host in whose namespace this process is
RECORD = None           # the Record of this process
OTHERS = []             # the Records of its children


class Record:
    """The load of one process: events of five numbers, connections, and commands."""

    def __init__(self, begin_s):
        self.host, self.begin_s, self.cpu_s = HOST, begin_s, time.process_time()
        self.events = array.array("d")          # time, processor time, kind, index of connection or command, bytes
        self.conns = []                         # source address, bytes sent, bytes received
        self.commands = []
        self.open = self.most = 0

    def note(self, what, nr, size=0):
        now = time.monotonic() - self.begin_s
        if now < LONGEST_S:
            self.events.extend((now, time.process_time() - self.cpu_s, what, nr, size))

    def connect(self, source):
        self.conns.append([source, 0, 0])
        self.open += 1
        self.most = max(self.most, self.open)
        self.note(CONNECT, len(self.conns) - 1)
        return len(self.conns) - 1

    def close(self, nr):
        self.open -= 1
        self.note(CLOSE, nr)

    def command(self, *words, **more):
        self.commands.append((words, more))
        self.note(COMMAND, len(self.commands) - 1)

    def moved(self, what, nr, size):
        self.conns[nr][what] += size
        self.note(what, nr, size)


class Recorded(PLAIN):
    """A TCP socket that records what it sends and receives."""
    record = nr = None

    def _starts(self, source):
        if RECORD and self.family == socket.AF_INET:
            self.record, self.nr = RECORD, RECORD.connect(source)

    def connect(self, address):
        if self.family == socket.AF_INET:
            self._starts(self.getsockname()[0])
        super().connect(address)

    def accept(self):
        conn, address = super().accept()
        conn._starts(conn.getsockname()[0])     # the replay connects in the other direction
        return conn, address

    def sendall(self, data, *flags):
        if self.record:
            self.record.moved(WRITE, self.nr, len(data))
        super().sendall(data, *flags)

    def recv(self, *words):
        data = super().recv(*words)
        if self.record and data:
            self.record.moved(READ, self.nr, len(data))
        return data

    def close(self):
        if self.record:
            self.record.close(self.nr)
            self.record = None
        super().close()


def begin():
    """Starts recording."""
    global RECORD
    OTHERS.clear()
    RECORD = Record(time.monotonic())


def end():
    """Ends recording. Returns the records of this process and of its children."""
    global RECORD
    records, RECORD = [RECORD, *OTHERS], None
    return [record for record in records if record and record.events]


def in_child():
    """Called in a child of the process that called begin(): makes a separate record for the child."""
    global RECORD
    if RECORD:
        RECORD = Record(RECORD.begin_s)


def save(path):
    if RECORD:
        with open(path, "wb") as file:
            pickle.dump(RECORD, file)


def add(path):
    """Adds the record that a child has saved."""
    with open(path, "rb") as file:
        OTHERS.append(pickle.load(file))


def enter(host):
    global HOST
    HOST = host
    if RECORD:
        RECORD.host = host


def command(*words, **more):
    if RECORD:
        RECORD.command(*words, **more)


def text_of(records):
    conns = [conn for record in records for conn in record.conns]
    writes = sum(record.events[i] == WRITE for record in records for i in range(2, len(record.events), 5))
    return "%d connections, %d at once, %d writes, %d bytes out, %d bytes in, %d commands, %.1f s of processor time" % (
        len(conns), sum(record.most for record in records), writes, sum(conn[WRITE] for conn in conns),
        sum(conn[READ] for conn in conns), sum(len(record.commands) for record in records),
        sum(record.events[-4] for record in records))


class Replay:
    """One process that repeats the events of @record."""

    def __init__(self, world, record, to):
        self.world, self.record, self.to = world, record, to
        self.socks, self.begun = {}, set()
        self.zeros = memoryview(bytes(1 << 21))
        self.begin_s, self.cpu_s = time.monotonic(), time.process_time()

    def run(self, seconds):
        """False: some events were not sent in time."""
        nr_procs = len(self.world.procs)
        events = iter(self.record.events)
        for at, cpu, what, nr, size in zip(*[events] * 5):
            while time.process_time() - self.cpu_s < cpu and time.monotonic() - self.begin_s < seconds:
                pass
            if time.monotonic() - self.begin_s >= seconds:
                break
            time.sleep(max(0, self.begin_s + at - time.monotonic()))
            try:
                self.step(int(what), int(nr), int(size))
            except OSError:     # the other end has closed the connection
                pass
        else:
            seconds = 0
        for proc in self.world.procs[nr_procs:]:
            proc.kill()
            proc.wait()
        return not seconds

    def step(self, what, nr, size):
        if what == CONNECT:
            sock = self.socks[nr] = PLAIN(socket.AF_INET, socket.SOCK_STREAM)
            sock.settimeout(2)
            sock.bind((self.record.conns[nr][0], 0))
            sock.connect((self.to, PORT))
        elif what == WRITE:
            self.write(nr, size)
        elif what == READ:
            self.socks[nr].setblocking(False)
            self.socks[nr].recv(size)
        elif what == CLOSE:
            self.socks.pop(nr).close()
        else:
            words, more = self.record.commands[nr]
            self.world.command(*words, **more)

    def write(self, nr, size):
        _, sent, received = self.record.conns[nr]
        self.socks[nr].settimeout(2)
        if nr not in self.begun:
            self.begun.add(nr)
            self.socks[nr].sendall(struct.pack("<QQ", sent, received))
            size -= 16
        if size > 0:
            self.socks[nr].sendall(self.zeros[:size])


def start(world, record, to, seconds):
    """Forks a process that replays @record. Its exit status is 1 if it was too slow. Returns its ID."""
    pid = os.fork()
    if pid:
        return pid
    status = 1
    try:
        if record.host:
            world.enter(record.host)
        status = 0 if Replay(world, record, to).run(seconds) else 1
    finally:
        os._exit(status)


socket.socket = Recorded
