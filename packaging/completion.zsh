#compdef lnetctl lnetd lnetperf lnetsim lst nettest bulk_server bulk_write
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Completion in zsh: runs the completion for bash, so both shells offer the same words.

local script cut words_found
for script in ${LNET_COMPLETION:-} /usr/local/share/bash-completion/completions/lnetctl \
	/usr/share/bash-completion/completions/lnetctl; do
	[[ -r $script ]] && break
done
words_found=(${(f)"$(bash -c '. "$1"; COMP_LINE=$2 COMP_POINT=${#2} COMPREPLY=()
	case ${COMP_LINE%%[[:space:]]*} in *lnetctl) _lnetctl ;; *) _lnet_program ;; esac
	printf "%s\n" "${COMPREPLY[@]}"' bash $script "${(j: :)words[1,CURRENT-1]} $PREFIX" 2>/dev/null)"})
# bash completes the part of a word after the last of these characters, zsh the whole word.
cut=${PREFIX%"${PREFIX##*[@:=]}"}
if (( ! ${#words_found} )) || [[ -e $cut$words_found[1] ]]; then
	_files
else
	compadd -- "$cut"${^words_found}
fi
