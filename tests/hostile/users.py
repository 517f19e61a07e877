# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A local user without privileges sends endless requests, uses names of root's nodes, and makes symbolic links."""

import glob
import os
import socket
import stat
import struct
import subprocess
import time

from lib import NOBODY, Pair, World, has_tunable, text_of, wait_for

NAME = "daemon"
ADDRESS = "10.9.0.4"            # address of lnetd; the server of the honest pair is on the same host


def port_of(name, uid):
    number = 2166136261
    for byte in struct.pack("<I", uid) + name.encode():
        number = (number ^ byte) * 16777619 & 0xffffffff
    return number & 0x3fffffff | 0x40000000


def daemon(world, *words):
    proc = world.start("h", "lnetd", "--name", NAME, *words, log="lnetd")
    up = wait_for(lambda: "started" in text_of(proc) or proc.poll() is not None, 5)
    return proc, up and proc.poll() is None


def world_and_pair(seconds):
    world = World(extra=(("h", ADDRESS),))
    pair = Pair(world)
    pair.load(seconds)
    return world, pair


def as_nobody(work):
    """Runs @work in a child with the rights of nobody, in the current namespace of this process. Returns its ID."""
    pid = os.fork()
    if pid:
        return pid
    try:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
        work()
    finally:
        os._exit(0)


def bounds(world, tap):
    """Root sets the bound to 16 and starts 20 pings: the node must reject four."""
    def denied():
        return world.counters("h", NAME).get("questions_denied", 0)

    before = denied()
    world.call("h", "lnetctl", "--node", NAME, "set", "questions_max", "16")
    asks = [world.start("h", "lnetctl", "--node", NAME, "ping", "--timeout", "3000", "10.9.0.%d@tcp" % i,
                        log="ask%d" % i) for i in range(100, 120)]
    for ask in asks:
        ask.wait(20)
    refused = sum("too many questions" in text_of(ask) for ask in asks)
    counted = denied() - before
    print("# questions: %d of 20 refused at a bound of 16; counter: %d" % (refused, counted))
    tap.check(refused == 4, "questions: questions_max is the bound")
    tap.check(counted >= refused, "questions: and refusals are counted")
    world.call("h", "lnetctl", "--node", NAME, "set", "questions_max", "64")


def many_questions(tap):
    """pings of a user without privileges, whose clients are then killed: the node must still serve root."""
    world, pair = world_and_pair(6)
    try:
        _, up = daemon(world)
        tap.check(up, "questions: a daemon")
        for words in (("lnet", "configure"), ("net", "add", "--nid", ADDRESS + "@tcp")):
            world.call("h", "lnetctl", "--node", NAME, *words)
        begin = time.monotonic()
        asks = [world.start("h", "lnetctl", "--node", "0/" + name, "ping", "--timeout", "30000", "10.9.0.%d@tcp" % i,
                            user=NOBODY, log="ask") for name in (NAME, "hostile") for i in range(100, 166)]
        time.sleep(2)
        during = world.call("h", "lnetctl", "--node", NAME, "net", "show")
        for ask in asks:
            ask.kill()
            ask.wait()
        tap.rate("questions", len(asks), time.monotonic() - begin)
        time.sleep(2.5)
        after = world.call("h", "lnetctl", "--node", NAME, "net", "show")
        print("# questions: root, during: %d %s; after: %d %s" %
              (during.returncode, during.stdout.strip().splitlines()[-1:], after.returncode,
               after.stdout.strip().splitlines()[-1:]))
        tap.check(during.returncode == 0, "questions: root is answered meanwhile")
        tap.check(after.returncode == 0, "questions: root is answered when their clients have gone")
        if has_tunable("questions_max"):
            bounds(world, tap)
        own = world.call("h", "lnetctl", "--node", NAME, "ping", ADDRESS + "@tcp")
        tap.check(own.returncode == 0, "questions: root pings")
        tap.honest(pair.result(), "questions")
    finally:
        world.close()


def names_taken(tap):
    """a user binds the netlink port and the socket of root's node: that user must not receive root's requests."""
    world, pair = world_and_pair(6)
    heard = os.path.join(world.work, "heard")
    with open(heard, "wb"):
        pass
    os.chmod(heard, 0o666)
    os.chmod(world.work, 0o755)

    def take_port():
        sock = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 2)
        sock.bind((port_of(NAME, 0), 0))
        while True:
            data = sock.recv(65536)
            if len(data) >= 20 and struct.unpack_from("<H", data, 4)[0] == 0x20:
                with open(heard, "ab") as file:
                    file.write(b"%d %d\n" % (data[16], len(data)))
                sock.sendto(struct.pack("<IHHIIi", 36, 2, 0, struct.unpack_from("<I", data, 8)[0], port_of(NAME, 0), 0)
                            + data[:16], (struct.unpack_from("<I", data, 12)[0], 0))

    def take_door():
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        sock.bind("\0lnet-selftest/0/" + NAME)
        sock.listen(8)
        while True:
            conn = sock.accept()[0]
            conn.settimeout(2)
            try:
                data = conn.recv(4096)
            except OSError:
                data = b""
            if data:
                with open(heard, "ab") as file:
                    file.write(b"door %d\n" % len(data))
            conn.close()

    pids = []
    try:
        world.enter("h")
        pids = [as_nobody(take_port), as_nobody(take_door)]
        time.sleep(0.3)
        root = world.call("h", "lnetctl", "--node", NAME, "net", "add", "--nid", ADDRESS + "@tcp", wait=10)
        os.environ["LST_SESSION"] = "7"
        lst = world.call("h", "lst", "--node", NAME, "new_session", "secret", wait=10)
        with open(heard, "rb") as file:
            secrets = [line for line in file.read().splitlines() if line.split()[0] != b"66"]  # 66 is LNET_NL_NODE
        print("# names: lnetctl: %d %s; lst: %d; heard by the user: %s" %
              (root.returncode, root.stdout.strip().splitlines()[-1:], lst.returncode, secrets))
        tap.check(not secrets, "names: no request reaches the user that has the name")
        tap.check(root.returncode != 0, "names: lnetctl reports it")
        os.kill(pids[0], 9)
        os.waitpid(pids.pop(0), 0)
        proc, up = daemon(world, "--selftest", "*")
        print("# names: lnetd: %s" % [line for line in text_of(proc).splitlines() if "self" in line])
        tap.check(up, "names: lnetd starts")
        tap.check(answers(world, "h"), "names: its self-test has a socket that no other user can take")
        tap.honest(pair.result(), "names")
    finally:
        for pid in pids:
            os.kill(pid, 9)
            os.waitpid(pid, 0)
        sockets_remove(world)
        world.close()


def answers(world, host, name=NAME, user=None):
    """Does the self-test of that node reply?"""
    return "No session" in world.call(host, "lst", "--node", name, "show_session", user=user, wait=10).stdout


def sockets_remove(world):
    """Removes the sockets of killed daemons."""
    for space in world.spaces:
        for path in glob.glob("/run/lnet/selftest.%d.*" % os.stat("/run/netns/" + space).st_ino):
            os.unlink(path)


def kept_out(door):
    """Opens 200 connections as nobody. True: the self-test has kept root's earlier connection open."""
    root = socket.socket(socket.AF_UNIX)
    root.connect(door)
    root.settimeout(0.5)

    def crowd():
        kept = [socket.socket(socket.AF_UNIX) for _ in range(200)]
        for sock in kept:
            sock.connect(door)
        time.sleep(1)

    os.waitpid(as_nobody(crowd), 0)
    try:
        return bool(root.recv(1))
    except socket.timeout:
        return True
    finally:
        root.close()


def sockets(tap):
    """sockets of self-tests: other users cannot create or replace them; a new lnetd replaces that of a killed one."""
    world = World()
    os.environ["LST_SESSION"] = "7"

    def intrude():
        for work in (lambda: os.unlink(door), lambda: os.rename(door, door + "x"),
                     lambda: socket.socket(socket.AF_UNIX).bind("/run/lnet/selftest.1.mine")):
            try:
                work()
                os._exit(1)
            except OSError:
                continue
        os._exit(0)

    try:
        proc, up = daemon(world, "--selftest", "*")
        tap.check(up, "sockets: a daemon")
        world.enter("h")
        door = "/run/lnet/selftest.%d.%s" % (os.stat("/proc/thread-self/ns/net").st_ino, NAME)
        info = os.stat(door)
        tap.check(stat.S_ISSOCK(info.st_mode) and not info.st_uid, "sockets: a file of root, with the inode")
        tap.check(os.waitpid(as_nobody(intrude), 0)[1] == 0, "sockets: another user cannot touch them")
        tap.check(answers(world, "h", "0/" + NAME, NOBODY), "sockets: another user may ask")
        tap.check(kept_out(door), "sockets: 200 connections of a user leave root's connection alone")
        for host, name in (("h", "other"), ("p", NAME)):
            more = world.start(host, "lnetd", "--name", name, "--selftest", "*", log=host + name)
            up = wait_for(lambda: "started" in text_of(more), 5)
            tap.check(up, "sockets: node %s in namespace %s" % (name, host))
        asked = [answers(world, host, name) for host, name in (("h", NAME), ("h", "other"), ("p", NAME))]
        tap.check(all(asked), "sockets: each has its own: %s" % asked)
        proc.kill()
        proc.wait()
        tap.check(os.path.exists(door), "sockets: the killed daemon leaves its socket")
        tap.check(not answers(world, "h"), "sockets: which nobody serves")
        again, up = daemon(world, "--selftest", "*")
        tap.check(up and answers(world, "h"), "sockets: the next one replaces it")
        again.terminate()
        again.wait()
        tap.check(not os.path.exists(door), "sockets: and removes it at its end")
    finally:
        sockets_remove(world)
        world.close()


def names(tap):
    """a user binds the netlink port and the socket of root's node, or attacks the socket's file."""
    names_taken(tap)
    sockets(tap)


def links(tap):
    """--state is in a directory of another user, who puts a symbolic link there: lnetd must not follow the link."""
    for suffix in (".new", ".lock"):
        world, pair = world_and_pair(1)
        try:
            os.chmod(world.work, 0o755)
            place = os.path.join(world.work, "place")
            os.mkdir(place)
            victim = os.path.join(world.work, "victim")
            if suffix == ".new":
                with open(victim, "w", encoding="utf-8") as file:
                    file.write("precious\n")
            os.symlink(victim, os.path.join(place, "state" + suffix))
            os.chown(place, NOBODY, NOBODY)
            proc, up = daemon(world, "--state", os.path.join(place, "state"))
            if up:
                world.call("h", "lnetctl", "--node", NAME, "lnet", "configure")
            whole = not os.path.exists(victim)
            if suffix == ".new":
                with open(victim, encoding="utf-8") as file:
                    whole = file.read() == "precious\n"
            print("# links: %s: lnetd %s; the other file is %s" % (suffix, "runs" if up else text_of(proc).strip(),
                                                                   "untouched" if whole else "changed"))
            tap.check(whole, "links: %s is not followed" % suffix)
            tap.honest(pair.result(), "links: " + suffix)
        finally:
            world.close()


SCENARIOS = {"A12": many_questions, "A13": names, "A24": links}
