# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Seeds of fuzz_record: the fields that the fuzzer corrects, then a file."""

from seedlib import seed, u16, u32, u64

MAGIC = 0x31636552744e4c
HEAD, NR, SUM, SPOIL = 1, 2, 4, 8


def head(magic=MAGIC, version=2, size=64, shards=2, tunables=0, nr=0):
    return u64(magic) + u32(version) + u32(size) + u32(shards) + u32(tunables) + u64(nr) + u64(0) * 4


def rec(seq, kind=1, shard=0, now=1000):
    return u64(seq) + u64(now) + bytes([kind, shard, 0, 0]) + u32(1) + u32(1) + u16(0) + u16(0) + u64(7) * 4


def record_seeds():
    all_of_it = HEAD | NR | SUM
    records = b"".join(rec(seq, kind, seq % 2) for seq, kind in enumerate(range(1, 30), 1))
    files = {
        "whole": (all_of_it, head() + records), "spoilt": (all_of_it | SPOIL, head() + records),
        "empty": (all_of_it, head()), "nothing": (0, b""), "short-head": (all_of_it, head()[:-1]),
        "cut": (all_of_it, head() + records[:-1]), "no-sum": (HEAD | NR, head() + records),
        "no-number": (HEAD | SUM, head(nr=28) + records), "huge-number": (HEAD | SUM, head(nr=1 << 58) + records),
        "magic": (NR | SUM, head(magic=MAGIC + 1) + records), "version": (NR | SUM, head(version=1) + records),
        "size": (NR | SUM, head(size=63) + records), "tunables": (NR | SUM, head(tunables=9) + records),
        "no-shards": (all_of_it, head(shards=0) + records), "shards": (all_of_it, head(shards=1 << 31) + records),
        "backwards": (all_of_it, head() + rec(2) + rec(1)), "twice": (all_of_it, head() + rec(2) + rec(2)),
        "kind-0": (all_of_it, head() + rec(1, 0)), "kind-255": (all_of_it, head() + rec(1, 255)),
        "shard": (all_of_it, head() + rec(1, 1, 2)), "seq-0": (all_of_it, head() + rec(0)),
        "long": (255, head() + records),
    }
    for name, (how, data) in files.items():
        seed("record", name, bytes([how]) + data)
