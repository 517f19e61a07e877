# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Two nodes in two network namespaces with two rails between them, and faults for these rails.
#
#	        A: client                          B: server
#	   .---------------.                  .---------------.
#	   |  a0 10.0.0.1  |------ rail 0 ----|  b0 10.0.0.2  |   net tcp
#	   |  a1 10.1.0.1  |------ rail 1 ----|  b1 10.1.0.2  |   net tcp1
#	   '---------------'                  '---------------'
#
# Each node is lnetperf (NODES="user user"), or the kernel's node of that namespace (NODES="kernel kernel", or one of
# each), which does the same through lnet_load.ko. A guest of tests/vm has the modules.
#
# Sourced by tests, which use: rails_up, server_start, client_start, cut KIND RAIL, heal KIND RAIL, wait_for SECONDS
# COMMAND..., judge. One trap removes everything, by name and by process id. No function sleeps for a fixed time.

here=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
out=${OUT:-$here/build}
lnetperf=$out/lnetperf
oracle=$out/tests/netns/oracle
A=lnA$$ B=lnB$$
read -r kind_A kind_B <<< "${NODES:-user user}"
work=
server=
client=
pids=()
tests=0
failed=0

# ---- results, as TAP

ok() {
	tests=$((tests + 1))
	echo "ok $tests - $1"
}
not_ok() {
	tests=$((tests + 1))
	failed=$((failed + 1))
	echo "not ok $tests - $1"
}
check() {
	local what=$1
	shift
	if "$@"; then ok "$what"; else not_ok "$what"; fi
}
plan() {
	echo "1..$tests"
	[ $failed -eq 0 ]
}

# Prints why the test cannot run here, or nothing.
why_not() {
	[ "$(id -u)" -eq 0 ] || { echo "not root"; return; }
	command -v ip >/dev/null || { echo "no ip"; return; }
	command -v nft >/dev/null || { echo "no nft"; return; }
	ip netns add "$A" 2>/dev/null || { echo "network namespaces cannot be made"; return; }
	ip -n "$A" link add x0 type veth peer name x1 2>/dev/null || echo "veth pairs cannot be made"
	ip netns exec "$A" nft add table netdev probe 2>/dev/null || echo "nft has no netdev family"
	[[ "$kind_A $kind_B" != *kernel* ]] || [ -e /dev/lnet_load ] || echo "no module lnet_load"
	ip netns del "$A"
}

# ---- waiting: conditions are checked every 20 ms

exec {never}<> <(:)
pause() {
	read -r -t 0.02 -u $never _ || :
}
# wait_for SECONDS COMMAND...
wait_for() {
	local until=$((SECONDS + $1))
	shift
	while ! "$@"; do
		[ $SECONDS -ge $until ] && return 1
		pause
	done
}

# ---- namespaces and rails

clean_up() {
	local pid
	for pid in "${pids[@]}"; do
		kill -9 "$pid" 2>/dev/null
		wait "$pid" 2>/dev/null
	done
	ip netns del "$A" 2>/dev/null
	ip netns del "$B" 2>/dev/null
	[ -n "$work" ] && rm -rf "$work"
}

in_A() { ip netns exec "$A" "$@"; }
in_B() { ip netns exec "$B" "$@"; }

# Creates the namespace of B, with the rails to it.
B_up() {
	local r
	ip netns add "$B" && ip -n "$B" link set lo up || return 1
	for r in 0 1; do
		ip link add a$r netns "$A" type veth peer name b$r netns "$B" || return 1
		ip -n "$A" addr add 10.$r.0.1/24 dev a$r
		ip -n "$B" addr add 10.$r.0.2/24 dev b$r
		ip -n "$A" link set a$r up
		ip -n "$B" link set b$r up
	done
	wait_for 5 in_A ping -c 1 -W 1 -q 10.1.0.2 >/dev/null
}

rails_up() {
	work=$(mktemp -d "${TMPDIR:-/dev/shm}/lnet-netns.XXXXXX")
	trap clean_up EXIT
	trap 'exit 1' INT TERM
	ip netns add "$A" && ip -n "$A" link set lo up && B_up
}

# The prefix of the command of a node; empty without namespaces.
run_A=(ip netns exec "$A")
run_B=(ip netns exec "$B")
A_nids=(--nid 10.0.0.1@tcp --nid 10.1.0.1@tcp1 --peer 10.0.0.2@tcp,10.1.0.2@tcp1)
B_nids=(--nid 10.0.0.2@tcp --nid 10.1.0.2@tcp1 --peer 10.0.0.1@tcp,10.1.0.1@tcp1)

# ---- nodes

started() { grep -q ready "$work/server.out"; }

# program_of A|B: sets program, which does the same as lnetperf at that node, and place, its options for the namespace.
program_of() {
	local -n space=$1 kind=kind_$1 run=run_$1
	program=("${run[@]}" "$lnetperf") place=()
	[ "$kind" = kernel ] || return 0
	# Needed only for later requests of lnetctl.
	ip netns exec "$space" "$out/lnetctl" --node kernel lnet configure >/dev/null 2>&1
	program=("$out/tests/tools/kperf") place=(--netns "$space")
}

# The server keeps its log over restarts.
server_start() {
	: > "$work/server.out"
	program_of B
	"${program[@]}" server "${place[@]}" "${B_nids[@]}" --log "$work/server.log" "$@" > "$work/server.out" 2>&1 &
	server=$!
	pids+=($server)
	wait_for 10 started
}

client_start() {
	: > "$work/client.out"
	program_of A
	"${program[@]}" client "${place[@]}" "${A_nids[@]}" --log "$work/client.log" --verify --timeline 100ms "$@" \
		> "$work/client.out" 2>&1 &
	client=$!
	pids+=($client)
	wait_for 10 flows 0 0 && wait_for 10 flows 1 0
}

# Ends a process and returns its status.
stop() {
	kill -TERM "$1" 2>/dev/null
	wait "$1"
}

has_device() { ip -n "$1" link show "$2" >/dev/null 2>&1; }
lost_rails() { ! has_device "$A" a0 && ! has_device "$A" a1; }

# The node at B ends without a message to A: its process is killed, or, in the kernel, its namespace is deleted and made
# again.
server_kill() {
	if [ "$kind_B" = kernel ]; then
		ip netns del "$B"
		wait "$server" 2>/dev/null
		wait_for 10 lost_rails && B_up
	else
		kill -9 "$server"
		wait "$server" 2>/dev/null
		return 0
	fi
}

# ---- throughput: the lines that the client prints ten times a second

lines() { grep -c 'done' "$work/client.out"; }

# Sets rate[0], rate[1] and completed from the last line, and line to its number.
read_line() {
	local words
	line=$(lines)
	read -r -a words < <(tail -n 1 "$work/client.out")
	rate=("${words[3]%/s}" "${words[5]%/s}")
	completed=${words[7]%/s}
	[[ $completed =~ ^[0-9]+$ && ${rate[0]} =~ ^[0-9]+$ && ${rate[1]} =~ ^[0-9]+$ ]]
}

# In a line after number $2, rail $1 carries its share.
flows() {
	read_line && [ "$line" -gt "$2" ] && [ $((rate[$1] * 10)) -ge $(((rate[0] + rate[1]) * 3)) ] &&
		[ "$completed" -gt 0 ]
}

# In a line after number $2, at least 80 % of the expected requests complete, which needs the other rail.
goes_round() {
	read_line && [ "$line" -gt "$2" ] && [ "$completed" -ge $((per_second * 8 / 10)) ]
}
per_second=1000

# ---- faults

mark() {
	echo "$EPOCHREALTIME $*" >> "$work/marks"
}

# Drops all packets that device $3 of namespace $1 receives, from the far end of rail $2.
drop_in() {
	ip netns exec "$1" nft -f - <<-RULES
		table netdev cut$2 {
			chain in { type filter hook ingress device "$3" priority 0; policy drop; }
		}
	RULES
}

cut() {
	local rail=$2
	mark "cut-$1 $rail"
	case $1 in
	link-down) ip -n "$A" link set a$rail down ;;
	link-down-far) ip -n "$B" link set b$rail down ;;
	drop) drop_in "$A" $rail a$rail && drop_in "$B" $rail b$rail ;;
	one-way) drop_in "$B" $rail b$rail ;;
	one-way-back) drop_in "$A" $rail a$rail ;;
	# The first socket of the set that is killed closes the others, which confuses ss.
	reset) in_A ss -K dst 10.$rail.0.2 2>/dev/null | grep -q ESTAB ;;
	*) return 1 ;;
	esac
}

heal() {
	local rail=$2
	case $1 in
	link-down) ip -n "$A" link set a$rail up ;;
	link-down-far) ip -n "$B" link set b$rail up ;;
	drop) in_A nft delete table netdev cut$rail && in_B nft delete table netdev cut$rail ;;
	one-way) in_B nft delete table netdev cut$rail ;;
	one-way-back) in_A nft delete table netdev cut$rail ;;
	esac
	mark "heal $rail"
}

# ---- the oracle

# limit KIND MEDIAN WORST: sets a limit of judge for the time without a completed request, in ms: SLACK times the aim.
# The caller sets SLACK. Machines that run `make check' are busy, so its limits are normally three times the aims.
limits=()
limit() {
	echo "# $1: aim: median $2 ms, worst $3 ms; limit: $SLACK times the aim"
	limits+=(--limit "$1=$(($2 * SLACK)),$(($3 * SLACK))")
}

# judge [OPTION...]: runs the oracle, and prints its output as comments.
judge() {
	local text status
	text=$("$oracle" --marks "$work/marks" "${limits[@]}" "$@" "$work/client.log" "$work/server.log" 2>&1)
	status=$?
	sed 's/^/# /' <<< "$text"
	return $status
}
