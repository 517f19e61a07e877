# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# One file, two roles: root of the kernel build when KERNELRELEASE is set, else everything that runs in user space.

ifneq ($(KERNELRELEASE),)

include $(src)/lnet/Kbuild

else

# A flavour is a compiler with its flags; its objects live in build/<flavour>/. What is installed is `release'.
F	?= release
O	:= build/$(F)
OUT	:= $(if $(filter release,$(F)),build,$(O))

PREFIX	?= /usr/local
LIBDIR	?= $(PREFIX)/lib
SYSCONFDIR ?= /etc
UNITDIR	?= $(PREFIX)/lib/systemd/system
VERSION	:= 0.1
SOMAJOR	:= 0

CC_release := gcc
CC_debug   := gcc
CC_asan    := gcc
CC_tsan    := gcc
CC_clang   := clang
CC_fuzz    := clang
CC_cover   := clang
FLAGS_release := -O2 -g
FLAGS_debug   := -O2 -g -DLNET_DEBUG
FLAGS_asan    := -O1 -g -DLNET_DEBUG -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all
FLAGS_tsan    := -O1 -g -DLNET_DEBUG -fsanitize=thread -Wno-tsan
FLAGS_clang   := -O2 -g -DLNET_DEBUG -Wthread-safety
FLAGS_fuzz    := -O1 -g -DLNET_DEBUG -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all
FLAGS_cover   := -O1 -g -DLNET_DEBUG -fprofile-instr-generate -fcoverage-mapping
FLAVOURS := release debug asan tsan clang fuzz cover
ifeq ($(filter $(F),$(FLAVOURS)),)
$(error F=$(F): one of $(FLAVOURS))
endif
ifneq ($(origin CC),command line)
CC := $(CC_$(F))
endif
OBJCOPY ?= objcopy

comma	:= ,
WARN	:= -Wall -Wextra -Werror -Wno-sign-compare -Wno-unused-parameter -Wno-missing-field-initializers \
	   -Wstrict-prototypes -Wvla -Wundef
# What the kernel build asks of the files it shares.
WARN_CORE := -Wmissing-prototypes -Wdeclaration-after-statement
CPPFLAGS_ALL := -D_GNU_SOURCE -DLNET_VERSION='"$(VERSION)"' -Ilnet/user -Iinclude -iquote . -iquote lnet \
	   -isystem /usr/include/libnl3 $(CPPFLAGS)
CFLAGS_ALL := -std=gnu11 -fPIC -fno-semantic-interposition -pthread $(WARN) $(FLAGS_$(F)) $(CFLAGS)
LDFLAGS_ALL := -pthread $(filter -fsanitize=% -fprofile%,$(subst fuzzer-no-link$(comma),,$(FLAGS_$(F)))) \
	       -Wl,--as-needed $(LDFLAGS)
LIBS	:= -lnl-genl-3 -lnl-3 -lyaml -lreadline

objs	= $(patsubst %.c,$(O)/%.o,$(wildcard $(1)))

# The library: core, environment and drivers of user space. The simulator's world and drivers are apart from it.
LIB_OBJS := $(call objs,lnet/*.c lnet/user/*.c lnet/selftest/*.c lnet/am/*.c lnd/lolnd/*.c lnd/skellnd/*.c) \
	    $(filter-out $(O)/lnd/socklnd/sim% $(O)/lnd/socklnd/kernel%,$(call objs,lnd/socklnd/*.c))
# What decides, a second time, with what stands for all else in a replay: one object that shows nothing but its door.
REPLAY	:= $(O)/replay/all.o
REPLAY_OBJS := $(patsubst %,$(O)/replay/%.o,tx reselect op credit select load health blame recover suspect probe) \
	       $(O)/replay/giveup.o $(O)/replay/record_note.o $(call objs,tests/sim/replay*.c)
# The self-test a second time, on light nodes: thousands of them fit where the core's do not. One object, too.
LIGHT	:= $(O)/light/all.o
LIGHT_OBJS := $(patsubst lnet/selftest/%.c,$(O)/light/%.o,$(wildcard lnet/selftest/*.c)) $(O)/tests/sim/light.o
SIM_OBJS := $(filter-out $(REPLAY_OBJS) $(LIGHT_OBJS),\
	    $(call objs,lnd/simlnd/*.c lnd/socklnd/sim*.c tests/sim/*.c)) $(REPLAY) $(LIGHT)
CTL_OBJS := $(call objs,utils/lib/*.c)
UNIT_OBJS := $(call objs,tests/unit/*.c)

LIB_A	:= $(OUT)/liblnet.a
LIB_SO	:= $(OUT)/liblnet.so
CTL_A	:= $(if $(CTL_OBJS),$(OUT)/liblnetctl.a)
SIM_A	:= $(if $(SIM_OBJS),$(O)/libsim.a)
MAP	:= $(wildcard config/liblnet.map)

PROGS	:= $(sort $(patsubst utils/%/,%,$(filter-out utils/lib/,$(dir $(wildcard utils/*/*.c)))))
# Other names of lst.
NAMES	:= bulk_server bulk_write
EXAMPLES := $(patsubst %.c,$(OUT)/%,$(wildcard examples/*.c))
# Each C file of these directories is a program of its own.
TEST_PROGS := $(patsubst %.c,$(OUT)/%,$(wildcard tests/bench/*.c tests/netns/*.c tests/tools/*.c))
# A parser's fuzzer each; the other files there, and worlds of the unit tests, are what they share.
FUZZERS	:= $(patsubst tests/fuzz/%.c,$(O)/fuzz/%,$(wildcard tests/fuzz/fuzz_*.c))
FUZZ_A	:= $(O)/libfuzz.a
FUZZ_OBJS := $(filter-out $(O)/tests/fuzz/fuzz_%,$(call objs,tests/fuzz/*.c)) \
	     $(call objs,tests/unit/node.c tests/unit/rails.c tests/unit/rails_run.c tests/unit/st_world.c \
	     tests/sim/record.c)

all: lib $(PROGS:%=$(OUT)/%) $(NAMES:%=$(OUT)/%) $(EXAMPLES) $(TEST_PROGS)
lib: $(LIB_A) $(LIB_SO) $(CTL_A)
# Tests replace files of the library, which in release is one object.
unit: $(if $(filter release,$(F)),unit-debug,$(O)/unit)
unit-debug:
	+@$(MAKE) -s F=debug unit
.DEFAULT_GOAL := all

$(O)/lnet/%.o $(O)/lnd/%.o: CFLAGS_ALL += $(WARN_CORE)
$(O)/tests/unit/%.o: CPPFLAGS_ALL += -iquote tests/unit -iquote $(O)
# The tests run once per build: here compiling them well takes longer than they do. Other flavours warn as before.
$(O)/tests/unit/%.o: CFLAGS_ALL += $(if $(filter debug,$(F)),-O0)

# A release is compiled twice: what the first one counts while its messages run tells the second one which ways are
# common. It stays until `make clean`; what changes later is compiled without. PROFILE=no: once, for another machine,
# or where nothing may run.
PROFILE	?= yes
COUNTS	:= $(O)/profile
TRAINED	:= $(if $(filter yesreleasegcc,$(PROFILE)$(F)$(findstring gcc,$(CC))),$(COUNTS)/made)
$(O)/%.o: %.c | $(TRAINED)
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) -MMD -MP -c -o $@ $<

$(O)/replay/%.o: lnet/%.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) -MMD -MP -c -o $@ $<
$(REPLAY): $(REPLAY_OBJS)
	$(LD) -r -o $@ $^
	$(OBJCOPY) --keep-global-symbol=sim_replay --keep-global-symbol=sim_replay_records $@

$(O)/light/%.o: lnet/selftest/%.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) -MMD -MP -c -o $@ $<
$(LIGHT): $(LIGHT_OBJS)
	$(LD) -r -o $@ $^
	$(OBJCOPY) --keep-global-symbol=sim_light --keep-global-symbol=sim_light_cfg $@

# Archives are made anew, so that an object whose source is gone does not stay.
define archive
	@mkdir -p $(@D)
	@rm -f $@
	$(AR) rcs $@ $(filter %.o,$^)
endef

# Release: the core and what drivers share become one object, compiled as a whole, so that small functions of one file
# are inlined in others, and the short ways through large ones. What the simulator has of its own in place of user
# space's stays apart.
ifeq ($(F)$(findstring gcc,$(CC)),releasegcc)
WHOLE	:= $(filter-out $(O)/lnd/socklnd/user% $(O)/lnd/socklnd/link%,$(LIB_OBJS))
# Objects of some hundred bytes are cleared for each message: string instructions take their time to start.
CLEAR	:= $(if $(filter x86_64%,$(shell $(CC) -dumpmachine)), \
	   -mmemset-strategy=vector_loop:1024:noalign$(comma)libcall:-1:noalign)
FAST	:= -O3 $(CLEAR) $(if $(filter yes,$(PROFILE)),-fprofile-use=$(abspath $(COUNTS)) \
	   -fprofile-correction -Wno-missing-profile -Wno-coverage-mismatch -Wno-maybe-uninitialized)
ifeq ($(PROFILE),count)
FAST	+= -fprofile-generate=$(abspath $(COUNTS)) -fprofile-update=atomic
LDFLAGS_ALL += -fprofile-generate
endif
$(WHOLE): CFLAGS_ALL += $(FAST) -flto
$(COUNTS)/made:
	@rm -rf $(@D) $(WHOLE) && mkdir -p $(@D)
	@+$(MAKE) -s PROFILE=count $(OUT)/lnetperf && tests/tools/train $(OUT)/lnetperf || \
		echo "make: nothing could be counted: compiled without"
	@rm -f $(WHOLE) $(O)/whole.o $(LIB_A) $(OUT)/lnetperf && touch $@
$(O)/whole.o: $(WHOLE)
	$(CC) -r -flto=auto -flinker-output=nolto-rel $(CFLAGS_ALL) $(FAST) -o $@ $^
LIB_OBJS := $(O)/whole.o $(filter-out $(WHOLE),$(LIB_OBJS))
endif

$(LIB_A): $(LIB_OBJS)
	$(archive)
$(OUT)/liblnetctl.a: $(CTL_OBJS)
	$(archive)
$(O)/libsim.a: $(SIM_OBJS)
	$(archive)

$(LIB_SO).$(SOMAJOR): $(LIB_OBJS) $(MAP)
	@mkdir -p $(@D)
	$(CC) -shared $(LDFLAGS_ALL) -Wl,-soname,liblnet.so.$(SOMAJOR) $(MAP:%=-Wl,--version-script=%) \
		-o $@ $(LIB_OBJS) $(LIBS)
$(LIB_SO): $(LIB_SO).$(SOMAJOR)
	@ln -sf liblnet.so.$(SOMAJOR) $@

# How nettest learns of its like: PMIx, which only it needs, or without that lists of nodes alone.
PMIX	:= $(shell pkg-config --exists pmix && echo pmix)
LAUNCH	:= $(or $(PMIX),alone)
PMIX_LIBS := $(if $(PMIX),$(shell pkg-config --libs pmix))
OBJS_nettest := $(O)/utils/nettest/$(LAUNCH)/launch.o
LIBS_nettest := $(PMIX_LIBS)
$(O)/utils/nettest/pmix/%.o: CPPFLAGS_ALL += $(if $(PMIX),$(patsubst -I%,-isystem %,\
	$(filter-out -I/usr/include,$(shell pkg-config --cflags pmix))))
ifeq ($(PMIX),)
$(OBJS_nettest): | says-alone
says-alone:
	@echo "make: no PMIx (libpmix-dev): nettest is built for lists of nodes only, not for mpirun"
.PHONY: says-alone
endif

define prog_rule
$(OUT)/$(1): $(call objs,utils/$(1)/*.c) $(OBJS_$(1)) $(if $(filter lnetsim,$(1)),$(SIM_A)) $(CTL_A) $(LIB_A)
	@mkdir -p $$(@D)
	$$(CC) $$(LDFLAGS_ALL) -o $$@ $$^ $$(LIBS) $(LIBS_$(1)) -lm
endef
$(foreach prog,$(PROGS),$(eval $(call prog_rule,$(prog))))
$(NAMES:%=$(OUT)/%): $(OUT)/lst
	ln -sf lst $@

$(EXAMPLES) $(TEST_PROGS): $(OUT)/%: $(O)/%.o $(CTL_A) $(LIB_A)
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS_ALL) -o $@ $^ $(LIBS) -lm

$(O)/tests/fuzz/%.o: CPPFLAGS_ALL += -iquote tests/unit
$(FUZZ_A): $(FUZZ_OBJS)
	$(archive)
$(O)/fuzz/%: $(O)/tests/fuzz/%.o $(FUZZ_A) $(CTL_A) $(LIB_A)
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS_ALL) -fsanitize=fuzzer -o $@ $^ $(LIBS) -lm

# One suite per file: its name is the file's.
SUITES	:= $(sort $(patsubst tests/unit/test_%.c,%,$(wildcard tests/unit/test_*.c)))
$(O)/unit_suites.def: $(wildcard tests/unit/test_*.c)
	@mkdir -p $(@D)
	@printf 'SUITE(%s)\n' $(SUITES) > $@.new && mv $@.new $@
$(O)/tests/unit/main.o: $(O)/unit_suites.def
$(O)/unit: $(UNIT_OBJS) $(SIM_A) $(CTL_A) $(LIB_A)
	$(CC) $(LDFLAGS_ALL) -o $@ $^ -lcunit $(LIBS) -lm

-include $(shell find $(O) -name '*.d' 2>/dev/null)

# --- tests ------------------------------------------------------------------------------------------------------

run_unit = $(MAKE) -s F=$(1) unit && build/$(1)/unit
asan tsan:
	+$(call run_unit,$@)
tidy:
	@tests/tidy
quick: deps
	@+tests/run quick
check: deps
	@+tests/run check
kernel:
	@tests/kernel
vm: deps
	@+$(MAKE) -s all && SPARSE=no tests/kernel && tests/vm/all
# Speed says something on a quiet machine only, so no test asks for it.
vm-bench: deps
	@+$(MAKE) -s all && KVER=$${KVER:-6.12} SPARSE=no tests/kernel && tests/vm/bench/run
# How long nothing happens when a rail of kernel nodes is cut, beside a plain program in the same guest.
failover-vm: deps
	@+$(MAKE) -s all build/tests/bench/paced/sockets && KVER=$${KVER:-6.12} SPARSE=no tests/kernel && \
		tests/vm/bench/failover
deps:
	@config/deps

# Kernels that watch themselves: building them takes long, the first time.
vm-debug: deps
	@+$(MAKE) -s all && tests/vm/debug-kernel A && tests/vm/debug-kernel B && \
		SPARSE=no KVER='debug-A debug-B' tests/kernel && \
		KVER='debug-A debug-B' ROUNDS=200 ENDS=50 FUZZ=300 LEAST=1500 tests/vm/all

fuzz: deps
	@+tests/fuzz/run
fuzzers: $(FUZZERS)

# What has a script of its own is only called here.
models:
	@tests/model/run --all

# Peers are measured if they are there; each has a program of its own, and its library pkg-config's name.
PEER_zeromq := libzmq
PEER_libfabric := libfabric
PEER_openmpi := ompi-c
peers_here = $(foreach p,zeromq libfabric openmpi,$(if $(shell pkg-config --exists $(PEER_$(p)) && echo yes),\
	     $(OUT)/tests/bench/peers/$(p)))
$(OUT)/tests/bench/peers/%: tests/bench/peers/%.c tests/bench/peers/peer.h
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -D_GNU_SOURCE -O2 -Wall -Wextra -Werror -o $@ $< $$(pkg-config --cflags --libs $(PEER_$*))
# Others beside whom a rail is cut.
PACED_knet := libknet
PACED_mpi := ompi-c
paced_here = $(OUT)/tests/bench/paced/sockets $(foreach p,knet mpi,\
	     $(if $(shell pkg-config --exists $(PACED_$(p)) && echo yes),$(OUT)/tests/bench/paced/$(p)))
$(OUT)/tests/bench/paced/%: tests/bench/paced/%.c tests/bench/paced/paced.h
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -D_GNU_SOURCE -O2 -Wall -Wextra -Werror -iquote . -Iinclude -o $@ $< \
		$(if $(PACED_$*),$$(pkg-config --cflags --libs $(PACED_$*)))
bench-peers:
	@+for p in $(peers_here) $(paced_here); do $(MAKE) -s $$p || exit 1; done
bench-deps:
	@config/deps iperf3 iproute2 ucx-utils libfabric-dev libzmq3-dev openmpi-bin libopenmpi-dev libknet-dev
bench: deps
	@+$(MAKE) -s all $(if $(filter no,$(PEERS)),,bench-peers) && tests/bench/run

failover: deps
	@+$(MAKE) -s all $(paced_here) && tests/bench/failover

# The crowd of many thousands takes minutes and nearly 4 GB of memory; a few hundred run with the simulator's tests.
# Memory in large pages: the nodes' state is read here and there, and addresses would be looked up as often.
crowd: deps
	@+$(MAKE) -s F=release build/lnetsim && GLIBC_TUNABLES=glibc.malloc.hugetlb=1 build/lnetsim --crowd 32 \
		--nodes $${NODES:-10000} --rate $${RATE:-50}

# The same crowd wants to probe all at once, and keeps within its budget.
storm: deps
	@+$(MAKE) -s F=release build/lnetsim && GLIBC_TUNABLES=glibc.malloc.hugetlb=1 build/lnetsim --crowd 8 \
		--nodes $${NODES:-10000} --storm

# A session over a tree of so many real processes, beside the same one in the simulator; fewer that are killed.
processes: deps
	@+$(MAKE) -s all && NODES=$${NODES:-1000} tests/netns/processes && tests/netns/processes_faults

# Full load on rails that are whole, while others want the processors, too: nothing is taken for lost.
oversubscribed: deps
	@+$(MAKE) -s all && TIME=$${TIME:-600} tests/netns/oversubscribed

# New seeds, many, and a row in tests/sim/RUNS.
seeds: deps
	@+tests/sim/seeds

# How long a change of interfaces keeps a node with 5000 peers from its traffic.
stall:
	@+$(MAKE) -s build/tests/tools/stall && build/tests/tools/stall

demo sim netns requirements: %: deps
	@test -x tests/$*/run || { echo "make $*: tests/$*/run does not exist"; exit 2; }
	@+$(MAKE) -s all && tests/$*/run

valgrind: deps
	@+$(MAKE) -s all && tests/netns/valgrind
# The same nodes, cuts and floods, watched for races.
tsan-netns: deps
	@+$(MAKE) -s F=tsan all && tests/netns/races

# --- installing ---------------------------------------------------------------------------------------------------

MAN	:= $(wildcard manual/man/*.[1-9])
# Headers for programs; the others of include/lnet are for the core and drivers, which come with it.
PUBLIC	:= lnet lnetctl nid progress rpc socklnd types
format:
	@config/format

man:
	@for page in $(MAN); do \
		LC_ALL=C.UTF-8 man --warnings -E UTF-8 -l -Tutf8 -Z $$page 2>&1 >/dev/null || exit 1; done
	@echo "$(words $(MAN)) man pages"

install: all
	install -d $(DESTDIR)$(LIBDIR)/pkgconfig $(DESTDIR)$(PREFIX)/include/lnet $(DESTDIR)$(PREFIX)/bin
	install -m 644 $(LIB_A) $(CTL_A) $(DESTDIR)$(LIBDIR)
	install -m 755 $(LIB_SO).$(SOMAJOR) $(DESTDIR)$(LIBDIR)
	ln -sf liblnet.so.$(SOMAJOR) $(DESTDIR)$(LIBDIR)/liblnet.so
	install -m 644 $(PUBLIC:%=include/lnet/%.h) $(DESTDIR)$(PREFIX)/include/lnet
	$(if $(PROGS),install -m 755 $(PROGS:%=$(OUT)/%) $(DESTDIR)$(PREFIX)/bin)
	$(foreach name,$(NAMES),ln -sf lst $(DESTDIR)$(PREFIX)/bin/$(name) &&) true
	printf '%s\n' 'Name: liblnet' 'Description: multi-rail message transport' 'Version: $(VERSION)' \
		'Libs: -L$(LIBDIR) -llnet' 'Libs.private: -pthread -lnl-genl-3 -lnl-3 -lyaml' \
		'Cflags: -I$(PREFIX)/include' \
		> $(DESTDIR)$(LIBDIR)/pkgconfig/liblnet.pc
	set -e; for page in $(MAN); do d=$(DESTDIR)$(PREFIX)/share/man/man$${page##*.}; \
		install -d $$d; install -m 644 $$page $$d; done
	set -e; install -d $(DESTDIR)$(UNITDIR); for unit in packaging/*.service; do \
		sed 's|@BINDIR@|$(PREFIX)/bin|g; s|@SYSCONFDIR@|$(SYSCONFDIR)|g' $$unit \
			> $(DESTDIR)$(UNITDIR)/$${unit##*/}; done
	install -d $(DESTDIR)$(PREFIX)/share/bash-completion/completions
	install -m 644 packaging/completion.bash $(DESTDIR)$(PREFIX)/share/bash-completion/completions/lnetctl
	install -d $(DESTDIR)$(SYSCONFDIR)/modprobe.d
	$(call install_once,packaging/lnet.conf,$(SYSCONFDIR)/lnet.conf)
	$(call install_once,packaging/modprobe.conf,$(SYSCONFDIR)/modprobe.d/lnet.conf)

# What an administrator may have changed stays.
install_once = test -e $(DESTDIR)$(2) || install -m 644 $(1) $(DESTDIR)$(2)

clean:
	rm -rf build

.PHONY: all lib unit unit-debug asan tsan tidy quick check kernel vm vm-bench failover-vm vm-debug deps fuzz \
	fuzzers demo bench bench-deps bench-peers failover crowd storm stall oversubscribed processes seeds sim models \
	netns valgrind tsan-netns requirements man format install clean
.SECONDARY:

endif
