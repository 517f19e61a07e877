# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Read by the groups that run the unit tests: builds them in one flavour, runs them, and says the sum line.

unit_build() {
	make -s -j2 F="$1" unit && return
	echo "unit tests do not build as $1"
	echo "0 passed, 1 failed, 0 skipped"
	return 1
}

unit_run() {
	local flavour=$1 out line
	out=$(timeout 900 "build/$flavour/unit" 2>&1)
	local status=$?
	line=$(grep -E '^unit: [0-9]+ passed, [0-9]+ failed$' <<< "$out" | tail -1)
	grep -vFx "$line" <<< "$out"
	if ! [[ $line =~ ^unit:\ ([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]]; then
		echo "unit tests of $flavour ended with status $status"
		echo "0 passed, 1 failed, 0 skipped"
		return 1
	fi
	local passed=${BASH_REMATCH[1]} failed=${BASH_REMATCH[2]}
	# What a sanitizer finds at the end is a failure too.
	[ "$status" -ne 0 ] && [ "$failed" -eq 0 ] && failed=1
	echo "$passed passed, $failed failed, 0 skipped"
	return "$status"
}
