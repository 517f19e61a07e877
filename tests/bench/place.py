# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The place of the two ends: two network namespaces joined by two veth rails, or else loopback addresses. A Place
removes the namespaces and ends the processes that it made, by name and by process ID.

        A 10.0.0.1 [a0] ---------- [b0] 10.0.0.2 B      rail 0; B also has 10.2.0.0/16, for the nodes of a crowd
          10.1.0.1 [a1] ---------- [b1] 10.1.0.2        rail 1
"""

import os
import shutil
import subprocess
import time

WAIT_S = 20


class Failed(Exception):
    """A measurement was not completed; the text has the reason."""


def quietly(command):
    return subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0


class Place:
    def __init__(self):
        self.a, self.b = "lnA%d" % os.getpid(), "lnB%d" % os.getpid()
        self.started = []
        self.reason = self.why_not()
        self.apart = not self.reason
        self.port = 988 if self.apart else 20000 + os.getpid() % 20000
        self.run_a = self.inside(self.a) + self.alone(0)
        self.run_b = self.inside(self.b) + self.alone(-1)
        self.crowd = "10.2.0.1" if self.apart else "127.2.0.1"
        self.next_port = 30000 + os.getpid() % 20000

    def inside(self, space):
        return ["ip", "netns", "exec", space] if self.apart else []

    def alone(self, which):
        """The command prefix that runs an end on a separate processor; as root, also at the highest priority. Otherwise
        the scheduler may put both ends on one processor or on two, and the base of every ratio depends on this."""
        processors = sorted(os.sched_getaffinity(0))
        first = [] if os.getuid() else ["nice", "-n", "-20"]
        return first + ["taskset", "-c", str(processors[which])]

    def text(self):
        return "two network namespaces, veth" if self.apart else "loopback addresses (%s)" % self.reason

    def address(self, end, rail=0):
        """@end: 1 is A, 2 is B."""
        return "%d.%d.0.%d" % (10 if self.apart else 127, rail, end)

    def new_port(self):
        """For a server that serves one client: the previous port may not be free yet."""
        self.next_port += 1
        return self.next_port

    # ---- namespaces

    def why_not(self):
        if os.getuid():
            return "not root"
        if not shutil.which("ip"):
            return "no ip"
        if not quietly(["ip", "netns", "add", self.a]):
            return "network namespaces cannot be made"
        made = quietly(["ip", "-n", self.a, "link", "add", "x0", "type", "veth", "peer", "name", "x1"])
        quietly(["ip", "netns", "del", self.a])
        return None if made else "veth pairs cannot be made"

    def ip(self, space, *words):
        if not quietly(["ip", "-n", space] + list(words)):
            raise Failed("ip " + " ".join(words))

    def space_up(self, space):
        if not quietly(["ip", "netns", "add", space]):
            raise Failed("ip netns add")
        self.ip(space, "link", "set", "lo", "up")
        # The other programs do not set a congestion control. The system's default may pace packets.
        quietly(["ip", "netns", "exec", space, "sysctl", "-q", "-w", "net.ipv4.tcp_congestion_control=reno"])
        quietly(["ip", "-n", space, "mptcp", "limits", "set", "subflows", "2", "add_addr_accepted", "2"])

    def rail_up(self, r):
        self.ip(self.a, "link", "add", "a%d" % r, "type", "veth", "peer", "name", "b%d" % r, "netns", self.b)
        for space, name, end in ((self.a, "a", 1), (self.b, "b", 2)):
            self.ip(space, "addr", "add", self.address(end, r) + "/24", "dev", "%s%d" % (name, r))
            self.ip(space, "link", "set", "%s%d" % (name, r), "up")

    def up(self):
        if not self.apart:
            return
        self.space_up(self.a)
        self.space_up(self.b)
        for r in (0, 1):
            self.rail_up(r)
        self.ip(self.b, "route", "add", "local", "10.2.0.0/16", "dev", "lo")
        self.ip(self.a, "route", "add", "10.2.0.0/16", "via", self.address(2))
        # The server advertises its second address, and the client opens the second subflow to it.
        quietly(["ip", "-n", self.b, "mptcp", "endpoint", "add", self.address(2, 1), "dev", "b1", "signal"])
        # Some programs check the state of the link, which the kernel updates with a delay.
        self.until(lambda: all(self.link_is_up(space, name + str(r)) for space, name in ((self.a, "a"), (self.b, "b"))
                               for r in (0, 1)), "link")

    def link_is_up(self, space, device):
        command = ["ip", "-n", space, "link", "show", device]
        return "state UP" in subprocess.run(command, capture_output=True, text=True).stdout

    def down(self):
        for process in list(self.started):
            self.end(process)
        if self.apart:
            quietly(["ip", "netns", "del", self.a])
            quietly(["ip", "netns", "del", self.b])

    def shape(self, rate):
        """Limits each rail to @rate; None: removes the limit."""
        for r in (0, 1):
            device = ["dev", "a%d" % r, "root"]
            if rate:
                words = ["add"] + device + ["tbf", "rate", rate, "burst", "1m", "latency", "20ms"]
            else:
                words = ["del"] + device
            if not quietly(["tc", "-n", self.a, "qdisc"] + words):
                raise Failed("tc qdisc " + " ".join(words))

    # ---- processes

    def start(self, command, env=None):
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   env=dict(os.environ, **(env or {})))
        self.started.append(process)
        return process

    def start_ready(self, command, env=None):
        """Starts a server that prints "ready"."""
        process = self.start(command, env)
        if "ready" not in process.stdout.readline():
            self.end(process, kill=True)
            raise Failed("%s: %s" % (" ".join(command), process.stderr.read().strip()))
        return process

    def start_listening(self, command, port, env=None):
        """Starts a server that prints nothing: waits until it listens on @port."""
        process = self.start(command, env)
        look = self.run_b + ["ss", "-Hltn", "sport", "=", str(port)]
        self.until(lambda: subprocess.run(look, capture_output=True).stdout or process.poll() is not None, command[0])
        return process

    def until(self, condition, what):
        end = time.monotonic() + WAIT_S
        while not condition():
            if time.monotonic() > end:
                raise Failed("%s: not there after %d s" % (what, WAIT_S))
            time.sleep(0.02)

    def end(self, process, kill=False):
        """Ends a process and returns its output."""
        if process.poll() is None:
            process.kill() if kill else process.terminate()
        try:
            said, _ = process.communicate(timeout=WAIT_S)
        except (subprocess.TimeoutExpired, ValueError):
            process.kill()
            said = ""
            process.wait()
        if process in self.started:
            self.started.remove(process)
        return said

    def run(self, command, seconds, env=None):
        """Runs a client and returns its output."""
        process = self.start(command, env)
        try:
            said, wrong = process.communicate(timeout=WAIT_S + 4 * seconds)
        except subprocess.TimeoutExpired:
            self.end(process)
            raise Failed("%s: no end" % " ".join(command))
        self.started.remove(process)
        if process.returncode:
            raise Failed("%s: status %d: %s" % (" ".join(command), process.returncode, (wrong + said).strip()[-400:]))
        return said
