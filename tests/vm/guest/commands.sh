# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The commands of lnetctl as it lists them itself, and whether the cases of a script have them all, with each option.

cases=()	# what was tried: " net add --net tcp --if eth0 "
builtin_words='help version list-commands quit exit ignore_errors'

# Lines "COMMAND WORDS" and "COMMAND WORDS --OPTION" of all that lnetctl has; what begins with @1 is walked.
commands_list() {
	local name text
	for name in $(lnetctl "$@" list-commands); do
		[[ " $builtin_words " == *" $name "* ]] && continue
		text=$(lnetctl "$@" help "$name")
		if [[ $text != "${*:+$* }$name: "* ]]; then
			[ $# -gt 2 ] || commands_list "$@" "$name"
			continue
		fi
		echo "$* $name"
		sed -n "s/^\t\(--[^:]*\): .*/$* $name \1/p" <<< "$text"
	done
}

# Words of @1, a line of the list, as they stand in a case: the command at its begin, the option anywhere behind it.
is_tried() {
	local command=${1%% --*} option= try
	[[ $1 == *\ --* ]] && option=--${1##* --}
	for try in "${cases[@]}"; do
		[[ $try == *" $command "* ]] || continue
		[[ -z $option || $try == *" $option "* || $try == *" $option="* ]] && return 0
	done
	return 1
}

# Those of the list on standard input that no case has, to /tmp/untried; fails if there are any.
all_tried() {
	local line
	while read -r line; do
		is_tried "$line" || echo "# no case: lnetctl $line"
	done > /tmp/untried
	cat /tmp/untried
	! [ -s /tmp/untried ]
}
