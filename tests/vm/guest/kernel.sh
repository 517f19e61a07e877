# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Nodes of the kernel for scripts in the guest: lnet_guest.ko is their user.

guest_do=/sys/module/lnet_guest/parameters/do

# node NAMESPACE COMMAND...: of lnet_guest.c
node() {
	local space=$1
	shift
	ip netns exec "$space" bash -c 'echo "$0" > '$guest_do "$*" 2>/dev/null
}
fails() { ! "$@"; }

# The first hook of a kind makes the kernel patch its own code for packets, and the last one that goes patches it back.
# Emulated processors may meet the breakpoint of that after it is gone, and the kernel dies of it (int3 in
# __netif_receive_skb_core or ip_output). So there is one of each kind before and after all traffic.
hooks_stay() {
	nft -f - <<-RULES
		table netdev stays {
			chain in { type filter hook ingress device lo priority 0; }
		}
		table ip stays {
			chain out { type filter hook postrouting priority 0; }
			chain in { type filter hook prerouting priority -300; }
		}
	RULES
}

# What namespaces' nodes counted, after a failure.
tell() {
	local space
	for space; do
		ip netns exec "$space" bash -c 'lnetctl stats show; lnetctl net show -v 4' 2>&1 |
			grep -v ': 0$' | sed "s/^/# $space: /"
	done
}

# What the board of a namespace has seen: "put 3 got 2 bad 0".
board_has() { [ "$(ip netns exec "$1" cat $guest_do)" = "$2" ]; }
console_has() { dmesg | grep -q "$1"; }

# modules_load [NAME=VALUE...]: parameters of ksocklnd. Where all is slow requests may take their time.
modules_load() {
	{ [ $patience -eq 1 ] || modprobe lnet lnet_transaction_timeout=$((5 * patience)); } &&
		modprobe ksocklnd "$@" && modprobe lnet_guest
}
# May be called again when the second one was still in use.
modules_unload() {
	local module
	for module in lnet_load lnet_guest ksocklnd lnet; do
		[ ! -e /sys/module/$module ] || rmmod $module || return 1
	done
}
# How many interfaces there are in the kernel, when none has a connection. Where locks are proved, each socket counts as
# a user of the module, too, such as the one that an interface listens on.
interfaces() {
	local users=$1
	[ -e /proc/lockdep ] && users=$((2 * users))
	[ "$(awk '$1 == "ksocklnd" { print $3 }' /proc/modules)" = "$users" ]
}

without_modules() {
	modinfo ksocklnd >/dev/null 2>&1 && modinfo lnet_guest >/dev/null 2>&1 && return 1
	echo "1..0 # SKIP no module ksocklnd or lnet_guest was built for this kernel"
}
