# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# For scripts in the guest that run tests/netns with nodes of the kernel.
. tests/vm/guest/lib.sh
. tests/vm/guest/kernel.sh

# No run of these guests with three times the aims has been measured, so the limits are ten times the aims of the
# scripts in tests/netns.
export SLACK=${SLACK:-10}
export OUT=build LOAD="--interval 10ms --size 1K" RATE=50

with_load() {
	without_modules && return 1
	modprobe -q tcp_diag
	check "hooks of the cuts' kinds stay" hooks_stay
	check "the modules load" modprobe -a ksocklnd lnet_load
}

# suite [NAME=VALUE...] SCRIPT [WORD...]: runs a script of tests/netns; its result is one result of this script
suite() {
	local settings=()
	while [[ $1 == *=* ]]; do
		settings+=("$1")
		shift
	done
	# A deleted namespace may still be ending.
	wait_for 20 interfaces 0 || echo "# interfaces stay"
	echo "# $NODES: ${settings[*]} $*"
	check "$NODES: $*" env "${settings[@]}" "tests/netns/$1" "${@:2}"
}

ends() {
	check "no interface stays" wait_for 20 interfaces 0
	check "the modules unload" wait_for 10 modules_unload
	plan
}
