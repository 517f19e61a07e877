# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Texts of commands: parsed from the output of a guest, masked, and compared."""

import base64
import gzip
import os
import re

# Values that depend on time, traffic or the machine, each replaced by N.
COUNTERS = ("send_count|recv_count|drop_count|\\w+_samples|\\w+_nsec|put|get|reply|ack|hello|refcount|next_ping"
            "|ping_count|min_tx_credits|available_tx_credits|min_rtr_credits|available_rtr_credits|tx_q_num_of_buf"
            "|mincredits|msgs_alloc|msgs_max|rst_alloc|\\w+_count|\\w+_length|errors|timeouts|timeout count|interrupts"
            "|dropped|aborted|no route|network timeout|failed_resends|successful_resends")
MASKS = (
    (re.compile(r"^(\s*(?:- +)?(?:%s): )-?\d+$" % COUNTERS), r"\1N"),
    # lst prints time stamps of sessions, and measured rates.
    (re.compile(r"(ID: )\d+(@)"), r"\1N\2"),
    (re.compile(r"\b\d+(\.\d+)?(\s+(?:RPC/s|MiB/s|MB/s))"), r"N\2"),
    # Programs print their own path.
    (re.compile(r"(?:/stock/bin/|build/)(lnetctl|lst)\b"), r"\1"),
    (re.compile(r"^(lnetctl|lst) \S*\d+\.\d+\S*$"), r"\1 VERSION"),
)
SIGNAL = 128
# Statuses of crashed programs. 124 and 137 are of timeout; stock also has higher ones, which are negative errnos.
CRASHES = (132, 134, 135, 136, 139)


def handed_over(lines):
    """The text that a guest passed to `interop'."""
    found = [match.group(1) for match in (re.match(r"# .*?: interop: texts (\S+)$", line) for line in lines) if match]
    try:
        return gzip.decompress(base64.b64decode("".join(found))).decode("utf-8", "replace") if found else ""
    except (ValueError, OSError, EOFError):
        return ""


def in_order(lines):
    """Sorts peers and routes, because tools print them in the order of hashes."""
    out, blocks, key = [], [], False
    for line in lines + [""]:
        if key and line.startswith("-  "):
            blocks.append([line])
        elif blocks and line.startswith("  "):
            blocks[-1].append(line)
        else:
            out += sum(sorted(blocks), [])
            blocks, key = [], line in ("peer:", "peer list:", "route:")
            out.append(line)
    return out[:-1]


class Answer:
    def __init__(self, words, status):
        self.words, self.status, self.lines = words, status, []

    def crashed(self):
        return self.status in CRASHES

    def masked(self):
        lines = []
        for line in self.lines:
            for pattern, with_what in MASKS:
                line = pattern.sub(with_what, line)
            lines.append(line.rstrip())
        return in_order(lines)

    def same(self, other):
        return self.status == other.status and self.masked() == other.masked()


def read(text):
    """Returns a list of Answer. In each, standard output is before standard error."""
    answers = []
    for line in text.splitlines():
        head = re.match(r"== (\d+) (.*)$", line)
        if head:
            answers.append(Answer(head.group(2), int(head.group(1))))
        elif answers and line[:2] in ("o ", "e "):
            answers[-1].lines.append(line[2:])
    return answers


class Accepted:
    """A line of the list: case :: pair :: pattern :: reason. The pattern is matched with the command and the first line
    that differs, as the table prints them: COMMAND => 'stock' / 'other'."""

    def __init__(self, line):
        self.case, self.pair, pattern, self.reason = [word.strip() for word in line.split("::", 3)]
        self.pattern = re.compile(pattern)

    def fits(self, case, pair):
        return self.case in ("*", case) and self.pair in ("*", pair)


def accepted(path):
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        return [Accepted(line) for line in file if "::" in line and not line.startswith("#")]


def count_equal(first, second):
    return sum(one.same(other) for one, other in zip(first, second))


def varies_only(first, second, other):
    """True if OTHER differs from FIRST only in lines in which SECOND also differs from FIRST."""
    if first.same(second) or other.status not in (first.status, second.status):
        return False
    one, two, three = first.masked(), second.masked(), other.masked()
    if not len(one) == len(two) == len(three):
        return False
    return all(c == a or a != b for a, b, c in zip(one, two, three))


class Table:
    def __init__(self):
        self.rows, self.crashes, self.unexplained = [], [], []
        self.equal = self.total = self.accepted = 0

    @property
    def percent(self):
        return 100.0 * self.equal / max(self.total, 1)

    def show(self, pair, verbose):
        print("%s: %d of %d equal, %.1f %%" % (pair, self.equal, self.total, self.percent))
        for number, stock, other, why in self.rows:
            print("  %3d %-60s %3d %3d  %s" % (number, stock.words[:60], stock.status, other.status,
                                              "accepted: " + why if why else difference(stock, other)))
            if verbose:
                for name, answer in (("stock", stock), ("other", other)):
                    print("\n".join("        %s: %s" % (name, line) for line in answer.masked()[:30]))

    def write(self, directory, name):
        name = os.path.join(directory, name.replace(" ", "_"))
        os.makedirs(name, exist_ok=True)
        for old in os.listdir(name):
            os.unlink(os.path.join(name, old))
        for number, stock, other, why in self.rows:
            with open("%s/%03d" % (name, number), "w", encoding="utf-8") as file:
                file.write("%s\n%s\n--- stock, status %d\n%s\n--- this pair, status %d\n%s\n" % (
                    stock.words, why, stock.status, "\n".join(stock.masked()), other.status, "\n".join(other.masked())))


def difference(stock, other):
    """The first line that differs."""
    one, two = stock.masked(), other.masked()
    for a, b in zip(one + ["(end)"], two + ["(end)"]):
        if a != b:
            return "'%s' / '%s'" % (a.strip()[:50], b.strip()[:50])
    return "status" if len(one) == len(two) else "length"


def compare(first, second, answers, allowed):
    table = Table()
    for number, (stock, again, other) in enumerate(zip(first, second, answers), 1):
        table.total += 1
        if stock.same(other) or again.same(other) or varies_only(stock, again, other):
            table.equal += 1
            continue
        said = "%s => %s" % (stock.words, difference(stock, other))
        why = next((line.reason for line in allowed if line.pattern.match(said)), "")
        table.rows.append((number, stock, other, why))
        if other.crashed() and not stock.crashed():
            table.crashes.append(stock.words)
        elif why:
            table.accepted += 1
        else:
            table.unexplained.append(stock.words)
    return table
