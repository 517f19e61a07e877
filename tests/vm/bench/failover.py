# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Writes the table of tests/vm/bench/failover into the manual, from the oracle's result of each turn."""

import os
import re
import statistics
import sys

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "manual", "performance.md")
LEAST_ROUNDS = 3
LIMIT = 3
SAID = re.compile(r"measured: (\w+): (drop|slowest request): (\d+) times, median ([\d.]+) ms, worst ([\d.]+) ms"
                  r"(?:, 99% ([\d.]+) ms)?")
SUM = re.compile(r"measured: (\w+): oracle: (\d+) issued, (\d+) done, .*?: (\d+) lost, (\d+) duplicated, "
                 r"(\d+) corrupted")
WORDS = {"drop": "nothing done for", "slowest request": "slowest request"}


def read(lines):
    """(who, kind) -> turns as (number, median, 99th percentile, worst); who -> sums of issued, done, lost, ..."""
    times, sums = {}, {}
    for line in lines:
        match = SAID.search(line)
        if match:
            times.setdefault((match[1], match[2]), []).append(
                (int(match[3]), float(match[4]), float(match[6] or match[5]), float(match[5])))
        match = SUM.search(line)
        if match:
            before = sums.get(match[1], [0] * 5)
            sums[match[1]] = [a + int(b) for a, b in zip(before, match.groups()[1:])]
    return times, sums


def rows(times):
    """The median of the medians of the turns, and the 99th percentile, which is the worst of at most 100 cuts."""
    for kind, words in WORDS.items():
        turns = {who: times[who, kind] for who in ("plain", "lnet")}
        few = sum(turn[0] for turn in turns["lnet"]) <= 100
        for name, of in (("p50", lambda all_of: statistics.median(turn[1] for turn in all_of)),
                         ("p99", lambda all_of: max(turn[3 if few else 2] for turn in all_of))):
            plain, mine = of(turns["plain"]), of(turns["lnet"])
            yield "%s, %s" % (words, name), plain, mine, mine / plain


def main():
    path, kver, rounds, cuts, interval = sys.argv[1:]
    with open(path, encoding="utf-8", errors="replace") as file:
        times, sums = read(file)
    if any(len(times.get((who, kind), [])) != int(rounds) for who in ("plain", "lnet") for kind in WORDS):
        print("failover: not all rounds were measured")
        return 1
    head = ("`make failover-vm`: %s rounds of %s cuts of each, Linux %s in a guest under software emulation, a request "
            "of 1 KiB each %g ms." % (rounds, cuts, kver, int(interval) / 1000))
    lines = ["| ms | floor | LNet | ratio | limit | met |", "|---|---|---|---|---|---|"]
    missed = []
    for what, plain, mine, ratio in rows(times):
        lines.append("| %s | %.1f | %.1f | **%.2f** | <= %d | %s |" % (
            what, plain, mine, ratio, LIMIT, "yes" if ratio <= LIMIT else "**no**"))
        if ratio > LIMIT:
            missed.append(what)
    for name, at in (("requests", 0), ("lost", 2), ("delivered twice", 3)):
        lines.append("| %s | %d | %d | | | |" % (name, sums["plain"][at], sums["lnet"][at]))
    text = head + "\n\n" + "\n".join(lines)
    print("\n" + text)
    if int(rounds) >= LEAST_ROUNDS:
        with open(PAGE, encoding="utf-8") as file:
            page = file.read()
        with open(PAGE, "w", encoding="utf-8") as file:
            file.write(re.sub(r"(<!-- failover-vm -->\n).*?(\n<!-- end -->)", lambda m: m[1] + text + m[2], page,
                              flags=re.S))
    for what in missed:
        print("FAILED: %s: more than %d times the floor" % (what, LIMIT))
    if any(sums["lnet"][2:]):
        print("FAILED: LNet lost, duplicated or corrupted something")
    return 1 if missed or any(sums["lnet"][2:]) else 0


sys.exit(main())
