/* module_pages: pages of modules that the core omits and their files hold. */
#include "core/process/module_pages.h"

#include <elf.h>
#include <string.h>

#include "core/process/module_impl.h"
#include "core/process/notes.h"

bool xc_process_touched_dumped(const struct xc_process *p)
{
	for (size_t i = 0; i < p->mapping_count; i++)
		if (!p->mappings[i].path && p->mappings[i].writable && p->mappings[i].dumped)
			return true;
	return false;
}

/* Add the file's bytes for the part of m that the kernel omitted on purpose. */
static void lay_file_part(struct xc_process *p, const struct xc_module *module, const struct xc_mapping *m)
{
	uint64_t skip = m->dumped, len = m->hi - m->lo + 1;
	uint64_t offset = m->offset + skip;
	if (skip >= len || offset < skip || offset >= module->file->size)
		return;
	uint64_t there = module->file->size - offset;
	uint64_t size = len - skip < there ? len - skip : there;
	struct xc_segment s = {.lo = m->lo + skip,
			       .hi = m->lo + skip + (size - 1),
			       .provenance = XC_FROM_FILE,
			       .bytes = module->file->bytes + offset};
	xc_space_add(p->space, &s);
}

/* The access that the file's segments give the mapping: the PF_ flags of all that it lies in, PF_W when the headers are
 * not readable. Where a segment was writable, the loader wrote relocations before it made the pages read-only (RELRO).
 */
static uint32_t file_access(const struct xc_module *module, const struct xc_mapping *m)
{
	struct xc_elf elf;
	struct xc_error *err = xc_elf_parse(module->file->bytes, module->file->size, &elf);
	uint32_t access = err ? PF_W : 0;
	for (uint32_t i = 0; !err && i < elf.phdrs_readable; i++) {
		struct xc_phdr p = xc_elf_phdr(&elf, i);
		xc_addr at = xc_module_page_down(module->bias + p.vaddr);
		if (p.type == PT_LOAD && p.memsz && at <= m->hi &&
		    (at >= m->lo || m->lo - at < p.memsz + (module->bias + p.vaddr - at)))
			access |= p.flags;
	}
	xc_error_free(err);
	return access;
}

/* `touched_dumped`: private file pages that were written to are in the core. */
static bool file_shows(const struct xc_module *module, const struct xc_mapping *m, bool touched_dumped)
{
	if (!m->path || strcmp(m->path, module->path) != 0 || m->cut)
		return false;
	if (m->writable)
		return m->dumped == 0 && touched_dumped;
	return touched_dumped || !(file_access(module, m) & PF_W);
}

static bool has_file(const struct xc_module *module)
{
	return module->file && module->file->bytes && module->kind != XC_MODULE_VDSO;
}

void xc_module_lay_file(struct xc_process *p, const struct xc_module *module, bool touched_dumped)
{
	if (!has_file(module))
		return;
	size_t i = xc_process_mapping_lower_bound(p, module->lo);
	for (; i < p->mapping_count && p->mappings[i].lo <= module->hi; i++)
		if (file_shows(module, &p->mappings[i], touched_dumped))
			lay_file_part(p, module, &p->mappings[i]);
}

/* ---- ranges that no program header covers ---- */

struct omitted {
	struct xc_process *process;
	size_t known;    /* mappings of the core's program headers; those that are added follow them */
	size_t capacity; /* of mappings */
	bool untouched;  /* the dumper wrote all private pages that were written to */
};

/* Set the access of a mapping as the module's file has it; false when the file's bytes may not be those in memory. */
static bool access_by_file(const struct omitted *o, const struct xc_module *module, struct xc_mapping *m)
{
	if (!module || !has_file(module) || m->hi > module->hi || strcmp(m->path, module->path) != 0)
		return false;
	uint32_t access = file_access(module, m);
	m->readable = access & PF_R;
	m->writable = access & PF_W;
	m->executable = access & PF_X;
	return m->readable && (!m->writable || o->untouched);
}

static void lay_omitted(struct omitted *o, const struct xc_note_file *row, xc_addr lo, xc_addr hi)
{
	struct xc_process *p = o->process;
	struct xc_segment claim = {.lo = lo, .hi = hi, .provenance = XC_NOT_DUMPED};
	const struct xc_module *module = xc_process_module(p, lo);
	struct xc_mapping m = {.lo = lo, .hi = hi, .path = row->path, .offset = row->offset + (lo - row->lo)};
	xc_space_add(p->space, &claim);
	if (!access_by_file(o, module, &m))
		return;
	p->mappings = xc_grow(p->mappings, p->mapping_count, &o->capacity, sizeof *p->mappings);
	p->mappings[p->mapping_count++] = m;
	lay_file_part(p, module, &m);
}

void xc_modules_lay_omitted(struct xc_process *p)
{
	struct omitted o = {.process = p, .known = p->mapping_count, .capacity = p->mapping_count};
	o.untouched = p->core_maker && strcmp(p->core_maker, "gdb") == 0 && xc_process_touched_dumped(p);
	xc_addr lo = 0;  /* all below is done: rows of a hostile note overlap */
	size_t next = 0; /* the first mapping that ends at or above lo */
	for (size_t i = 0; i < p->file_count; i++) {
		const struct xc_note_file *row = &p->files[i];
		lo = row->lo > lo ? row->lo : lo;
		while (lo <= row->hi) {
			while (next < o.known && p->mappings[next].hi < lo)
				next++;
			bool last = next == o.known || p->mappings[next].lo > row->hi;
			xc_addr gap_end = last ? row->hi : p->mappings[next].lo - 1;
			if (last || p->mappings[next].lo > lo)
				lay_omitted(&o, row, lo, gap_end);
			xc_addr end = last ? row->hi : p->mappings[next].hi;
			if (end == UINT64_MAX)
				return;
			lo = end + 1;
		}
	}
}
