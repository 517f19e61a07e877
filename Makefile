# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# One file, two roles: root of the kernel build if KERNELRELEASE is set, else the build of everything in user space.

ifneq ($(KERNELRELEASE),)

include $(src)/lnet/Kbuild

else

# A flavour is a compiler with its flags; its objects are in build/<flavour>/. `make install' installs `release'.
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
# Warnings that the kernel build also uses, for the files that it shares.
WARN_CORE := -Wmissing-prototypes -Wdeclaration-after-statement
CPPFLAGS_ALL := -D_GNU_SOURCE -DLNET_VERSION='"$(VERSION)"' -Ilnet/user -Iinclude -iquote . -iquote lnet \
	   -isystem /usr/include/libnl3 $(CPPFLAGS)
CFLAGS_ALL := -std=gnu11 -fPIC -fno-semantic-interposition -pthread $(WARN) $(FLAGS_$(F)) $(CFLAGS)
LDFLAGS_ALL := -pthread $(filter -fsanitize=% -fprofile%,$(subst fuzzer-no-link$(comma),,$(FLAGS_$(F)))) \
	       -Wl,--as-needed $(LDFLAGS)
LIBS	:= -lnl-genl-3 -lnl-3 -lyaml -lreadline

objs	= $(patsubst %.c,$(O)/%.o,$(wildcard $(1)))

# A line such as "CC lnet/xfer/send.o" for each command; V=1 prints the whole commands, `make -s' prints neither.
short_flags := $(filter-out -%,$(firstword $(MAKEFLAGS)))
quiet	:= $(findstring s,$(short_flags))$(filter 1,$(V))
Q	:= $(if $(filter 1,$(V)),,@)
says	= $(if $(quiet),,@printf '%-5s %s\n' '$(1)' '$(2)')

# The library: core, environment and drivers of user space. The world and the drivers of the simulator are separate.
CORE	:= lnet $(addprefix lnet/,$(shell sed -n 's/^\([a-z]\{1,\}\)\t.*/\1/p' lnet/LAYERS))
LIB_OBJS := $(call objs,$(CORE:=/*.c) lnet/user/*.c lnet/selftest/*.c lnet/am/*.c lnd/lolnd/*.c lnd/skellnd/*.c) \
	    $(filter-out $(O)/lnd/socklnd/sim% $(O)/lnd/socklnd/kernel%,$(call objs,lnd/socklnd/*.c))
# The core of decisions a second time, with replacements for everything else in a replay: one object that exports only
# its entry points.
REPLAY	:= $(O)/replay/all.o
REPLAY_OBJS := $(patsubst %,$(O)/replay/%.o,xfer/send xfer/op xfer/attempt xfer/cancel \
	       path/select path/expected_time path/health path/attribution path/recover path/suspect \
	       recorder/events) $(call objs,tests/sim/replay*.c)
# The self-test a second time, for light nodes: thousands of them fit where nodes of the core do not. Also one object.
LIGHT	:= $(O)/light/all.o
LIGHT_OBJS := $(patsubst lnet/selftest/%.c,$(O)/light/%.o,$(wildcard lnet/selftest/*.c)) $(O)/tests/sim/light.o
SIM_OBJS := $(filter-out $(REPLAY_OBJS) $(LIGHT_OBJS),\
	    $(call objs,lnd/simlnd/*.c lnd/socklnd/sim*.c tests/sim/*.c)) $(REPLAY) $(LIGHT)
CTL_OBJS := $(call objs,utils/lib/*.c)
UNIT_OBJS := $(call objs,tests/unit/*.c utils/lst/stock*.c)

LIB_A	:= $(OUT)/liblnet.a
LIB_SO	:= $(OUT)/liblnet.so
CTL_A	:= $(if $(CTL_OBJS),$(OUT)/liblnetctl.a)
SIM_A	:= $(if $(SIM_OBJS),$(O)/libsim.a)
MAP	:= $(wildcard config/liblnet.map)

PROGS	:= $(sort $(patsubst utils/%/,%,$(filter-out utils/lib/,$(dir $(wildcard utils/*/*.c)))))
# Other names of lst.
NAMES	:= bulk_server bulk_write
EXAMPLES := $(patsubst %.c,$(OUT)/%,$(wildcard examples/*.c))
# Each C file of these directories is a separate program.
TEST_PROGS := $(patsubst %.c,$(OUT)/%,$(wildcard tests/bench/*.c tests/netns/*.c tests/tools/*.c))
# Each program is the fuzzer of one parser. They share the other files there, and worlds of the unit tests.
FUZZERS	:= $(patsubst tests/fuzz/%.c,$(O)/fuzz/%,$(wildcard tests/fuzz/fuzz_*.c))
FUZZ_A	:= $(O)/libfuzz.a
FUZZ_OBJS := $(filter-out $(O)/tests/fuzz/fuzz_%,$(call objs,tests/fuzz/*.c)) \
	     $(call objs,tests/unit/node.c tests/unit/rails.c tests/unit/rails_run.c tests/unit/st_world.c \
	     tests/sim/record.c)

# The tools and headers that the build needs are checked before anything is compiled.
HEADERS	:= /usr/include/libnl3/netlink/genl/genl.h /usr/include/yaml.h /usr/include/readline/readline.h
BUILDS	:= all lib unit install $(PROGS)
ifneq ($(filter $(BUILDS),$(or $(MAKECMDGOALS),all)),)
missing_tools := $(strip $(if $(shell command -v $(firstword $(CC))),,$(firstword $(CC))) \
	$(if $(shell command -v pkg-config),,pkg-config))
missing_headers := $(if $(CPPFLAGS),,$(foreach h,$(HEADERS),$(if $(wildcard $(h)),,$(notdir $(h)))))
ifneq ($(strip $(missing_tools)$(missing_headers)),)
$(error The build needs $(strip $(missing_tools) $(missing_headers)), which this machine does not have. As root, run \
	`config/deps build')
endif
endif

all: lib $(PROGS:%=$(OUT)/%) $(NAMES:%=$(OUT)/%) $(EXAMPLES) $(TEST_PROGS)
lib: $(LIB_A) $(LIB_SO) $(CTL_A)
# Unit tests replace files of the library, which in release is one object. So release builds the debug flavour of them.
unit: $(if $(filter release,$(F)),unit-debug,$(O)/unit)
unit-debug:
	+@$(MAKE) -s F=debug unit
.DEFAULT_GOAL := all

$(O)/lnet/%.o $(O)/lnd/%.o: CFLAGS_ALL += $(WARN_CORE)
$(O)/tests/unit/%.o: CPPFLAGS_ALL += -iquote tests/unit -iquote $(O)
# The tests run once per build, so optimizing them takes longer than it saves. Other flavours have the same warnings.
$(O)/tests/unit/%.o: CFLAGS_ALL += $(if $(filter debug,$(F)),-O0)

# A release is compiled twice: the first build counts branches while its messages run, and the second one uses the
# counts to optimize the common paths. The counts stay until `make clean'; code that changes later is compiled without
# them. With PROFILE=no the release is compiled once, for another machine, or where no program may run.
PROFILE	?= yes
COUNTS	:= $(O)/profile
TRAINED	:= $(if $(filter yesreleasegcc,$(PROFILE)$(F)$(findstring gcc,$(CC))),$(COUNTS)/made)
$(O)/%.o: %.c | $(TRAINED)
	@mkdir -p $(@D)
	$(call says,CC,$(<:.c=.o))
	$(Q)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) -MMD -MP -c -o $@ $<

$(O)/replay/%.o: lnet/%.c
	@mkdir -p $(@D)
	$(call says,CC,$(<:.c=.o) for replays)
	$(Q)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) -MMD -MP -c -o $@ $<
$(REPLAY): $(REPLAY_OBJS)
	$(call says,LD,$@)
	$(Q)$(LD) -r -o $@ $^
	$(Q)$(OBJCOPY) --keep-global-symbol=sim_replay --keep-global-symbol=sim_replay_records $@

# The core a third time, without inlining and with each call counted, for tests/lint/depth.
DEPTH_OBJS := $(patsubst %.c,$(O)/depth/%.o,$(wildcard $(CORE:=/*.c)))
$(DEPTH_OBJS): $(O)/depth/%.o: %.c
	@mkdir -p $(@D)
	$(call says,CC,$(<:.c=.o) with counted calls)
	$(Q)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) -O0 -fno-inline -finstrument-functions -MMD -MP -c -o $@ $<
$(O)/depth/depth: $(O)/tests/lint/depth.o $(DEPTH_OBJS) $(CTL_A) $(LIB_A)
	$(call says,LD,$@)
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $^ $(LIBS) -lm

$(O)/light/%.o: lnet/selftest/%.c
	@mkdir -p $(@D)
	$(call says,CC,$(<:.c=.o) for light nodes)
	$(Q)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) -MMD -MP -c -o $@ $<
$(LIGHT): $(LIGHT_OBJS)
	$(call says,LD,$@)
	$(Q)$(LD) -r -o $@ $^
	$(Q)$(OBJCOPY) --keep-global-symbol=sim_light --keep-global-symbol=sim_light_cfg $@

# Archives are written from scratch, so that an object whose source is gone does not stay.
define archive
	@mkdir -p $(@D)
	@rm -f $@
	$(call says,AR,$@)
	$(Q)$(AR) rcs $@ $(filter %.o,$^)
endef

# Release: the core and the shared files of drivers become one object, compiled as a whole. So small functions of one
# file are inlined in others, and so are the short paths through large ones. The files of user space that the simulator
# replaces stay separate.
ifeq ($(F)$(findstring gcc,$(CC)),releasegcc)
WHOLE	:= $(filter-out $(O)/lnd/socklnd/user% $(O)/lnd/socklnd/link%,$(LIB_OBJS))
# Objects of some hundred bytes are cleared for each message; string instructions start too slowly for that.
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
	$(call says,LTO,$@)
	$(Q)$(CC) -r -flto=auto -flinker-output=nolto-rel $(CFLAGS_ALL) $(FAST) -o $@ $^
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
	$(call says,LD,$@)
	$(Q)$(CC) -shared $(LDFLAGS_ALL) -Wl,-soname,liblnet.so.$(SOMAJOR) $(MAP:%=-Wl,--version-script=%) \
		-o $@ $(LIB_OBJS) $(LIBS)
$(LIB_SO): $(LIB_SO).$(SOMAJOR)
	@ln -sf liblnet.so.$(SOMAJOR) $@

# nettest finds the other processes by PMIx, which only nettest needs. Without PMIx it accepts only lists of nodes.
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
	$$(call says,LD,$$@)
	$$(Q)$$(CC) $$(LDFLAGS_ALL) -o $$@ $$^ $$(LIBS) $(LIBS_$(1)) -lm
endef
$(foreach prog,$(PROGS),$(eval $(call prog_rule,$(prog))))
$(NAMES:%=$(OUT)/%): $(OUT)/lst
	$(call says,LN,$@)
	$(Q)ln -sf lst $@

$(EXAMPLES) $(TEST_PROGS): $(OUT)/%: $(O)/%.o $(CTL_A) $(LIB_A)
	@mkdir -p $(@D)
	$(call says,LD,$@)
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $^ $(LIBS) -lm

$(O)/tests/fuzz/%.o: CPPFLAGS_ALL += -iquote tests/unit
$(FUZZ_A): $(FUZZ_OBJS)
	$(archive)
$(O)/fuzz/%: $(O)/tests/fuzz/%.o $(FUZZ_A) $(CTL_A) $(LIB_A)
	@mkdir -p $(@D)
	$(call says,LD,$@)
	$(Q)$(CC) $(LDFLAGS_ALL) -fsanitize=fuzzer -o $@ $^ $(LIBS) -lm

# One suite per file, with the name of the file.
SUITES	:= $(sort $(patsubst tests/unit/test_%.c,%,$(wildcard tests/unit/test_*.c)))
$(O)/unit_suites.def: $(wildcard tests/unit/test_*.c)
	@mkdir -p $(@D)
	@printf 'SUITE(%s)\n' $(SUITES) > $@.new && mv $@.new $@
$(O)/tests/unit/main.o: $(O)/unit_suites.def
# Calls of pthread_create() pass through the program, which counts the threads of each suite.
UNIT_LINK = $(CC) $(LDFLAGS_ALL) -Wl,--wrap=pthread_create -o $@ $(filter %.o %.a,$^) -lcunit $(LIBS) -lm
$(O)/unit: $(UNIT_OBJS) $(SIM_A) $(CTL_A) $(LIB_A)
	$(call says,LD,$@)
	$(Q)$(UNIT_LINK)

# A program with only the suites SOME: `make F=tsan SOME="env park" build/tsan/unit-some`.
$(O)/some/unit_suites.def: FORCE
	@mkdir -p $(@D)
	@printf 'SUITE(%s)\n' $(SOME) > $@.new
	@cmp -s $@.new $@ && rm $@.new || mv $@.new $@
$(O)/some/main.o: tests/unit/main.c $(O)/some/unit_suites.def
	$(call says,CC,$(<:.c=.o) for some suites)
	$(Q)$(CC) -iquote $(@D) -iquote tests/unit $(CPPFLAGS_ALL) $(CFLAGS_ALL) -MMD -MP -c -o $@ $<
# Code that suites share; the linker takes the objects that are needed.
$(O)/some/libunit.a: $(filter-out $(O)/tests/unit/main.o $(O)/tests/unit/test_%,$(UNIT_OBJS))
	$(archive)
$(O)/unit-some: $(O)/some/main.o $(SOME:%=$(O)/tests/unit/test_%.o) $(O)/some/libunit.a $(SIM_A) $(CTL_A) $(LIB_A)
	$(call says,LD,$@)
	$(Q)$(UNIT_LINK)
FORCE:

-include $(shell find $(O) -name '*.d' 2>/dev/null)

# --- tests ------------------------------------------------------------------------------------------------------

run_unit = $(MAKE) -s F=$(1) unit && build/$(1)/unit
asan tsan clang:
	+$(call run_unit,$@)
tidy:
	@tests/tidy && tests/lint/targets && tests/lint/prose
quick: deps-test
	@+tests/run quick
check: deps
	@+tests/run check
kernel:
	@tests/kernel
vm: deps
	@+$(MAKE) -s all && SPARSE=no tests/kernel && tests/vm/all
# Speed can be measured only on a quiet machine, so no test depends on it.
vm-bench: deps
	@+$(MAKE) -s all && KVER=$${KVER:-6.12} SPARSE=no tests/kernel && tests/vm/bench/run
# The time without a completed request when a rail of kernel nodes is cut, compared with a plain program in the same
# guest.
failover-vm: deps
	@+$(MAKE) -s all build/tests/bench/paced/sockets && KVER=$${KVER:-6.12} SPARSE=no tests/kernel && \
		tests/vm/bench/failover
# A target installs the packages of its group: demo installs the fewest, targets with guests install all.
deps: deps-guest
deps-demo deps-test deps-guest: deps-%:
	@config/deps $*

# Debug kernels: the first build of them takes long.
vm-debug: deps
	@+$(MAKE) -s all && tests/vm/debug-kernel A && tests/vm/debug-kernel B && \
		SPARSE=no KVER='debug-A debug-B' tests/kernel && \
		KVER='debug-A debug-B' ROUNDS=200 ENDS=50 FUZZ=300 LEAST=1500 tests/vm/all

fuzz: deps-test
	@+tests/fuzz/run
fuzzers: $(FUZZERS)

# The targets below only call a script.
models:
	@tests/model/run --all

# Peers are measured if they are installed; each has a separate program, and its library has a name for pkg-config.
PEER_zeromq := libzmq
PEER_libfabric := libfabric
PEER_openmpi := ompi-c
peers_here = $(foreach p,zeromq libfabric openmpi,$(if $(shell pkg-config --exists $(PEER_$(p)) && echo yes),\
	     $(OUT)/tests/bench/peers/$(p)))
$(OUT)/tests/bench/peers/%: tests/bench/peers/%.c tests/bench/peers/peer.h
	@mkdir -p $(@D)
	$(call says,CC,$@)
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE -O2 -Wall -Wextra -Werror -o $@ $< $$(pkg-config --cflags --libs $(PEER_$*))
# Other transports, for the comparison when a rail is cut.
PACED_knet := libknet
PACED_mpi := ompi-c
paced_here = $(OUT)/tests/bench/paced/sockets $(foreach p,knet mpi,\
	     $(if $(shell pkg-config --exists $(PACED_$(p)) && echo yes),$(OUT)/tests/bench/paced/$(p)))
$(OUT)/tests/bench/paced/%: tests/bench/paced/%.c tests/bench/paced/paced.h
	@mkdir -p $(@D)
	$(call says,CC,$@)
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE -O2 -Wall -Wextra -Werror -iquote . -Iinclude -o $@ $< \
		$(if $(PACED_$*),$$(pkg-config --cflags --libs $(PACED_$*)))
bench-peers:
	@+for p in $(peers_here) $(paced_here); do $(MAKE) -s $$p || exit 1; done
bench-deps:
	@config/deps bench
bench: deps-test
	@+$(MAKE) -s all $(if $(filter no,$(PEERS)),,bench-peers) && tests/bench/run

failover: deps-test
	@+$(MAKE) -s all $(paced_here) && tests/bench/failover

# The crowd of many thousands takes minutes and nearly 4 GB of memory; the tests of the simulator run a few hundred.
# Memory is in large pages: accesses to the nodes' state are scattered, and small pages would need a look-up for each.
crowd: deps-test
	@+$(MAKE) -s F=release build/lnetsim && GLIBC_TUNABLES=glibc.malloc.hugetlb=1 build/lnetsim --crowd 32 \
		--nodes $${NODES:-10000} --rate $${RATE:-50}

# The nodes of the same crowd have to probe all at once, and keep within their rate limit.
storm: deps-test
	@+$(MAKE) -s F=release build/lnetsim && GLIBC_TUNABLES=glibc.malloc.hugetlb=1 build/lnetsim --crowd 8 \
		--nodes $${NODES:-10000} --storm

# A session over a tree of so many real processes, and the same one in the simulator; then fewer, of which some are
# killed.
processes: deps-test
	@+$(MAKE) -s all && NODES=$${NODES:-1000} tests/netns/processes && tests/netns/processes_faults

# Full load on healthy rails while other programs also use the processors: no message is taken for lost.
oversubscribed: deps-test
	@+$(MAKE) -s all && TIME=$${TIME:-600} tests/netns/oversubscribed

# Many new seeds, and a row in tests/RUNS.
seeds: deps-test
	@+tests/sim/seeds

# The long tests: STAGE, MINUTES.
long: deps
	@+tests/long/run

# Measures how long a change of interfaces delays the traffic of a node with 5000 peers.
stall:
	@+$(MAKE) -s build/tests/tools/stall && build/tests/tools/stall

# The simulator's group with all seeds; `make check' runs fewer.
sim: deps-test
	@+tests/sim/run

# Generated mutants of the core, N of them, drawn by SEED.
mutate: deps-test
	@tests/mutants/mutate

demo: deps-demo
netns requirements: deps-test
demo netns requirements: %:
	@test -x tests/$*/run || { echo "make $*: tests/$*/run does not exist"; exit 2; }
	@+$(MAKE) -s all && tests/$*/run

# The quick start of README and the first steps of the manual, as a newcomer runs them.
readme:
	@tests/readme

valgrind: deps-test
	@+$(MAKE) -s all && tests/netns/valgrind
# Attacks of remote hosts and local users on live nodes.
hostile: deps-test
	@+$(MAKE) -s all && SECONDS=600 tests/hostile/run
# The same nodes, cuts and floods, with the thread sanitizer.
tsan-netns: deps-test
	@+$(MAKE) -s F=tsan all && tests/netns/races

# --- installing ---------------------------------------------------------------------------------------------------

MAN	:= $(wildcard manual/man/*.[1-9])
# Headers for programs; the others of include/lnet are for the core and for drivers, which this project includes.
PUBLIC	:= lnet lnetctl nid progress rpc socklnd types
format:
	@config/format

man:
	@for page in $(MAN); do \
		LC_ALL=C.UTF-8 man --warnings -E UTF-8 -l -Tutf8 -Z $$page 2>&1 >/dev/null || exit 1; done
	@echo "$(words $(MAN)) man pages"

INSTALL := PREFIX='$(PREFIX)' LIBDIR='$(LIBDIR)' SYSCONFDIR='$(SYSCONFDIR)' UNITDIR='$(UNITDIR)' \
	   DESTDIR='$(DESTDIR)' OUT='$(OUT)' VERSION='$(VERSION)' SOMAJOR='$(SOMAJOR)' PUBLIC='$(PUBLIC)' \
	   PROGS='$(PROGS)' NAMES='$(NAMES)' config/install
install: all
	@$(INSTALL) add
uninstall:
	@$(INSTALL) remove

clean:
	rm -rf build

# --- help: what each target does, and how long it takes on two cores ----------------------------------------------

#: all			1 min	compiles libraries and programs into build/ (the default); V=1 prints whole commands
#: lib			1 min	compiles the libraries only
#: demo			2 min	installs what it needs, builds, and shows a rail cut under load
#: quick		2 min	style, unit tests, small models: run it before each commit
#: check		35 min	all tests; installs what they need; some of them need root
#: install		seconds	puts programs, libraries, headers, man pages and examples below PREFIX (/usr/local)
#: uninstall		seconds	removes what install put in place, but no configuration file
#: clean		seconds	removes build/
#: deps			1 min	installs the Debian packages of all tests; config/deps build installs those of the build
#: help			seconds	prints this list
#: unit			1 min	compiles the unit tests as build/FLAVOUR/unit (F=debug, asan, tsan, clang)
#: unit-debug		1 min	the same, as build/debug/unit
#: asan			minutes	runs the unit tests with the address and undefined-behaviour sanitizers
#: tsan			5 min	runs the unit tests with the thread sanitizer
#: clang			2 min	compiles the unit tests with clang, which checks locks, and runs them
#: tidy			seconds	checks the style of the tree
#: format		seconds	breaks lines of C files that are too long
#: man			seconds	formats each man page and fails on a warning
#: readme		minutes	runs the command blocks of README in a fresh Debian 12 tree; needs root
#: kernel		minutes	compiles the modules for Debian's kernels, with sparse
#: vm			half an hour	boots guests and runs all their tests
#: vm-bench		minutes	measures the modules in a guest
#: vm-debug		hours	runs the guests on kernels with KASAN and lockdep, which it builds first
#: failover-vm		minutes	cuts rails of kernel nodes and reports the stalls
#: sim			15 min	runs the scenarios of the simulator, and 1,000 seeds twice
#: seeds		hours	runs new seeds and adds a row to tests/RUNS
#: long			many hours	the long tests in stages, which continue in the next run; STAGE, MINUTES
#: models		10 min	checks all protocol models, the large ones included
#: netns		minutes	runs the tests with real processes in network namespaces
#: valgrind		minutes	runs sessions of the daemon under valgrind
#: hostile		14 min	attacks nodes beside an honest pair
#: tsan-netns		minutes	runs nodes, cuts and floods with the thread sanitizer
#: fuzz			15 min	fuzzes each parser for a minute
#: fuzzers		minutes	compiles the fuzzers
#: requirements		seconds	lists every requirement with the tests that show it
#: bench		half an hour	measures speed and prints ratios to other transports; needs a quiet machine
#: bench-deps		1 min	installs the other transports that bench measures
#: bench-peers		1 min	compiles the programs that measure them
#: failover		minutes	cuts rails and reports how long nothing was completed, with other transports
#: crowd		3 min	simulates 10,000 nodes that join, change and restart; needs 4 GB of memory
#: storm		minutes	simulates 10,000 nodes that all probe at once
#: stall		minutes	measures how long a change of interfaces delays traffic of 5,000 peers
#: processes		2 min	runs a self-test over 1,000 real processes, and over fewer that are killed
#: oversubscribed	10 min	loads whole rails on busy processors; no request may be taken for lost
help:
	@echo "make [TARGET] [F=FLAVOUR] [V=1]; targets, with their duration on two cores:"
	@sed -n 's/^#: //p' $(firstword $(MAKEFILE_LIST)) | \
		awk -F '\t+' '{ printf "  %-16s %-13s %s\n", $$1, $$2, $$3 }'

.PHONY: all lib unit unit-debug asan tsan clang tidy quick check kernel vm vm-bench failover-vm vm-debug deps \
	fuzz fuzzers demo bench bench-deps bench-peers failover crowd storm stall oversubscribed processes seeds long \
	sim models netns valgrind hostile tsan-netns requirements man format install uninstall readme help deps-demo \
	deps-test deps-guest clean
.SECONDARY:

endif
