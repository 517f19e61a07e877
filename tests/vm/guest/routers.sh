# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# For scripts in the guest that run tests/netns/routers: three nets, two routers and four end nodes, each in a separate
# namespace. First, all nodes are of user space; the stall that a fault then causes is the floor of this machine. Then
# routers, end nodes or both are of the kernel, and a stall may last three floors at most. With SLACK=10, for a machine
# that also runs other things, a stall fails at ten times that bound. The script reports each stall beyond three floors.
#
# An emulated machine pauses now and then. A bystander, a process that only reads the clock, measures these pauses. If a
# pause during a kind of fault was longer than the floor, the pause replaces the floor.
. tests/vm/guest/faults.sh

export LOAD="--interval 10ms --size 1K" RATE=50 PAIRS=${PAIRS:-60} PLACE_GOES=1
export SLOW="--window 32 --size 4K" SLOW_RATE=1mbit

# ---- the bystander

# Prints "WHEN MICROSECONDS" for each pause of more than 20 ms.
stand_by() {
	local never now last=${EPOCHREALTIME/./}
	exec {never}<> <(:)
	while :; do
		read -r -t 0.005 -u "$never" _
		now=${EPOCHREALTIME/./}
		[ $((now - last)) -lt 20000 ] || echo "$now $((now - last))"
		last=$now
	done
}
bystander_begin() {
	stand_by >/tmp/stood 2>/dev/null &
	bystander=$!
}
bystander_end() {
	kill $bystander
	wait $bystander 2>/dev/null
	return 0
}
# stood FROM TO: prints the longest pause in this time, in ms
stood() { awk -v from="$1" -v to="$2" '$1 >= from && $1 - $2 <= to && $2 > most { most = $2 }
	END { print int(most / 1000) }' /tmp/stood; }

# ---- routers and end nodes

# routers_with ROUTER END KIND...
routers_with() {
	local nodes="$1 $2"
	shift 2
	wait_for 20 interfaces 0 || echo "# interfaces stay"
	echo "# routers and end nodes: $nodes"
	NODES=$nodes tests/netns/routers "$@" >/tmp/routers.out 2>&1
	local status=$?
	sed -E 's/^(not ok|ok) [0-9]+ - /# \1: /; s/^([^#])/# \1/' /tmp/routers.out
	return $status
}

# For the last run: the worst stall of kind $1 in ms, and the time of that kind.
stall_of() { sed -nE "s/^# $1: [0-9]+ times, median .* worst ([0-9]+)\.[0-9]* ms.*/\1/p" /tmp/routers.out; }
time_of() { sed -nE "s/^# $1: from ([0-9]+) to ([0-9]+)$/\1 \2/p" /tmp/routers.out; }

declare -A floor
# No timeout of user space is shorter, so a lower floor would be luck.
least_ms=20
# A stall of more floors than this is a failure.
most=$((3 * ${SLACK:-1}))

floors() {
	local kind ms
	routers_with user user "$@" || return 1
	for kind; do
		ms=$(stall_of "$kind")
		[ -n "$ms" ] || { echo "# no stall of $kind"; return 1; }
		floor[$kind]=$((ms > least_ms ? ms : least_ms))
	done
}

# Checks each kind that has a floor.
within_floors() {
	local kind ms still least status=0
	for kind in "${!floor[@]}"; do
		ms=$(stall_of "$kind")
		[ -n "$ms" ] || continue
		# shellcheck disable=SC2046
		still=$(stood $(time_of "$kind"))
		least=$((still > floor[$kind] ? still : floor[$kind]))
		echo "# $kind: $ms ms; floor ${floor[$kind]} ms, standstill $still ms, bound $((3 * least)) ms"
		[ "$ms" -le $((3 * least)) ] || echo "# $kind: beyond the bound"
		[ "$ms" -le $((most * least)) ] || status=1
	done
	return $status
}

# arrangement ROUTER END KIND...
arrangement() {
	check "$1 routers, $2 end nodes: nothing is lost, nothing comes twice" routers_with "$@"
	check "$1 routers, $2 end nodes: stalls last $most floors at most" within_floors
}
