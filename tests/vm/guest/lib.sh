# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Helpers for scripts in the guest, which report as TAP. Scripts run as root, in the root of the tree. The host checks
# the console for kernel splats, so a script checks only its own results. A line "# modules: NAME..." in a script lists
# the kernel modules that the script loads.

tests=0
failed=0

check() {
	local what=$1
	shift
	tests=$((tests + 1))
	if "$@"; then
		echo "ok $tests - $what"
	else
		failed=$((failed + 1))
		echo "not ok $tests - $what"
	fi
}

skip() {
	tests=$((tests + 1))
	echo "ok $tests - $1 # SKIP $2"
}

# A debug kernel is slow, so timeouts are ten times as long.
patience=1
case $(uname -r) in
*-lnet) patience=10 ;;
esac

# wait_for SECONDS COMMAND...
wait_for() {
	local until=$((SECONDS + $1 * patience))
	shift
	while ! "$@"; do
		[ $SECONDS -ge $until ] && return 1
		sleep 0.05
	done
}

plan() {
	echo "1..$tests"
	[ $failed -eq 0 ]
}
