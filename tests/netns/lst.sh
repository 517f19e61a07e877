#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Sourced after lib.sh: two nodes in user space with self-tests, controlled by lst at A. Sets a, b, said.
# shellcheck disable=SC2154,SC2034

reason=$(why_not)
if [ -n "$reason" ]; then
	echo "1..0 # SKIP $reason"
	exit 0
fi
a=10.0.0.1@tcp b=10.0.0.2@tcp
export LST_SESSION=4711

ctl() { "in_$1" "$out/lnetctl" --node "st$1$$" "${@:2}"; }

node_start() {
	local r
	ip netns exec "${!1}" \
		"$out/lnetd" --name "st$1$$" --selftest "10.0.0.[1-2]@tcp 10.1.0.[1-2]@tcp1" > "$work/$1.log" 2>&1 &
	eval "pid_$1=$!"
	pids+=($!)
	wait_for 10 ctl "$1" lnet configure 2>/dev/null || return 1
	for r in 0 1; do
		ctl "$1" net add --net tcp${r#0} --if "${1,}$r" > /dev/null || return 1
	done
}

# The output of lst is compared (says), or searched by grep -E (has).
lst_at() { LNET_NODE=st$1$$ "in_$1" "$out/lst" "${@:2}"; }
lst() { lst_at A "$@"; }
says() {
	local want=$1
	shift
	said=$("$@" 2>&1)
	[ "$said" = "$want" ] || { sed 's/^/# /' <<< "$said"; return 1; }
}
has() {
	local want=$1
	shift
	said=$("$@" 2>&1)
	grep -qE "$want" <<< "$said" || { sed 's/^/# /' <<< "$said"; return 1; }
}
fails() { ! "$@" > "$work/said" 2>&1; }

is_stopped() { lst query "$1" | grep -q '\[0\] is stopped'; }
# test_of BATCH LOOP WORDS...: runs a test that ends by itself
test_of() {
	local batch=$1 loop=$2
	shift 2
	lst add_batch "$batch" && has 'added successfully' lst add_test --batch "$batch" --loop "$loop" \
		--from c --to s "$@" && says "$batch is running now" lst run "$batch" && wait_for 20 is_stopped "$batch"
}
