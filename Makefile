# xcore: build, test, install.   `make help` lists the targets.
#
# MODE=release|debug|asan|hostile builds into build/MODE; CC=gcc|clang. Each layer is one archive. Archives are linked
# in layer order, so a call to a higher layer does not link.

MODE   ?= release
CC     := $(if $(filter default,$(origin CC)),gcc,$(CC))
B      := build/$(MODE)$(if $(findstring clang,$(CC)),-clang)

LAYERS := core dwarf heap triage batch profile lua cli
PKGS   := libdw libelf libzstd liblz4 jansson libseccomp liblzma zlib libisal lua5.4 libedit
WARN   := -Wall -Wextra -Wshadow -Wconversion -Wmissing-prototypes -Wvla -Wpointer-arith -Wstrict-prototypes \
          -Wundef -Wformat=2 -Wno-format-nonliteral -Werror
CFLAGS_release := -O2 -g
CFLAGS_debug   := -O0 -g3
CFLAGS_asan    := -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
CFLAGS_hostile := $(CFLAGS_asan) -DXC_HOSTILE
LDFLAGS_asan   := -fsanitize=address,undefined
LDFLAGS_hostile := $(LDFLAGS_asan)

JOBS_OPTION = $(if $(filter -j% --jobserver%,$(MAKEFLAGS)),,-j$(or $(JOBS),$(shell nproc)))

# Evaluated once, on first use rather than when the Makefile is read: `make deps all` installs the packages in between.
PKG_CFLAGS = $(eval PKG_CFLAGS := $(shell pkg-config --cflags $(PKGS) 2>/dev/null))$(PKG_CFLAGS)
PKG_LIBS   = $(eval PKG_LIBS := $(shell pkg-config --libs $(PKGS)) -lmd -liberty -lZydis -ldl -lpthread -lm)$(PKG_LIBS)
ALL_CFLAGS  = -std=c11 -I. -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -fPIE -MMD -MP $(WARN) $(CFLAGS_$(MODE)) $(PKG_CFLAGS) $(CFLAGS)
ALL_LDFLAGS = -pie $(LDFLAGS_$(MODE)) $(LDFLAGS)

sources   = $(filter-out cli/main.c,$(wildcard $(1)/*.c $(1)/*/*.c))
objects   = $(patsubst %.c,$(B)/%.o,$(call sources,$(1)))
archive   = $(if $(call sources,$(1)),$(B)/lib$(1).a)
upto      = $(if $(filter $(1),$(firstword $(2))),$(1),$(firstword $(2)) $(call upto,$(1),$(wordlist 2,99,$(2))))
reversed  = $(if $(1),$(call reversed,$(wordlist 2,99,$(1))) $(firstword $(1)))
archives  = $(foreach l,$(call reversed,$(call upto,$(1),$(LAYERS))),$(call archive,$(l)))

.DEFAULT_GOAL := all
.PHONY: FORCE all help deps demo built built-long sanitized quick check test test-long flakes $(SUITES) fuzz bench lint format golden-accept install uninstall \
        clean man reference
.DELETE_ON_ERROR:

all: $(B)/xcore ## build xcore into build/MODE (default)

help: ## list the targets
	@awk -F':.*## ' '/^[a-z-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 } /^##@ / { printf "%s:\n", substr($$0, 5) }' Makefile

$(B)/xcore: $(B)/cli/main.o $(call archives,cli)
	$(if $(V),,@echo "  LD $@";)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(PKG_LIBS)

$(B)/%.o: %.c
	@mkdir -p $(@D)
	$(if $(V),,@echo "  CC $<";)$(CC) $(ALL_CFLAGS) -c -o $@ $<

# Optional, and found also when it is installed after the first build.
$(B)/libunwind: FORCE
	@mkdir -p $(@D); found=$$(echo '#include <libunwind-x86_64.h>' | $(CC) -E - >/dev/null 2>&1 && echo yes || echo no); \
	[ "$$(cat $@ 2>/dev/null)" = $$found ] || echo $$found >$@
$(B)/dwarf/stack/second_opinion.o: $(B)/libunwind

# Files that are embedded in the program.
$(B)/core/render/flame.o: core/render/flame.css core/render/flame.js
$(B)/core/render/render_html.o: core/render/render_html.css
$(B)/profile/view/profile_page.o: $(wildcard profile/view/page/*)
$(B)/batch/shard/emit.o: $(addprefix batch/shard/emit/,slurm parallel k8s make)
$(B)/batch/signature/framerules.o: batch/signature/frames.txt
$(B)/batch/export/export_html.o: $(wildcard batch/export/html/*)
$(B)/lua/shell/reference.o: lua/xcore.d.lua
$(B)/lua/plugin/plugin_test.o: lua/plugin/plugin_test.lua
$(B)/lua/plugin/plugin_new.o: lua/plugin/plugin_new.lua lua/plugin/plugin_new_test.lua

define archive_rule
$(B)/lib$(1).a: $(call objects,$(1))
	@rm -f $$@
	$(if $(V),,@)ar rcs $$@ $$^
endef
$(foreach l,$(LAYERS),$(if $(call sources,$(l)),$(eval $(call archive_rule,$(l)))))

# Helpers shared by tests of all layers. The linker takes only the objects that a test needs.
$(B)/libsupport.a: $(patsubst %.c,$(B)/%.o,$(wildcard tests/support/*.c))
	@rm -f $@
	$(if $(V),,@)ar rcs $@ $^

# `make test` waits for the tests' own programs: in release mode they are compiled and linked quickly, but for those that
# read their own debug information.
READ_THEMSELVES := tests/unit/lua/target/test_bind_live tests/integration/batch/sandbox/test_builder tests/fuzz/fuzz_bind tests/fuzz/fuzz_cexpr
$(B)/tests/unit/%.o $(B)/tests/integration/%.o: CFLAGS_release := -O0
$(patsubst %,$(B)/%.o,$(READ_THEMSELVES)): CFLAGS_release := -O2 -g
LDFLAGS_test_release := -Wl,--strip-debug $(if $(shell command -v ld.gold),-fuse-ld=gold)

# The first line of a test names the highest layer it may use, its tier if that differs from its folder's
# (tests/suites.py), and extra libraries: /* layer: dwarf tier: long libs: -lunwind */
TESTS_unit        := $(sort $(shell find tests/unit -name 'test_*.c'))
TESTS_integration := $(sort $(shell find tests/integration -name 'test_*.c'))
TESTS_property    := $(wildcard tests/property/test_*.c)
TESTS_canary      := $(wildcard tests/canary/test_*.c)
TESTS_fuzz        := $(wildcard tests/fuzz/fuzz_*.c)
TESTS_all         := $(TESTS_unit) $(TESTS_integration) $(TESTS_property) $(TESTS_canary) $(TESTS_fuzz)
LAYER_OF := $(shell awk 'FNR == 1 { match($$0, /layer: *[a-z]+/); l = substr($$0, RSTART, RLENGTH); sub(/.* /, "", l); printf "%s=%s ", FILENAME, l; nextfile }' \
		$(TESTS_all))
LIBS_OF  := $(shell awk 'FNR == 1 { if (match($$0, /libs:( -l[-a-z0-9_]+)+/)) { l = substr($$0, RSTART + 6, RLENGTH - 6); gsub(/ /, ",", l); \
		printf "%s=%s ", FILENAME, l }; nextfile }' $(TESTS_all))
TESTS_long := $(shell awk 'FNR == 1 { if (/tier: *long/) print FILENAME; nextfile }' $(TESTS_all))
said_of = $(patsubst $(1)=%,%,$(filter $(1)=%,$(2)))
comma := ,
define test_rule
$(B)/$(basename $(1)): $(B)/$(basename $(1)).o $(if $(findstring /fuzz_,$(1)),$(B)/tests/fuzz/replay.o) $(B)/libsupport.a \
		$(call archives,$(call said_of,$(1),$(LAYER_OF)))
	$(if $(V),,@)$$(CC) $$(ALL_LDFLAGS) $(if $(filter $(basename $(1)),$(READ_THEMSELVES)),,$$(LDFLAGS_test_$$(MODE))) -o $$@ $$^ $$(PKG_LIBS) -lcmocka $(subst $(comma), ,$(call said_of,$(1),$(LIBS_OF)))
endef
$(foreach t,$(TESTS_all),$(eval $(call test_rule,$(t))))
programs = $(patsubst %.c,$(B)/%,$(TESTS_$(1)))

# tests/suites.py lists the tests; tests/README.md describes each suite. T='GLOB…' selects tests, JOBS=N sets the number
# of parallel jobs, TIMES=1 prints the slowest tests.
T   ?=
run  = tests/run --build $(B) --tier $(1) $(RUN) $(patsubst %,'%',$(T))
ALL_TESTS := $(foreach s,unit integration property canary fuzz,$(call programs,$(s)))
LONG_TESTS := $(patsubst %.c,$(B)/%,$(TESTS_long))
SUITES := unit integration property golden canary cli plugin luajit nginx redis diff live heap verdict batch browser replay hostile timing

built: $(B)/xcore $(filter-out $(LONG_TESTS),$(ALL_TESTS))

# With the tests' own programs of test-long: before `tests/run --tier long` by hand.
built-long: $(B)/xcore $(ALL_TESTS)

sanitized:
	@$(MAKE) -s --no-print-directory MODE=hostile built-long

##@ tests
quick: $(filter-out $(LONG_TESTS),$(call programs,unit)) $(B)/xcore ## unit tests that start no compiler: 15 s
	@$(call run,quick)

check: built ## tests for use while you work on a change: unit, integration, property, golden: 60 s
	@$(call run,check)

# Compilation uses all processors; tests/run then has its own job pool.
test: ## required for every change: each claim once, on small cores built here: 10 minutes, 4 once the cores exist
	@$(MAKE) -s --no-print-directory $(JOBS_OPTION) built
	@$(call run,test)

test-long: ## full matrices (compilers, releases, allocators, sanitizers): 75 minutes; RUN=--resume continues
	@$(MAKE) -s --no-print-directory $(JOBS_OPTION) built-long
	@$(MAKE) -s --no-print-directory $(JOBS_OPTION) sanitized
	@$(call run,long)

$(SUITES): built # one suite's part of `make test`
	@tests/run --build $(B) --tier test $(RUN) '$@/*'

flakes: built ## find flaky tests: RUN='--repeat 5 --shuffle --stress' (the default), T='GLOB…'
	@tests/run --build $(B) --tier test $(or $(RUN),--repeat 5 --shuffle --stress) $(patsubst %,'%',$(T))

golden-accept: $(B)/xcore ## accept the current output as golden; review the diff
	@XCORE=$(B)/xcore tests/golden/run --accept

fuzz: ## run each fuzz target for a minute (needs clang)
	@tests/fuzz/run

bench: $(B)/xcore ## gdb, eu-stack and xcore on the same cores, in one run
	@tests/bench/run --xcore $(B)/xcore

##@ other
demo: $(B)/xcore ## crash a small program and analyze its core
	@corpora/demo $(B)/xcore

lint: ## format, static checks, shell scripts, layers
	@tests/lint

format: ## clang-format over all sources
	@git ls-files -z '*.c' '*.h' | xargs -0 clang-format -i

# Other targets on the same command line add their own dependencies.
DEPS = $(if $(filter test-long bench,$(MAKECMDGOALS)),long) $(if $(filter lint format,$(MAKECMDGOALS)),lint) \
       $(if $(filter quick check test flakes built built-long fuzz $(SUITES),$(MAKECMDGOALS)),test)
deps: ## install build dependencies (apt; root or sudo); name test, test-long, lint or bench as well to add theirs
	@corpora/deps $(DEPS)

man: $(B)/cli/xcore.1 ## generate the man page from the tables of --help
$(B)/cli/xcore.1: $(B)/xcore
	$(B)/xcore help --man >$@

reference: ## generate lua/REFERENCE.md from the editor stubs
	lua/reference.py >lua/REFERENCE.md

# Directories reach the shell through the environment, so special characters in their names are safe. File modes ignore
# the umask.
AT := "$$DESTDIR$${PREFIX-/usr/local}"

install: $(B)/xcore man ## install below PREFIX (and DESTDIR)
	install -Dm755 -- $(B)/xcore $(AT)/bin/xcore
	install -Dm644 -- $(B)/cli/xcore.1 $(AT)/share/man/man1/xcore.1
	install -Dm644 -- core/report/report.schema.json $(AT)/share/xcore/report.schema.json
	install -Dm644 -- batch/triage.schema.json $(AT)/share/xcore/triage.schema.json
	install -Dm644 -- lua/xcore.d.lua $(AT)/share/xcore/xcore.d.lua
	find plugins -name '*.lua' ! -path '*/test/*' -exec sh -ec 'for f; do install -Dm644 -- "$$f" $(AT)/share/xcore/"$$f"; done' sh {} +
	for shell in bash zsh fish; do $(B)/xcore help --completion $$shell >$(B)/cli/completion.$$shell || exit; done
	install -Dm644 -- $(B)/cli/completion.bash $(AT)/share/bash-completion/completions/xcore
	install -Dm644 -- $(B)/cli/completion.zsh $(AT)/share/zsh/site-functions/_xcore
	install -Dm644 -- $(B)/cli/completion.fish $(AT)/share/fish/vendor_completions.d/xcore.fish

uninstall: ## remove installed files
	rm -f -- $(AT)/bin/xcore $(AT)/share/man/man1/xcore.1 $(AT)/share/bash-completion/completions/xcore \
		$(AT)/share/zsh/site-functions/_xcore $(AT)/share/fish/vendor_completions.d/xcore.fish
	rm -rf -- $(AT)/share/xcore

clean: ## remove build/ but not the corpora
	rm -rf build/release* build/debug* build/asan* build/hostile* build/programs

-include $(shell find $(B) -name '*.d' 2>/dev/null)
