/* made: debug information from tests/support/dwarfmake.h, opened, and a frame to evaluate it in: registers, memory, a
 * function.
 *
 *	memory 0x1000…0x103f   bytes 0x10, 0x11, … 0x4f
 *	bias 0x100000          rax 0x1122334455667788, rbx 0x1010, rsp 0x1030, rbp 0x1020, CFA 0x1040
 *	fs_base 0x1080         TLS of the module 0x80 below it, so at 0x1000 */
#ifndef XC_TEST_MADE_H
#define XC_TEST_MADE_H

#include <dwarf.h>
#include <stdio.h>

#include "core/elf/arch.h"
#include "dwarf/module/die.h"
#include "dwarf/value/expr.h"
#include "dwarf/format/format.h"
#include "dwarf/module/walk.h"
#include "tests/support/check.h"
#include "tests/support/dwarfmake.h"

enum {
	MADE_MEMORY = 0x1000,
	MADE_SIZE = 0x40,
	MADE_BIAS = 0x100000,
	MADE_RAX = 0,
	MADE_RBX = 3,
	MADE_RBP = 6,
	MADE_RSP = 7,
	MADE_XMM0 = 17,
	MADE_FS_BASE = 58,
};
#define MADE_RAX_VALUE UINT64_C(0x1122334455667788)

struct made {
	struct xc_process *process;
	struct xc_module module;
	struct xc_thread thread;
	struct xc_vector_regs vector;
	struct xc_frame frame;
	struct xc_place place;
	struct xc_level level;
	struct xc_arena scratch;
	struct xc_expr_context context;
	uint8_t memory[MADE_SIZE];
	void *image;
	Elf *elf;
	Dwarf *dwarf;
};

/* For use by other programs: DM_KEEP=DIR keeps every file opened here. */
static inline void made_keep(const void *image, size_t size)
{
	static unsigned number;
	const char *dir = getenv("DM_KEEP");
	xc_auto(xc_freep) char *path = dir ? xc_asprintf("%s/%u", dir, number++) : NULL;
	FILE *file = path ? fopen(path, "w") : NULL;
	if (file) {
		assert_int_equal(fwrite(image, 1, size, file), size);
		fclose(file);
	}
}

static inline struct made *made_open(const struct dm *dm)
{
	size_t size;
	struct made *m = xc_alloc(sizeof *m);
	m->image = dm_image(dm, &size);
	made_keep(m->image, size);
	elf_version(EV_CURRENT);
	m->elf = elf_memory(m->image, size);
	assert_non_null(m->elf);
	m->dwarf = dwarf_begin_elf(m->elf, DWARF_C_READ, NULL);
	assert_non_null(m->dwarf);
	m->process = xc_process_new("made", false);
	m->process->arch = xc_arch_host();
	for (size_t i = 0; i < MADE_SIZE; i++)
		m->memory[i] = (uint8_t)(0x10 + i);
	struct xc_segment s = {
		.lo = MADE_MEMORY, .hi = MADE_MEMORY + MADE_SIZE - 1, .provenance = XC_FROM_CORE, .bytes = m->memory};
	xc_space_add(m->process->space, &s);
	xc_space_seal(m->process->space);
	m->module =
		(struct xc_module){.bias = MADE_BIAS, .bias_known = true, .tls_offset_known = true, .tls_offset = 0x80};
	xc_regs_set(&m->frame.regs, MADE_RAX, MADE_RAX_VALUE);
	xc_regs_set(&m->frame.regs, MADE_RBX, 0x1010);
	xc_regs_set(&m->frame.regs, MADE_RBP, 0x1020);
	xc_regs_set(&m->frame.regs, MADE_RSP, 0x1030);
	xc_regs_set(&m->thread.regs, MADE_FS_BASE, 0x1080);
	const double numbers[] = {2.5, -1};
	memcpy(m->vector.xmm[0], numbers, 16);
	m->vector.xmm_count = 16;
	m->frame.regs.vector = &m->vector;
	m->frame.cfa_known = true;
	m->frame.cfa = 0x1040;
	m->place = (struct xc_place){.module = &m->module, .levels = &m->level};
	m->context = xc_expr_in_frame(m->process, &m->thread, NULL, &m->frame, &m->place, &m->scratch);
	return m;
}

static inline void made_close(struct made *m)
{
	xc_arena_fini(&m->scratch);
	xc_debuginfo_close(m->process);
	xc_walk_forget();
	dwarf_end(m->dwarf);
	elf_end(m->elf);
	xc_process_close(m->process);
	free(m->image);
	free(m);
}

static inline bool made_find_in(Dwarf_Die *parent, const char *name, unsigned depth, Dwarf_Die *out)
{
	Dwarf_Die child;
	for (bool more = depth < 8 && xc_die_child(parent, &child); more; more = xc_die_next(&child)) {
		const char *have = dwarf_diename(&child);
		if ((have && !strcmp(have, name)) || made_find_in(&child, name, depth + 1, out)) {
			if (have && !strcmp(have, name))
				*out = child;
			return true;
		}
	}
	return false;
}

/* The first entry with this name in any unit; false if there is none. */
static inline bool made_die(struct made *m, const char *name, Dwarf_Die *out)
{
	Dwarf_CU *unit = NULL;
	Dwarf_Die die;
	while (dwarf_get_units(m->dwarf, unit, &unit, NULL, NULL, &die, NULL) == 0)
		if (made_find_in(&die, name, 0, out))
			return true;
	return false;
}

/* The value of the named variable as the program prints it, or the reason for its absence; in scratch. At a file
 * address. */
static inline const char *made_value(struct made *m, const char *name, uint64_t file_addr)
{
	Dwarf_Die die;
	struct xc_value value;
	struct xc_text text = {0};
	struct xc_format_options options = xc_format_defaults();
	if (!made_die(m, name, &die))
		return "no such entry";
	m->context.file_addr = file_addr;
	xc_expr_variable(&m->context, &die, &value);
	xc_format_value(&text, &value, &options);
	const char *kept = xc_arena_strdup(&m->scratch, xc_text_string(&text));
	xc_text_fini(&text);
	return kept;
}

static inline void made_expect(struct made *m, const char *name, uint64_t file_addr, const char *want, const char *what)
{
	const char *got = made_value(m, name, file_addr);
	if (strcmp(got, want) != 0)
		fail_msg("%s: got %s, want %s", what, got, want);
}

/* A function for the innermost level of the place, for frame bases. */
static inline void made_enter(struct made *m, const char *function)
{
	assert_true(made_die(m, function, &m->level.die));
	m->level.blocks = &m->level.die;
	m->level.block_count = 1;
	m->place.level_count = 1;
}

/* ---- common beginnings ---- */

/* A base type. Returns its offset in the unit. */
static inline size_t made_base(struct dm *dm, const char *name, unsigned encoding, unsigned size)
{
	size_t at = dm_die(dm, DW_TAG_base_type, false);
	dm_name(dm, name);
	dm_number(dm, DW_AT_encoding, DW_FORM_data1, encoding);
	dm_number(dm, DW_AT_byte_size, DW_FORM_data1, size);
	return at;
}

/* A variable without location or value. */
static inline size_t made_variable(struct dm *dm, const char *name, size_t type)
{
	size_t at = dm_die(dm, DW_TAG_variable, false);
	dm_name(dm, name);
	dm_number(dm, DW_AT_type, DW_FORM_ref4, type);
	return at;
}

#endif
