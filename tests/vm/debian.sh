# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Debian's kernel packages, unpacked into a cache and never installed: headers to build against, images to boot.
# No version number is written anywhere: what apt offers for a series such as 6.12 is taken, and anew when it changes.
#
# Read by tests: concrete KIND SERIES, unpack DIRECTORY PACKAGE..., headers_of SERIES, image_of SERIES.

# shellcheck disable=SC2034
kernel_cache=${XDG_CACHE_HOME:-$HOME/.cache}/lnet-kernel

depends_of() {
	apt-cache depends --no-recommends --no-suggests "$1" 2>/dev/null | awk '$1 == "Depends:" { print $2 }'
}

# The package that is kind $1 (headers, image) of series $2 now. Debian's own series has a meta package without number.
# A whole release, 6.12.9-amd64, names its package: modules that somebody else built need that kernel.
concrete() {
	local meta name
	case $2 in
	*-amd64)
		[ -n "$(apt-cache show "linux-$1-$2" 2>/dev/null)" ] && echo "linux-$1-$2"
		return
		;;
	esac
	for meta in "linux-$1-$2-cloud-amd64" "linux-$1-cloud-amd64"; do
		name=$(depends_of "$meta" | grep -E "^linux-$1-${2//./\\.}\." | head -1)
		[ -n "$name" ] && { echo "$name"; return; }
	done
	return 1
}

# The same, after asking apt for new lists if need be.
concrete_now() {
	concrete "$@" && return
	[ "$(id -u)" -eq 0 ] && apt-get update -q >/dev/null 2>&1
	concrete "$@" && return
	echo "apt offers no linux-$1 of $2; add bookworm-security or bookworm-backports to sources.list" >&2
	return 1
}

# unpack DIRECTORY PACKAGE...: DIRECTORY holds these packages; its parent exists. FIXUP is run in what is new.
unpack() {
	local dir=$1 package
	shift
	[ "$(cat "$dir/list" 2>/dev/null)" = "$*" ] && return
	rm -rf "$dir.new" && mkdir -p "$dir.new"
	(cd "$dir.new" && apt-get download -q "$@" >apt.log 2>&1) || {
		echo "apt-get download $*: $(tail -1 "$dir.new/apt.log")" >&2
		return 1
	}
	for package in "$dir.new"/*.deb; do
		dpkg -x "$package" "$dir.new" && rm "$package" || return 1
	done
	${FIXUP:-:} "$dir.new" "$dir" || return 1
	echo "$*" > "$dir.new/list"
	rm -rf "$dir" && mv "$dir.new" "$dir"
}

# Headers name each other by where they would be installed; in $1 they shall name $2, where they will be.
headers_fixup() {
	local link target
	sed -i "s|/usr/src/linux-headers-|$2/usr/src/linux-headers-|g" "$1"/usr/src/*/Makefile \
		"$1"/usr/src/*/.kernelvariables 2>/dev/null
	find "$1/usr/src" -type l | while read -r link; do
		target=$(readlink "$link")
		case $target in
		/usr/*) ln -sfn "$2$target" "$link" ;;
		esac
	done
}

# Modules are kept as the guest loads them: not compressed, and with the table of what needs what.
image_fixup() {
	find "$1/lib/modules" -name '*.ko.xz' -exec xz -d {} + && depmod -b "$1" "$(ls "$1/lib/modules")"
}

# One at a time fills the cache. What was there before serves if nothing new can be had.
cached() {
	local dir=$1 lock
	shift
	mkdir -p "$kernel_cache"
	exec {lock}>"$kernel_cache/lock"
	flock "$lock"
	unpack "$dir" "$@" || [ -s "$dir/list" ]
	local status=$?
	exec {lock}>&-
	return $status
}

# Prints the directory to give to make -C.
headers_of() {
	local top list
	case $1 in
	debug-*)
		[ -e "$kernel_cache/$1/build/Module.symvers" ] && { echo "$kernel_cache/$1/build"; return; }
		echo "no kernel $1: make vm-debug builds it" >&2
		return 1
		;;
	esac
	top=$(concrete_now headers "$1") || return 1
	list=$(depends_of "$top" | grep -E '^linux-(headers|kbuild)' | tr '\n' ' ')
	# shellcheck disable=SC2086
	FIXUP=headers_fixup cached "$kernel_cache/headers-$1" "$top" $list || return 1
	top=$(cut -d' ' -f1 "$kernel_cache/headers-$1/list")
	echo "$kernel_cache/headers-$1/usr/src/$top"
}

# Prints the directory where boot/vmlinuz-* and lib/modules/* are.
image_of() {
	local top
	case $1 in
	debug-*) [ -d "$kernel_cache/$1/lib/modules" ] && echo "$kernel_cache/$1"; return ;;
	esac
	top=$(concrete_now image "$1") || return 1
	FIXUP=image_fixup cached "$kernel_cache/image-$1" "$top" || return 1
	echo "$kernel_cache/image-$1"
}
