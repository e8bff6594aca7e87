/* compile_program: a program compiled while the test runs. Its initialised data is read as the memory of a process.
 *
 * Linked without libraries at fixed addresses, so that the linker's output is the memory of a running program. */
#ifndef XC_TEST_COMPILED_H
#define XC_TEST_COMPILED_H

#include <dwarf.h>
#include <fcntl.h>
#include <gelf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "dwarf/symbolize/debuginfo.h"
#include "dwarf/module/die.h"
#include "dwarf/value/expr.h"
#include "dwarf/format/format.h"
#include "tests/support/kept.h"

struct compiled {
	struct xc_process *process;
	struct xc_module module;
	struct xc_arena scratch;
	struct xc_source *file;
	Dwarf *dwarf;
	int fd;
};

static inline void lay_segment(struct compiled *c, const GElf_Phdr *p)
{
	struct xc_segment s = {.lo = p->p_vaddr, .provenance = XC_FROM_CORE};
	if (p->p_filesz > 0) {
		s.hi = p->p_vaddr + p->p_filesz - 1;
		s.bytes = c->file->bytes + p->p_offset;
		xc_space_add(c->process->space, &s);
	}
	if (p->p_memsz > p->p_filesz) {
		s.lo = p->p_vaddr + p->p_filesz;
		s.hi = p->p_vaddr + p->p_memsz - 1;
		s.bytes = xc_arena_alloc(&c->process->arena, p->p_memsz - p->p_filesz);
		xc_space_add(c->process->space, &s);
	}
}

static inline void lay_program(struct compiled *c)
{
	Elf *elf = dwarf_getelf(c->dwarf);
	size_t count;
	GElf_Phdr p;
	assert_int_equal(elf_getphdrnum(elf, &count), 0);
	for (size_t i = 0; i < count; i++) {
		if (gelf_getphdr(elf, (int)i, &p) && p.p_type == PT_LOAD)
			lay_segment(c, &p);
	}
	xc_space_seal(c->process->space);
}

/* A process for this machine with an empty address space, not sealed. */
static inline struct xc_process *bare_process(void)
{
	struct xc_process *process = xc_process_new("test", false);
	process->arch = xc_arch_host();
	return process;
}

/* The program is the only module. Its debug information is opened as for any module. */
static inline void add_module(struct compiled *c)
{
	Dwarf_Die unit;
	c->module = (struct xc_module){.path = "program",
				       .name = "program",
				       .bias_known = true,
				       .identity = XC_VERIFIED,
				       .file_path = "program",
				       .file = c->file};
	c->process->modules = xc_alloc(sizeof *c->process->modules);
	c->process->modules[0] = &c->module;
	c->process->module_count = 1;
	c->dwarf = xc_debugfile_dwarf(xc_debugfile_of(c->process, &c->module));
	assert_non_null(c->dwarf);
	xc_unit_cache_at(c->process, &c->module, 0, &unit); /* known from here on */
}

/* Compile source with a command such as "gcc -x c -g". Fails the test if compilation fails. */
static inline struct compiled *compile(const char *compiler, const char *source)
{
	char path[] = "/tmp/xc-compiled-XXXXXX", command[512];
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	snprintf(command, sizeof command, "%s -w -nostdlib -static -no-pie -fno-stack-protector -Wl,-e,0", compiler);
	kept_program(path, command, source);
	struct compiled *c = xc_alloc(sizeof *c);
	c->process = bare_process();
	assert_null(xc_source_open(path, &(struct xc_source_options){0}, &c->file));
	c->fd = open(path, O_RDONLY);
	close(fd);
	unlink(path);
	add_module(c);
	lay_program(c);
	return c;
}

static inline void release(struct compiled *c)
{
	xc_arena_fini(&c->scratch);
	xc_debuginfo_close(c->process);
	xc_debugfiles_close(c->process);
	xc_process_close(c->process);
	close(c->fd);
	free(c);
}

static inline bool find_in(Dwarf_Die *parent, const char *name, Dwarf_Die *out)
{
	for (bool more = xc_die_child(parent, out); more; more = xc_die_next(out)) {
		const char *have = dwarf_diename(out);
		int tag = dwarf_tag(out);
		bool object = tag == DW_TAG_variable || tag == DW_TAG_formal_parameter || tag == DW_TAG_subprogram;
		if (object && have && strcmp(have, name) == 0)
			return true;
		Dwarf_Die inner;
		if ((tag == DW_TAG_namespace || tag == DW_TAG_subprogram || tag == DW_TAG_lexical_block) &&
		    find_in(out, name, &inner)) {
			*out = inner;
			return true;
		}
	}
	return false;
}

/* The first variable, parameter or function with this name in any unit. */
static inline Dwarf_Die find_die(struct compiled *c, const char *name)
{
	Dwarf_CU *unit = NULL;
	Dwarf_Die die, out;
	while (dwarf_get_units(c->dwarf, unit, &unit, NULL, NULL, &die, NULL) == 0) {
		if (find_in(&die, name, &out))
			return out;
	}
	fail_msg("no entry named %s", name);
	return die;
}

static inline struct xc_expr_context static_context(struct compiled *c)
{
	return (struct xc_expr_context){.process = c->process, .module = &c->module, .scratch = &c->scratch};
}

static inline struct xc_value value_of(struct compiled *c, const char *name)
{
	struct xc_expr_context context = static_context(c);
	Dwarf_Die die = find_die(c, name);
	struct xc_value value;
	xc_expr_variable(&context, &die, &value);
	return value;
}

static inline const struct xc_type *type_of(struct compiled *c, const char *name)
{
	Dwarf_Die die = find_die(c, name);
	return xc_type_of(xc_types_of(c->process), &die);
}

static inline void expect_text(const struct xc_value *value, const struct xc_format_options *options, const char *name,
			       const char *want)
{
	struct xc_text text = {0};
	xc_format_value(&text, value, options);
	if (strcmp(xc_text_string(&text), want) != 0)
		fail_msg("%s: got %s, want %s", name, xc_text_string(&text), want);
	xc_text_fini(&text);
}

#endif
