# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Sourced by the groups that run the unit tests: builds them in one flavour, runs them, and prints the sum line.

# unit_build FLAVOUR [PROGRAM [VARIABLE=VALUE...]]: builds PROGRAM, which is unit (the default) or unit-some.
unit_build() {
	local flavour=$1 goal=unit
	[ $# -eq 1 ] || goal=build/$flavour/$2
	make -s -j2 F="$flavour" "${@:3}" "$goal" && return
	echo "unit tests do not build as $flavour"
	echo "0 passed, 1 failed, 0 skipped"
	return 1
}

# unit_run FLAVOUR [PROGRAM [SUITE...]]: leaves the names of the suites that started threads in PROGRAM-threaded.
unit_run() {
	local flavour=$1 out line program=build/$1/${2:-unit}
	out=$(timeout 900 "$program" -T "$program-threaded" "${@:3}" 2>&1)
	local status=$?
	line=$(grep -E '^unit: [0-9]+ passed, [0-9]+ failed$' <<< "$out" | tail -1)
	grep -vFx "$line" <<< "$out"
	if ! [[ $line =~ ^unit:\ ([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]]; then
		echo "unit tests of $flavour ended with status $status"
		echo "0 passed, 1 failed, 0 skipped"
		return 1
	fi
	local passed=${BASH_REMATCH[1]} failed=${BASH_REMATCH[2]}
	# An error that a sanitizer reports at the end is a failure as well.
	[ "$status" -ne 0 ] && [ "$failed" -eq 0 ] && failed=1
	echo "$passed passed, $failed failed, 0 skipped"
	return "$status"
}

# Prints the suites that start threads, as the last run of the debug flavour listed them. Without a list, runs it first.
unit_threaded() {
	local list=build/debug/unit-threaded
	if ! [ "$list" -nt build/debug/unit ]; then
		unit_build debug >&2 && unit_run debug > /dev/null
	fi
	[ -s "$list" ] && tr '\n' ' ' < "$list" && return
	echo "FAIL no suite of the unit tests starts threads" >&2
	return 1
}
