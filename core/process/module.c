/* module: the three sources of the list of modules, best first.
 *
 *   AT_PHDR ─→ program headers of the executable in memory ─→ PT_DYNAMIC ─→ DT_DEBUG
 *                 │                                                            │
 *                 └─ load bias                     struct r_debug ←────────────┘
 *                                                    version, map ─→ link_map ─→ link_map ─→ …
 *                                                    (version 2: next name space of dlmopen)
 *   AT_SYSINFO_EHDR ─→ the vDSO's ELF image
 *   NT_FILE (or /proc/PID/maps) ─→ every path with an executable mapping
 *
 * Layouts: r_debug, r_debug_extended and the public head of link_map are <link.h> (glibc 2.36). Thread-local storage:
 * module_tls.c. If the core lacks the program headers, the executable's file leads to the list: module_file.c. */
#include "core/process/module_impl.h"

#include <elf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/hashtable.h"
#include "core/process/notes.h"

enum {
	MAX_DYNAMIC = 512,
	MAX_NAME_SPACES = 64,
	MAX_PATH_LEN = 4096,
	MAX_NAME_BYTES = 2 << 20,  /* of all entries that no mapping names: 16,384 names of 128 bytes */
	MAX_NOTE_BYTES = 16 << 10, /* of one module */
	MAX_RUN = 4096,            /* mappings between an address and the start of its object */
};

struct xc_module *xc_module_add(struct xc_process *process, const char *path, enum xc_module_kind kind)
{
	struct xc_module *m = xc_arena_alloc(&process->arena, sizeof *m);
	m->path = xc_arena_strdup(&process->arena, path);
	const char *slash = strrchr(m->path, '/');
	m->name = slash && slash[1] ? slash + 1 : m->path;
	m->kind = kind;
	struct xc_module **grown = xc_realloc(process->modules, (process->module_count + 1) * sizeof *grown);
	process->modules = grown;
	grown[process->module_count++] = m;
	return m;
}

/* ---- reading headers in the target's memory ---- */

static bool peek_word(const struct xc_process *p, xc_addr addr, uint64_t *value)
{
	return xc_space_peek_uint(p->space, addr, p->arch->word, value);
}

/* Program headers at `at`, `count` of them. False when any is unreadable. */
static bool read_phdrs(const struct xc_process *p, xc_addr at, uint64_t count, struct xc_image *image)
{
	uint8_t bytes[XC_MAX_PHDRS * sizeof(Elf64_Phdr)];
	size_t size = p->arch->word == 8 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
	image->count = 0;
	if (count == 0 || count > XC_MAX_PHDRS ||
	    xc_space_peek(p->space, at, bytes, (size_t)count * size) != count * size)
		return false;
	struct xc_elf elf = {.bytes = bytes,
			     .size = count * size,
			     .elf_class = p->arch->elf_class,
			     .big_endian = p->arch->big_endian,
			     .phentsize = (uint16_t)size};
	for (uint32_t i = 0; i < count; i++)
		image->phdrs[i] = xc_elf_phdr(&elf, i);
	image->count = (size_t)count;
	return true;
}

/* The headers of the ELF image that begins at `at`. */
bool xc_module_read_image(const struct xc_process *p, xc_addr at, struct xc_image *image)
{
	uint8_t header[sizeof(Elf64_Ehdr)];
	struct xc_elf elf;
	size_t got = xc_space_peek(p->space, at, header, sizeof header);
	if (got < sizeof(Elf32_Ehdr))
		return false;
	struct xc_error *err = xc_elf_parse(header, got, &elf);
	xc_error_free(err);
	if (err || elf.elf_class != p->arch->elf_class || elf.big_endian != p->arch->big_endian)
		return false;
	return read_phdrs(p, at + elf.phoff, elf.phnum, image);
}

const struct xc_phdr *xc_module_first_load(const struct xc_image *image)
{
	const struct xc_phdr *best = NULL;
	for (size_t i = 0; i < image->count; i++)
		if (image->phdrs[i].type == PT_LOAD && (!best || image->phdrs[i].vaddr < best->vaddr))
			best = &image->phdrs[i];
	return best;
}

static void read_build_id(const struct xc_process *p, struct xc_module *m, const struct xc_image *image)
{
	bool lost = image->count == 0;
	uint64_t budget = MAX_NOTE_BYTES;
	for (size_t i = 0; i < image->count && !m->build_id.size; i++) {
		const struct xc_phdr *note = &image->phdrs[i];
		if (note->type != PT_NOTE || note->memsz == 0 || note->memsz > budget)
			continue;
		budget -= note->memsz;
		xc_auto(xc_freep) uint8_t *bytes = xc_alloc((size_t)note->memsz);
		if (xc_space_peek(p->space, m->bias + note->vaddr, bytes, (size_t)note->memsz) == note->memsz)
			m->build_id =
				xc_elf_build_id_in_notes(bytes, (size_t)note->memsz, note->align, p->arch->big_endian);
		else
			lost = true;
	}
	m->build_id_lost = lost && !m->build_id.size;
}

/* Sets the range, the dynamic section and the build-id. */
void xc_module_apply_image(const struct xc_process *p, struct xc_module *m, const struct xc_image *image)
{
	xc_addr lo = UINT64_MAX, hi = 0;
	for (size_t i = 0; i < image->count; i++) {
		const struct xc_phdr *load = &image->phdrs[i];
		xc_addr start = m->bias + load->vaddr;
		if (load->type != PT_LOAD || load->memsz == 0 || load->memsz - 1 > UINT64_MAX - start)
			continue;
		lo = start < lo ? start : lo;
		hi = start + load->memsz - 1 > hi ? start + load->memsz - 1 : hi;
	}
	if (lo <= hi) {
		m->lo = xc_module_page_down(lo);
		m->hi = hi | 0xfff;
	}
	const struct xc_phdr *dynamic = xc_module_find_phdr(image, PT_DYNAMIC);
	if (dynamic && !m->dynamic)
		m->dynamic = m->bias + dynamic->vaddr;
	read_build_id(p, m, image);
}

/* ---- mappings ---- */

/* The first mapping of the object that holds addr: the nearest one below with the same path and file offset 0. A file
 * may be mapped twice (dlmopen), so only the nearest run counts. */
static const struct xc_mapping *object_start(const struct xc_process *p, xc_addr addr)
{
	const struct xc_mapping *at = xc_process_mapping(p, addr);
	if (!at || !at->path)
		return NULL;
	const struct xc_mapping *first = at - p->mappings > MAX_RUN ? at - MAX_RUN : p->mappings;
	for (const struct xc_mapping *m = at; m >= first; m--) {
		if (!m->path || strcmp(m->path, at->path) != 0)
			continue;
		if (m->offset == 0)
			return m;
		if (m->offset > at->offset)
			return NULL; /* an earlier run of the same file */
	}
	return NULL;
}

static void mark_deleted(const struct xc_process *p)
{
	for (size_t i = 0; i < p->file_count; i++) {
		struct xc_module *m = p->files[i].deleted ? xc_process_module(p, p->files[i].lo) : NULL;
		if (m)
			m->deleted = true;
	}
}

/* ---- the executable ---- */

static const char *executable_path(struct xc_process *p, xc_addr phdr)
{
	const struct xc_mapping *mapping = xc_process_mapping(p, phdr);
	if (mapping && mapping->path)
		return mapping->path;
	uint64_t entry, name;
	if (xc_process_auxv(p, AT_ENTRY, &entry) && (mapping = xc_process_mapping(p, entry)) && mapping->path)
		return mapping->path;
	char buf[MAX_PATH_LEN + 1];
	if (xc_process_auxv(p, AT_EXECFN, &name) && xc_space_peek_string(p->space, name, buf, MAX_PATH_LEN, NULL) > 0)
		return xc_arena_strdup(&p->arena, buf);
	return p->exe_path;
}

/* The bias from PT_PHDR, else from the mapping that holds the headers. */
static xc_addr executable_bias(const struct xc_process *p, xc_addr phdr, const struct xc_image *image)
{
	const struct xc_phdr *self = xc_module_find_phdr(image, PT_PHDR), *load = xc_module_first_load(image);
	if (self)
		return phdr - self->vaddr;
	const struct xc_mapping *start = object_start(p, phdr);
	if (start && load)
		return start->lo - xc_module_page_down(load->vaddr);
	return load ? xc_module_page_down(phdr) - xc_module_page_down(load->vaddr) : 0;
}

static struct xc_module *find_executable(struct xc_process *p, struct xc_image *image)
{
	uint64_t phdr = 0, phnum = 0;
	bool known = xc_process_auxv(p, AT_PHDR, &phdr) && xc_process_auxv(p, AT_PHNUM, &phnum);
	const char *path = executable_path(p, phdr);
	image->count = 0;
	if (!path)
		return NULL;
	struct xc_module *exe = xc_module_add(p, path, XC_MODULE_EXE);
	p->exe_path = exe->path;
	const struct xc_mapping *start = known ? object_start(p, phdr) : NULL;
	if (start) {
		exe->lo = start->lo;
		exe->hi = start->hi;
	}
	if (!known || !read_phdrs(p, phdr, phnum, image)) {
		exe->build_id_lost = true; /* the finder takes the bias from the file's headers */
		return exe;
	}
	exe->bias = executable_bias(p, phdr, image);
	exe->bias_known = true;
	xc_module_apply_image(p, exe, image);
	return exe;
}

/* ---- the vDSO ---- */

static void find_vdso(struct xc_process *p)
{
	uint64_t at;
	struct xc_image image;
	if (!xc_process_auxv(p, AT_SYSINFO_EHDR, &at) || !at || !xc_module_read_image(p, at, &image))
		return;
	const struct xc_phdr *load = xc_module_first_load(&image);
	struct xc_module *m = xc_module_add(p, "[vdso]", XC_MODULE_VDSO);
	m->bias = load ? at - xc_module_page_down(load->vaddr) : at;
	m->bias_known = true;
	xc_module_apply_image(p, m, &image);
}

/* ---- the loader's list ---- */

/* DT_DEBUG of the executable: the address of r_debug, or 0. */
static xc_addr find_r_debug(const struct xc_process *p, xc_addr dynamic)
{
	size_t word = p->arch->word;
	for (size_t i = 0; dynamic && i < MAX_DYNAMIC; i++) {
		uint64_t tag, value;
		if (!peek_word(p, dynamic + 2 * word * i, &tag) ||
		    !peek_word(p, dynamic + 2 * word * i + word, &value) || tag == DT_NULL)
			break;
		if (tag == DT_DEBUG)
			return value;
	}
	return 0;
}

/* The state of a walk over all lists. A looped list meets `mark` again, which moves ever more rarely (Brent's
 * algorithm). */
struct walk {
	size_t seen;
	xc_addr mark;
	size_t next_mark;
	size_t name_bytes;         /* of entries that no mapping names */
	struct xc_hashtable known; /* the first module by bias and dynamic section */
	bool ended;                /* damaged: no further list is read */
};

static void know(struct walk *w, struct xc_module *m)
{
	union xc_hashtable_value *first = xc_hashtable_at(&w->known, NULL, m->bias, m->dynamic);
	if (m->bias_known && !first->pointer)
		first->pointer = m;
}

static struct xc_module *module_by_bias(const struct walk *w, xc_addr bias, xc_addr dynamic)
{
	const union xc_hashtable_value *first = xc_hashtable_find(&w->known, bias, dynamic);
	return first ? first->pointer : NULL;
}

/* The path of the mapping that holds a link_map's dynamic section, else its l_name, else NULL. */
static const char *link_map_path(struct xc_process *p, struct walk *w, xc_addr name, xc_addr dynamic)
{
	char buf[MAX_PATH_LEN + 1];
	const struct xc_mapping *mapping = xc_process_mapping(p, dynamic);
	if (mapping && mapping->path)
		return mapping->path; /* the kernel's name: real path, symbolic links followed */
	if (xc_space_peek_string(p->space, name, buf, MAX_PATH_LEN, NULL) <= 0)
		return NULL;
	if ((w->name_bytes += strlen(buf)) > MAX_NAME_BYTES) {
		xc_process_remark(p,
				  "the names in the loader's list take more than %d MiB: its entries from number %zu "
				  "on are left out",
				  MAX_NAME_BYTES >> 20, w->seen);
		w->ended = true;
		return NULL;
	}
	return xc_arena_strdup(&p->arena, buf);
}

/* A first estimate until the headers are read: the module's first mapping. Without names of mappings: all mappings up
 * to the one that holds its dynamic section. */
static void set_rough_range(const struct xc_process *p, struct xc_module *m, const struct xc_mapping *start)
{
	const struct xc_mapping *first = start ? start : xc_process_mapping(p, m->bias);
	const struct xc_mapping *last = start ? start : xc_process_mapping(p, m->dynamic);
	if (!first || !last || last < first)
		return;
	m->lo = first->lo;
	m->hi = last->hi;
}

static void add_link_map(struct xc_process *p, struct walk *w, xc_addr at, const uint64_t fields[4],
			 unsigned name_space)
{
	xc_addr bias = fields[0], dynamic = fields[2];
	struct xc_module *m = module_by_bias(w, bias, dynamic);
	struct xc_image image = {.count = 0};
	const struct xc_mapping *start = object_start(p, dynamic);
	if (!m) {
		const char *path = link_map_path(p, w, fields[1], dynamic);
		if (!path)
			return;
		m = xc_module_add(p, path, XC_MODULE_LIBRARY);
		m->bias = bias;
		m->bias_known = true;
		m->dynamic = dynamic;
		m->name_space = name_space;
		know(w, m);
		set_rough_range(p, m, start);
		m->build_id_lost = true;
	}
	if (m->link_map)
		return; /* the loader is in every name space, but only its first link_map has the TLS fields */
	m->link_map = at;
	bool headers = xc_module_read_image(p, start ? start->lo : bias, &image);
	if (headers && m->kind == XC_MODULE_LIBRARY)
		xc_module_apply_image(p, m, &image);
	uint64_t phdr, phnum;
	if (m->kind == XC_MODULE_EXE && !headers && xc_process_auxv(p, AT_PHDR, &phdr) &&
	    xc_process_auxv(p, AT_PHNUM, &phnum))
		headers = read_phdrs(p, phdr, phnum, &image);
	if (headers)
		xc_module_read_tls(p, m, &image);
}

static bool may_visit(struct xc_process *p, struct walk *w, xc_addr at)
{
	if (at == w->mark || w->seen >= XC_MAX_MODULES) {
		xc_process_remark(p, "the loader's list of modules is looped or corrupt after %zu entries", w->seen);
		w->ended = true;
		return false;
	}
	if (++w->seen >= w->next_mark) {
		w->mark = at;
		w->next_mark = 2 * w->seen;
	}
	return true;
}

/* Walk one list. Returns the number of entries read. A damaged list causes a remark. */
static size_t walk_link_maps(struct xc_process *p, struct walk *w, xc_addr head, unsigned name_space)
{
	size_t word = p->arch->word, count = 0;
	for (xc_addr at = head; at && !w->ended && may_visit(p, w, at); count++) {
		uint64_t fields[4]; /* l_addr, l_name, l_ld, l_next */
		for (size_t i = 0; i < 4; i++) {
			if (peek_word(p, at + i * word, &fields[i]))
				continue;
			xc_process_remark(
				p,
				"the loader's list of modules breaks off after %zu entries: link_map 0x%" PRIx64
				" is unreadable",
				count, at);
			return count;
		}
		add_link_map(p, w, at, fields, name_space);
		at = fields[3];
	}
	return count;
}

/* Walk all name spaces: from r_version 2 on, r_debug has r_next after the five fields of version 1. */
static void find_link_maps(struct xc_process *p, xc_addr dynamic)
{
	size_t word = p->arch->word;
	struct walk w = {0};
	xc_addr debug = find_r_debug(p, dynamic), first = debug;
	for (size_t i = 0; i < p->module_count; i++)
		know(&w, p->modules[i]);
	for (unsigned space = 0; debug && space < MAX_NAME_SPACES && !w.ended; space++) {
		uint64_t version, map, next = 0;
		if (!xc_space_peek_uint(p->space, debug, 4, &version) || !peek_word(p, debug + word, &map))
			break;
		if (walk_link_maps(p, &w, map, space) > 1)
			p->link_map_known = true;
		if (version < 2 || !peek_word(p, debug + 5 * word, &next) || next == first)
			break;
		debug = next;
	}
	xc_hashtable_fini(&w.known);
}

/* ---- all sources ---- */

static void mark_loader(struct xc_process *p)
{
	uint64_t base;
	if (!xc_process_auxv(p, AT_BASE, &base) || !base)
		return;
	for (size_t i = 0; i < p->module_count; i++)
		if (p->modules[i]->kind == XC_MODULE_LIBRARY && p->modules[i]->lo == base)
			p->modules[i]->kind = XC_MODULE_LOADER;
}

void xc_modules_add_linked(struct xc_process *p, struct xc_module *exe)
{
	find_link_maps(p, exe->dynamic);
	mark_loader(p);
	if (p->link_map_known)
		p->modules_how = "link_map";
}

void xc_modules_find(struct xc_process *p)
{
	struct xc_image image;
	struct xc_module *exe = find_executable(p, &image);
	find_vdso(p);
	if (exe && exe->bias_known) {
		find_link_maps(p, exe->dynamic);
		xc_module_read_tls(p, exe, &image);
	}
	xc_modules_add_mapped(p);
	mark_loader(p);
	p->modules_how = p->link_map_known ? "link_map" : p->files_known ? "NT_FILE" : "program headers";
	xc_process_index(p);
	mark_deleted(p);
}

void xc_modules_find_new(struct xc_process *p)
{
	if (p->module_count && p->modules[0]->kind == XC_MODULE_EXE)
		xc_modules_add_linked(p, p->modules[0]);
	xc_modules_add_mapped(p);
	xc_process_index(p);
	mark_deleted(p);
}

static bool is_whole_name(const struct xc_module *module, const char *name)
{
	return strcmp(module->name, name) == 0 || strcmp(module->path, name) == 0;
}

bool xc_module_matches_name(const struct xc_module *module, const char *name)
{
	size_t len = strlen(name);
	return is_whole_name(module, name) ||
	       (len > 0 && strncmp(module->name, name, len) == 0 && strchr(".-", module->name[len]));
}

struct xc_module *xc_module_by_name(const struct xc_process *process, const char *name)
{
	for (size_t i = 0; i < process->module_count; i++)
		if (is_whole_name(process->modules[i], name))
			return process->modules[i];
	for (size_t i = 0; i < process->module_count; i++)
		if (xc_module_matches_name(process->modules[i], name))
			return process->modules[i];
	return NULL;
}

bool xc_module_is_runtime(const struct xc_module *module)
{
	static const char *const prefixes[] = {"libc.so",        "libc-2",         "ld-linux", "ld-2",
					       "libpthread",     "libstdc++",      "libgcc_s", "libm.so",
					       "libm-2",         "libc++",         "ld-musl",  "libc.musl",
					       "libgfortran.so", "libquadmath.so", "libgnat",  "libgnarl"};
	if (module->kind == XC_MODULE_LOADER || module->kind == XC_MODULE_VDSO)
		return true;
	for (size_t i = 0; i < XC_COUNT(prefixes); i++)
		if (strncmp(module->name, prefixes[i], strlen(prefixes[i])) == 0)
			return true;
	return false;
}

bool xc_modules_are_static(const struct xc_process *process)
{
	for (size_t i = 0; i < process->module_count; i++)
		if (process->modules[i]->kind == XC_MODULE_LOADER || process->modules[i]->kind == XC_MODULE_LIBRARY)
			return false;
	return true;
}
