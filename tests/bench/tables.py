# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Makes the tables from the figures of each round."""

import statistics
import subprocess
from collections import namedtuple

from measure import CROWD

# A row has the ratio of the figures `ours` and `base` in each round, or the figure `ours` if there is no base.
Row = namedtuple("Row", "what ours base sense floor aim")

ROWS = [
    Row("64 B PUT to ACK, us / raw adaptive round trip", "rtt", "raw_rtt", "<=", 1.25, 1.10),
    Row("0 B PUT to ACK, us / raw blocking round trip", "rtt_0", "raw_block", "<=", 0.15, 0.08),
    Row("64 B PUT with ACK, window 64, per s / raw one-way writev of 64", "window", "raw_oneway", ">=", 0.15, 0.2),
    Row("64 B one-way PUT, per s / the same", "oneway", "raw_oneway", ">=", 0.3, 0.5),
    Row("processor time of both ends per 64 B PUT with ACK, window 64, us", "cpu", None, "<=", 0.5, 0.25),
    Row("1 MiB PUT with ACK, window 8, MB/s / raw stream", "put", "raw_large", ">=", 0.95, 1.10),
    Row("1 MiB GET, MB/s / PUT", "get", "put", ">=", 0.9, 1.0),
    Row("1 MiB PUT, MB/s: two rails of 4 Gbit/s / one", "shaped_two", "shaped_one", ">=", 1.9, 1.97),
    Row("1 MiB PUT, MB/s: two rails, not shaped / one", "two_rails", "one_rail", ">=", 1.0, 1.15),
    Row("64 B PUT to ACK, us: with %d further nodes connected, idle / with none" % CROWD, "rtt_crowd", "rtt_alone",
        "<=", 1.2, 1.08),
    Row("memory per idle connection in user space, kB", "kb_idle", None, "<=", 8, 2),
]
BASELINE = [
    Row("raw stream of 1 MiB, 16 buffers, MB/s / `iperf3 -l 1M`", "raw_large", "iperf", ">=", 0.8, None),
    Row("the same with one buffer, as `iperf3` has, MB/s / `iperf3 -l 1M`", "raw_warm", "iperf", ">=", 0.8, None),
    Row("raw adaptive round trip, us / spinning ping-pong", "raw_rtt", "pingpong", "<=", 1.1, None),
    Row("raw round trip by epoll, us: with %d further connections / with none" % CROWD, "raw_crowd", "raw_alone",
        "", None, None),
    Row("raw requests answered in batches, window 64, per s / raw one-way writev of 64", "raw_reqack", "raw_oneway",
        "", None, None),
]
PEER_NAMES = [("ucx", "UCX", "ucx-utils"), ("fabric", "libfabric", "libfabric-dev"), ("mpi", "Open MPI", "openmpi-bin"),
              ("zmq", "ZeroMQ", "libzmq3-dev"), ("mptcp", "MPTCP, two rails", None)]
BESIDE = [
    Row("64 B round trip, us", "rtt", "raw_rtt", "<=", None, None),
    Row("64 B one-way, per s", "oneway", "raw_oneway", ">=", None, None),
    Row("1 MiB, MB/s", "put", "raw_large", ">=", None, None),
]
AGAINST = [
    Row("1 MiB PUT with ACK, window 8 / the best of libfabric, Open MPI, ZeroMQ", "put", "best_large", ">=", 0.9, 1.0),
    Row("the same with one buffer / UCX, which has one", "put_warm", "ucx_large", ">=", 0.9, 1.0),
    Row("64 B one-way PUT / ZeroMQ", "oneway", "zmq_oneway", ">=", 0.8, 1.2),
    Row("64 B one-way PUT / UCX active messages", "oneway", "ucx_oneway", ">=", 10, 18),
    Row("64 B one-way PUT / libfabric", "oneway", "fabric_oneway", ">=", 15, 25),
    Row("64 B one-way PUT / Open MPI", "oneway", "mpi_oneway", ">=", 10, 17),
    Row("64 B PUT to ACK / the best round trip of them", "rtt", "best_rtt", "", None, None),
    Row("1 MiB PUT with ACK, window 16, two rails / MPTCP", "two_rails", "mptcp_large", "", None, None),
]


def median(rounds, name):
    values = [figures[name] for figures in rounds if name in figures]
    return statistics.median(values) if values else None


def number(value):
    if value is None:
        return ""
    return "%.3g" % value if value < 1000 or value >= 1e5 else "%.0f" % value


def verdict(row, ratio, limit):
    if limit is None:
        return ""
    good = ratio <= limit if row.sense == "<=" else ratio >= limit
    return "yes" if good else "**no**"


def limit(row, value):
    return "" if value is None else "%s %g" % (row.sense, value)


def line(row, rounds):
    """Returns a row of a table, and the verdict on its floor. Without figures the row has "not measured"."""
    needs = [name for name in (row.ours, row.base) if name]
    of = [figures for figures in rounds if all(figures.get(name) for name in needs)]
    ratios = [figures[row.ours] / (figures[row.base] if row.base else 1) for figures in of]
    if not ratios:
        text = "| %s | | | not measured | | %s | | %s | |"
        return text % (row.what, limit(row, row.floor), limit(row, row.aim)), None
    ratio = statistics.median(ratios)
    cells = [row.what, number(median(of, row.base)) if row.base else "", number(median(of, row.ours)),
             "**%.3g**" % ratio, "%.3g..%.3g" % (min(ratios), max(ratios)),
             limit(row, row.floor), verdict(row, ratio, row.floor), limit(row, row.aim), verdict(row, ratio, row.aim)]
    return "| " + " | ".join(cells) + " |", cells[6]


def table(title, rows, rounds):
    lines = ["| %s | base | figure | ratio | spread | floor | met | aim | met |" % title, "|" + "---|" * 9]
    verdicts = []
    for row in rows:
        text, said = line(row, rounds)
        lines.append(text)
        verdicts.append(said)
    return "\n".join(lines), all(said != "**no**" for said in verdicts)


def kernel_socket():
    """Bytes of the kernel objects of an idle socket; None: unknown."""
    sizes = {}
    try:
        with open("/proc/slabinfo") as f:
            for words in (text.split() for text in f):
                sizes[words[0]] = words[3]
        return sum(int(sizes[name]) for name in ("TCP", "sock_inode_cache"))
    except (OSError, KeyError, ValueError):
        return None


def memory(rounds):
    heap, resident = median(rounds, "heap"), median(rounds, "resident")
    if heap is None:
        return ""
    kernel = kernel_socket()
    text = "\n\nIdle: %d connections to %d nodes, three to each: %.2f kB of heap, %.2f kB resident each" % (
        median(rounds, "connections"), CROWD, heap / 1000, resident / 1000)
    if kernel:
        text += "; the kernel's socket, not counted, has %.1f kB without buffers" % (kernel / 1000)
    return text + "."


def ours(rounds):
    """Returns the tables of the comparison with plain sockets, and whether all floors are met."""
    for figures in rounds:
        if "heap" in figures:
            figures["kb_idle"] = max(figures["heap"], figures["resident"]) / 1000
    text, met = table("quantity", ROWS, rounds)
    base, base_met = table("the plain program itself", BASELINE, rounds)
    return text + memory(rounds) + "\n\n" + base, met and base_met


def version(package):
    said = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", package], capture_output=True, text=True).stdout
    return " " + said.split("-")[0].split("+")[0] if said else ""


def best(figures):
    """Adds the best figures of the measured peers to a round. For bandwidth only peers with 16 buffers count."""
    for name, pick, of in (("rtt", min, ("ucx", "fabric", "mpi", "zmq")), ("large", max, ("fabric", "mpi", "zmq"))):
        names = [peer + "_" + name for peer in of]
        values = [figures[key] for key in names if key in figures]
        if values:
            figures["best_" + name] = pick(values)


def peers(rounds, missing):
    """Returns the tables with the figures of peers, and with the ratios of our figures to theirs."""
    for figures in rounds:
        best(figures)
    names = [(key, title + (version(package) if package else "")) for key, title, package in PEER_NAMES]
    titles = ["medians", "raw", "ours"] + [title for _, title in names]
    lines = ["| " + " | ".join(titles) + " |", "|" + "---|" * len(titles)]
    for row, kind in zip(BESIDE, ("rtt", "oneway", "large")):
        cells = [row.what, number(median(rounds, row.base)), number(median(rounds, row.ours))]
        cells += [number(median(rounds, key + "_" + kind)) for key, _ in names]
        lines.append("| " + " | ".join(cells) + " |")
    text = "\n".join(lines) + "\n\n" + table("ours / peers", AGAINST, rounds)[0]
    return text + "".join("\n\nSkipped: %s." % why for why in missing)
