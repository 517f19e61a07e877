#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Sourced after lib.sh: many daemons, each with a separate address on the loopback device of one namespace. Number 0 is
# the console; `nodes' is the number of the others. Sets work, out, pid_of.
# shellcheck disable=SC2154,SC2034

reason=$(why_not)
if [ -n "$reason" ]; then
	echo "1..0 # SKIP $reason"
	exit 0
fi
export LST_SESSION=4713

ip_of() { echo "10.0.$((($1 + 1) >> 8)).$((($1 + 1) & 255))"; }

# ranges_of N: prints the ranges of nodes 1 to N, as the simulator names them: parts of the first and last row of 256,
# and the full rows between them.
ranges_of() {
	local lo=2 hi=$(($1 + 1)) end
	while [ $lo -le $hi ]; do
		end=$((lo | 255))
		[ $((lo & 255)) -ne 0 ] || [ $((hi - lo)) -lt 255 ] || end=$((((hi + 1) & ~255) - 1))
		[ $end -le $hi ] || end=$hi
		echo "10.0.[$((lo >> 8))-$((end >> 8))].[$((lo & 255))-$((end & 255))]@tcp"
		lo=$((end + 1))
	done
}

pid_of=()
processes_end() {
	[ ${#pid_of[@]} -eq 0 ] || kill -9 "${pid_of[@]}" 2> /dev/null
	clean_up
}

space_up() {
	local i
	work=$(mktemp -d "${TMPDIR:-/dev/shm}/lnet-netns.XXXXXX")
	trap processes_end EXIT
	trap 'exit 1' INT TERM
	ip netns add "$A" && ip -n "$A" link set lo up || return 1
	for ((i = 0; i <= nodes; i++)); do
		echo "addr add $(ip_of $i)/32 dev lo label lo:$i"
		printf 'net:\n- net type: tcp\n  local NI(s):\n  - interfaces:\n      0: lo:%d\n' $i > "$work/$i.yaml"
	done > "$work/batch"
	ip -n "$A" -batch "$work/batch"
}

all_listen() { [ "$(in_A ss -Hltn | wc -l)" -eq $((nodes + 1)) ]; }
# One shell starts all of them, so that none needs a separate command to enter the namespace.
processes_start() {
	# shellcheck disable=SC2016
	in_A bash -c 'for ((i = 0; i <= $1; i++)); do
			"$2/lnetd" --name "p$i" --selftest "*" --config "$3/$i.yaml" >> "$3/log" 2>&1 &
			echo $!
		done > "$3/pids.new"
		mv "$3/pids.new" "$3/pids"
		wait' _ "$nodes" "$out" "$work" 2> /dev/null &
	pids+=($!)
	wait_for 60 test -e "$work/pids" && mapfile -t pid_of < "$work/pids" && wait_for 120 all_listen
}

lst() { LNET_NODE=p0 in_A "$out/lst" "$@"; }
