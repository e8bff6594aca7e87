/* identity_check: compares a file with its mappings and pages in the target.
 *
 * How an ELF file is mapped (Linux fs/binfmt_elf.c elf_map, glibc elf/dl-map-segments.h): each PT_LOAD becomes
 *
 * 	address   bias + page_down(vaddr)  …  bias + page_up(vaddr + filesz)
 * 	offset    page_down(offset)
 *
 * Later mprotect calls (RELRO) split it, and the kernel merges it with a neighbour where both addresses and offsets are
 * contiguous. So a mapping is walked piece by piece, and each piece must lie in a PT_LOAD. Mappings without any
 * permission are skipped: the loader leaves them between segments. */
#include "core/process/identity_check.h"

#include <elf.h>
#include <inttypes.h>
#include <string.h>

#include "core/base/cursor.h"

enum { MAX_LOADS = 64 };

static const char MISPLACED[] = "its segments do not match the module's mappings";

struct layout {
	struct xc_phdr loads[MAX_LOADS];
	size_t count;
	uint64_t page;
	xc_addr bias;
};

static uint64_t page_down(const struct layout *l, uint64_t value)
{
	return value & ~(l->page - 1);
}

static uint64_t page_up(const struct layout *l, uint64_t value)
{
	return value > UINT64_MAX - l->page ? UINT64_MAX : page_down(l, value + l->page - 1);
}

static struct layout read_layout(const struct xc_process *p, const struct xc_elf *elf)
{
	struct layout l = {.page = 4096};
	uint64_t page;
	if (xc_process_auxv(p, AT_PAGESZ, &page) && page >= 4096 && page <= (1 << 20) && !(page & (page - 1)))
		l.page = page;
	for (uint32_t i = 0; i < elf->phdrs_readable && l.count < MAX_LOADS; i++) {
		struct xc_phdr load = xc_elf_phdr(elf, i);
		if (load.type == PT_LOAD && load.memsz)
			l.loads[l.count++] = load;
	}
	return l;
}

/* The PT_LOAD whose file pages cover addr, and the offset of addr in the file. NULL when there is none. */
static const struct xc_phdr *load_at(const struct layout *l, xc_addr addr, uint64_t *offset, xc_addr *end)
{
	for (size_t i = 0; i < l->count; i++) {
		const struct xc_phdr *load = &l->loads[i];
		xc_addr lo = l->bias + page_down(l, load->vaddr);
		uint64_t size = page_up(l, load->filesz + (load->vaddr & (l->page - 1)));
		if (load->filesz == 0 || addr - lo >= size)
			continue;
		*offset = page_down(l, load->offset) + (addr - lo);
		*end = lo + size;
		return load;
	}
	return NULL;
}

/* ---- layout ---- */

static bool of_module(const struct xc_module *module, const struct xc_mapping *m, const char *path)
{
	return m->hi >= module->lo && m->lo <= module->hi && m->path && !strcmp(m->path, path) &&
	       (m->readable || m->writable || m->executable);
}

static bool mapping_fits(const struct layout *l, const struct xc_mapping *m)
{
	xc_addr at = m->lo, end;
	for (size_t pieces = 0; pieces <= l->count; pieces++) {
		uint64_t offset;
		if (!load_at(l, at, &offset, &end) || offset != m->offset + (at - m->lo))
			return false;
		if (end == 0 || end - 1 >= m->hi)
			return true;
		at = end;
	}
	return false;
}

/* Mappings without names must have the permissions of the segment. RELRO may have made a part of it read-only. */
static bool rights_fit(const struct xc_mapping *m, const struct xc_phdr *load)
{
	return m->executable == ((load->flags & PF_X) != 0) && (m->readable || !(load->flags & PF_R)) &&
	       (!m->writable || (load->flags & PF_W));
}

/* gdb leaves out, of the memory and of the list of files, what nobody can have written to (its filter of
 * /proc/PID/coredump_filter, gdb/linux-tdep.c). */
static bool left_out(const struct xc_process *p, const struct xc_phdr *load, const struct xc_mapping *first,
		     const struct xc_mapping *last)
{
	return !first && !last && !(load->flags & PF_W) && p->core_maker && !strcmp(p->core_maker, "gdb");
}

/* Every mapping of the module lies in some PT_LOAD, and every PT_LOAD begins and ends in some mapping. */
static bool layout_fits(const struct xc_process *p, const struct xc_module *module, const struct layout *l,
			const char *path)
{
	size_t seen = 0;
	for (size_t i = 0; path && i < p->mapping_count; i++) {
		if (!of_module(module, &p->mappings[i], path))
			continue;
		if (!mapping_fits(l, &p->mappings[i]))
			return false;
		seen++;
	}
	for (size_t i = 0; i < l->count; i++) {
		xc_addr start = l->bias + l->loads[i].vaddr;
		uint64_t size = l->loads[i].filesz;
		const struct xc_mapping *first = xc_process_mapping(p, start);
		const struct xc_mapping *last = size ? xc_process_mapping(p, start + size - 1) : NULL;
		if (size && path && left_out(p, &l->loads[i], first, last))
			continue;
		if (size && (!first || !last))
			return false;
		if (size && !path && (!rights_fit(first, &l->loads[i]) || !rights_fit(last, &l->loads[i])))
			return false;
	}
	return l->count && (seen || !path);
}

/* The bias of the executable according to the auxiliary vector: entry point, address and count of the program headers.
 * False when these contradict the file. */
static bool bias_by_auxv(const struct xc_process *p, const struct xc_elf *elf, const struct layout *l,
			 xc_addr *bias_out)
{
	uint64_t entry, phdr, phnum;
	if (!xc_process_auxv(p, AT_ENTRY, &entry) || !xc_process_auxv(p, AT_PHDR, &phdr) ||
	    !xc_process_auxv(p, AT_PHNUM, &phnum) || phnum != elf->phnum)
		return false;
	xc_addr bias = xc_arch_wrap(p->arch, entry - elf->entry);
	for (size_t i = 0; i < l->count; i++) {
		const struct xc_phdr *load = &l->loads[i];
		if (elf->phoff >= load->offset && elf->phoff - load->offset < load->filesz) {
			*bias_out = bias;
			return phdr == xc_arch_wrap(p->arch, bias + load->vaddr + (elf->phoff - load->offset));
		}
	}
	return false;
}

/* Find the bias for which the layout fits: the module's own when it is known. */
static bool find_bias(const struct xc_process *p, const struct xc_module *module, const struct xc_elf *elf,
		      struct layout *l)
{
	const struct xc_mapping *first = xc_process_mapping(p, module->lo);
	const char *path = first ? first->path : NULL;
	l->bias = module->bias;
	if (module->bias_known)
		return layout_fits(p, module, l, path);
	if (!path && !p->files_known && module->kind == XC_MODULE_EXE)
		return bias_by_auxv(p, elf, l, &l->bias) && layout_fits(p, module, l, path);
	for (size_t i = 0; path && i < p->mapping_count; i++) {
		const struct xc_mapping *m = &p->mappings[i];
		if (!of_module(module, m, path))
			continue;
		for (size_t j = 0; j < l->count; j++) {
			if (page_down(l, l->loads[j].offset) != m->offset)
				continue;
			l->bias = m->lo - page_down(l, l->loads[j].vaddr);
			if (layout_fits(p, module, l, path))
				return true;
		}
	}
	return false;
}

/* ---- bytes ---- */

/* Compare one run of stored bytes, page by page, so that the message can name the first difference. */
static bool run_equal(const struct layout *l, const struct xc_segment *s, xc_addr lo, xc_addr hi,
		      const struct xc_source *file, xc_addr *differs)
{
	for (xc_addr at = lo;; at += l->page) {
		uint64_t offset, left = hi - at;
		xc_addr end;
		size_t len = left >= l->page ? (size_t)l->page : (size_t)left + 1;
		*differs = at;
		if (!load_at(l, at, &offset, &end) || offset >= file->size)
			return false;
		uint64_t there = file->size - offset;
		if (memcmp(s->bytes + (at - s->lo), file->bytes + offset, there < len ? (size_t)there : len) != 0)
			return false;
		if (left < l->page)
			return true;
	}
}

/* Compare the stored bytes of a segment that cannot have been written to. */
static bool load_equal(const struct xc_process *p, const struct layout *l, const struct xc_phdr *load,
		       const struct xc_source *file, size_t *pages, xc_addr *differs)
{
	xc_addr at = l->bias + page_down(l, load->vaddr);
	xc_addr hi = at + (page_up(l, load->filesz + (load->vaddr & (l->page - 1))) - 1);
	if (load->filesz == 0 || (load->flags & PF_W) || hi < at)
		return true;
	while (at <= hi) {
		const struct xc_segment *s = xc_space_find(p->space, at);
		const struct xc_mapping *m = xc_process_mapping(p, at);
		if (!s || !m)
			return true;
		xc_addr last = s->hi < hi ? s->hi : hi;
		last = m->hi < last ? m->hi : last;
		if (s->provenance == XC_FROM_CORE && s->bytes && !m->writable) {
			if (!run_equal(l, s, at, last, file, differs))
				return false;
			*pages += (size_t)((last - at) / l->page + 1);
		}
		if (last == UINT64_MAX)
			return true;
		at = last + 1;
	}
	return true;
}

/* ---- debug-only files ---- */

/* True for the output of `objcopy --only-keep-debug` and `eu-strip -f`: the same build-id and program headers, but code
 * sections without bytes. Such a file must never be used as the program. */
static bool is_debug_only(const struct xc_elf *elf)
{
	bool wide = elf->elf_class == ELFCLASS64;
	uint64_t shoff = xc_load_uint(elf->bytes + (wide ? 40 : 32), wide ? 8 : 4, elf->big_endian);
	uint64_t size = xc_load_uint(elf->bytes + (wide ? 58 : 46), 2, elf->big_endian);
	uint64_t count = xc_load_uint(elf->bytes + (wide ? 60 : 48), 2, elf->big_endian);
	if (shoff >= elf->size || size < (wide ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr)))
		return false;
	uint64_t fit = (elf->size - shoff) / size;
	for (uint64_t i = 0; i < count && i < fit; i++) {
		const uint8_t *header = elf->bytes + shoff + i * size;
		uint64_t type = xc_load_uint(header + 4, 4, elf->big_endian);
		uint64_t flags = xc_load_uint(header + 8, wide ? 8 : 4, elf->big_endian);
		if (type == SHT_NOBITS && (flags & SHF_EXECINSTR) && (flags & SHF_ALLOC))
			return true;
	}
	return false;
}

/* ---- the verdict ---- */

static void refuse(struct xc_process *p, struct xc_identity_check *check, const char *path, const char *because)
{
	check->identity = XC_REFUSED;
	check->why = xc_arena_printf(&p->arena, "%s: %s: file not used", path, because);
}

static const char *differing_ids(struct xc_process *p, const struct xc_module *module,
				 const struct xc_identity_check *check, const char *path)
{
	char ours[2 * XC_BUILD_ID_MAX + 1], theirs[2 * XC_BUILD_ID_MAX + 1];
	const char *where = p->live ? "in memory" : "in the core";
	xc_build_id_hex(&module->build_id, ours);
	xc_build_id_hex(&check->build_id, theirs);
	if (!check->build_id.size)
		return xc_arena_printf(&p->arena, "build-id %s %s, none in %s: file not used", ours, where, path);
	if (!module->build_id.size)
		return xc_arena_printf(&p->arena, "no build-id %s, %s in %s: file not used", where, theirs, path);
	return xc_arena_printf(&p->arena, "build-id %s %s, %s in %s: file not used", ours, where, theirs, path);
}

static void set_range(struct xc_identity_check *check, const struct layout *l)
{
	check->bias = l->bias;
	check->lo = UINT64_MAX;
	for (size_t i = 0; i < l->count; i++) {
		xc_addr lo = l->bias + page_down(l, l->loads[i].vaddr);
		xc_addr hi = l->bias + l->loads[i].vaddr + (l->loads[i].memsz - 1);
		check->lo = lo < check->lo ? lo : check->lo;
		check->hi = hi > check->hi ? hi : check->hi;
	}
}

/* Go's own build-id, "Cb4…/xn8…/Yt0…/qU3…": digests of what the program was made from and of its content (Go 1.10 and
 * later, cmd/internal/buildid). A text that the builder chose, as "redacted", identifies nothing. */
static bool is_go_id(const uint8_t *id, size_t size)
{
	enum { PARTS = 4, LEAST = 16 };
	size_t parts = 1, length = 0;
	for (size_t i = 0; i < size; i++) {
		if (id[i] != '/') {
			length++;
			continue;
		}
		if (length < LEAST)
			return false;
		parts++;
		length = 0;
	}
	return parts == PARTS && length >= LEAST;
}

static bool is_go_id_equal(const struct xc_process *p, const struct xc_elf *elf, const struct layout *l,
			   const struct xc_phdr *note)
{
	enum { GO_BUILD_ID = 4, NOTES_MOST = 4096, ID_MOST = 256 };
	uint8_t memory[NOTES_MOST];
	size_t here, there, size = (size_t)note->filesz;
	if (note->filesz > sizeof memory || note->offset > elf->size || note->filesz > elf->size - note->offset ||
	    xc_space_peek(p->space, l->bias + note->vaddr, memory, size) != size)
		return false;
	const uint8_t *ours =
		xc_elf_note_find(memory, size, note->align, elf->big_endian, "Go", GO_BUILD_ID, ID_MOST, &here);
	const uint8_t *theirs = xc_elf_note_find(elf->bytes + note->offset, size, note->align, elf->big_endian, "Go",
						 GO_BUILD_ID, ID_MOST, &there);
	return ours && theirs && here == there && memcmp(ours, theirs, here) == 0 && is_go_id(ours, here);
}

static bool has_go_id(const struct xc_process *p, const struct xc_elf *elf, const struct layout *l)
{
	enum { HEADERS = 64 };
	for (uint32_t i = 0; i < elf->phdrs_readable && i < HEADERS; i++) {
		const struct xc_phdr note = xc_elf_phdr(elf, i);
		if (note.type == PT_NOTE && is_go_id_equal(p, elf, l, &note))
			return true;
	}
	return false;
}

/* Without a build-id in memory, everything else must match; then Go's is as good. */
static void check_by_content(struct xc_process *p, const struct xc_module *module,
			     const struct xc_identity_candidate *candidate, const struct xc_elf *elf, struct layout *l,
			     struct xc_identity_check *check)
{
	const struct xc_source *file = candidate->file;
	size_t pages = 0;
	xc_addr differs = 0;
	if (!find_bias(p, module, elf, l)) {
		refuse(p, check, candidate->path, MISPLACED);
		return;
	}
	for (size_t i = 0; i < l->count; i++) {
		if (load_equal(p, l, &l->loads[i], file, &pages, &differs))
			continue;
		refuse(p, check, candidate->path,
		       xc_arena_printf(&p->arena, "its bytes differ from those at 0x%" PRIx64 " in the core", differs));
		return;
	}
	if (has_go_id(p, elf, l)) {
		check->identity = XC_VERIFIED;
		return;
	}
	check->identity = candidate->strict ? XC_REFUSED : XC_UNVERIFIED;
	xc_auto(xc_freep) char *compared =
		pages ? xc_asprintf("layout and %zu stored page%s", pages, pages == 1 ? "" : "s")
		      : xc_strdup("layout only");
	check->why = xc_arena_printf(&p->arena, "%s; %s fits by %s%s",
				     module->build_id_lost ? "the core lost its build-id" : "it has no build-id",
				     candidate->path, compared,
				     candidate->strict ? ", but --strict accepts verified files only" : "");
}

static void check_elf(struct xc_process *p, const struct xc_module *module,
		      const struct xc_identity_candidate *candidate, const struct xc_elf *elf,
		      struct xc_identity_check *check)
{
	struct layout l = read_layout(p, elf);
	bool misplaced = false;
	check->build_id = xc_elf_build_id(elf);
	l.bias = module->bias;
	if (elf->elf_class != p->arch->elf_class || elf->machine != p->arch->machine ||
	    elf->big_endian != p->arch->big_endian || (elf->type != ET_EXEC && elf->type != ET_DYN)) {
		refuse(p, check, candidate->path, "for another machine, or neither program nor library");
	} else if (is_debug_only(elf)) {
		refuse(p, check, candidate->path, "a debug file without the program's code");
	} else if (module->build_id.size || (!module->build_id_lost && check->build_id.size)) {
		check->identity = XC_VERIFIED;
		misplaced = !module->bias_known && !find_bias(p, module, elf, &l);
		if (!xc_build_id_equal(&module->build_id, &check->build_id)) {
			check->identity = XC_REFUSED;
			check->why = differing_ids(p, module, check, candidate->path);
			misplaced = false;
		}
	} else if (candidate->same_inode) {
		check->identity = XC_VERIFIED;
		misplaced = !module->bias_known && !find_bias(p, module, elf, &l);
	} else {
		check_by_content(p, module, candidate, elf, &l, check);
	}
	if (misplaced)
		refuse(p, check, candidate->path, MISPLACED);
	set_range(check, &l);
}

struct xc_identity_check xc_identity_check(struct xc_process *p, const struct xc_module *module,
					   const struct xc_identity_candidate *candidate)
{
	struct xc_identity_check check = {.identity = XC_REFUSED};
	struct xc_elf elf;
	struct xc_error *err = xc_elf_parse(candidate->file->bytes, candidate->file->size, &elf);
	if (err)
		refuse(p, &check, candidate->path, err->message);
	else
		check_elf(p, module, candidate, &elf, &check);
	xc_error_free(err);
	return check;
}
