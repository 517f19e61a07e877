#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Attackers send garbage to a node that serves an honest client. The node drops or closes each connection, its memory
# stays bounded, and the client is still served, with its content checked.
#
#	A (one namespace, lo):   127.0.0.2 client ---- 127.0.0.1 server ---- 127.66.0.x attackers (tests/tools/garbage)
#
#	tests/netns/garbage.sh [MODE...]	OUT=build/asan by default: an error or a leak ends the node
# shellcheck disable=SC2154
export OUT=${OUT:-build/asan}
. "$(dirname "$0")/lib.sh"

# No run with three times the aim has been measured.
SLACK=${SLACK:-10}
HEAP=${HEAP:-100000}	# kB by which the server may grow
garbage=$out/tests/tools/garbage
export ASAN_OPTIONS=${ASAN_OPTIONS:-quarantine_size_mb=16} UBSAN_OPTIONS=print_stacktrace=1

# MODE:COUNT
modes=(random:300 truncated:1 hellos:1 headers:1 noops:1 anything:20000 grants:20000 session_opens:20000
	deaf-pings:500000 deaf-grants:300000 deaf-cookies:500000 names:2000)
[ $# -gt 0 ] && modes=("$@")

reason=$(why_not)
if [ -n "$reason" ]; then
	echo "1..0 # SKIP $reason"
	exit 0
fi

up() {
	work=$(mktemp -d "${TMPDIR:-/dev/shm}/lnet-garbage.XXXXXX")
	trap clean_up EXIT
	trap 'exit 1' INT TERM
	ip netns add "$A" && ip -n "$A" link set lo up
}

started() { grep -q ready "$work/server.out"; }

nodes_up() {
	"${run_A[@]}" "$lnetperf" server --nid 127.0.0.1@tcp --set accept=all --set peers_max=1000 \
		> "$work/server.out" 2>&1 &
	server=$!
	pids+=($server)
	wait_for 10 started || return 1
	"${run_A[@]}" "$lnetperf" client --nid 127.0.0.2@tcp --peer 127.0.0.1@tcp --set accept=all --verify \
		--interval 5ms --size 1K --duration 1000 --timeline 500ms > "$work/client.out" 2>&1 &
	client=$!
	pids+=($client)
	wait_for 10 goes_on 0
}

lines() { grep -c ' done ' "$work/client.out"; }
goes_on() { [ "$(lines)" -gt $(($1 + 1)) ]; }

memory() { awk '/^VmRSS/ { print $2 }' "/proc/$server/status"; }

attack() {
	local mode=${1%:*} count=${1#*:}

	timeout 120 ip netns exec "$A" "$garbage" 127.0.0.1 988 "$mode" "$count"
}

good_goes_on() {
	local at
	at=$(lines)
	wait_for $((5 + SLACK)) goes_on "$at" && tail -n 1 "$work/client.out" | grep -qv ' done  *0/s'
}

# Prints the longest time without a completion, in the lines from number $1 on.
worst_gap() {
	tail -n +"$1" "$work/client.out" | sed -n 's/.* gap *\([0-9]*\)\..*/\1/p' | sort -n | tail -n 1
}

one_mode() {
	local before at gap grown

	before=$(memory)
	at=$(lines)
	check "$1: the node does what it should" attack "$1"
	check "$1: the good node is served" good_goes_on
	gap=$(worst_gap "$at")
	grown=$(($(memory) - before))
	echo "# $1: longest gap $gap ms (aim 250 ms, limit $SLACK times the aim), memory +$grown kB"
	check "$1: nobody else has to wait" [ "${gap:-99999}" -le $((250 * SLACK)) ]
	check "$1: memory is bounded" [ "$grown" -le "$HEAP" ]
}

# Three hundred connections send nothing, or stop half-way. Other nodes can still connect.
silent_mode() {
	"${run_A[@]}" "$garbage" 127.0.0.1 988 silent 300 > "$work/silent.out" 2>&1 &
	pids+=($!)
	wait_for 20 grep -q silent "$work/silent.out"
	check "silent: the good node is served" good_goes_on
	check "silent: a new one gets in" in_A "$lnetperf" client --nid 127.0.0.3@tcp --peer 127.0.0.1@tcp \
		--set accept=all --verify --count 100 --duration 10
	kill "${pids[-1]}"
}

healthy() { ! grep -E 'ERROR: |runtime error|WARN' "$work/server.out" "$work/client.out"; }
dies_well() {
	stop "$1"
	[ $? -le 1 ]
}

up && nodes_up || { echo "Bail out! no nodes"; exit 1; }
for mode in "${modes[@]}"; do
	one_mode "$mode"
done
silent_mode
check "the client ends well" stop "$client"
tail -n 5 "$work/client.out" | sed 's/^/# client: /'
check "no good request failed" grep -q ' 0 failed, 0 perhaps done, 0 corrupted, 0 ended twice' "$work/client.out"
check "the server ends well" dies_well "$server"
tail -n 5 "$work/server.out" | sed 's/^/# server: /'
check "no error of memory, no leak" healthy
plan
