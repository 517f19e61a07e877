# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Compares lnetctl with the kernel's node and with the daemon's. Each node is in its own namespace, with the same names
# and addresses, and has its own peer. Each command runs with both nodes. Both outputs must be the same, key by key in
# the same order, and so must the exit status. Only times and the identity of the node may differ. Every command that
# lnetctl lists has a case, and so has every option.
#
#	kernel  rail0 10.5.0.1 ---- 10.5.0.2 far0  kernel-far
#	        rail1 10.6.0.1
#	lnetd   rail0 10.5.0.1 ---- 10.5.0.2 far0  lnetd-far
#	        rail1 10.6.0.1
. tests/vm/guest/kernel.sh
. tests/vm/guest/commands.sh

ns_make() {
	ip netns add "$1" && ip -n "$1" link set lo up && ip netns add "$1-far" || return 1
	ip link add rail0 netns "$1" index 4711 type veth peer name far0 netns "$1-far" || return 1
	ip -n "$1-far" addr add 10.5.0.2/24 dev far0 && ip -n "$1-far" link set far0 up || return 1
	ip -n "$1" addr add 10.5.0.1/24 dev rail0 && ip -n "$1" link set rail0 up || return 1
	ip -n "$1" link add rail1 type dummy && ip -n "$1" addr add 10.6.0.1/24 dev rail1 || return 1
	ip -n "$1" link set rail1 up
}

ctl() {
	local node=$1
	shift
	ip netns exec "$node" lnetctl --node "$node" "$@"
}

# Removes values that may differ: times, counts that depend on time, and the identity of the node. Such counts are pings
# without a reply, and replies that were early enough for a round-trip sample.
timed='[a-z0-9_]+_nsec|next_ping|ping_count|get_rtt_samples|samples'
plain() {
	sed -E 's/^( *"?('"$timed"')"?: ).*[0-9](,?)$/\1-\3/
		s/^( *"?(name|pid|uid)"?: )[^,]*(,?)$/\1-\3/
		s/^(# lnetctl export of )[^,]*/\1-/
		/^lnetctl: node .* has not replied for 2 s/d'
}

says() {
	ctl "$1" "${@:2}" >"/tmp/$1.out" 2>"/tmp/$1.err" </tmp/input
	local status=$?
	{ plain <"/tmp/$1.out"; echo "exit $status"; plain <"/tmp/$1.err"; } >"/tmp/$1.plain"
}
both() {
	says kernel "${@//NODE/kernel}" &
	says lnetd "${@//NODE/lnetd}"
	wait $!
}
differ() { ! diff /tmp/kernel.plain /tmp/lnetd.plain; }
# An operation in flight at one node may have ended at the other. So a command that only reads is repeated.
alike() {
	local i
	for ((i = 0; i < ${tries:-1}; i++)); do
		[ $i -eq 0 ] || sleep 0.3
		both "$@"
		cmp -s /tmp/kernel.plain /tmp/lnetd.plain && return 0
	done
	! differ
}

same() {
	cases+=(" $* ")
	check "same: $*" alike "$@"
}
# Compares the output in YAML and in JSON.
shows() {
	tries=10 same "$@"
	tries=10 check "same: --json $*" json_alike "$@"
}
is_json() { [[ $(head -c 1 /tmp/kernel.out) == [[{] ]]; }
json_alike() { tries=10 alike --json "$@" && { ! [ -s /tmp/kernel.out ] || is_json; }; }
# same_from INPUT COMMAND...: as same, with INPUT as the standard input
same_from() {
	printf '%s\n' "$1" >/tmp/input
	shift
	same "$@"
	: >/tmp/input
}
ends_with() { grep -qx "exit $1" /tmp/kernel.plain; }

daemon_there() {
	ip netns exec "$1" lnetd --name "${3:-lnetd}" ${2:+--state "$2"} >"/tmp/$1.log" 2>&1 &
	daemons+=" $!"
	wait_for 20 eval "ip netns exec $1 lnetctl --node ${3:-lnetd} node show >/dev/null 2>&1"
}
far_there() {
	daemon_there "$1" "" far || return 1
	local far="ip netns exec $1 lnetctl --node far"
	$far lnet configure && $far net add --net tcp --if far0
}

# Starts two nodes that are not configured, and their peers.
both_begin() {
	: >/tmp/input
	check "the modules load" modprobe ksocklnd
	check "a namespace for the kernel's node" ns_make kernel
	check "a namespace for the daemon's" ns_make lnetd
	check "the daemon starts" daemon_there lnetd /tmp/state
	check "its peer starts" far_there lnetd-far
	check "and the kernel's" far_there kernel-far
}

# Configures both with long timeouts. On a slow machine, a path of one node may otherwise fail without a reason, and the
# node would count the failure.
both_configured() {
	local words
	same lnet configure
	for words in "hedge_floor 10" "transaction_timeout 60" "connect_timeout 20" "keepalive 0"; do
		same set $words
		check "taken" ends_with 0
	done
}

daemons_end() { kill $daemons && wait $daemons; }
spaces_end() {
	local name
	for name in kernel lnetd kernel-far lnetd-far; do
		ip netns del $name || return 1
	done
}

both_end() {
	check "the daemons end" daemons_end
	check "the namespaces go" spaces_end
	check "the modules unload" wait_for 10 modules_unload
}

# ---- the comparison finds differences

other_value() {
	ctl lnetd set retry_count 7 && both global show && differ >/tmp/diff &&
		grep -q '^[>+] *retry_count: 7' /tmp/diff
}
other_order() { both global show && sed -i '3{h;d};4{G}' /tmp/lnetd.plain && differ >/dev/null; }
other_status() { both lnet configure && says lnetd net show --net bogus && differ >/dev/null; }
less() { both global show && sed -i '/retry_count/d' /tmp/lnetd.plain && differ >/dev/null; }

# tests/vm/guest/management tests these commands; management_files tests all others.
both_first='lnet|net|peer|ping|debug|cpt-of-nid|node'

# Checks that the script has a case for each command of lnetctl that grep with "$@" selects, and for its options.
both_noticed() {
	commands_list >/tmp/all
	grep "$@" -E "^ ?($both_first)( |\$)" /tmp/all >/tmp/commands
	check "lnetctl lists its commands" eval "grep -qx 'fault delay add --latency' /tmp/all &&
		[ -s /tmp/commands ]"
	check "each has a case, and each option" eval "all_tried </tmp/commands"
	check "a command without a case is found" eval "! echo 'net frobnicate' | all_tried >/dev/null"
	check "so is an option" eval "! echo 'net add --frobnicate' | all_tried >/dev/null"
	check "another value is found" other_value
	check "another order is found" other_order
	check "a missing key is found" less
	check "another exit status is found" other_status
}
