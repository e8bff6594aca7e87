/* process_core: opening a core.
 *
 *   bytes ─→ ELF header ─→ notes ─→ threads, signal, auxv, NT_FILE
 *                │                                      │
 *                └→ program headers ─→ mappings ←───────┘
 *                         │
 *                  space, sealed ─→ modules ─→ their files ─→ file pages added, sealed again
 *
 * Every PT_LOAD first covers its whole memory size with a missing range and a reason; the stored bytes are added on
 * top. What the files of modules add is in module_pages.h. */
#include "core/process/process.h"

#include <elf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/text.h"
#include "core/process/finder.h"
#include "core/process/module.h"
#include "core/process/module_pages.h"
#include "core/process/notes.h"
#include "core/process/snapshot.h"
#include "core/store/archive.h"

/* ---- mappings and memory of a core ---- */

static void add_mapping(struct xc_process *p, size_t *capacity, const struct xc_phdr *load, uint64_t stored)
{
	p->mappings = xc_grow(p->mappings, p->mapping_count, capacity, sizeof *p->mappings);
	struct xc_mapping *m = &p->mappings[p->mapping_count++];
	uint64_t room = UINT64_MAX - load->vaddr;
	*m = (struct xc_mapping){
		.lo = load->vaddr,
		.hi = load->memsz - 1 > room ? UINT64_MAX : load->vaddr + load->memsz - 1,
		.readable = load->flags & PF_R,
		.writable = load->flags & PF_W,
		.executable = load->flags & PF_X,
		.dumped = load->filesz < load->memsz ? load->filesz : load->memsz,
	};
	m->cut = stored < m->dumped;
}

/* Add the mapping as a missing range, then the bytes that the core holds of it. */
static void lay_mapping(struct xc_process *p, const struct xc_mapping *m, const struct xc_phdr *load, uint64_t stored)
{
	struct xc_segment claim = {.lo = m->lo, .hi = m->hi, .provenance = XC_NOT_DUMPED};
	xc_space_add(p->space, &claim);
	if (m->dumped) {
		struct xc_segment lost = {.lo = m->lo, .hi = m->lo + (m->dumped - 1), .provenance = XC_CUT_SHORT};
		if (m->cut)
			xc_space_add(p->space, &lost);
	}
	if (stored) {
		struct xc_segment bytes = {.lo = m->lo,
					   .hi = m->lo + (stored - 1),
					   .provenance = XC_FROM_CORE,
					   .bytes = p->core->bytes + load->offset};
		xc_space_add(p->space, &bytes);
	}
}

static int by_mapping_lo(const void *a, const void *b)
{
	const struct xc_mapping *x = a, *y = b;
	return x->lo < y->lo ? -1 : x->lo > y->lo;
}

/* Drop mappings that overlap an earlier one (only in damaged or hostile cores), so that binary search works. */
static void tidy_mappings(struct xc_process *p)
{
	size_t kept = 0;
	if (p->mapping_count)
		qsort(p->mappings, p->mapping_count, sizeof *p->mappings, by_mapping_lo);
	for (size_t i = 0; i < p->mapping_count; i++)
		if (kept == 0 || p->mappings[i].lo > p->mappings[kept - 1].hi)
			p->mappings[kept++] = p->mappings[i];
	if (kept < p->mapping_count)
		xc_process_remark(p, "%zu memory segments of the core overlap others: damaged program headers",
				  p->mapping_count - kept);
	p->mapping_count = kept;
}

static void read_mappings(struct xc_process *p, const struct xc_elf *elf)
{
	size_t capacity = 0;
	uint64_t expected = 0, missing = 0;
	for (uint32_t i = 0; i < elf->phdrs_readable; i++) {
		struct xc_phdr load = xc_elf_phdr(elf, i);
		if (load.type != PT_LOAD || load.memsz == 0)
			continue;
		uint64_t there = load.offset < elf->size ? elf->size - load.offset : 0;
		uint64_t wanted = load.filesz < load.memsz ? load.filesz : load.memsz;
		uint64_t room = UINT64_MAX - load.vaddr;
		if (wanted && wanted - 1 > room)
			wanted = load.filesz = room; /* it would wrap: hostile */
		uint64_t stored = wanted < there ? wanted : there;
		add_mapping(p, &capacity, &load, stored);
		lay_mapping(p, &p->mappings[p->mapping_count - 1], &load, stored);
		missing += wanted - stored;
		uint64_t end = load.offset <= UINT64_MAX - wanted ? load.offset + wanted : UINT64_MAX;
		expected = wanted && end > expected ? end : expected;
	}
	p->missing_bytes = missing;
	p->expected_size = expected;
	tidy_mappings(p);
}

/* Set names from NT_FILE. A mapping lies within one row. */
static void name_mappings(struct xc_process *p)
{
	size_t row = 0;
	for (size_t i = 0; i < p->mapping_count && row < p->file_count; i++) {
		struct xc_mapping *m = &p->mappings[i];
		while (row < p->file_count && p->files[row].hi < m->lo)
			row++;
		if (row < p->file_count && p->files[row].lo <= m->lo) {
			m->path = p->files[row].path;
			m->offset = p->files[row].offset + (m->lo - p->files[row].lo);
		}
	}
}

static struct xc_mapping *mapping_of(struct xc_process *p, xc_addr addr)
{
	const struct xc_mapping *m = xc_process_mapping(p, addr);
	return m ? &p->mappings[m - p->mappings] : NULL;
}

/* A core has no names of anonymous mappings: their content identifies them. */
static void label_mappings(struct xc_process *p)
{
	uint64_t at;
	struct xc_mapping *m;
	for (size_t i = p->thread_count; i-- > 0;) {
		uint64_t sp;
		if (xc_regs_get(&p->threads[i].regs, p->arch->sp, &sp) && (m = mapping_of(p, sp)) && !m->path)
			m->label = xc_arena_printf(&p->arena, "[stack:%d]", (int)p->threads[i].tid);
	}
	if (xc_process_auxv(p, AT_RANDOM, &at) && (m = mapping_of(p, at)) && !m->path)
		m->label = "[stack]"; /* the kernel stores these bytes on the main thread's stack */
	if (xc_process_auxv(p, AT_SYSINFO_EHDR, &at) && (m = mapping_of(p, at)))
		m->label = "[vdso]";
}

/* ---- files of modules ---- */

static struct xc_error *find_files(struct xc_process *p, const struct xc_elf *elf,
				   const struct xc_open_options *options)
{
	bool touched_dumped = xc_process_touched_dumped(p);
	for (size_t i = 0; i < p->module_count; i++) {
		struct xc_module *m = p->modules[i];
		xc_finder_module(options->finder, p, m);
		if (m->kind == XC_MODULE_EXE && options->finder->exe && !options->finder->exe_optional &&
		    m->identity != XC_VERIFIED && m->identity != XC_UNVERIFIED)
			return xc_error_new(XC_ERR_MISMATCH, "%s: %s", options->finder->exe, m->why);
		xc_module_name_mappings(p, m);
		xc_module_lay_file(p, m, touched_dumped);
		xc_module_read_file(p, m);
	}
	xc_process_index(p);
	if (elf->phdrs_readable == elf->phnum) {
		xc_modules_lay_omitted(p);
		tidy_mappings(p);
	}
	xc_space_seal(p->space);
	return NULL;
}

/* ---- opening ---- */

static const char *elf_type_name(uint16_t type)
{
	switch (type) {
	case ET_EXEC:
		return "an executable";
	case ET_DYN:
		return "a program or shared library";
	case ET_REL:
		return "an object file";
	default:
		return "of an unknown type";
	}
}

static struct xc_error *check_core(const struct xc_source *source, struct xc_elf *elf)
{
	if (source->size == 0)
		return xc_error_new(XC_ERR_FORMAT, "%s",
				    source->cut
					    ? "a compressed file that was truncated before any data could be inflated"
					    : "the file is empty");
	struct xc_error *err = xc_elf_parse(source->bytes, source->size, elf);
	if (err)
		return err;
	if (elf->type != ET_CORE)
		return xc_error_hint(
			xc_error_new(XC_ERR_FORMAT, "an ELF file, but %s, not a core", elf_type_name(elf->type)),
			"name the core here and its program with --exe");
	if (elf->phdrs_readable == 0)
		return xc_error_new(XC_ERR_FORMAT, "a core without program headers: nothing can be read from it");
	return NULL;
}

static void remark_on_cut(struct xc_process *p)
{
	xc_auto(xc_text_fini) struct xc_text there = {0}, whole = {0}, lost = {0};
	xc_text_size(&there, p->core->size);
	xc_text_size(&whole, p->expected_size);
	xc_text_size(&lost, p->missing_bytes);
	xc_process_remark(p, "the core file is cut short: %s of %s are there; %s of memory are lost",
			  xc_text_string(&there), xc_text_string(&whole), xc_text_string(&lost));
}

static void remark_on_size(struct xc_process *p, const struct xc_elf *elf)
{
	if (elf->phdrs_readable < elf->phnum)
		xc_process_remark(p, "the core ends inside its program headers: %" PRIu32 " of %" PRIu32 " are there",
				  elf->phdrs_readable, elf->phnum);
	if (p->missing_bytes)
		remark_on_cut(p);
	if (p->core->cut)
		xc_process_remark(p, "the compressed data is damaged or truncated; the readable part is used");
}

static void remark_on_machine(struct xc_process *p, const struct xc_elf *elf)
{
	bool narrow = elf->elf_class == ELFCLASS32;
	if (!p->arch->unwinds)
		xc_process_remark(
			p,
			"the core of a program for %s%s%s%s%s: facts and maps are shown, stacks and values of this "
			"machine are not supported",
			xc_arch_machine_name(elf->machine), narrow || elf->big_endian ? " (" : "",
			narrow ? "32-bit" : "", narrow && elf->big_endian ? ", " : "",
			elf->big_endian ? "big-endian)"
			: narrow        ? ")"
					: "");
}

static struct xc_error *load_core(struct xc_process *p, const struct xc_open_options *options)
{
	struct xc_elf elf;
	struct xc_error *err = check_core(p->core, &elf);
	if (err)
		return err;
	p->arch = xc_arch_find(elf.machine, elf.elf_class, elf.big_endian);
	xc_space_set_big_endian(p->space, elf.big_endian);
	xc_notes_read(p, &elf);
	read_mappings(p, &elf);
	name_mappings(p);
	label_mappings(p);
	remark_on_size(p, &elf);
	remark_on_machine(p, &elf);
	if (p->thread_count == 0)
		xc_process_remark(p, "the core has no thread notes: they are lost or of an unknown machine");
	xc_space_seal(p->space);
	xc_modules_find(p);
	err = find_files(p, &elf, options);
	xc_snapshot_settle(p); /* code may be in a module's file */
	return err;
}

/* For a pack, open its core. The files of the pack then replace those of the file system. */
static struct xc_error *open_pack(struct xc_process *p, struct xc_finder *finder, const struct xc_source_options *how)
{
	if (!xc_archive_is(p->core))
		return NULL;
	struct xc_error *err = xc_archive_open(xc_take(p->core), &p->archive);
	finder->archive = p->archive;
	return err ? err : xc_archive_core(p->archive, how, &p->core);
}

/* Takes the source. */
static struct xc_error *open_source(struct xc_source *core, const char *name, const struct xc_source_options *how,
				    const struct xc_open_options *options, struct xc_process **process_out)
{
	xc_auto(xc_process_closep) struct xc_process *p = xc_process_new(name, false);
	struct xc_finder finder = *options->finder;
	struct xc_open_options own = *options;
	struct xc_error *err;
	own.finder = &finder;
	p->core = core;
	p->sysroot = xc_arena_strdup(&p->arena, finder.sysroot);
	p->source_roots = finder.source_roots;
	if ((err = open_pack(p, &finder, how)) || (err = load_core(p, &own)))
		return err->code == XC_ERR_MISMATCH ? err : xc_error_wrap(err, "%s", name);
	*process_out = xc_take(p);
	return NULL;
}

static struct xc_source_options source_options(const struct xc_open_options *options)
{
	return (struct xc_source_options){
		.progress = options->progress, .max_size = options->max_core_size, .room = options->room};
}

struct xc_error *xc_process_open_core(const char *path, const struct xc_open_options *options,
				      struct xc_process **process_out)
{
	const struct xc_source_options how = source_options(options);
	struct xc_source *core = NULL;
	struct xc_error *err = xc_source_open(path, &how, &core);
	return err ? err : open_source(core, path, &how, options, process_out);
}

struct xc_error *xc_process_open_core_fd(int fd, const char *name, const struct xc_open_options *options,
					 struct xc_process **process_out)
{
	const struct xc_source_options how = source_options(options);
	struct xc_source *core = NULL;
	struct xc_error *err = xc_source_open_fd(fd, name, &how, &core);
	return err ? err : open_source(core, name, &how, options, process_out);
}
