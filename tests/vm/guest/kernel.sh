# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Helpers for scripts in the guest that use nodes of the kernel through lnet_guest.ko.

guest_do=/sys/module/lnet_guest/parameters/do

# node NAMESPACE COMMAND...: runs a command of lnet_guest.c at the node of this namespace
node() {
	local space=$1
	shift
	ip netns exec "$space" bash -c 'echo "$0" > '$guest_do "$*" 2>/dev/null
}
fails() { ! "$@"; }

# For the first hook of a kind, the kernel patches its own packet code, and for the last hook that is removed it patches
# the code back. An emulated processor may meet the breakpoint of the patch after it is gone, and the kernel crashes
# (int3 in __netif_receive_skb_core or ip_output). So one hook of each kind exists before and after all traffic.
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

# Prints the counters of the nodes of these namespaces that are not 0, after a failure.
tell() {
	local space
	for space; do
		ip netns exec "$space" bash -c 'lnetctl stats show; lnetctl net show -v 4' 2>&1 |
			grep -v ': 0$' | sed "s/^/# $space: /"
	done
}

# board_has NAMESPACE TEXT: the board of the namespace has these counts, such as "put 3 got 2 bad 0"
board_has() { [ "$(ip netns exec "$1" cat $guest_do)" = "$2" ]; }
console_has() { dmesg | grep -q "$1"; }

# modules_load [NAME=VALUE...]: the parameters are those of ksocklnd. On a slow kernel the transaction timeout is
# longer.
modules_load() {
	{ [ $patience -eq 1 ] || modprobe lnet lnet_transaction_timeout=$((5 * patience)); } &&
		modprobe ksocklnd "$@" && modprobe lnet_guest
}
# May be called again if a module was still in use.
modules_unload() {
	local module
	for module in lnet_load lnet_guest ksocklnd lnet; do
		[ ! -e /sys/module/$module ] || rmmod $module || return 1
	done
}
# interfaces N: the kernel has N interfaces, and none of them has a connection. With lockdep each socket, such as the
# one on which an interface listens, also counts as a user of the module.
interfaces() {
	local users=$1
	[ -e /proc/lockdep ] && users=$((2 * users))
	[ "$(awk '$1 == "ksocklnd" { print $3 }' /proc/modules)" = "$users" ]
}

without_modules() {
	modinfo ksocklnd >/dev/null 2>&1 && modinfo lnet_guest >/dev/null 2>&1 && return 1
	echo "1..0 # SKIP no module ksocklnd or lnet_guest was built for this kernel"
}
