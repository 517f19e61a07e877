# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# For scripts in the guest that use the module's fault rules, drill and flight recorder through lnetctl. There is one
# partition, because a replay may see changes of several shards at the same moment in another order.
#
#	A  10.0.0.1 ---- 10.0.0.2  B
#	   10.1.0.1 ---- 10.1.0.2
. tests/vm/guest/lib.sh
. tests/vm/guest/kernel.sh

loads() { modprobe lnet cpu_npartitions=1 && modules_load; }
spaces() {
	local r
	ip netns add A && ip netns add B || return 1
	for r in 0 1; do
		ip link add a$r netns A type veth peer name b$r netns B || return 1
		ip -n A addr add 10.$r.0.1/24 dev a$r && ip -n B addr add 10.$r.0.2/24 dev b$r || return 1
		ip -n A link set a$r up && ip -n B link set b$r up || return 1
	done
}
ctl() { ip netns exec "$1" lnetctl --node kernel "${@:2}"; }
# quietly COMMAND...: its output is in /tmp/said
quietly() { "$@" > /tmp/said 2>&1; }
rail() {
	ctl A net add --net "$2" --if "a$1" && ctl B net add --net "$2" --if "b$1"
}
nodes() {
	ctl A lnet configure && ctl B lnet configure && rail 0 tcp && ctl A set retry_count 0
}
rules() { ctl A fault show | grep -c 'kind:'; }
pings() { quietly ctl A ping --timeout "$1" 10.0.0.2@tcp && ! grep -q errno /tmp/said; }
fails_to() { ! "$@"; }

# acts MS KIND WORDS: with this rule, a ping takes at least MS milliseconds, or fails ("-"); without it, a ping succeeds
acts() {
	local least=$1 kind=$2 from took
	shift 2
	# Every rule but a partition needs an option that selects messages.
	[[ " $kind $* " =~ \ (partition|--(source|dest|local_nid|message|portal))\  ]] || set -- --source '*' "$@"
	ctl A fault "$kind" add "$@" || return 1
	from=${EPOCHREALTIME/./}
	if [ "$least" = - ]; then fails_to pings 0.4; else pings 10; fi || { cat /tmp/said; return 1; }
	took=$((${EPOCHREALTIME/./} - from))
	ctl A fault "$kind" del --all && pings 10 || return 1
	[ "$least" = - ] || [ $took -ge $((least * 1000)) ]
}

grammar='faults:
- { kind: drop, source: 10.9.0.1@tcp, rate: 7, count: 3, seed: 1, name: one }
- { kind: delay, dest: 10.9.0.1@tcp, delay: 20ms, jitter: 5ms, interval: 2s, message: [ PUT, GET ] }
- { kind: duplicate, dest: "*@tcp9", permille: 5, from: 1s, to: 1h }
- { kind: reorder, dest: "*@tcp9", delay: 20ms, behind: 3, rate: 2 }
- { kind: corrupt, source: "*@tcp9", where: pages, count: 5 }
- { kind: cut, source: "*@tcp9", rate: 3, count: 9, seed: 4, period: 2s, duty: 100 }
- { kind: partition, left: [ 10.9.0.1@tcp, "*@tcp8" ], right: "*@tcp9", interval: 1s }
- { kind: slow, dest: "*@tcp9", bandwidth: 1000000, burst: 65536, permille: 500 }
- { kind: flap, source: "*@tcp9", period: 1s, duty: 250, count: 5 }
- { kind: degrade, dest: "*@tcp9", loss: 100, delay: 5ms, over: 1m, rate: 2, seed: 9 }
- { kind: outcome, dest: "*@tcp9", outcome: [ local_error, remote_timeout ], when: posted, interval: 3s }
- { kind: ack-timeout, source: "*@tcp9", rate: 2 }
- { kind: reply-timeout, source: "*@tcp9", count: 1, at: receive }'
taken() { ctl A fault import <<< "$grammar" && [ "$(rules)" = 13 ]; }
# Exported rules are the same after an import. The export does not contain their numbers.
round_trip() {
	ctl A fault export > /tmp/first && ctl A fault import --del <<< "faults: [ { name: one } ]" || return 1
	[ "$(rules)" = 12 ] && ctl A export --backup > /tmp/whole || return 1
	sed '1d;/^faults:/,$d' /tmp/whole > /tmp/without
	ctl A apply /tmp/without && [ "$(rules)" = 0 ] && ctl A fault import /tmp/first &&
		ctl A fault export > /tmp/second && cmp /tmp/first /tmp/second
}
# Prints the rules without their state, which changes with time.
shown() { ctl A fault show | grep -v state:; }
# Existing rules stay as they are, with their numbers; a plan lists rules that differ.
planned() {
	ctl A export --backup > /tmp/whole && ctl A plan --check /tmp/whole > /tmp/said &&
		shown > /tmp/before && ctl A apply /tmp/whole && shown > /tmp/after && cmp /tmp/before /tmp/after &&
		{ cat /tmp/without && echo "faults: [ { kind: drop, source: '*' } ]"; } > /tmp/other &&
		ctl A plan /tmp/other > /tmp/said && [ "$(grep -c 'kind:' /tmp/said)" = 14 ] && [ "$(rules)" = 13 ]
}
# refuses WORDS FILE [RULES]: a file that is wrong, or has too many rules, is rejected as a whole, and RULES rules
# remain
refuses() {
	quietly fails_to ctl A fault import <<< "$2" && grep -q "$1" /tmp/said && [ "$(rules)" = "${3:-13}" ]
}
many() {
	local i
	echo faults:
	for ((i = 0; i < $1; i++)); do echo "- { kind: drop, dest: '*@tcp9' }"; done
}
under_load() {
	local i status=0
	ctl A drill --peer 10.0.0.2@tcp --duration 100ms --rate 1000 --count 2 > /tmp/drill 2>&1 &
	for ((i = 0; i < 5; i++)); do
		ctl A fault import <<< "$(many 200)" && ctl A fault drop del --all || status=1
	done
	wait $! || status=1
	[ $status -eq 0 ] || cat /tmp/drill
	return $status
}

value() { sed -n "s/^ *-\? *$1: //p" /tmp/drill; }
drilled() {
	ctl A drill --peer 10.0.0.2@tcp --rail "$1" --duration 1s --count 2 > /tmp/drill || return 1
	sed 's/^/# /' /tmp/drill
	[ "$(value lost)" = 0 ] && [ "$(value duplicated)" = 0 ] && [ "$(value failback_ms | wc -w)" = 2 ] &&
		[ "$(value detection_ms | wc -w)" -ge 1 ] && [ "$(rules)" = 0 ]
}
two_rails() {
	rail 1 tcp1 && ctl A set retry_count default &&
		ctl A peer add --prim_nid 10.0.0.2@tcp --nid 10.1.0.2@tcp1 &&
		ctl B peer add --prim_nid 10.0.0.1@tcp --nid 10.1.0.1@tcp1
}
replays() {
	lnetsim --replay "$1" > /tmp/said; local status=$?
	sed 's/^/# /' /tmp/said
	[ $status -eq 0 ] && grep -q 'the same decisions' /tmp/said
}
# Prints a file as lines of output: the host has no other access to it.
hand_over() { base64 "$1" | sed "s/^/vm: file $2 /"; }

begins() {
	check "the modules load" loads
	check "two namespaces" spaces
	check "two nodes" nodes
	check "a ping" pings 10
}
# acts_of LINE...: each line has the arguments of acts
acts_of() {
	local words
	set -f
	for words; do
		# shellcheck disable=SC2086
		check "a ping and $words" acts $words
	done
	set +f
}
files() {
	check "a file with all kinds is taken" taken
	check "what is exported makes the same" round_trip
	check "plans and applies know what is there" planned
	check "a kind that is none is refused" refuses "line 3 column [0-9]*: 'explode' is not a kind of fault rule" \
		$'faults:\n- { kind: cut, dest: "*" }\n- kind: explode'
	check "words that contradict each other are" refuses \
		"at most one of 'rate', 'interval' and 'permille' may be given" \
		$'faults:\n- { kind: cut, rate: 2, permille: 5 }'
	check "all go" ctl A apply /tmp/without
}
# drills RAIL NAME: prints the recording of the drill for the host, under that name
drills() {
	check "two rails" two_rails
	check "the recorder starts" ctl A debug record start --size 256k
	check "a drill" drilled "$1"
	check "what there is is written" ctl A debug record dump /tmp/record
	check "the same is decided again" replays /tmp/record
	hand_over /tmp/record "$2"
	check "no recording is left" ctl A debug record stop
}
ends() {
	check "nodes end" eval "ctl A lnet unconfigure && ctl B lnet unconfigure"
	check "namespaces go" eval "ip netns del A && ip netns del B"
	check "the modules unload" wait_for 10 modules_unload
	plan
}
