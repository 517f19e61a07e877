# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Makes the table of tests/bench/failover from the oracle's output for each transport. Writes it into the manual."""

import os
import re
import sys

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "manual", "performance.md")
LEAST_ROUNDS = 10
NAMES = {
    "lnet": "this, 1 KiB", "lnet-bulk": "this, 1 MiB, window 4", "lnet-link": "this, 1 KiB, link down",
    "one-socket": "one plain socket", "two-sockets": "two plain sockets", "mptcp": "MPTCP",
    "knet-passive": "libknet, one link in use", "knet-active": "libknet, all by both links",
    "openmpi": "Open MPI, ob1 over TCP",
}
# Aims for the longest time without a completed request, in ms: p50 and p99 over the cuts.
AIMS = {"lnet": (25, 60), "lnet-bulk": (None, 100), "lnet-link": (10, None)}
TIMES = re.compile(r"^(.+?): (\d+) times, median ([\d.]+) ms, worst ([\d.]+) ms(?:, 99% ([\d.]+) ms)?$")
SUM = re.compile(r"oracle: (\d+) issued, (\d+) done, .*?: (\d+) lost, (\d+) duplicated, (\d+) corrupted, "
                 r"(\d+) not ended")


def read(lines):
    """Returns name -> {kind of time: (count, median, p99, worst), "sum": the oracle's counts}."""
    of, one = {}, None
    for line in lines:
        if line.startswith("== "):
            one = of.setdefault(line[3:].strip(), {})
            continue
        times, counts = TIMES.match(line.strip()), SUM.match(line)
        if times and one is not None:
            one[times[1]] = (int(times[2]), float(times[3]), float(times[5] or times[4]), float(times[4]))
        if counts and one is not None:
            one["sum"] = [int(n) for n in counts.groups()]
    return of


def stall(one):
    """The times of the cuts, of either kind."""
    return one.get("drop") or one.get("link-down")


def row(name, one):
    gap, slow, back = stall(one), one["slowest request"], one["share-back"]
    issued, done, _, twice, _, open_ = one["sum"]
    share = "%.0f / %.0f" % (back[1], back[2]) if name.startswith("lnet") else "-"
    return "| %s | %d | %.0f / %.0f / %.0f | %.0f / %.0f | %s | %d of %d | %d |" % (
        NAMES.get(name, name), gap[0], gap[1], gap[2], gap[3], slow[1], slow[2], share, issued - done if open_ else 0,
        issued, twice)


def conditions(rounds):
    """The conditions of the measurement. The load is the average of the last 15 minutes."""
    return "%d rounds, %d processors, load %.1f, Linux %s." % (rounds, len(os.sched_getaffinity(0)), os.getloadavg()[2],
                                                               os.uname().release.split("-")[0])


def table(of):
    head = ["| | cuts | nothing done for: p50 / p99 / worst, ms | slowest request: p50 / p99, ms "
            "| its share again: p50 / p99, ms | not done | done twice |", "|---|---|---|---|---|---|---|"]
    return "\n".join(head + [row(name, one) for name, one in of.items() if stall(one) and "sum" in one])


def missed(of):
    """Yields a text for each aim that was not met."""
    for name, aims in AIMS.items():
        got = stall(of.get(name, {}))
        for aim, value, what in zip(aims, got[1:3] if got else (), ("p50", "p99")):
            if aim and value > aim:
                yield "%s: %s %.1f ms, aimed at %d" % (NAMES[name], what, value, aim)
        back = of.get(name, {}).get("share-back")
        if back and back[2] > 1000:
            yield "%s: its share again after %.0f ms (p99), aimed at 1000" % (NAMES[name], back[2])


def main():
    with open(sys.argv[1]) as f:
        of = read(f)
    rounds = int(sys.argv[2])
    text = "`make failover`: " + conditions(rounds) + "\n\n" + table(of)
    print(text)
    for line in missed(of):
        print("NOT MET: " + line)
    if rounds >= LEAST_ROUNDS and set(NAMES) <= set(of):
        with open(PAGE) as f:
            page = f.read()
        with open(PAGE, "w") as f:
            f.write(re.sub(r"(<!-- failover -->\n).*?(\n<!-- end -->)", lambda m: m[1] + text + m[2], page, flags=re.S))
    broken = [name for name, one in of.items() if name.startswith("lnet") and any(one.get("sum", [1] * 6)[2:])]
    for name in broken:
        print("FAILED: %s lost, duplicated or corrupted something" % NAMES[name])
    return 1 if broken else 0


sys.exit(main())
