# xcore: build, test, install.   `make help` lists the targets.
#
# MODE=release|debug|asan|hostile builds into build/MODE; CC=gcc|clang. One archive per folder, linked in
# layer order, so an upward call does not link.

MODE   ?= release
CC     := $(if $(filter default,$(origin CC)),gcc,$(CC))
PREFIX ?= /usr/local
B      := build/$(MODE)$(if $(findstring clang,$(CC)),-clang)

LAYERS := core dwarf heap triage batch lua cli
PKGS   := libdw libelf libzstd liblz4 jansson libseccomp liblzma zlib libisal lua5.4 libedit
WARN   := -Wall -Wextra -Wshadow -Wconversion -Wmissing-prototypes -Wvla -Wpointer-arith -Wstrict-prototypes \
          -Wundef -Wformat=2 -Wno-format-nonliteral -Werror
CFLAGS_release := -O2 -g
CFLAGS_debug   := -O0 -g3
CFLAGS_asan    := -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
CFLAGS_hostile := $(CFLAGS_asan) -DXC_HOSTILE
LDFLAGS_asan   := -fsanitize=address,undefined
LDFLAGS_hostile := $(LDFLAGS_asan)

# Asked for once, when first used and not when read: `make deps all` installs them in between.
PKG_CFLAGS = $(eval PKG_CFLAGS := $(shell pkg-config --cflags $(PKGS) 2>/dev/null))$(PKG_CFLAGS)
PKG_LIBS   = $(eval PKG_LIBS := $(shell pkg-config --libs $(PKGS)) -lmd -liberty -lZydis -ldl -lpthread -lm)$(PKG_LIBS)
ALL_CFLAGS  = -std=c11 -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -fPIE -MMD -MP $(WARN) $(CFLAGS_$(MODE)) $(PKG_CFLAGS) $(CFLAGS)
ALL_LDFLAGS = -pie $(LDFLAGS_$(MODE)) $(LDFLAGS)

sources   = $(filter-out cli/main.c,$(wildcard $(1)/*.c))
objects   = $(patsubst %.c,$(B)/%.o,$(call sources,$(1)))
archive   = $(if $(call sources,$(1)),$(B)/lib$(1).a)
upto      = $(if $(filter $(1),$(firstword $(2))),$(1),$(firstword $(2)) $(call upto,$(1),$(wordlist 2,99,$(2))))
reversed  = $(if $(1),$(call reversed,$(wordlist 2,99,$(1))) $(firstword $(1)))
archives  = $(foreach l,$(call reversed,$(call upto,$(1),$(LAYERS))),$(call archive,$(l)))

.DEFAULT_GOAL := all
.PHONY: all help deps demo built check unit property golden plugin canary diff live heap verdict batch bugs browser hostile hostile-long fuzz replay test test-long \
        bench lint format golden-accept install uninstall clean corpora corpora-long man reference
.DELETE_ON_ERROR:

all: $(B)/xcore ## build xcore into build/MODE (default)

help: ## list the targets
	@awk -F':.*## ' '/^[a-z-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 } /^##@ / { printf "%s:\n", substr($$0, 5) }' Makefile

$(B)/xcore: $(B)/cli/main.o $(call archives,cli)
	$(if $(V),,@echo "  LD $@";)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(PKG_LIBS)

$(B)/%.o: %.c
	@mkdir -p $(@D)
	$(if $(V),,@echo "  CC $<";)$(CC) $(ALL_CFLAGS) -c -o $@ $<

# Files that are part of the program.
$(B)/batch/emit.o: $(addprefix batch/emit/,slurm parallel k8s make)
$(B)/batch/framerules.o: batch/frames.txt
$(B)/batch/export_html.o: batch/export_html.css $(wildcard batch/export_html*.js)
$(B)/lua/reference.o: lua/xcore.d.lua
$(B)/lua/plugin_test.o: lua/plugin_test.lua
$(B)/lua/plugin_new.o: lua/plugin_new.lua lua/plugin_new_test.lua

define archive_rule
$(B)/lib$(1).a: $(call objects,$(1))
	@rm -f $$@
	$(if $(V),,@)ar rcs $$@ $$^
endef
$(foreach l,$(LAYERS),$(if $(call sources,$(l)),$(eval $(call archive_rule,$(l)))))

# What tests share, of any layer: each takes what it needs.
$(B)/libsupport.a: $(patsubst %.c,$(B)/%.o,$(wildcard tests/support/*.c))
	@rm -f $@
	$(if $(V),,@)ar rcs $@ $^

# A test names the highest layer it may use in its first line: /* layer: dwarf */
layer_of = $(shell sed -n '1s/.*layer: *\([a-z]*\).*/\1/p' $(1))
define test_rule
$(B)/$(basename $(1)): $(B)/$(basename $(1)).o $(if $(findstring /fuzz_,$(1)),$(B)/tests/fuzz/replay.o) $(B)/libsupport.a \
		$(call archives,$(call layer_of,$(1)))
	$(if $(V),,@)$$(CC) $$(ALL_LDFLAGS) -o $$@ $$^ $$(PKG_LIBS) -lcmocka $(shell sed -n '1s/.*libs: *\([-a-z0-9_ ]*[a-z0-9_]\).*/\1/p' $(1))
endef
TESTS_unit     := $(wildcard tests/unit/test_*.c)
TESTS_property := $(wildcard tests/property/test_*.c)
TESTS_canary   := $(wildcard tests/canary/test_*.c)
TESTS_fuzz     := $(wildcard tests/fuzz/fuzz_*.c)
TESTS_plugin   := $(shell find tests/plugin -maxdepth 1 -type f -perm -u+x ! -name run)
$(foreach t,$(TESTS_unit) $(TESTS_property) $(TESTS_canary) $(TESTS_fuzz),$(eval $(call test_rule,$(t))))
programs = $(patsubst %.c,$(B)/%,$(TESTS_$(1)))

# Every program of a suite, separated for tests/run, which runs two at once; what fills both processors itself stands behind ---.
# TIMES=1 tells what takes long.
each = $(foreach p,$(1),-- $(p))
BATS := bats --timing --formatter tap
bats = $(foreach f,$(1),-- $(BATS) $(f))
XCORE = $(abspath $(B)/xcore)
JOBS_OPTION = $(if $(filter -j% --jobserver%,$(MAKEFLAGS)),,-j$(or $(JOBS),$(shell nproc)))

##@ tests
check: unit property golden canary ## unit, property, golden and canary: a minute, no gdb, no network

unit: $(call programs,unit) $(B)/xcore ## one program per source file
	@XCORE=$(XCORE) tests/run unit $(call each,$(call programs,unit)) $(call bats,$(wildcard tests/cli/*.bats)) \
		-- python3 tests/diff/test_compare.py -- python3 tests/diff/test_types.py \
		-- python3 tests/diff/test_expressions.py \
		-- python3 tests/hostile/test_hostile.py

property: $(call programs,property) ## random cases against an oracle, by a printed seed
	@tests/run property $(call each,$(call programs,property))

canary: $(call programs,canary) ## the runner must notice a failing test
	@tests/run canary tests/canary/run $(B)

golden: $(B)/xcore ## JSON of small checked-in packs, byte for byte
	@XCORE=$(XCORE) tests/run golden $(foreach p,$(wildcard corpora/golden/*.pack),-- tests/golden/run $(p))

golden-accept: $(B)/xcore ## take the present output as golden; review the diff
	@XCORE=$(XCORE) tests/golden/run --accept

plugin: $(B)/xcore corpora ## plugins and the Lua API on cores: their own tests, and what tests/plugin has
	@corpora/build-heap --only lists-o0
	@XCORE=$(XCORE) tests/run plugin tests/plugin/run $(call each,$(TESTS_plugin))

corpora: ## build the small cores (build/corpora)
	@corpora/build-programs
	@corpora/build-recipes
	@corpora/build-heap
	@corpora/build-deaths
	@corpora/build-luajit
	@corpora/build-nginx

corpora-long: corpora ## and the large ones
	@corpora/build-programs --tag long
	@corpora/build-recipes --big
	@corpora/build-heap --big
	@corpora/build-luajit --long --big
	@corpora/build-nginx --long --big

diff: $(B)/xcore corpora ## every frame and value against gdb
	@tests/run diff tests/diff/views --xcore $(XCORE) -- tests/diff/types --xcore $(XCORE) \
		-- tests/diff/scripted --xcore $(XCORE) --only '*-gcc-o[02]' --- tests/diff/run --xcore $(XCORE) \
		-- tests/diff/print --xcore $(XCORE) --count 12 -- tests/diff/expressions --xcore $(XCORE) --count 15

live: $(B)/xcore ## running processes: no ptrace, no stop
	@XCORE=$(XCORE) tests/run live $(call bats,$(filter-out %/busy.bats,$(wildcard tests/live/*.bats))) \
		--- $(BATS) tests/live/busy.bats

heap: $(B)/xcore ## blocks, leaks and types against what programs wrote down of them; glibc of four releases, other allocators
	@corpora/build-heap
	@XCORE=$(XCORE) tests/run heap tests/heap/growth -- python3 tests/heap/test_answer.py --- tests/heap/run -- tests/heap/cuts

verdict: $(B)/xcore ## why programs died, against what is known of their deaths; redacted, too
	@corpora/build-deaths
	@XCORE=$(XCORE) tests/run verdict --- tests/verdict/run --as full -- tests/verdict/redacted

batch: $(B)/xcore ## many cores: clusters against what was planted; the same bytes by shards and after kills; job files for a real Slurm, GNU parallel and make; Kubernetes' manifest; README's examples
	@corpora/build-deaths
	@corpora/build-batch
	@XCORE=$(XCORE) tests/run batch $(foreach t,truth same shards parallel make k8s slurm readme,-- tests/batch/$(t))

bugs: $(B)/xcore ## why real programs died: old versions with known bugs, built from source
	@corpora/build-bugs
	@XCORE=$(XCORE) tests/run bugs --- tests/verdict/bugs

browser: $(B)/xcore ## what is written for browsers, in one
	@corpora/build-heap --only leaks-o0
	@XCORE=$(XCORE) tests/run browser tests/browser/flame -- tests/browser/triage

replay: $(call programs,fuzz) ## the fuzz targets over their seeds and past findings
	@tests/run replay $(foreach p,$(call programs,fuzz),-- $(p) corpora/fuzz/$(patsubst fuzz_%,%,$(notdir $(p))))

hostile: corpora ## cores cut short, damaged and with damaged heaps, and what is no core, under ASan and UBSan; workers of a batch
	@$(MAKE) --no-print-directory MODE=asan all build/asan/tests/property/test_damaged_heaps
	@tests/run hostile tests/hostile/heaps --count 1000 -- tests/hostile/inputs -- tests/hostile/cutstacks \
		--- tests/hostile/cut --cases 12 -- tests/hostile/mutate --count 300 -- tests/hostile/batch --count 300 \
		-- tests/hostile/vms --cases 4 --count 40

hostile-long: corpora ## every small core cut everywhere, 2,000 mutations
	@$(MAKE) --no-print-directory MODE=asan
	@tests/run hostile-long --- tests/hostile/cut --both -- tests/hostile/mutate --count 2000 -- tests/hostile/batch --count 5000 \
		-- tests/hostile/vms --count 1000

built:
	@$(MAKE) -s --no-print-directory $(JOBS_OPTION) all $(foreach s,unit property canary fuzz,$(call programs,$(s)))
	@$(MAKE) -s --no-print-directory $(JOBS_OPTION) MODE=asan all build/asan/tests/property/test_damaged_heaps

test: built check plugin live heap verdict batch browser replay diff hostile ## what a change must pass: under ten minutes (TIMES=1 tells what takes long)

test-long: test corpora-long hostile-long bugs ## big cores and grids, and units under ASan and UBSan without hostile sizes
	@$(MAKE) -k --no-print-directory MODE=asan unit property golden replay
	@tests/run diff-long --- tests/diff/run --xcore $(XCORE) --long -- tests/diff/forms --xcore $(XCORE) \
		-- tests/verdict/run --no-time --xcore $(XCORE) -- tests/heap/run --big --xcore $(XCORE) -- tests/heap/truth -- tests/heap/redis --big --xcore $(XCORE) -- tests/diff/hotspot --xcore $(XCORE) -- tests/diff/print --xcore $(XCORE) -- tests/diff/expressions --xcore $(XCORE) \
		-- tests/diff/scripted --xcore $(XCORE) -- tests/plugin/redis --xcore $(XCORE) --big -- tests/plugin/newcomer --clone

fuzz: ## run every fuzz target for a minute (clang)
	@tests/fuzz/run

bench: $(B)/xcore corpora-long ## gdb, eu-stack and xcore on the same cores, in one run
	@tests/bench/run --xcore $(XCORE)

##@ the rest
demo: $(B)/xcore ## crash a small program and analyze its real core
	@corpora/demo $(XCORE)

lint: ## format, static checks, shell scripts, layers
	@tests/lint

format: ## clang-format over all sources
	@git ls-files -z '*.c' '*.h' | xargs -0 clang-format -i

deps: ## install what building and testing need (apt; root or sudo)
	@corpora/deps

man: $(B)/cli/xcore.1 ## the man page, from the same tables as --help
$(B)/cli/xcore.1: $(B)/xcore
	$(B)/xcore help --man >$@

reference: ## lua/REFERENCE.md, from the editor stubs
	lua/reference.py >lua/REFERENCE.md

install: $(B)/xcore man ## install below PREFIX (and DESTDIR)
	install -Dm755 $(B)/xcore $(DESTDIR)$(PREFIX)/bin/xcore
	install -Dm644 $(B)/cli/xcore.1 $(DESTDIR)$(PREFIX)/share/man/man1/xcore.1
	install -Dm644 core/report.schema.json $(DESTDIR)$(PREFIX)/share/xcore/report.schema.json
	install -Dm644 batch/triage.schema.json $(DESTDIR)$(PREFIX)/share/xcore/triage.schema.json
	install -Dm644 lua/xcore.d.lua $(DESTDIR)$(PREFIX)/share/xcore/xcore.d.lua
	cd plugins && find . -name '*.lua' ! -path '*/test/*' -exec \
		install -Dm644 {} $(abspath $(DESTDIR)$(PREFIX))/share/xcore/plugins/{} \;
	install -d $(DESTDIR)$(PREFIX)/share/bash-completion/completions $(DESTDIR)$(PREFIX)/share/zsh/site-functions \
		$(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d
	$(B)/xcore help --completion bash >$(DESTDIR)$(PREFIX)/share/bash-completion/completions/xcore
	$(B)/xcore help --completion zsh >$(DESTDIR)$(PREFIX)/share/zsh/site-functions/_xcore
	$(B)/xcore help --completion fish >$(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/xcore.fish

uninstall: ## remove what install put there
	rm -f $(DESTDIR)$(PREFIX)/bin/xcore $(DESTDIR)$(PREFIX)/share/man/man1/xcore.1 \
		$(DESTDIR)$(PREFIX)/share/bash-completion/completions/xcore \
		$(DESTDIR)$(PREFIX)/share/zsh/site-functions/_xcore \
		$(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/xcore.fish
	rm -rf $(DESTDIR)$(PREFIX)/share/xcore

clean: ## remove build/ but not the corpora
	rm -rf build/release* build/debug* build/asan* build/hostile* build/programs

-include $(shell find $(B) -name '*.d' 2>/dev/null)
