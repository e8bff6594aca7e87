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
.PHONY: all help deps demo built check unit property golden plugin canary diff live heap verdict batch bugs browser hostile hostile-long fuzz replay sanitized tested test test-long \
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

# A suite is the commands of SUITE_name, separated for tests/run, which runs those of all suites that it is given in one pool; what
# measures time or takes much memory stands behind ---. TIMES=1 tells what takes long.
each = $(foreach p,$(1),-- $(p))
BATS := bats --timing --formatter tap
bats = $(foreach f,$(1),-- $(BATS) $(f))
XCORE = $(abspath $(B)/xcore)
HOSTILE := --xcore build/asan/xcore
JOBS_OPTION = $(if $(filter -j% --jobserver%,$(MAKEFLAGS)),,-j$(or $(JOBS),$(shell nproc)))
run = XCORE=$(XCORE) tests/run $(foreach s,$(1),+++ $(s) $(SUITE_$(s)))

SUITE_unit = $(call bats,$(wildcard tests/cli/*.bats)) $(call each,$(call programs,unit)) \
	-- python3 tests/diff/test_compare.py -- python3 tests/diff/test_types.py -- python3 tests/diff/test_expressions.py \
	-- python3 tests/hostile/test_hostile.py
SUITE_property = $(call each,$(call programs,property))
SUITE_golden = $(foreach p,$(wildcard corpora/golden/*.pack),-- tests/golden/run $(p))
SUITE_canary = tests/canary/run $(B)
SUITE_plugin = tests/plugin/run $(call each,$(TESTS_plugin))
SUITE_diff = tests/diff/run -- tests/diff/print --count 12 -- tests/diff/expressions --count 15 -- tests/diff/views -- tests/diff/types \
	-- tests/diff/scripted --only '*-gcc-o[02]'
SUITE_live = $(call bats,$(filter-out %/busy.bats,$(wildcard tests/live/*.bats))) --- $(BATS) tests/live/busy.bats
SUITE_heap = tests/heap/run -- tests/heap/cuts -- tests/heap/growth -- python3 tests/heap/test_answer.py
SUITE_verdict = tests/verdict/run --as full -- tests/verdict/redacted
SUITE_batch = $(foreach t,same truth shards parallel make k8s slurm readme,-- tests/batch/$(t))
SUITE_bugs = tests/verdict/bugs
SUITE_browser = tests/browser/flame -- tests/browser/triage
SUITE_replay = $(foreach p,$(call programs,fuzz),-- $(p) corpora/fuzz/$(patsubst fuzz_%,%,$(notdir $(p))))
SUITE_hostile = tests/hostile/cut $(HOSTILE) --cases 12 -- tests/hostile/mutate $(HOSTILE) --count 300 \
	-- tests/hostile/batch $(HOSTILE) --count 300 -- tests/hostile/vms $(HOSTILE) --cases 4 --count 40 \
	-- tests/hostile/heaps --count 1000 -- tests/hostile/inputs $(HOSTILE) -- tests/hostile/cutstacks
SUITE_hostile-long = tests/hostile/cut $(HOSTILE) --both -- tests/hostile/mutate $(HOSTILE) --count 2000 \
	-- tests/hostile/batch $(HOSTILE) --count 5000 -- tests/hostile/vms $(HOSTILE) --count 1000
SUITE_diff-long = --- tests/diff/run --long -- tests/diff/forms -- tests/verdict/run --no-time -- tests/heap/run --big -- tests/heap/truth \
	-- tests/heap/redis --big -- tests/diff/hotspot -- tests/diff/print -- tests/diff/expressions -- tests/diff/scripted \
	-- tests/plugin/redis --big -- tests/plugin/newcomer --clone

##@ tests
CHECK := unit property golden canary
check: $(foreach s,unit property canary,$(call programs,$(s))) $(B)/xcore ## unit, property, golden and canary: a minute, no gdb, no network
	@$(call run,$(CHECK))

unit: $(call programs,unit) $(B)/xcore ## one program per source file
	@$(call run,unit)

property: $(call programs,property) ## random cases against an oracle, by a printed seed
	@$(call run,property)

canary: $(call programs,canary) ## the runner must notice a failing test
	@$(call run,canary)

golden: $(B)/xcore ## JSON of small checked-in packs, byte for byte
	@$(call run,golden)

golden-accept: $(B)/xcore ## take the present output as golden; review the diff
	@XCORE=$(XCORE) tests/golden/run --accept

plugin: $(B)/xcore corpora ## plugins and the Lua API on cores: their own tests, and what tests/plugin has
	@$(call run,plugin)

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
	@$(call run,diff)

live: $(B)/xcore ## running processes: no ptrace, no stop
	@$(call run,live)

heap: $(B)/xcore ## blocks, leaks and types against what programs wrote down of them; glibc of four releases, other allocators
	@corpora/build-heap
	@$(call run,heap)

verdict: $(B)/xcore ## why programs died, against what is known of their deaths; redacted, too
	@corpora/build-deaths
	@$(call run,verdict)

batch: $(B)/xcore ## many cores: clusters against what was planted; the same bytes by shards and after kills; job files for a real Slurm, GNU parallel and make; Kubernetes' manifest; README's examples
	@corpora/build-deaths
	@corpora/build-batch
	@$(call run,batch)

bugs: $(B)/xcore ## why real programs died: old versions with known bugs, built from source
	@corpora/build-bugs
	@$(call run,bugs)

browser: $(B)/xcore ## what is written for browsers, in one
	@corpora/build-heap --only leaks-o0
	@$(call run,browser)

replay: $(call programs,fuzz) ## the fuzz targets over their seeds and past findings
	@$(call run,replay)

sanitized:
	@$(MAKE) -s --no-print-directory $(JOBS_OPTION) MODE=asan all build/asan/tests/property/test_damaged_heaps

hostile: $(B)/xcore sanitized corpora ## cores cut short, damaged and with damaged heaps, and what is no core, under ASan and UBSan; workers of a batch
	@$(call run,hostile)

hostile-long: sanitized corpora ## every small core cut everywhere, 2,000 mutations
	@$(call run,hostile-long)

built:
	@$(MAKE) -s --no-print-directory $(JOBS_OPTION) all $(foreach s,unit property canary fuzz,$(call programs,$(s)))

tested: built sanitized corpora # all that is run over
	@corpora/build-batch

TEST := plugin diff hostile live verdict batch heap browser replay $(CHECK)
test: tested ## what a change must pass, in one pool: under ten minutes (TIMES=1 tells what takes long)
	@$(call run,$(TEST))

test-long: test corpora-long hostile-long bugs ## big cores and grids, and units under ASan and UBSan without hostile sizes
	@$(MAKE) -k --no-print-directory MODE=asan unit property golden replay
	@$(call run,diff-long)

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
