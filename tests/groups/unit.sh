# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Read by the groups that run the unit tests in one flavour: builds them, runs them, and says the sum line.

unit_flavour() {
	local flavour=$1 out line
	if ! make -s -j2 F="$flavour" unit; then
		echo "unit tests do not build as $flavour"
		echo "0 passed, 1 failed, 0 skipped"
		return 1
	fi
	out=$(timeout 600 "build/$flavour/unit" 2>&1)
	local status=$?
	line=$(tail -1 <<< "$out")
	if [[ $line =~ ^unit:\ ([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]]; then
		sed '$d' <<< "$out"
		local failed=${BASH_REMATCH[2]}
		[ "$status" -ne 0 ] && [ "$failed" -eq 0 ] && failed=1
		echo "${BASH_REMATCH[1]} passed, $failed failed, 0 skipped"
		return "$status"
	fi
	echo "$out"
	echo "unit tests of $flavour ended with status $status"
	echo "0 passed, 1 failed, 0 skipped"
	return 1
}
