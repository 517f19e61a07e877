# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The measurements of plain sockets, of LNet, and of other transports (`peers'). Each is a function of a Bench, and
returns figures by name. Their units are microseconds, messages or megabytes per second, or the unit in the name."""

import json
import os
import shutil
import time

from place import Failed

MB = 1.048576           # megabytes of a message of 1 MiB
CROWD = 1000


class Bench:
    """The common parameters of all measurements: place, duration and folder of the programs."""

    def __init__(self, place, seconds, out):
        self.place, self.seconds, self.out = place, seconds, out
        self.raw_port, self.mptcp_port = place.new_port(), place.new_port()
        self.iterations = {}

    def program(self, *path):
        return os.path.join(self.out, *path)

    def start(self):
        raw, place = self.program("tests", "bench", "raw"), self.place
        place.start_ready(place.run_b + [raw, "server", place.address(2), str(self.raw_port)])

    # ---- plain sockets

    def raw(self, mode, *options):
        return self.raw_at(self.raw_port, mode, *options)

    def raw_at(self, port, mode, *options):
        place = self.place
        command = [self.program("tests", "bench", "raw"), mode, place.address(2), str(port), str(self.seconds)]
        return float(place.run(place.run_a + command + list(options), self.seconds))

    def pingpong(self):
        place, port = self.place, str(self.place.new_port())
        command = [self.program("tests", "bench", "pingpong"), place.address(2), port]
        server = place.start_ready(place.run_b + command)
        try:
            return float(place.run(place.run_a + command + [str(self.seconds)], self.seconds))
        finally:
            place.end(server, kill=True)

    def iperf(self):
        place, port = self.place, str(self.place.new_port())
        server = place.start_listening(place.run_b + ["iperf3", "-s", "-1", "-B", place.address(2), "-p", port], port)
        try:
            said = place.run(place.run_a + ["iperf3", "-c", place.address(2), "-p", port, "-l", "1M", "-J", "-C",
                                            "reno", "-t", str(max(1, round(self.seconds)))], self.seconds)
            return json.loads(said)["end"]["sum_received"]["bits_per_second"] / 8e6
        finally:
            place.end(server, kill=True)

    # ---- ours

    def nids(self, end, rails):
        mine = [self.place.address(end, r) + ("@tcp%d" % r if r else "@tcp") for r in range(rails)]
        others = [self.place.address(3 - end, r) + ("@tcp%d" % r if r else "@tcp") for r in range(rails)]
        words = [word for nid in mine for word in ("--nid", nid)]
        return words + ["--peer", ",".join(others), "--port", str(self.place.port), "--json"]

    def ours(self, *options, rails=1, crowd=0):
        """Returns the figures of client and server. Each call starts a new server, to count only this measurement."""
        place, program = self.place, self.program("lnetperf")
        many = ["--crowd", "%d,%s@tcp" % (crowd, place.crowd)] if crowd else []
        server = place.start_ready(place.run_b + [program, "server"] + self.nids(2, rails) + many)
        try:
            said = place.run(place.run_a + [program, "client"] + self.nids(1, rails) + many + [
                "--duration", str(self.seconds)] + list(options), self.seconds + crowd / 50)
            time.sleep(0.02)    # one-way messages may still be in flight
        finally:
            served = place.end(server)
        mine = json.loads(said)
        if mine["failed"] or mine["perhaps"]:
            raise Failed("lnetperf: %d requests failed" % (mine["failed"] + mine["perhaps"]))
        return mine, json.loads(served.strip().splitlines()[-1])

    # ---- peers

    def peer(self, name, what, env=None):
        """Runs a program of tests/bench/peers. Its server serves one client and ends."""
        place, port = self.place, str(self.place.new_port())
        program = self.program("tests", "bench", "peers", name)
        rest = [what, place.address(2), port, str(self.seconds)]
        server = place.start_ready(place.run_b + [program, "server"] + rest, env)
        try:
            return float(place.run(place.run_a + [program, "client"] + rest, self.seconds, env))
        finally:
            place.end(server, kill=True)

    def openmpi(self, what):
        place = self.place
        program = self.program("tests", "bench", "peers", "openmpi")
        rest = [what, "-", "-", str(self.seconds)]
        net = place.address(0) + ("/24" if place.apart else "/8")
        launch = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--mca", "pml", "ob1", "--mca", "btl", "self,tcp",
                  "--mca", "btl_tcp_if_include", net, "--mca", "mpi_yield_when_idle", "1"]
        # mpirun runs in A, and the program in B must reach it.
        env = {"PMIX_MCA_ptl_base_remote_connections": "1", "PMIX_MCA_ptl_base_if_include": "a0"} if place.apart else {}
        said = place.run(place.run_a + launch + ["-n", "1", program, "client"] + rest + [
            ":", "-n", "1"] + place.run_b + [program, "server"] + rest, self.seconds, env)
        return float(said)

    def ucx_once(self, test, size, number):
        """Returns the typical latency in us, and messages per second."""
        place, port = self.place, str(self.place.new_port())
        env = {"UCX_TLS": "tcp", "UCX_NET_DEVICES": "b0" if place.apart else "lo", "UCX_WARN_UNUSED_ENV_VARS": "n"}
        server = place.start_listening(place.run_b + ["ucx_perftest", "-p", port], port, env)
        env["UCX_NET_DEVICES"] = "a0" if place.apart else "lo"
        try:
            said = place.run(place.run_a + ["ucx_perftest", place.address(2), "-p", port, "-t", test, "-s", str(size),
                                            "-n", str(number), "-w", str(max(10, number // 20)), "-f", "-v"],
                             4 * self.seconds, env)
        finally:
            place.end(server, kill=True)
        words = said.strip().splitlines()[-1].split(",")
        return float(words[-7]), float(words[-1])

    def ucx(self, test, size, first):
        """ucx_perftest takes a number of iterations, not a duration. The number is the previous rate times @seconds."""
        number = self.iterations.get(test, 0)
        if not number:
            _, rate = self.ucx_once(test, size, first)
            number = max(first, int(rate * self.seconds))
        latency, rate = self.ucx_once(test, size, number)
        self.iterations[test] = max(first, int(rate * self.seconds))
        return latency, rate


# ---- figures


def small_window(b):
    mine, served = b.ours("--window", "64", "--warmup", "1000")
    cpu = mine["cpu_s"] / mine["done"] + served["cpu_s"] / served["done"]
    return {"window": mine["rate"], "cpu": cpu * 1e6}


def small_oneway(b):
    # 1024 is the size of the target's window. The target confirms after a quarter of the window, or after 10 ms.
    mine, served = b.ours("--op", "put-noack", "--window", "1024")
    return {"oneway": served["done"] / mine["seconds"]}


def large(name, *options, rails=1):
    def run(b):
        mine, _ = b.ours("--size", "1M", "--warmup", "32", *options, rails=rails)
        return {name: mine["rate"] * MB}
    return run


def round_trip(name, *options):
    return lambda b: {name: b.ours("--warmup", "1000", *options)[0]["latency_us"]["p50"]}


def crowded(b):
    mine, _ = b.ours("--warmup", "1000", crowd=CROWD)
    idle = mine["idle"]
    return {"rtt_crowd": mine["latency_us"]["p50"], "connections": idle["connections"],
            "heap": idle["heap"] / idle["connections"], "resident": idle["resident"] / idle["connections"]}


def shaped(b):
    b.place.shape("4gbit")
    try:
        one = large("shaped_one", "--window", "16")(b)
        return dict(one, **large("shaped_two", "--window", "16", rails=2)(b))
    finally:
        b.place.shape(None)


def mptcp(b):
    place, port = b.place, b.mptcp_port
    server = place.start_ready(place.run_b + [b.program("tests", "bench", "raw"), "server", place.address(2), str(port),
                                              "mptcp=yes"])
    try:
        return {"mptcp_rtt": b.raw_at(port, "rtt", "mptcp=yes"), "mptcp_large": b.raw_at(port, "stream", "mptcp=yes")}
    finally:
        place.end(server, kill=True)


def plain(name, mode, *options):
    return lambda b: {name: b.raw(mode, *options)}


def peer(name, program, what):
    return lambda b: {name: b.peer(program, what)}


def always(b):
    return None


def has(tool, package):
    return lambda b: None if shutil.which(tool) else "package " + package


def built(name, package):
    return lambda b: None if os.path.exists(b.program("tests", "bench", "peers", name)) else "package " + package


def apart(b):
    return None if b.place.apart else b.place.reason


def rails(b):
    """As apart(). A separate function, because OF_PEERS lists it for MPTCP, which needs no package."""
    return apart(b)


zmq, fabric = built("zeromq", "libzmq3-dev"), built("libfabric", "libfabric-dev")
mpi, ucx = built("openmpi", "openmpi-bin or libopenmpi-dev"), has("ucx_perftest", "ucx-utils")
iperf3 = has("iperf3", "iperf3")

# (requirement, measurement). Measurements that the tables compare are neighbours.
ALL = [
    (always, lambda b: {"pingpong": b.pingpong()}),
    (always, plain("raw_rtt", "rtt")),
    (always, round_trip("rtt")),
    (ucx, lambda b: {"ucx_rtt": 2 * b.ucx("tag_lat", 64, 1000)[0]}),
    (fabric, peer("fabric_rtt", "libfabric", "rtt")),
    (mpi, lambda b: {"mpi_rtt": b.openmpi("rtt")}),
    (zmq, peer("zmq_rtt", "zeromq", "rtt")),
    (always, plain("raw_block", "rtt", "wait=block")),
    (always, round_trip("rtt_0", "--size", "0")),
    (always, plain("raw_oneway", "oneway")),
    (always, small_window),
    (always, small_oneway),
    (ucx, lambda b: {"ucx_oneway": b.ucx("ucp_am_bw", 64, 20000)[1]}),
    (fabric, peer("fabric_oneway", "libfabric", "oneway")),
    (mpi, lambda b: {"mpi_oneway": b.openmpi("oneway")}),
    (zmq, peer("zmq_oneway", "zeromq", "oneway")),
    (always, plain("raw_reqack", "reqack")),
    (iperf3, lambda b: {"iperf": b.iperf()}),
    (always, plain("raw_warm", "stream", "buffers=1")),
    (always, plain("raw_large", "stream")),
    (always, large("put", "--window", "8")),
    (always, large("get", "--window", "8", "--op", "get")),
    (ucx, large("put_warm", "--window", "8", "--buffers", "1")),
    (ucx, lambda b: {"ucx_large": b.ucx("tag_bw", 1 << 20, 500)[1] * MB}),
    (fabric, peer("fabric_large", "libfabric", "stream")),
    (mpi, lambda b: {"mpi_large": b.openmpi("stream")}),
    (zmq, peer("zmq_large", "zeromq", "stream")),
    (rails, mptcp),
    (always, large("one_rail", "--window", "16")),
    (always, large("two_rails", "--window", "16", rails=2)),
    (apart, shaped),
    (always, round_trip("rtt_alone")),
    (always, crowded),
    (always, plain("raw_alone", "rtt", "wait=epoll")),
    (always, plain("raw_crowd", "rtt", "wait=epoll", "idle=%d" % CROWD)),
]
OF_PEERS = (ucx, fabric, mpi, zmq, rails)
