# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# For scripts in the guest that run tests/netns with nodes of the kernel.
. tests/vm/guest/lib.sh
. tests/vm/guest/kernel.sh

export OUT=build LOAD="--interval 10ms --size 1K" RATE=50

# The first ingress hook makes the kernel patch its own code for received packets, and the last one that goes patches it
# back. Emulated processors may meet the breakpoint of that after it is gone, and the kernel dies of it (int3 in
# __netif_receive_skb_core). So one is there before and after all traffic.
hook_stays() {
	nft -f - <<-RULES
		table netdev stays {
			chain in { type filter hook ingress device lo priority 0; }
		}
	RULES
}

with_load() {
	without_modules && return 1
	modprobe -q tcp_diag
	check "a hook of the cuts' kind stays" hook_stays
	check "the modules load" modprobe -a ksocklnd lnet_load
}

# suite [NAME=VALUE...] SCRIPT [WORD...]: one of tests/netns, whose results are ours.
suite() {
	local settings=()
	while [[ $1 == *=* ]]; do
		settings+=("$1")
		shift
	done
	# A namespace that goes to its end.
	wait_for 20 interfaces 0 || echo "# interfaces stay"
	echo "# $NODES: ${settings[*]} $*"
	check "$NODES: $*" env "${settings[@]}" "tests/netns/$1" "${@:2}"
}

ends() {
	check "no interface stays" wait_for 20 interfaces 0
	check "the modules unload" wait_for 10 modules_unload
	plan
}
