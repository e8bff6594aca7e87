/* second_opinion: libunwind's interface for remote unwinding (its include/libunwind-common.h and
 * src/dwarf/Gfind_proc_info-lsb.c, 1.6.2), by dlopen. Reads outside of known memory fail. */
#include "dwarf/stack/second_opinion.h"

#include <dlfcn.h>
#include <elf.h>
#include <inttypes.h>
#include <stdlib.h>

#include "core/base/cursor.h"
#include "core/base/text.h"
#include "core/elf/elf.h"
#include "core/io/source.h"
#include "dwarf/elf/symbol.h"

#if __has_include(<libunwind-x86_64.h>)
#include <libunwind-x86_64.h>

enum { MAX_STEPS = 4096, MAX_PHDRS = 128 };

struct step {
	uint64_t pc, sp;
};

struct xc_second_opinion {
	struct xc_process *process;
	const struct xc_thread *thread;
	unw_addr_space_t space;
	struct step *steps; /* of the thread, innermost first */
	size_t count;
};

typedef int search_table(unw_addr_space_t, unw_word_t, unw_dyn_info_t *, unw_proc_info_t *, int, void *);

static struct {
	void *handle;
	__typeof__(unw_create_addr_space) *create;
	__typeof__(unw_destroy_addr_space) *destroy;
	__typeof__(unw_init_remote) *init;
	__typeof__(unw_get_reg) *get;
	__typeof__(unw_step) *step;
	search_table *search;
} library;

static bool find(void *function, const char *name)
{
	/* ISO C has no cast from object to function pointer; POSIX guarantees that this works */
	*(void **)function = dlsym(library.handle, name);
	return *(void **)function != NULL;
}

static bool load(void)
{
	if (!library.handle)
		library.handle = dlopen("libunwind-x86_64.so.8", RTLD_NOW | RTLD_LOCAL);
	return library.handle && find(&library.create, "_Ux86_64_create_addr_space") &&
	       find(&library.destroy, "_Ux86_64_destroy_addr_space") && find(&library.init, "_Ux86_64_init_remote") &&
	       find(&library.get, "_Ux86_64_get_reg") && find(&library.step, "_Ux86_64_step") &&
	       find(&library.search, "_Ux86_64_dwarf_search_unwind_table");
}

/* ---- libunwind's view of the process ---- */

/* Some cores leave out mappings of files altogether: a loaded byte that was not writable is as in a verified file. */
static bool read_file(const struct xc_process *p, xc_addr addr, size_t size, uint64_t *value)
{
	const struct xc_module *m = xc_process_module(p, addr);
	struct xc_elf elf;
	if (!m || !m->file || !m->bias_known || m->identity != XC_VERIFIED)
		return false;
	struct xc_error *err = xc_elf_parse(m->file->bytes, m->file->size, &elf);
	if (err) {
		xc_error_free(err);
		return false;
	}
	uint64_t at = addr - m->bias;
	for (uint32_t i = 0; i < elf.phdrs_readable && i < MAX_PHDRS; i++) {
		struct xc_phdr load = xc_elf_phdr(&elf, i);
		uint64_t into = at - load.vaddr;
		if (load.type != PT_LOAD || load.flags & PF_W || at < load.vaddr || into >= load.filesz ||
		    load.filesz - into < size || load.offset > m->file->size ||
		    m->file->size - load.offset < into + size)
			continue;
		*value = xc_load_uint(m->file->bytes + load.offset + into, size, false);
		return true;
	}
	return false;
}

static bool read_word(const struct xc_process *p, xc_addr addr, size_t size, uint64_t *value)
{
	return xc_space_peek_uint(p->space, addr, size, value) || read_file(p, addr, size, value);
}

static int access_mem(unw_addr_space_t as, unw_word_t addr, unw_word_t *value, int write, void *arg)
{
	const struct xc_second_opinion *o = arg;
	(void)as;
	return !write && read_word(o->process, addr, 8, value) ? 0 : -UNW_EINVAL;
}

static int access_reg(unw_addr_space_t as, unw_regnum_t reg, unw_word_t *value, int write, void *arg)
{
	const struct xc_second_opinion *o = arg; /* libunwind uses DWARF's numbers */
	(void)as;
	return !write && reg >= 0 && reg < XC_REG_MAX && xc_regs_get(&o->thread->regs, reg, value) ? 0 : -UNW_EBADREG;
}

static int access_fpreg(unw_addr_space_t as, unw_regnum_t reg, unw_fpreg_t *value, int write, void *arg)
{
	(void)as, (void)reg, (void)value, (void)write, (void)arg;
	return -UNW_EBADREG;
}

static uint64_t word_at(const struct xc_process *p, xc_addr addr, size_t size)
{
	uint64_t value = 0;
	return read_word(p, addr, size, &value) ? value : 0;
}

/* .eh_frame_hdr (Linux Standard Base 5.0, 10.6.2): version, three encodings, .eh_frame's address, the count, the table.
 * libunwind searches only tables in the encoding that linkers write. */
static bool find_table(const struct xc_process *p, const struct xc_module *m, unw_dyn_info_t *di)
{
	static const uint32_t usual = 0x3b031b01; /* version 1; pcrel sdata4, udata4, datarel sdata4 */
	uint64_t phdrs = m->lo + word_at(p, m->lo + 32, 8), count = word_at(p, m->lo + 56, 2);
	if (!m->bias_known || word_at(p, m->lo, 4) != 0x464c457f || count > MAX_PHDRS)
		return false;
	for (uint64_t i = 0; i < count; i++) {
		xc_addr phdr = phdrs + 56 * i, table = m->bias + word_at(p, phdr + 16, 8);
		if (word_at(p, phdr, 4) != PT_GNU_EH_FRAME || word_at(p, table, 4) != usual)
			continue;
		*di = (unw_dyn_info_t){.start_ip = m->lo, .end_ip = m->hi + 1, .format = UNW_INFO_FORMAT_REMOTE_TABLE};
		di->u.rti.segbase = table;
		di->u.rti.table_data = table + 12;
		di->u.rti.table_len = word_at(p, table + 8, 4) * 8 / sizeof(unw_word_t);
		return true;
	}
	return false;
}

static int find_proc_info(unw_addr_space_t as, unw_word_t ip, unw_proc_info_t *info, int need, void *arg)
{
	const struct xc_second_opinion *o = arg;
	const struct xc_module *m = xc_process_module(o->process, ip);
	unw_dyn_info_t di;
	return m && find_table(o->process, m, &di) ? library.search(as, ip, &di, info, need, arg) : -UNW_ENOINFO;
}

static void put_unwind_info(unw_addr_space_t as, unw_proc_info_t *info, void *arg)
{
	(void)as, (void)info, (void)arg;
}

static int no_list(unw_addr_space_t as, unw_word_t *addr, void *arg)
{
	(void)as, (void)addr, (void)arg;
	return -UNW_ENOINFO;
}

static int no_resume(unw_addr_space_t as, unw_cursor_t *cursor, void *arg)
{
	(void)as, (void)cursor, (void)arg;
	return -UNW_EINVAL;
}

static int no_name(unw_addr_space_t as, unw_word_t addr, char *buf, size_t size, unw_word_t *offset, void *arg)
{
	(void)as, (void)addr, (void)buf, (void)size, (void)offset, (void)arg;
	return -UNW_ENOINFO;
}

static unw_accessors_t accessors = {
	.find_proc_info = find_proc_info,
	.put_unwind_info = put_unwind_info,
	.get_dyn_info_list_addr = no_list,
	.access_mem = access_mem,
	.access_reg = access_reg,
	.access_fpreg = access_fpreg,
	.resume = no_resume,
	.get_proc_name = no_name,
};

/* ---- */

struct xc_error *xc_second_opinion_open(struct xc_process *process, struct xc_second_opinion **out)
{
	*out = NULL;
	if (process->arch->machine != EM_X86_64)
		return xc_error_new(XC_ERR_UNSUPPORTED, "a second opinion is given for x86-64 only");
	if (!load())
		return xc_error_hint(
			xc_error_new(XC_ERR_UNSUPPORTED,
				     "a second opinion needs libunwind, and libunwind-x86_64.so.8 cannot be "
				     "opened"),
			"install libunwind8 (on other distributions libunwind)");
	struct xc_second_opinion *o = xc_alloc(sizeof *o);
	o->process = process;
	o->space = library.create(&accessors, 0);
	if (!o->space) {
		free(o);
		return xc_error_new(XC_ERR_UNSUPPORTED, "libunwind gives no address space");
	}
	o->steps = xc_alloc(MAX_STEPS * sizeof *o->steps);
	*out = o;
	return NULL;
}

void xc_second_opinion_close(struct xc_second_opinion *o)
{
	if (!o)
		return;
	library.destroy(o->space);
	free(o->steps);
	free(o);
}

static void walk(struct xc_second_opinion *o, const struct xc_thread *thread)
{
	unw_cursor_t cursor;
	o->thread = thread;
	o->count = 0;
	if (library.init(&cursor, o->space, o) < 0)
		return;
	do {
		unw_word_t pc, sp;
		if (library.get(&cursor, UNW_X86_64_RIP, &pc) < 0 || library.get(&cursor, UNW_X86_64_RSP, &sp) < 0 ||
		    (o->count && pc == 0))
			return;
		o->steps[o->count++] = (struct step){.pc = pc, .sp = sp};
	} while (o->count < MAX_STEPS && library.step(&cursor) > 0);
}

static bool has_opinion(const struct xc_stack_row *row)
{
	return !row->guest && !row->inlined && !row->tail_call && row->sp;
}

static const char *describe(const struct xc_second_opinion *o, const struct step *step, const char *before,
			    struct xc_arena *arena)
{
	char name[256];
	const char *known = xc_symbol_describe(o->process, step->pc - 1, name, sizeof name);
	xc_auto(xc_text_fini) struct xc_text text = {0};
	if (known)
		xc_text_printf(&text, "%s%s (0x%" PRIx64 ")", before, known, step->pc);
	else
		xc_text_printf(&text, "%s0x%" PRIx64, before, step->pc);
	return xc_arena_strdup(arena, xc_text_string(&text));
}

/* The step of this frame at or after `from`; the count when there is none. */
static size_t step_of(const struct xc_second_opinion *o, const struct xc_stack_row *row, size_t from)
{
	while (from < o->count && (o->steps[from].pc != row->pc || o->steps[from].sp != row->sp))
		from++;
	return from;
}

void xc_second_opinion_apply(struct xc_second_opinion *o, const struct xc_thread *thread, struct xc_stack *stack,
			     struct xc_arena *arena)
{
	if (!thread->has_regs)
		return;
	walk(o, thread);
	size_t next = 0; /* the step that should be the next frame */
	for (size_t i = 0; i < stack->row_count; i++) {
		struct xc_stack_row *row = &stack->rows[i];
		if (!has_opinion(row))
			continue;
		size_t at = step_of(o, row, next);
		if (at < o->count && (at == next || (stack->elided && i == stack->elided_at)))
			row->opinion = XC_OPINION_SAME;
		else if (o->count == MAX_STEPS && at == o->count)
			continue;
		else if (next < o->count)
			row->opinion = describe(o, &o->steps[next], at < o->count ? "before it " : "", arena);
		else
			row->opinion = "the stack ends before";
		next = at < o->count ? at + 1 : next;
	}
}

#else

struct xc_error *xc_second_opinion_open(struct xc_process *process, struct xc_second_opinion **out)
{
	(void)process;
	*out = NULL;
	return xc_error_new(XC_ERR_UNSUPPORTED, "this xcore was built without libunwind's headers: no second opinion");
}

void xc_second_opinion_close(struct xc_second_opinion *opinion)
{
	(void)opinion;
}

void xc_second_opinion_apply(struct xc_second_opinion *opinion, const struct xc_thread *thread, struct xc_stack *stack,
			     struct xc_arena *arena)
{
	(void)opinion, (void)thread, (void)stack, (void)arena;
}

#endif
