# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash disable=SC2154
# Rows of tests/RUNS: what long tests ran. Sourced by tests/long/run and tests/sim/seeds, in the root of the tree.
#
# Each result is first a line of a journal in build/long/. At the end of a run, the lines of one thing become one row.
# If a run is killed, the next run makes the rows.

runs=tests/RUNS
journals=build/long/journal
mkdir -p build/long

# The commit; a + marks a modified tree.
rows_commit() {
	local commit
	commit=$(git rev-parse --short=10 HEAD)
	git diff --quiet HEAD -- include lnet lnd tests utils ':!tests/RUNS' || commit+=+
	echo "$commit"
}

# rows_note STAGE WHAT AMOUNT FAILURES: adds a result. WHAT may end with ":FROM-TO", the numbers of seeds or of steps.
rows_note() {
	echo "$(date -u +%F) $tested $*" >> $journals.$$
}

# Makes rows of journal $1, and deletes it.
rows_of() {
	[ -s "$1" ] && awk '
		{ split($4, part, ":"); key = $1 " " $2 " " $3 " " part[1] }
		!(key in amount) { order[++nr] = key; split(part[2], at, "-"); from[key] = at[1] }
		{ amount[key] += $5; failures[key] += $6; split(part[2], at, "-"); to[key] = at[2] }
		END { for (i = 1; i <= nr; i++) {
			key = order[i]
			range = from[key] == "" ? "" : ":" from[key] "-" to[key]
			print key range, amount[key], failures[key] } }' "$1" |
		while read -r date commit stage what amount failures; do
			printf '%-10s  %-11s  %-8s  %-24s  %7d  %8d  %8d\n' "$date" "$commit" "$stage" "$what" \
				"$amount" "$failures" $((amount + $(rows_total "$stage"))) >> $runs
		done
	rm -f "$1"
}
rows_close() { rows_of $journals.$$; }

# Makes rows of runs that were killed.
rows_recover() {
	local journal
	for journal in "$journals".*; do
		[ ! -e "$journal" ] || kill -0 "${journal##*.}" 2>/dev/null || rows_of "$journal"
	done
}

rows_total() { awk -v stage="$1" '$3 == stage { sum += $5 } END { print sum + 0 }' $runs; }

# rows_last STAGE WHAT: the largest number in ":FROM-TO", over all rows
rows_last() {
	awk -v stage="$1" -v what="$2" '$3 == stage && split($4, part, ":") == 2 && part[1] == what {
		split(part[2], at, "-"); if (at[2] > last) last = at[2] } END { print last + 0 }' $runs
}

# rows_sum STAGE WHAT COLUMN: the sum of column 5 (amount) or 6 (failures) since the last line "# begin", with runs that
# have not ended; WHAT may be "" for all.
rows_sum() {
	{ awk '/^# begin/ { rows = "" } !/^#/ { rows = rows $0 "\n" } END { printf "%s", rows }' $runs
	  cat "$journals".* 2>/dev/null; } |
		awk -v stage="$1" -v what="$2" -v column="$3" '{ split($4, part, ":") }
			$3 == stage && (what == "" || part[1] == what) { sum += $column } END { print sum + 0 }'
}
