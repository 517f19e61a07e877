# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Common code of the hostile scenarios: namespaces, an honest pair, the wire protocol, measurements, TAP output.

    H (attacked node)   10.9.0.1 --.
    P (honest client)   10.9.0.2 ---+-- bridge, one network namespace per host
    X (attacker)        10.9.0.9 --'
"""

import ctypes
import glob
import json
import os
import random
import re
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import time

import load

HERE = os.path.dirname(os.path.abspath(__file__))
OUT = os.environ.get("OUT", os.path.join(HERE, "../../build"))
KERNEL = os.environ.get("NODES") == "kernel"    # nodes are in the kernel of a guest (tests/vm/guest/hostile)
NODE = "kernel" if KERNEL else "hostile"
INTERVAL_MS = 20 if KERNEL else 5               # between requests of the honest client; a guest is slow
CONTROL, BULK_IN, BULK_OUT, NONE = 1, 2, 3, 0xffffffff
PORT = 988
NOBODY = 65534
P99_US, WORST_US = 5e3, 100e3
H, P, X = "10.9.0.1", "10.9.0.2", "10.9.0.9"


# ---- wire protocol (manual/internals/wire.md) ------------------------------------------------------------------------

def nid4(address, net=0, kind=2):
    return kind << 48 | net << 32 | struct.unpack("!I", socket.inet_aton(address))[0]


def request(nid):
    return struct.pack("<IIQ", 0xacce7100, 1, nid)


def hello(src, dst, ctype=CONTROL, incarnation=1):
    return struct.pack("<IIQQIIQQII", 0x45726963, 3, src, dst, 12345, 0, incarnation, 0, ctype, 0)


def message(src, dst, kind, body=b"", payload=b""):
    """The frame of one LNet message. @kind: 0 ACK, 1 PUT, 2 GET, 3 REPLY."""
    return struct.pack("<IIQQ", 0xc1, 0, 0, 0) + struct.pack("<QQIIII", dst, src, 12345, 12345, kind, len(payload)) + \
        body.ljust(40, b"\0") + payload


def ping(src, dst, cookie=7, size=1024):
    return message(src, dst, 2, struct.pack("<QQQIII", cookie, cookie, 1 << 63, 0, 0, size))


class Conn:
    """A TCP connection of the attacker, which sends its HELLO."""

    def __init__(self, claims, to=H, source=X, port=0, ctype=CONTROL, incarnation=1, wait=10.0 if KERNEL else 2.0):
        self.taken = False
        self.sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.sock.settimeout(wait)
        try:
            self._bind(source, port)
            self.sock.connect((to, PORT))
            self.sock.sendall(request(nid4(to)) + hello(claims, nid4(to), ctype, incarnation))
            reply = self.read(56)
            self.taken = len(reply) == 56 and struct.unpack_from("<I", reply, 48)[0] != NONE
        except OSError:
            pass
        if not self.taken:
            self.sock.close()

    def _bind(self, source, port):
        ports = [port] if port else random.sample(range(512, 1023), 64)
        for at in ports:
            try:
                self.sock.bind((source, at))
                return
            except OSError:
                continue
        raise OSError("no reserved port")

    def read(self, size):
        data = b""
        while len(data) < size:
            more = self.sock.recv(size - len(data))
            if not more:
                break
            data += more
        return data

    def send(self, data):
        try:
            self.sock.sendall(data)
            return True
        except OSError:
            return False

    def frames(self, wait=0.2):
        """Returns the number of bytes received within @wait seconds."""
        self.sock.settimeout(wait)
        try:
            return len(self.sock.recv(65536))
        except OSError:
            return 0

    def end(self):
        """Ends the connection, even if another thread reads from it."""
        try:
            self.sock.shutdown(socket.SHUT_RDWR)
        except OSError:         # the connection has ended already
            pass

    def close(self):
        self.sock.close()


# ---- namespaces and processes --------------------------------------------------------------------------------------

def run(*words, **more):
    return subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **more)


class World:
    """The hosts H, P and X, and their processes; close() removes all of them, by name and process ID."""

    def __init__(self, extra=(), hosts=(), attackers=(("x", X),), routes=()):
        """@extra: further addresses of hosts; @hosts: further hosts; @attackers: hosts in place of X; @routes: (host,
        net, gateway)."""
        self.made = {"extra": extra, "hosts": hosts, "attackers": attackers, "routes": routes}
        self.tag = "lnh%d" % os.getpid()
        self.work = tempfile.mkdtemp(prefix="lnet-hostile.", dir="/dev/shm")
        self.procs = []
        self.nr_logs = 0
        self.spaces = []
        self.home = os.open("/proc/self/ns/net", os.O_RDONLY)
        self._space("b")
        made = run("ip", "-n", self.space("b"), "link", "add", "br0", "type", "bridge")
        if made.returncode:
            raise RuntimeError(made.stdout)
        run("ip", "-n", self.space("b"), "link", "set", "br0", "up")
        for name, address in (("h", H), ("p", P), *attackers, *hosts):
            self._host(name, address)
        for name, address in extra:
            run("ip", "-n", self.space(name), "addr", "add", address + "/24", "dev", "e0")
        for name, net, gateway in routes:
            run("ip", "-n", self.space(name), "route", "add", net, "via", gateway)

    def space(self, name):
        return self.tag + name

    def _space(self, name):
        made = run("ip", "netns", "add", self.space(name))
        if made.returncode:
            raise RuntimeError(made.stdout)
        self.spaces.append(self.space(name))
        run("ip", "-n", self.space(name), "link", "set", "lo", "up")

    def _host(self, name, address):
        self._space(name)
        run("ip", "link", "add", "e0", "netns", self.space(name), "type", "veth", "peer", "name", "v" + name, "netns",
            self.space("b"))
        run("ip", "-n", self.space("b"), "link", "set", "v" + name, "master", "br0", "up")
        run("ip", "-n", self.space(name), "addr", "add", address + "/24", "dev", "e0")
        run("ip", "-n", self.space(name), "link", "set", "e0", "up")

    def enter(self, name):
        """From now on this process opens its sockets in the namespace of host @name; None: in its original one."""
        fd = os.open("/run/netns/" + self.space(name), os.O_RDONLY) if name else self.home
        if ctypes.CDLL(None, use_errno=True).setns(fd, 0x40000000):
            raise OSError(ctypes.get_errno(), "setns")
        if name:
            os.close(fd)
        load.enter(name)

    def start(self, name, program, *words, files=0, user=None, log="out"):
        if program == "lnetctl":        # such processes are the attack: a replay starts as many idle ones
            load.command("start", name, "/bin/sleep", "60", user=user, log=log)
        command = ["ip", "netns", "exec", self.space(name)]
        if KERNEL and program == "lnetperf":
            program = "tests/tools/kperf"
            self.call(name, "lnetctl", "--node", NODE, "lnet", "configure")
        if files:
            command += ["bash", "-c", 'ulimit -n %d; exec "$@"' % files, "-"]
        if user is not None:
            command += ["setpriv", "--reuid", str(user), "--clear-groups"]
        out = open(os.path.join(self.work, log), "w", encoding="utf-8")
        words = words if user else self._logged(program, words)
        proc = subprocess.Popen(command + [os.path.join(OUT, program), *words], stdout=out, stderr=subprocess.STDOUT)
        proc.log = out.name
        self.procs.append(proc)
        return proc

    def count_dials(self):
        """From now on counts the SYNs of H to addresses outside 10.9.0.0/28. H has a route to 10.0.0.0/8."""
        run("ip", "-n", self.space("h"), "route", "add", "10.0.0.0/8", "dev", "e0")
        run("ip", "netns", "exec", self.space("h"), "nft", "add table ip dials; "
            "add chain ip dials out { type filter hook output priority 0; }; "
            "add rule ip dials out ip daddr != { 10.9.0.0/28 } tcp flags & (syn | ack) == syn counter")

    def dials(self):
        text = run("ip", "netns", "exec", self.space("h"), "nft", "list", "table", "ip", "dials").stdout
        return int(re.search(r"packets (\d+)", text)[1])

    def command(self, what, *words, **more):
        """Repeats a recorded call of call() or start()."""
        (self.call if what == "call" else self.start)(*words, **more)

    def call(self, name, program, *words, user=None, wait=20):
        if program != "lnetperf":
            load.command("call", name, program, *words, user=user, wait=wait)
        command = ["ip", "netns", "exec", self.space(name)]
        if user is not None:
            command += ["setpriv", "--reuid", str(user), "--clear-groups"]
        words = words if user else self._logged(program, words)
        try:
            return run(*command, os.path.join(OUT, program), *words, timeout=wait)
        except subprocess.TimeoutExpired:
            return subprocess.CompletedProcess(words, 124, "no answer in %d s\n" % wait)

    def counters(self, host, node):
        """All counters of that node and of its interfaces, by name. Values with equal names are added up."""
        text = self.call(host, "lnetctl", "--node", node, "stats", "show").stdout + \
            self.call(host, "lnetctl", "--node", node, "net", "show", "-v", "5").stdout
        found = {}
        for words in map(str.split, text.splitlines()):
            if len(words) == 2 and words[0].endswith(":") and words[1].isdigit():
                found[words[0][:-1]] = found.get(words[0][:-1], 0) + int(words[1])
        return found

    def _logged(self, program, words):
        """Adds the option by which each lnetperf logs its requests for the oracle."""
        if os.path.basename(program) not in ("lnetperf", "kperf") or "--log" in words:
            return words
        self.nr_logs += 1       # not the number of files: a program creates its log when it has started
        return (*words, "--log", os.path.join(self.work, "%d.requests" % self.nr_logs))

    def judge(self):
        """The oracle reads the logs of all lnetperf. Was each completed request executed, and none executed twice?"""
        logs = sorted(glob.glob(self.work + "/*.requests"))
        said = run(os.path.join(OUT, "tests/netns/oracle"), "--strangers", *logs)
        print("".join("# %s\n" % line for line in said.stdout.splitlines()), end="")
        found = re.search(r"(\d+) lost, (\d+) duplicated, (\d+) corrupted, (\d+) not ended once, (\d+) falsely",
                          said.stdout)
        return found is not None and not any(int(number) for number in found.groups())

    def close(self):
        for proc in self.procs:
            proc.kill()
            proc.wait()
        self.enter(None)
        for space in self.spaces:
            run("ip", "netns", "del", space)
        shutil.rmtree(self.work)


def wait_for(what, seconds=10.0):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if what():
            return True
        time.sleep(0.02)
    return False


def figures_of(proc):
    """The last JSON line that lnetperf printed; None: it printed none."""
    lines = [line for line in text_of(proc).splitlines() if line.startswith("{")]
    return json.loads(lines[-1]) if lines else None


def text_of(proc):
    with open(proc.log, encoding="utf-8") as file:
        return file.read()


# ---- the honest pair and its measurements --------------------------------------------------------------------------

def own_memory(pid):
    """Memory of a process in kB, without files, because lnetperf maps the files to which it logs its requests."""
    with open("/proc/%d/status" % pid, encoding="utf-8") as file:
        return sum(int(line.split()[1]) for line in file if line.split(":")[0] in ("RssAnon", "VmSwap"))


class Pair:
    """lnetperf at H is the server. lnetperf at P sends it a PUT of 1 KiB each INTERVAL_MS. Both check the content."""

    def __init__(self, world, files=0, settings=()):
        self.world = world
        self.made = {"files": files, "settings": settings}
        tunables = [word for setting in settings for word in ("--set", setting)]
        self.server = world.start("h", "lnetperf", "server", "--nid", H + "@tcp", "--name", "hostile", "--verify",
                                  *tunables, files=files, log="server")
        if not wait_for(lambda: "ready" in text_of(self.server)):
            raise RuntimeError("no server: " + text_of(self.server))
        self.client = None
        self.before = self.measure()

    def measure(self):
        """If the node is in the kernel, memory is that of the whole kernel, and descriptors are its sockets."""
        if KERNEL:
            with open("/proc/meminfo", encoding="utf-8") as file:
                kept = sum(int(line.split()[1]) for line in file if line.split(":")[0] in ("Slab", "VmallocUsed"))
            sockets = run("ip", "netns", "exec", self.world.space("h"), "ss", "-Htan").stdout
            live = [line for line in sockets.splitlines() if not line.startswith(("LISTEN", "TIME-WAIT"))]
            return {"kB": kept, "descriptors": len(live), "cpu_s": 0}
        pid = self.server.pid
        with open("/proc/%d/stat" % pid, encoding="utf-8") as file:
            words = file.read().rsplit(")", 1)[1].split()
        return {"kB": own_memory(pid), "descriptors": len(os.listdir("/proc/%d/fd" % pid)),
                "cpu_s": (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")}

    def load(self, seconds):
        self.seconds = seconds
        load.begin()
        self.load_begin(seconds)

    def load_begin(self, seconds):
        self.client = self.world.start("p", "lnetperf", "client", "--nid", P + "@tcp", "--peer", H + "@tcp",
                                       "--interval", "%dms" % INTERVAL_MS, "--size", "1K", "--verify", "--json",
                                       "--duration", "%gs" % seconds, log="client")
        time.sleep(0.5)

    def result(self):
        """Returns the figures of the honest client. Prints them, and those of the node before, during and after."""
        during = self.measure()
        self.client.wait(60)
        records = load.end()
        said = figures_of(self.client) or {"failed": -1, "perhaps": -1, "done": 0, "latency_us": {}, "gap_ms": -1}
        print_honest(said)
        wait_for(lambda: self.measure()["descriptors"] <= self.before["descriptors"] + 4, 10)
        for when, what in (("before", self.before), ("during", during), ("after", self.measure())):
            print("# node %s: %d kB, %d descriptors, %.2f s of processor time" %
                  (when, what["kB"], what["descriptors"], what["cpu_s"]))
        said.update(oracle=self.world.judge(), compare=Comparison(self, records))
        return said

    def stats(self, *names):
        """Prints and returns those of the counters @names that the node has."""
        counters = self.world.counters("h", NODE)
        found = {name: counters[name] for name in names if name in counters}
        print("# node: " + ", ".join("%s %d" % pair for pair in found.items()))
        return found

    def counter(self, name):
        """Value of a counter; 0 if the node has none of that name."""
        return self.world.counters("h", NODE).get(name, 0)

    def peers(self):
        """Number of peers that the node knows; 0: the node does not reply."""
        return self.world.call("h", "lnetctl", "--node", NODE, "peer", "show").stdout.count("primary nid:")


def print_honest(said):
    late = said["latency_us"]
    print("# honest: %d done, %d failed, %d unknown; p50 %.1f ms, p99 %.1f ms, worst %.1f ms, gap %.1f ms" %
          (said["done"], said["failed"], said["perhaps"], late.get("p50", 0) / 1e3, late.get("p99", 0) / 1e3,
           late.get("max", 0) / 1e3, said["gap_ms"]))


# ---- the same load of plain TCP ------------------------------------------------------------------------------------

class Comparison:
    """Runs an honest pair again while the same host receives the same load over plain TCP."""

    def __init__(self, pair, records):
        self.world, self.pair, self.options = pair.world.made, type(pair), pair.made
        self.seconds, self.records = pair.seconds, records

    def plain(self):
        """Returns (p99, worst) in us. If a scenario sent nothing that can be replayed, the pair runs without load."""
        print("# load: " + load.text_of(self.records), flush=True)
        world = World(**self.world)
        try:
            pair = self.pair(world, **self.options)
            sink = world.start("h", "tests/tools/sink", str(load.PORT), log="sink")
            wait_for(lambda: "ready" in text_of(sink))
            seconds = min(self.seconds, load.LONGEST_S)
            pids = [load.start(world, record, H, seconds + 2) for record in self.records]
            pair.load_begin(seconds)
            late = sum(os.waitpid(pid, 0)[1] != 0 for pid in pids)
            pair.client.wait(60)
            said = figures_of(pair.client)
            if not said:
                raise RuntimeError("plain TCP: no figures: " + text_of(pair.client))
            if late:
                print("# plain TCP: %d of %d processes did not send all in time" % (late, len(pids)))
            return (said["latency_us"]["p99"], said["latency_us"]["max"])
        finally:
            world.close()


def has_tunable(name):
    """Does the node under test have that tunable? The scenarios also run against older builds."""
    with open(os.path.join(OUT, "lnetd"), "rb") as file:
        return name.encode() + b"\0" in file.read()


# ---- TAP -----------------------------------------------------------------------------------------------------------

class Tap:
    def __init__(self):
        self.nr = self.failed = 0
        self.pending = []

    def check(self, good, what):
        self.nr += 1
        self.failed += not good
        print("%s %d - %s" % ("ok" if good else "not ok", self.nr, what), flush=True)

    def honest(self, said, what):
        self.check(said["done"] > 0 and not said["failed"] and not said["perhaps"],
                   "%s: no honest request failed or ended unknown" % what)
        if "oracle" in said:
            self.check(said["oracle"], "%s: each honest request that is done ran, and none twice" % what)
        if "compare" in said and not KERNEL:
            self.pending.append((what, said))

    def rate(self, what, number, seconds):
        print("# %s: attacker: %d in %.1f s, %.0f/s" % (what, number, seconds, number / seconds if seconds else 0))

    def latencies(self, last):
        """Checks the latencies of the honest pairs since the last call, when no other World exists. False: a latency is
        over its limit and not @last. Then no check is printed, and the caller repeats the scenario."""
        pending, self.pending = self.pending, []
        verdicts = [(what, self.latency(what, said)) for what, said in pending]
        for what, kept in verdicts:
            if not kept and not last:
                print("# %s: over the limit; the scenario is repeated" % what, flush=True)
                return False
        for what, kept in verdicts:
            self.check(kept, "%s: p99 and the longest time are bounded" % what)
        return True

    def latency(self, what, said):
        """Returns whether the latency is within its limit, which is three times the aim, because tests also run on busy
        machines. The aim: p99 is 5 ms, or twice the p99 with the same load of plain TCP; the longest time is 100 ms."""
        p99, worst = said["latency_us"].get("p99", 1e9), said["latency_us"].get("max", 1e9)
        times = said.get("p99_times", 1)
        plain = said["compare"].plain() if p99 > P99_US * times else None
        aim = times * max(P99_US, 2 * plain[0] if plain else 0)
        print("# %s: honest p99 %.1f ms, worst %.1f ms; %s; aim: p99 %.1f ms, worst %.0f ms: %s" %
              (what, p99 / 1e3, worst / 1e3,
               "same load of plain TCP: p99 %.1f ms, worst %.1f ms" % (plain[0] / 1e3, plain[1] / 1e3) if plain else
               "no load of plain TCP", aim / 1e3, WORST_US / 1e3,
               "met" if p99 <= aim and worst <= WORST_US else "missed"))
        return p99 <= 3 * aim and worst <= 3 * WORST_US

    def end(self):
        print("1..%d" % self.nr)
        return 1 if self.failed else 0


def end_children(signum, frame):
    raise SystemExit(1)


signal.signal(signal.SIGTERM, end_children)
