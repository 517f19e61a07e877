# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# For scripts in two guests: selects the modules and tools of stock LNet in /stock, or ours. On the kernel's command
# line of this guest, interop.tool and interop.modules are `stock' or `ours'.

# word NAME: prints the value of NAME on the kernel's command line
word() { sed -n "s/.*\binterop\.$1=\([^ ]*\).*/\1/p" /proc/cmdline; }

# Parameters that both kinds of modules accept. With equal values their output can be equal.
common='lnet_transaction_timeout=150 lnet_interfaces_max=128'

load_stock() {
	local module
	for module in $(modinfo -F depends /stock/modules/*.ko | tr , ' '); do
		[ -e "/stock/modules/$module.ko" ] || modprobe -q "$module"
	done
	# shellcheck disable=SC2086
	{ [ ! -e /stock/modules/libcfs.ko ] || insmod /stock/modules/libcfs.ko; } &&
		insmod /stock/modules/lnet.ko $common && insmod /stock/modules/ksocklnd.ko "$@"
}
# shellcheck disable=SC2086
load_ours() { modprobe lnet $common && modprobe ksocklnd "$@"; }
load_selftest_stock() { insmod /stock/modules/lnet_selftest.ko; }
load_selftest_ours() { modprobe lnet_selftest; }
load() { "load_$1" "${@:2}"; }
load_selftest() { "load_selftest_$1"; }

# Programs of one side, for example lnetctl and lst. Ours controls the node in the kernel.
tool_stock() { "/stock/bin/$1" "${@:2}"; }
tool_ours() { "build/$1" --node kernel "${@:2}"; }

# side_of GUEST: the side of a guest of a live case. Guest 1 is ours, unless the case has a line `# sides:'.
side_of() {
	local first
	first=$(word side)
	if [ "$1" = 1 ]; then echo "${first:-ours}"; else echo stock; fi
}
other=$((3 - GUEST))

# Words between the guests: `tell WORD' sends a word to the other guest, and `hear WORD' waits for it.
(while :; do nc -l -p 7777 >> /tmp/mail; done) </dev/null >/dev/null 2>&1 &
mailbox=$!
tell() {
	local until=$((SECONDS + 60))
	while ! echo "$1" | nc -w 1 "10.9.0.$other" 7777 2>/dev/null; do
		[ $SECONDS -lt $until ] || return 1
		sleep 0.1
	done
}
# hear WORD [SECONDS]
hear() {
	local until=$((SECONDS + ${2:-60}))
	while ! grep -qx "$1" /tmp/mail 2>/dev/null; do
		[ $SECONDS -lt $until ] || return 1
		sleep 0.1
	done
}
mailbox_ends() { kill $mailbox 2>/dev/null; }

# Makes a second rail between the guests, over the same Ethernet.
second_rail() {
	ip link add link eth0 name rail1 type macvlan mode bridge && ip link set rail1 up &&
		ip addr add "10.9.1.$GUEST/24" dev rail1
}

# silent DEVICE: the device loses all packets in both directions. If nft dropped sent packets in its egress hook, TCP
# would receive errors and end its connections after some seconds. netem reports no error to TCP.
silent() {
	tc qdisc add dev "$1" root netem loss 100% && nft -f - <<-RULES
		table netdev cut {
			chain in { type filter hook ingress device "$1" priority 0; policy drop; }
		}
	RULES
}
# back DEVICE: ends the loss of packets
back() { nft delete table netdev cut && tc qdisc del dev "$1" root; }

# interop NAME: passes standard input to tests/interop/run
interop() {
	gzip -9 | base64 -w 0 | fold -w 2000 | sed "s/^/interop: $1 /"
	echo
}
