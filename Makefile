# xcore: build, test, install.   `make help` lists the targets.
#
# MODE=release|debug|asan|hostile builds into build/MODE; CC=gcc|clang. One archive per folder, linked in
# layer order, so an upward call does not link.

MODE   ?= release
CC     := $(if $(filter default,$(origin CC)),gcc,$(CC))
PREFIX ?= /usr/local
B      := build/$(MODE)$(if $(findstring clang,$(CC)),-clang)

LAYERS := core dwarf heap triage lua cli
PKGS   := libdw libelf libzstd jansson libseccomp liblzma zlib
WARN   := -Wall -Wextra -Wshadow -Wconversion -Wmissing-prototypes -Wvla -Wpointer-arith -Wstrict-prototypes \
          -Wundef -Wformat=2 -Wno-format-nonliteral -Werror
CFLAGS_release := -O2 -g
CFLAGS_debug   := -O0 -g3
CFLAGS_asan    := -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
CFLAGS_hostile := $(CFLAGS_asan) -DXC_HOSTILE
LDFLAGS_asan   := -fsanitize=address,undefined
LDFLAGS_hostile := $(LDFLAGS_asan)

PKG_CFLAGS := $(shell pkg-config --cflags $(PKGS) 2>/dev/null)
PKG_LIBS   := $(shell pkg-config --libs $(PKGS) 2>/dev/null) -lmd -liberty -ldl -lpthread -lm
ALL_CFLAGS  = -std=c11 -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -fPIE -MMD -MP $(WARN) $(CFLAGS_$(MODE)) $(PKG_CFLAGS) \
              -DXC_DATADIR='"$(PREFIX)/share/xcore"' $(CFLAGS)
ALL_LDFLAGS = -pie $(LDFLAGS_$(MODE)) $(LDFLAGS)

sources   = $(filter-out cli/main.c,$(wildcard $(1)/*.c))
objects   = $(patsubst %.c,$(B)/%.o,$(call sources,$(1)))
archive   = $(if $(call sources,$(1)),$(B)/lib$(1).a)
upto      = $(if $(filter $(1),$(firstword $(2))),$(1),$(firstword $(2)) $(call upto,$(1),$(wordlist 2,99,$(2))))
reversed  = $(if $(1),$(call reversed,$(wordlist 2,99,$(1))) $(firstword $(1)))
archives  = $(foreach l,$(call reversed,$(call upto,$(1),$(LAYERS))),$(call archive,$(l)))

.DEFAULT_GOAL := all
.PHONY: all help deps demo check unit property golden canary plugin diff hostile fuzz replay test test-long bench \
        lint format golden-accept install uninstall clean corpora corpora-long man
.DELETE_ON_ERROR:

all: $(B)/xcore ## build xcore into build/MODE (default)

help: ## list the targets
	@awk -F':.*## ' '/^[a-z-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' Makefile

$(B)/xcore: $(B)/cli/main.o $(call archives,cli)
	$(CC) $(ALL_LDFLAGS) -o $@ $^ $(PKG_LIBS)

$(B)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -c -o $@ $<

define archive_rule
$(B)/lib$(1).a: $(call objects,$(1))
	@rm -f $$@
	ar rcs $$@ $$^
endef
$(foreach l,$(LAYERS),$(if $(call sources,$(l)),$(eval $(call archive_rule,$(l)))))

# A test names the highest layer it may use in its first line: /* layer: dwarf */
layer_of = $(shell sed -n '1s/.*layer: *\([a-z]*\).*/\1/p' $(1))
define test_rule
$(B)/$(basename $(1)): $(B)/$(basename $(1)).o $(patsubst %.c,$(B)/%.o,$(wildcard tests/support/*.c)) \
		$(call archives,$(call layer_of,$(1)))
	$$(CC) $$(ALL_LDFLAGS) -o $$@ $$^ $$(PKG_LIBS) -lcmocka $(shell sed -n '1s/.*libs: *\([-a-z0-9_ ]*[a-z0-9_]\).*/\1/p' $(1))
endef
TESTS_unit     := $(wildcard tests/unit/test_*.c)
TESTS_property := $(wildcard tests/property/test_*.c)
TESTS_canary   := $(wildcard tests/canary/test_*.c)
TESTS_fuzz     := $(wildcard tests/fuzz/fuzz_*.c)
$(foreach t,$(TESTS_unit) $(TESTS_property) $(TESTS_canary) $(TESTS_fuzz),$(eval $(call test_rule,$(t))))
programs = $(patsubst %.c,$(B)/%,$(TESTS_$(1)))

-include $(shell find $(B) -name '*.d' 2>/dev/null)
