# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Debian's kernel packages, unpacked into a cache and never installed: headers for builds, and images that boot. No
# version number is written anywhere. For a series such as 6.12, the package that apt offers is used, and downloaded
# again when apt offers another one.
#
# Sourced by tests: concrete KIND SERIES, unpack DIRECTORY PACKAGE..., headers_of SERIES, image_of SERIES.

# shellcheck disable=SC2034
kernel_cache=${XDG_CACHE_HOME:-$HOME/.cache}/lnet-kernel

depends_of() {
	apt-cache depends --no-recommends --no-suggests "$1" 2>/dev/null | awk '$1 == "Depends:" { print $2 }'
}

# Prints the current package of kind $1 (headers, image) of series $2. Debian's own series has a meta package without a
# number. A full release, such as 6.12.9-amd64, names its package: modules that somebody else built need that kernel.
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

# The same, with an update of apt's lists if necessary.
concrete_now() {
	concrete "$@" && return
	[ "$(id -u)" -eq 0 ] && apt-get update -q >/dev/null 2>&1
	concrete "$@" && return
	echo "apt offers no linux-$1 of $2; add bookworm-security or bookworm-backports to sources.list" >&2
	return 1
}

# unpack DIRECTORY PACKAGE...: DIRECTORY then has these packages; its parent exists. FIXUP runs on the new files before
# they replace the old ones.
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

# Headers refer to each other by the paths of an installation. In $1 they must refer to $2, their final directory.
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

# Modules are stored as the guest loads them: not compressed, and with the table of their dependencies.
image_fixup() {
	find "$1/lib/modules" -name '*.ko.xz' -exec xz -d {} + && depmod -b "$1" "$(ls "$1/lib/modules")"
}

# One process at a time fills the cache. If nothing new can be downloaded, the old content is used.
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

# Prints the directory for make -C.
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

# Prints the directory that has boot/vmlinuz-* and lib/modules/*.
image_of() {
	local top
	case $1 in
	debug-*) [ -d "$kernel_cache/$1/lib/modules" ] && echo "$kernel_cache/$1"; return ;;
	esac
	top=$(concrete_now image "$1") || return 1
	FIXUP=image_fixup cached "$kernel_cache/image-$1" "$top" || return 1
	echo "$kernel_cache/image-$1"
}
