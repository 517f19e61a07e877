#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A network device with a given speed: tap.py NAME ADDRESS/LEN. Each input line is its new speed in Mbit/s."""

import ctypes
import fcntl
import os
import socket
import struct
import subprocess
import sys

TUNSETIFF, SIOCETHTOOL, ETHTOOL_SSET = 0x400454CA, 0x8946, 2
TAP, NO_HEAD, FULL_DUPLEX = 2, 0x1000, 1


def speed_set(sock, name, mbit):
    cmd = struct.pack("=IIIHBBBBBBIIHBBIII", ETHTOOL_SSET, 0, 0, mbit & 0xFFFF, FULL_DUPLEX, 0, 0, 0, 0, 0, 0, 0,
                      mbit >> 16, 0, 0, 0, 0, 0)
    buf = ctypes.create_string_buffer(cmd, len(cmd))
    fcntl.ioctl(sock, SIOCETHTOOL, struct.pack("16sP16x", name, ctypes.addressof(buf)))


def main(name, address):
    tap = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(tap, TUNSETIFF, struct.pack("16sH22x", name.encode(), TAP | NO_HEAD))
    subprocess.run(["ip", "addr", "add", address, "dev", name], check=True)
    subprocess.run(["ip", "link", "set", name, "up"], check=True)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        for line in sys.stdin:
            speed_set(sock, name.encode(), int(line))
            print("set", line.strip(), flush=True)


main(*sys.argv[1:])
