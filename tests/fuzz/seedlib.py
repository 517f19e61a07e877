# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Functions that all makers of seeds use: the output directory, numbers, captures."""

import os
import struct

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.dirname(HERE)
out_dir = ""


def begin(path):
    """Sets the directory of the seeds."""
    global out_dir
    out_dir = path


def seed(target, name, data):
    path = os.path.join(out_dir, target)
    os.makedirs(path, exist_ok=True)
    with open(os.path.join(path, name), "wb") as file:
        file.write(data.encode() if isinstance(data, str) else data)


def u16(n):
    return struct.pack("<H", n & 0xffff)


def u32(n):
    return struct.pack("<I", n & 0xffffffff)


def u64(n):
    return struct.pack("<Q", n & (1 << 64) - 1)


def swap(data, *sizes):
    """The same numbers in the other byte order; a negative size is kept as it is."""
    out, at = b"", 0
    for size in sizes:
        part = data[at:at + abs(size)]
        out += part[::-1] if size > 0 else part
        at += abs(size)
    return out + data[at:]




def packets(path):
    data = open(path, "rb").read()
    link, at = struct.unpack_from("<I", data, 20)[0], 24
    while at + 16 <= len(data):
        length = struct.unpack_from("<I", data, at + 8)[0]
        yield link, data[at + 16:at + 16 + length]
        at += 16 + length


def nid4(text):
    address, net = text.split("@")
    parts = [int(part) for part in address.split(".")]
    value = parts[0] << 24 | parts[1] << 16 | parts[2] << 8 | parts[3]
    return u64(2 << 48 | int(net[3:] or 0) << 32 | value)
