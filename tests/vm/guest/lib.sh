# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What scripts in the guest say, as TAP. They run in the root of the tree as root; the host looks at the console for
# splats, so a script asks only for what it wants itself. A line "# modules: NAME..." in a script names modules of the
# kernel that it loads.

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

# A kernel that watches itself is slow.
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
