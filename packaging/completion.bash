# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Completion of lnetctl in bash. Commands and options are those that the tool lists; nets, NIDs and tunables are those
# of the node.

# True if "$@" is a command. The help of a command begins with its name; that of a group begins with its first command's
# name.
_lnetctl_is_command()
{
	[[ $("$@" --help 2>/dev/null </dev/null) == "${*:2}: "* ]]
}

_lnetctl_subcommands()
{
	"$@" list-commands 2>/dev/null </dev/null
}

_lnetctl_options()
{
	"$@" --help 2>/dev/null </dev/null | sed -n 's/^\t\(--[a-z0-9_-]*\):.*/\1/p'
}

# Prints the names of the nodes of this network namespace, the kernel's included.
_lnet_nodes()
{
	timeout 2 lnetctl --json node list 2>/dev/null </dev/null | sed -n 's/^ *"name": "\(.*\)",*$/\1/p'
}

# Prints the values of key $1 that the node of "${base[@]}" shows for the command in the other arguments.
_lnetctl_ask()
{
	local key=$1
	shift
	timeout 2 "${base[@]}" "$@" 2>/dev/null </dev/null | sed -n "s/^[ -]*$key: //p" | sort -u
}

_lnetctl_nids()
{
	case $1 in
	local) _lnetctl_ask nid net show ;;
	peer) _lnetctl_ask nid peer show; _lnetctl_ask 'primary nid' peer show ;;
	*) _lnetctl_nids local; _lnetctl_nids peer ;;
	esac
}

# Prints possible values for the option $1 of the command "${path[@]}".
_lnetctl_values()
{
	case $1 in
	--node) _lnet_nodes ;;
	--net) _lnetctl_ask 'net type' net show ;;
	--if) ls /sys/class/net 2>/dev/null ;;
	--nid) case ${path[0]} in net) _lnetctl_nids local ;; *) _lnetctl_nids peer ;; esac ;;
	--prim_nid) _lnetctl_nids peer ;;
	--local_nid | --rail) _lnetctl_nids local ;;
	--peer) _lnetctl_nids peer ;;
	--source) _lnetctl_nids local; [ "${path[0]}" = ping ] || _lnetctl_nids peer ;;
	--dest | --left | --right) _lnetctl_nids all ;;
	--at) printf '%s\n' any send receive ;;
	--where) printf '%s\n' bit pages ;;
	--link) printf '%s\n' up down ;;
	--message) printf '%s\n' PUT ACK GET REPLY ;;
	--when) printf '%s\n' before posted completed ;;
	--outcome | --health_error) printf '%s\n' local_interrupt local_dropped local_aborted local_no_route \
		local_error local_timeout remote_error remote_dropped remote_timeout network_timeout
		[ "$1" = --outcome ] || echo random ;;
	--verbose | -v) printf '%s\n' 0 1 2 3 4 5 ;;
	esac
}

# Prints possible arguments that are not options.
_lnetctl_words()
{
	case ${path[0]} in
	set) timeout 2 "${base[@]}" global show 2>/dev/null </dev/null | sed -n 's/^ *\([a-z0-9_]*\): .*/\1/p' ;;
	ping | discover | cpt-of-nid) _lnetctl_nids all ;;
	drain | undrain) _lnetctl_nids local ;;
	explain) _lnetctl_nids peer ;;
	import | export | plan | apply) compgen -f -- "$1" ;;
	esac
}

# Splits words only at blanks, up to the cursor, because NIDs have characters at which bash splits.
_lnetctl()
{
	local line=${COMP_LINE:0:COMP_POINT} words word last path=() base=() found
	read -r -a words <<<"$line"
	[[ $line == *[[:space:]] ]] && words+=("")
	last=$((${#words[@]} - 1))
	local cur=${words[last]} before=${words[last - 1]} i=1 command=

	base=("${words[0]}")
	while [ $i -lt $last ]; do
		word=${words[i]}
		case $word in
		--node) base+=("$word" "${words[i + 1]}"); i=$((i + 1)) ;;
		--node=* | --json) base+=("$word") ;;
		-*) ;;
		*) [ -n "$command" ] || path+=("$word") ;;
		esac
		[ ${#path[@]} -eq 0 ] || [ -n "$command" ] || ! _lnetctl_is_command "${words[0]}" "${path[@]}" || command=yes
		i=$((i + 1))
	done

	if [ "$before" = --node ]; then
		found=$(_lnet_nodes)
	elif [ ${#path[@]} -eq 0 ] && [[ $cur == -* ]]; then
		found="--node --json"
	elif [ -z "$command" ]; then
		found=$(_lnetctl_subcommands "${words[0]}" "${path[@]}"; [ "${path[*]}" != set ] || _lnetctl_words "$cur")
	elif [[ $cur == -* ]]; then
		found=$(_lnetctl_options "${words[0]}" "${path[@]}")
	else
		found=$(_lnetctl_values "$before")
		[ -n "$found" ] || found=$(_lnetctl_words "$cur")
	fi
	mapfile -t COMPREPLY < <(compgen -W "$found" -- "$cur")
	# bash inserts only the part behind the last character at which it splits
	local behind=${cur##*[@:=]}
	[ "$behind" = "$cur" ] || COMPREPLY=("${COMPREPLY[@]#"${cur%"$behind"}"}")
}

# Completes the other programs with the options and commands that their help lists.
_lnet_program()
{
	local line=${COMP_LINE:0:COMP_POINT} words found
	read -r -a words <<<"$line"
	[[ $line == *[[:space:]] ]] && words+=("")
	local last=$((${#words[@]} - 1))
	local cur=${words[last]} before=${words[last - 1]} program=${words[0]##*/}

	if [ "$before" = --node ]; then
		found=$(_lnet_nodes)
	elif [[ $cur == -* ]]; then
		found=$("${words[0]}" --help 2>/dev/null </dev/null | grep -oE -e '--[a-z][a-z0-9_-]*' | sort -u)
	elif [ "$last" -eq 1 ]; then
		found=$("${words[0]}" --help 2>/dev/null </dev/null | sed -n "s/^ *$program \([a-z][a-z_]*\).*/\1/p" | sort -u)
	fi
	mapfile -t COMPREPLY < <(compgen -W "$found" -- "$cur")
}

complete -o default -F _lnetctl lnetctl
complete -o default -F _lnet_program lnetd lnetperf lnetsim lst nettest bulk_server bulk_write
