# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Lists the commands of lnetctl, and checks that the cases of a script have each command with each option.

cases=()	# the tested commands, such as " net add --net tcp --if eth0 "
builtin_words='help version list-commands quit exit ignore_errors'

# Prints "COMMAND WORDS" for each command of lnetctl that begins with "$@", and "COMMAND WORDS --OPTION" for each of its
# options.
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

# is_tried LINE: a case has the command of this line of the list, and its option if it has one
is_tried() {
	local command=${1%% --*} option= try
	[[ $1 == *\ --* ]] && option=--${1##* --}
	for try in "${cases[@]}"; do
		[[ $try == *" $command "* ]] || continue
		[[ -z $option || $try == *" $option "* || $try == *" $option="* ]] && return 0
	done
	return 1
}

# Prints the lines of standard input for which there is no case, and fails if there are any.
all_tried() {
	local line
	while read -r line; do
		is_tried "$line" || echo "# no case: lnetctl $line"
	done > /tmp/untried
	cat /tmp/untried
	! [ -s /tmp/untried ]
}
