# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The stages of tests/long/run. aims_STAGE prints lines "WHAT AIM". step_STAGE WHAT... runs one step of the first thing
# that is below its aim, and notes the result; the other arguments are the further things below their aims.
# shellcheck shell=bash disable=SC2154,SC2034

jobs=$(nproc)
FUZZ_MINUTES=5		# of a step
CUTS=10			# of a step
MEMORY=4000000000	# the most bytes of a simulation

# until_time: the time at which a program with UNTIL has to end; 0: none
until_time() { [ "$MINUTES" -eq 0 ] && echo 0 || echo "$until"; }

# ---- seeds of the simulator

aims_seeds() { printf '%s 100000\n' brief brief-sock default; }
step_seeds() {
	N=$(rest_of seeds "$1") SET=$1 JOBS=$jobs UNTIL=$(until_time) logged tests/sim/seeds
}

# ---- a tree of many nodes: each run twice, with equal fingerprints

aims_tree() { printf '%s 1\n' core core-faults light light-faults; }
step_tree() {
	local how=(--selftest-tree --twice) bytes
	case $1 in
	core*) how+=(--core --nodes "${CORE_NODES:-10000}") ;;
	light*) how+=(--nodes "${LIGHT_NODES:-100000}") ;;
	esac
	[[ $1 != *-faults ]] || how+=(--faults)
	built "$1" F=debug build/debug/lnetsim || return
	cp build/debug/lnetsim build/long/lnetsim
	if logged build/long/lnetsim "${how[@]}"; then
		bytes=$(sed -n 's/^tree: .* rss_bytes \([0-9]*\) .*/\1/p' build/long/out)
		[ "${bytes:-$MEMORY}" -lt $MEMORY ] && rows_note tree "$1" 1 0 && return
		echo "tree: $1: FAILED: $bytes bytes, at most $MEMORY"
	fi
	rows_note tree "$1" 1 1
}

# ---- planted bugs

patches() { (cd tests/mutants && ls ./*.patch unit/*.patch) | sed 's,^\./,,; s,\.patch$,,'; }
aims_planted() { echo "patches $(patches | wc -l)"; }
# The steps are numbered in the order of patches().
step_planted() {
	local at line names found
	at=$(rows_sum planted patches 5)
	mapfile -t names < <(patches | tail -n +$((at + 1)))
	exec {found}< <(UNTIL=$([ "$MINUTES" -eq 0 ] || echo "$until") exec setsid tests/mutants/run "${names[@]}" 2>&1)
	child=$!
	while read -r line <&"$found"; do
		echo "$line" | tee -a build/long/planted.log > build/long/out
		case $line in
		"ok "*) at=$((at + 1)) && rows_note planted patches:$at-$at 1 0 ;;
		"not ok "*) echo "planted: $line"; at=$((at + 1)) && rows_note planted patches:$at-$at 1 1 ;;
		esac
	done
	child=''
	exec {found}<&-
}

# ---- generated mutants: `make mutate' stores its results, and continues

aims_mutate() { echo "core ${MUTANTS:-1000}"; }
mutants_run() { grep -cvs $'\topen\t' build/mutate/results || :; }
step_mutate() {
	local before seconds status
	grep -q '^mutate:' Makefile || { cannot "$1" "the Makefile has no target mutate"; return; }
	before=$(mutants_run)
	seconds=$([ "$MINUTES" -eq 0 ] && echo 0 || echo $((until - EPOCHSECONDS)))
	N=${MUTANTS:-1000} logged timeout --foreground -s INT "$seconds" make -s mutate
	status=$?
	rows_note mutate core $(($(mutants_run) - before)) $((status != 0 && status != 124))
}

# ---- cut and unsteady rails; the limits are the aims

# ran WHAT AMOUNT: notes the result of a script that prints TAP
ran() {
	local reason
	reason=$(sed -n 's/^.* # SKIP //p' build/long/out | head -n 1)
	[ -z "$reason" ] || { cannot "$1" "$reason"; return; }
	rows_note "$stage" "$1" "${2:-0}" "$(grep -c '^not ok\|^Bail out' build/long/out)"
}

aims_cuts() { printf '%s 200\n' link-down link-down-far drop one-way one-way-back reset; }
step_cuts() {
	local left
	left=$(rest_of cuts "$1")
	built "$1" all || return
	N=$((left < CUTS ? left : CUTS)) SLACK=1 logged tests/netns/cuts "$1"
	ran "$1" "$(sed -n "s/^# $1: \([0-9]*\) times, median.*/\1/p" build/long/out)"
}

aims_unsteady() { printf '%s 20\n' delay jitter reorder loss-1 loss-5 loss-5-one repeat flap in-turn; }
step_unsteady() {
	built "$1" all || return
	SLACK=1 logged tests/netns/unsteady "$1"
	ran "$1" 1
}

# ---- fuzzers: a minute is one of each target, and two targets run at once

fuzzed=() fuzzed_from=''
aims_fuzz() {
	local file
	for file in tests/fuzz/fuzz_*.c; do
		file=${file##*/fuzz_}
		echo "${file%.c} 60"
	done
}
step_fuzz() {
	local target minutes=$FUZZ_MINUTES left
	fuzzed=("${@:1:2}")
	for target in "${fuzzed[@]}"; do
		left=$(rest_of fuzz "$target")
		[ "$left" -ge "$minutes" ] || minutes=$left
	done
	if [ "$MINUTES" -gt 0 ]; then
		left=$(((until - EPOCHSECONDS + 59) / 60))
		[ "$left" -ge "$minutes" ] || minutes=$left
	fi
	built "$1" F=fuzz fuzzers || return
	fuzzed_from=$EPOCHSECONDS
	FUZZ_SECONDS=$((60 * minutes)) JOBS=2 logged tests/fuzz/run hunt "${fuzzed[@]}"
	fuzzed_from=''
	for target in "${fuzzed[@]}"; do
		grep -q "^$target: [0-9]* executed" build/long/out &&
			rows_note fuzz "$target" "$minutes" "$(grep -c "^FAIL $target:" build/long/out)"
	done
}

# interrupted: notes what a step did that a signal has ended
interrupted() {
	local target
	[ -n "$fuzzed_from" ] || return
	for target in "${fuzzed[@]}"; do
		rows_note fuzz "$target" $(((EPOCHSECONDS - fuzzed_from) / 60)) 0
	done
}

# ---- models: all rows, with larger bounds

aims_models() { sed '/^#/d; /^$/d; s/ *|.*//' tests/model/rows | sort | uniq -c | awk '{ print $2, $1 }'; }
# A step is the next rows of a model, in the order of the file.
step_models() {
	local rows
	command -v spin > /dev/null || { cannot "$1" "spin is not installed"; return; }
	rows=$(sed -n "s/^$1 *| *\([^ |]*\).*/\1/p" tests/model/rows | tail -n +$(($(rows_sum models "$1" 5) + 1)) |
		head -n $((2 * jobs)) | paste -sd'|')
	MODEL_JOBS=$jobs logged tests/model/run --all "^$1 *[|] *($rows) *[|]"
	# shellcheck disable=SC2046
	rows_note models "$1" $(sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed, .*/\1 \2/p' build/long/out |
		awk '{ print $1 + $2, $2 } END { if (!NR) print 0, 1 }')
}

# ---- guests on kernels with KASAN and lockdep, built from Debian's sources

guest_scripts() { (cd tests/vm/guest && ls) | grep -v '\.sh$'; }
aims_kernels() { printf "%s $(guest_scripts | wc -l)\n" debug-A debug-B; }
kernels_ready=''
step_kernels() {
	local at script
	command -v qemu-system-x86_64 > /dev/null || { cannot "$1" "qemu is not installed"; return; }
	if [ "$kernels_ready" != "$1" ]; then
		built "$1" all || return
		JOBS=$jobs logged tests/vm/debug-kernel "${1#debug-}" &&
			SPARSE=no KVER=$1 logged tests/kernel || { cannot "$1" "$(tail -n 1 build/long/out)"; return; }
		kernels_ready=$1
	fi
	at=$(rows_sum kernels "$1" 5)
	script=$(guest_scripts | sed -n "$((at + 1))p")
	KVER=$1 ROUNDS=200 ENDS=50 FUZZ=300 LEAST=1500 logged tests/vm/all "$script"
	rows_note kernels "$1:$((at + 1))-$((at + 1))" 1 $(($? != 0))
}
