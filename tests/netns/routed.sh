# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Three nets, two routers between them and four end nodes, for tests of routed messages.
#
#	         E1 .11   E2 .12          E3 .13            E4 .14
#	            |       |                |                 |
#	    --------+---+---+----   ---------+----   ----------+---
#	      net tcp1  10.1.0     net tcp2  10.2.0   net tcp3  10.3.0
#	    --------+-------+----   ---+-----+----   ----+-----+---
#	            |       |          |     |           |     |
#	          R1 .1   R2 .2      R1 .1  R2 .2      R1 .1  R2 .2
#
# Routers are lnetd and end nodes lnetperf (NODES="user user"). With NODES="kernel user" and so on, routers, end nodes
# or both are the kernel's nodes in their namespaces. Then the node of an end requests and serves with one address.
#
# Sourced by tests, which set per_second and use: place_up, router_start, router_kill, router_again, serve, ask,
# goes_on.
# shellcheck disable=SC2154
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

lnetctl=$out/lnetctl
S=lnS$$
ends=(1 2 3 4)
net_of=(0 1 1 2 3)

reason=$(why_not)
if [ -n "$reason" ]; then
	echo "1..0 # SKIP $reason"
	exit 0
fi

space() { echo "ln$1_$$"; }
inside() { ip netns exec "$(space "$1")" "${@:2}"; }
router=$kind_A end=$kind_B	# user or kernel
ctl() {
	local name=$1_$$
	[ "$router" = user ] || name=kernel
	inside "$1" "$lnetctl" --node "$name" "${@:2}"
}

# ---- namespaces and links

# plug NODE NET HOST: connects an interface eth<NET> of NODE to the switch of NET, with address 10.<NET>.0.<HOST>
plug() {
	local to
	to=$(space "$1")
	ip link add "eth$2" netns "$to" type veth peer name "$1n$2" netns "$S" || return 1
	ip -n "$S" link set "$1n$2" master "br$2" up
	ip -n "$to" addr add "10.$2.0.$3/24" dev "eth$2"
	ip -n "$to" link set "eth$2" up
}

# router_place R1|R2: creates its namespace, on all nets
router_place() {
	local n
	ip netns add "$(space "$1")" && ip -n "$(space "$1")" link set lo up || return 1
	for n in 1 2 3; do
		plug "$1" $n "${1#R}" || return 1
	done
}

place_up() {
	local n e
	work=$(mktemp -d "${TMPDIR:-/dev/shm}/lnet-netns.XXXXXX")
	trap place_down EXIT
	trap 'exit 1' INT TERM
	ip netns add "$S" || return 1
	for n in 1 2 3; do
		ip -n "$S" link add br$n type bridge && ip -n "$S" link set br$n up || return 1
	done
	router_place R1 && router_place R2 || return 1
	for e in "${ends[@]}"; do
		ip netns add "$(space "E$e")" && ip -n "$(space "E$e")" link set lo up || return 1
		plug "E$e" "${net_of[e]}" $((10 + e)) || return 1
		# A second address, for the client of this end.
		ip -n "$(space "E$e")" addr add "10.${net_of[e]}.0.$((20 + e))/24" dev "eth${net_of[e]}"
	done
}

place_down() {
	local n
	clean_up
	for n in R1 R2 E1 E2 E3 E4; do
		ip netns del "$(space $n)" 2>/dev/null
	done
	ip netns del "$S" 2>/dev/null
}

# ---- nodes

declare -A daemon
# router_start R1|R2 [NET...]: starts it on these nets, or on all
router_start() {
	local n
	if [ "$router" = user ]; then
		ip netns exec "$(space "$1")" "$out/lnetd" --name "$1_$$" > "$work/$1.out" 2>&1 &
		daemon[$1]=$!
		pids+=("${daemon[$1]}")
	fi
	wait_for 10 ctl "$1" lnet configure >/dev/null 2>&1 || return 1
	# shellcheck disable=SC2086
	for n in ${*:2} $([ $# -gt 1 ] || echo 1 2 3); do
		ctl "$1" net add --net "tcp$n" --if "eth$n" || return 1
	done
	ctl "$1" set routing 1
}

unplugged() { ! has_device "$S" "$1n1" && ! has_device "$S" "$1n2" && ! has_device "$S" "$1n3"; }

# A node of the kernel ends with its namespace, which is then made again. For a comparison, PLACE_GOES does the same to
# a router in user space.
[ "$router" = user ] || PLACE_GOES=1
router_kill() {
	if [ "$router" = user ]; then
		kill -9 "${daemon[$1]}"
		wait "${daemon[$1]}" 2>/dev/null
	fi
	[ -z "$PLACE_GOES" ] || ip netns del "$(space "$1")"
}

router_again() {
	[ -z "$PLACE_GOES" ] || { wait_for 10 unplugged "$1" && router_place "$1"; } || return 1
	router_start "$1"
}

# Options of an end node: the routes to the nets that it is not on.
routes_of() {
	local mine=$1 n
	for n in 1 2 3; do
		[ $n -eq "$mine" ] || echo "--route tcp$n,10.$mine.0.1@tcp$mine,10.$mine.0.2@tcp$mine"
	done
}

# node_of END: sets program, which does the same as lnetperf at this end
node_of() {
	program=(ip netns exec "$(space "E$1")" "$lnetperf")
	[ "$end" = user ] && return
	# Needed only for later requests of lnetctl.
	inside "E$1" "$lnetctl" --node kernel lnet configure >/dev/null 2>&1
	program=("$out/tests/tools/kperf")
	place=(--netns "$(space "E$1")")
}
place=()
second=20	# the host number of a client's address, without the number of its end
[ "$end" = user ] || second=10

nid_of() { echo "10.${net_of[$1]}.0.$(($2 + $1))@tcp${net_of[$1]}"; }

# serve END [OPTION...]: starts a server there
serve() {
	local e=$1
	: > "$work/s$e.out"
	node_of "$e"
	# shellcheck disable=SC2046
	"${program[@]}" server "${place[@]}" --nid "$(nid_of "$e" 10)" \
		$(routes_of "${net_of[e]}") "${@:2}" > "$work/s$e.out" 2>&1 &
	servers[$e]=$!
	pids+=($!)
	wait_for 10 grep -q ready "$work/s$e.out"
}

# ask FROM TO: sets client_of, the command of a client at FROM
ask() {
	node_of "$1"
	# shellcheck disable=SC2207
	client_of=("${program[@]}" client "${place[@]}" --nid "$(nid_of "$1" $second)"
		--peer "$(nid_of "$2" 10)" $(routes_of "${net_of[$1]}") --verify)
}

declare -A servers

# In a line of the client after number $1, at least 80 % of the expected requests complete.
keeps_up() {
	local words now
	now=$(lines)
	[ "$now" -gt "$1" ] || return 1
	read -r -a words < <(tail -n 1 "$work/client.out")
	now=${words[5]%/s}
	[[ $now =~ ^[0-9]+$ ]] && [ "$now" -ge $((per_second * 8 / 10)) ]
}

goes_on() { wait_for 20 keeps_up $(($(lines) + 2)); }
