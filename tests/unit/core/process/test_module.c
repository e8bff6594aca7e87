/* layer: core
 *
 * A hand-made process: an executable with PT_DYNAMIC → DT_DEBUG → r_debug → link_maps, laid out in a space. */
#include "tests/support/check.h"

#include <elf.h>
#include <time.h>

#include "core/process/module.h"
#include "core/process/notes.h"
#include "tests/support/corefile.h"

enum {
	PAGE = OBJECT_PAGE,
	HEAP_SIZE = 1 << 16,
	MAX_MAPPINGS = 64,
	/* in the heap */
	R_DEBUG = 0x100,
	LINK_MAPS = 0x1000, /* 2 KiB each */
	LINK_MAP = 2048,
	NAMES = 0xc000,
};
static const xc_addr EXE = 0x555500000000, LIB = 0x7f0000000000, HEAP = 0x555600000000;
static const char exe_id[] = "exe build-id, 20 b..", lib_id[] = "lib build-id, 20 b..";

struct world {
	struct xc_process *p;
	uint8_t exe[OBJECT_SIZE], libs[8][OBJECT_SIZE], heap[HEAP_SIZE];
	size_t names_len;
};

static void put(struct world *w, size_t at, uint64_t value)
{
	memcpy(w->heap + at, &value, 8);
}

static void lay(struct world *w, xc_addr lo, const void *bytes, size_t size)
{
	struct xc_segment s = {
		.lo = lo, .hi = lo + size - 1, .provenance = bytes ? XC_FROM_CORE : XC_NOT_DUMPED, .bytes = bytes};
	xc_space_add(w->p->space, &s);
}

static void map(struct world *w, xc_addr lo, size_t size, uint64_t offset, const char *path, bool executable)
{
	struct xc_process *p = w->p;
	assert_true(p->mapping_count < MAX_MAPPINGS);
	struct xc_mapping *m = &p->mappings[p->mapping_count++];
	*m = (struct xc_mapping){.lo = lo,
				 .hi = lo + size - 1,
				 .readable = true,
				 .executable = executable,
				 .path = path,
				 .offset = offset};
}

/* The four mappings of an object; mappings are added in address order. */
static void map_object(struct world *w, xc_addr base, const char *path)
{
	for (uint64_t i = 0; i < 4; i++)
		map(w, base + i * PAGE, PAGE, i * PAGE, path, i == 1);
}

static void auxv(struct world *w, unsigned type, uint64_t value)
{
	w->p->auxv[type] = value;
	w->p->auxv_known |= UINT64_C(1) << type;
}

static xc_addr library(size_t i)
{
	return LIB + i * 0x100000;
}

static xc_addr link_map(size_t i)
{
	return HEAP + LINK_MAPS + i * LINK_MAP;
}

/* struct link_map number i: l_addr, l_name, l_ld, l_next (index, or SIZE_MAX for none), l_prev. */
static void put_link_map(struct world *w, size_t i, xc_addr base, const char *name, size_t next)
{
	size_t at = LINK_MAPS + i * LINK_MAP;
	put(w, at, base);
	put(w, at + 8, HEAP + NAMES + w->names_len);
	put(w, at + 16, base + OBJECT_DYNAMIC);
	put(w, at + 24, next == SIZE_MAX ? 0 : link_map(next));
	memcpy(w->heap + NAMES + w->names_len, name, strlen(name) + 1);
	w->names_len += strlen(name) + 1;
}

/* An executable with a dynamic section that leads to r_debug; its first link_map is number 0, followed by 1. */
static struct world *new_world(bool with_debug)
{
	struct world *w = xc_alloc(sizeof *w);
	uint64_t dynamic[4] = {DT_DEBUG, HEAP + R_DEBUG, DT_NULL, 0};
	w->p = xc_process_new("test", false);
	w->p->mappings = xc_alloc(MAX_MAPPINGS * sizeof *w->p->mappings);
	objectfile_build(exe_id, w->exe);
	if (with_debug)
		memcpy(w->exe + OBJECT_DYNAMIC, dynamic, sizeof dynamic);
	for (size_t i = 0; i < 8; i++)
		objectfile_build(lib_id, w->libs[i]);
	lay(w, EXE, w->exe, sizeof w->exe);
	lay(w, HEAP, w->heap, sizeof w->heap);
	map_object(w, EXE, "/bin/exe");
	map(w, HEAP, HEAP_SIZE, 0, NULL, false);
	auxv(w, AT_PHDR, EXE + 64);
	auxv(w, AT_PHNUM, 6);
	auxv(w, AT_ENTRY, EXE + PAGE);
	put(w, R_DEBUG, 1);
	put(w, R_DEBUG + 8, link_map(0));
	put_link_map(w, 0, EXE, "", 1);
	return w;
}

static void add_library(struct world *w, size_t i, const char *path)
{
	lay(w, library(i), w->libs[i], OBJECT_SIZE);
	map_object(w, library(i), path);
}

static struct xc_process *find(struct world *w)
{
	xc_space_seal(w->p->space);
	w->p->files_known = true;
	xc_modules_find(w->p);
	return w->p;
}

static void end(struct world *w)
{
	xc_process_close(w->p);
	free(w);
}

static bool remarked(const struct xc_process *p, const char *part)
{
	for (const struct xc_remark *r = p->remarks; r; r = r->next)
		if (strstr(r->text, part))
			return true;
	return false;
}

/* ---- whole processes ---- */

static void the_loaders_list_names_every_module(void **state)
{
	(void)state;
	struct world *w = new_world(true);
	add_library(w, 0, "/lib/liba.so.1.2");
	add_library(w, 1, "/lib/ld.so");
	put_link_map(w, 1, library(0), "/lib/liba.so", 2);
	put_link_map(w, 2, library(1), "/lib/ld.so", SIZE_MAX);
	auxv(w, AT_BASE, library(1));
	struct xc_process *p = find(w);
	assert_int_equal(p->module_count, 3);
	assert_true(p->link_map_known && !strcmp(p->modules_how, "link_map"));
	const struct xc_module *exe = p->modules[0], *lib = p->modules[1];
	assert_true(exe->kind == XC_MODULE_EXE && exe->bias_known && exe->bias == EXE);
	assert_true(exe->lo == EXE && exe->hi == EXE + OBJECT_SIZE - 1);
	assert_memory_equal(exe->build_id.bytes, exe_id, 20);
	assert_string_equal(p->exe_path, "/bin/exe");
	assert_string_equal(lib->path, "/lib/liba.so.1.2"); /* the kernel's name, not the link's */
	assert_string_equal(lib->name, "liba.so.1.2");
	assert_true(lib->bias == library(0) && lib->link_map == link_map(1) &&
		    lib->dynamic == library(0) + OBJECT_DYNAMIC);
	assert_memory_equal(lib->build_id.bytes, lib_id, 20);
	assert_false(lib->build_id_lost);
	assert_int_equal(p->modules[2]->kind, XC_MODULE_LOADER);
	assert_null(p->remarks);
	assert_ptr_equal(xc_process_module(p, library(0) + 5), lib);
	end(w);
}

static void nt_file_names_them_when_the_list_is_lost(void **state)
{
	(void)state;
	struct world *w = new_world(true);
	add_library(w, 0, "/lib/liba.so");
	map(w, library(2), PAGE, 0, "/usr/share/data", false);
	lay(w, library(2), w->heap, PAGE);
	lay(w, HEAP, NULL, HEAP_SIZE); /* r_debug and all link_maps are gone */
	struct xc_process *p = find(w);
	assert_false(p->link_map_known);
	assert_string_equal(p->modules_how, "NT_FILE");
	assert_int_equal(p->module_count, 2); /* a data file is not a module */
	assert_string_equal(p->modules[1]->path, "/lib/liba.so");
	assert_true(p->modules[1]->bias_known && p->modules[1]->bias == library(0));
	assert_int_equal(p->modules[1]->build_id.size, 20);
	end(w);
}

static void a_module_whose_headers_are_lost_is_named_without_a_bias(void **state)
{
	(void)state;
	struct world *w = new_world(false);
	lay(w, library(0), NULL, OBJECT_SIZE);
	map_object(w, library(0), "/lib/liba.so");
	struct xc_process *p = find(w);
	assert_int_equal(p->module_count, 2);
	const struct xc_module *lib = p->modules[1];
	assert_false(lib->bias_known);
	assert_true(lib->build_id_lost && lib->build_id.size == 0);
	assert_true(lib->lo == library(0) && lib->hi == library(0) + OBJECT_SIZE - 1);
	end(w);
}

static void a_program_without_dynamic_section_stands_alone(void **state)
{
	(void)state;
	struct world *w = new_world(false);
	memset(w->exe + 64 + 4 * 56, 0, 4); /* PT_DYNAMIC becomes PT_NULL: static */
	struct xc_process *p = find(w);
	assert_int_equal(p->module_count, 1);
	assert_int_equal(p->modules[0]->dynamic, 0);
	assert_int_equal(p->modules[0]->build_id.size, 20);
	assert_false(p->link_map_known);
	end(w);
}

static void an_executable_whose_headers_are_lost_is_still_named(void **state)
{
	(void)state;
	struct world *w = new_world(true);
	lay(w, EXE, NULL, PAGE);
	struct xc_process *p = find(w);
	assert_int_equal(p->module_count, 1);
	assert_string_equal(p->modules[0]->path, "/bin/exe");
	assert_true(p->modules[0]->build_id_lost && !p->modules[0]->bias_known);
	end(w);
}

static void a_deleted_file_is_marked(void **state)
{
	(void)state;
	struct world *w = new_world(true);
	struct xc_note_file rows[2] = {
		{.lo = EXE, .hi = EXE + 4 * PAGE - 1, .path = "/bin/exe"},
		{.lo = library(0), .hi = library(0) + 4 * PAGE - 1, .path = "/lib/liba.so", .deleted = true}};
	add_library(w, 0, "/lib/liba.so");
	put_link_map(w, 1, library(0), "/lib/liba.so", SIZE_MAX);
	w->p->files = rows;
	w->p->file_count = 2;
	struct xc_process *p = find(w);
	assert_false(p->modules[0]->deleted);
	assert_true(p->modules[1]->deleted);
	p->files = NULL;
	end(w);
}

static void the_vdso_is_found_in_memory(void **state)
{
	(void)state;
	struct world *w = new_world(false);
	lay(w, library(3), w->libs[3], OBJECT_SIZE);
	map(w, library(3), OBJECT_SIZE, 0, NULL, true);
	auxv(w, AT_SYSINFO_EHDR, library(3));
	struct xc_process *p = find(w);
	assert_int_equal(p->module_count, 2);
	assert_string_equal(p->modules[1]->path, "[vdso]");
	assert_true(p->modules[1]->kind == XC_MODULE_VDSO && p->modules[1]->bias == library(3));
	assert_int_equal(p->modules[1]->build_id.size, 20);
	end(w);
}

static void no_facts_at_all_give_no_modules(void **state)
{
	(void)state;
	struct xc_process *p = xc_process_new("x", false);
	xc_space_seal(p->space);
	xc_modules_find(p);
	assert_int_equal(p->module_count, 0);
	assert_string_equal(p->modules_how, "program headers");
	xc_process_close(p);
}

/* ---- damaged lists ---- */

static clock_t started;

static void check_quick(void)
{
	assert_true(clock() - started < 5 * CLOCKS_PER_SEC);
}

static void a_looped_list_ends_with_a_remark(void **state)
{
	(void)state;
	for (size_t back = 0; back < 3; back++) {
		struct world *w = new_world(true);
		started = clock();
		add_library(w, 0, "/lib/liba.so");
		put_link_map(w, 1, library(0), "/lib/liba.so", 2);
		put_link_map(w, 2, 0x1234000, "", back); /* a nameless one, back to 0, 1 or itself */
		struct xc_process *p = find(w);
		assert_int_equal(p->module_count, 2);
		assert_true(p->link_map_known && remarked(p, "looped"));
		check_quick();
		end(w);
	}
}

static void name_spaces_in_a_ring_are_walked_once(void **state)
{
	(void)state;
	struct world *w = new_world(true);
	started = clock();
	add_library(w, 0, "/lib/liba.so");
	put_link_map(w, 1, library(0), "/lib/liba.so", 1); /* and the list is a ring, too */
	put(w, R_DEBUG, 2);
	put(w, R_DEBUG + 40, HEAP + R_DEBUG);
	struct xc_process *p = find(w);
	assert_int_equal(p->module_count, 2);
	size_t remarks = 0;
	for (const struct xc_remark *r = p->remarks; r; r = r->next)
		remarks++;
	assert_int_equal(remarks, 1);
	check_quick();
	end(w);
}

static void a_list_that_leads_nowhere_is_completed_from_nt_file(void **state)
{
	(void)state;
	struct world *w = new_world(true);
	add_library(w, 0, "/lib/liba.so");
	add_library(w, 1, "/lib/libb.so");
	put_link_map(w, 1, library(0), "/lib/liba.so", 2);
	put(w, LINK_MAPS + LINK_MAP + 24, 0x4141414141414141);
	struct xc_process *p = find(w);
	assert_int_equal(p->module_count, 3);
	assert_true(remarked(p, "breaks off after 2 entries"));
	assert_string_equal(p->modules[2]->path, "/lib/libb.so");
	end(w);
}

/* 16,384 entries that all point at the same image with 200 note segments of 64 KiB. */
static void many_entries_over_one_costly_image_are_bounded(void **state)
{
	(void)state;
	enum { ENTRIES = 16000, SIZE = ENTRIES * 40, IMAGE = 200 * 56 + 64, NOTES = 64 << 10 };
	struct world *w = new_world(true);
	static uint64_t list[ENTRIES * 5];
	static uint8_t image[PAGE * 3 + NOTES];
	const xc_addr at = 0x600000000000, image_at = 0x610000000000;
	started = clock();
	memcpy(image, w->exe, 64);
	image[56] = 200; /* e_phnum */
	for (size_t i = 0; i < 200; i++) {
		uint64_t phdr[7] = {PT_NOTE, 0, PAGE * 3, 0, NOTES, NOTES, 4};
		memcpy(image + 64 + 56 * i, phdr, sizeof phdr);
	}
	assert_true(IMAGE < sizeof image);
	for (uint64_t i = 0; i < ENTRIES; i++) {
		uint64_t entry[5] = {image_at, HEAP + NAMES + 1, 0x1000 + i, i + 1 < ENTRIES ? at + 40 * (i + 1) : 0,
				     0};
		memcpy(list + 5 * i, entry, sizeof entry);
	}
	memcpy(w->heap + NAMES + 1, "/x", 3);
	lay(w, at, list, SIZE);
	lay(w, image_at, image, sizeof image);
	put(w, R_DEBUG + 8, at);
	struct xc_process *p = find(w);
	assert_true(p->module_count > 1000);
	assert_true(clock() - started < 20 * CLOCKS_PER_SEC);
	end(w);
}

/* 16,000 entries that share one name of 4,096 bytes: 64 MiB of names in every report. */
static void long_names_in_many_entries_are_bounded(void **state)
{
	(void)state;
	enum { ENTRIES = 16000, MOST = 2 << 20, LONG = 4096 };
	struct world *w = new_world(true);
	static uint64_t list[ENTRIES * 5];
	static char name[LONG + 1];
	const xc_addr at = 0x600000000000, name_at = 0x610000000000;
	started = clock();
	memset(name, 'n', LONG);
	for (uint64_t i = 0; i < ENTRIES; i++) {
		uint64_t entry[5] = {i << 12, name_at, 0x1000 + i, i + 1 < ENTRIES ? at + 40 * (i + 1) : 0, 0};
		memcpy(list + 5 * i, entry, sizeof entry);
	}
	lay(w, at, list, sizeof list);
	lay(w, name_at, name, sizeof name);
	put(w, R_DEBUG + 8, at);
	struct xc_process *p = find(w);
	assert_in_range(p->module_count, MOST / LONG, MOST / LONG + 1); /* the executable, too */
	assert_true(remarked(p, "take more than 2 MiB: its entries from number 513 on are left out"));
	assert_true(clock() - started < 20 * CLOCKS_PER_SEC);
	end(w);
}

static void hostile_program_headers_are_survived(void **state)
{
	(void)state;
	static const uint64_t wild[] = {0, 1, 255, 256, 257, 65535, UINT32_MAX, UINT64_MAX};
	for (size_t i = 0; i < XC_COUNT(wild); i++)
		for (size_t j = 0; j < XC_COUNT(wild); j++) {
			struct world *w = new_world(true);
			add_library(w, 0, "/lib/liba.so");
			put_link_map(w, 1, library(0), "/lib/liba.so", SIZE_MAX);
			auxv(w, AT_PHNUM, wild[i]);
			auxv(w, AT_PHDR, i & 1 ? EXE + 64 : wild[j]);
			auxv(w, AT_SYSINFO_EHDR, wild[j]);
			auxv(w, AT_BASE, wild[i]);
			memcpy(w->libs[0] + 32, &wild[j], 8);           /* e_phoff */
			memcpy(w->exe + 64 + 56 * 3 + 16, &wild[i], 8); /* p_vaddr of the data */
			memcpy(w->exe + 64 + 56 * 3 + 40, &wild[j], 8); /* and its p_memsz */
			memcpy(w->exe + 64 + 56 * 5 + 40, &wild[j], 8); /* p_memsz of the note */
			struct xc_process *p = find(w);
			assert_true(p->module_count >= 1);
			for (size_t k = 0; k < p->module_count; k++)
				assert_true(p->modules[k]->lo <= p->modules[k]->hi);
			end(w);
		}
}

/* ---- namespaces ---- */

static void dlmopened_objects_have_their_name_space(void **state)
{
	(void)state;
	struct world *w = new_world(true);
	add_library(w, 0, "/lib/liba.so");
	add_library(w, 1, "/lib/liba.so"); /* the same file again, mapped elsewhere */
	add_library(w, 2, "/lib/ld.so");
	put_link_map(w, 1, library(0), "/lib/liba.so", 2);
	put_link_map(w, 2, library(2), "/lib/ld.so", SIZE_MAX);
	put(w, R_DEBUG, 2);
	put(w, R_DEBUG + 40, HEAP + R_DEBUG + 64);
	put(w, R_DEBUG + 64, 2);
	put(w, R_DEBUG + 72, link_map(3));
	put_link_map(w, 3, library(1), "/lib/liba.so", 4);
	put_link_map(w, 4, library(2), "/lib/ld.so", SIZE_MAX); /* the loader's proxy there */
	struct xc_process *p = find(w);
	assert_int_equal(p->module_count, 4);
	assert_int_equal(p->modules[1]->name_space, 0);
	assert_int_equal(p->modules[3]->name_space, 1);
	assert_true(p->modules[3]->bias == library(1) && p->modules[3]->lo == library(1));
	assert_true(p->modules[1]->hi < p->modules[3]->lo);
	assert_int_equal(p->modules[2]->name_space, 0);
	assert_true(p->modules[2]->link_map == link_map(2)); /* the real one, which has the TLS fields */
	end(w);
}

/* ---- thread-local storage ---- */

/* Turn program header 4 (PT_DYNAMIC) of an object into PT_TLS; the link_map has l_ld anyway. */
static void give_tls(uint8_t *object, uint64_t vaddr, uint64_t filesz, uint64_t memsz, uint64_t align)
{
	uint64_t phdr[7] = {PT_TLS, 0, vaddr, 0, filesz, memsz, align};
	memcpy(object + 64 + 4 * 56, phdr, sizeof phdr);
	memcpy(object + 64 + 4 * 56 + 4, &(uint32_t){PF_R}, 4);
}

static void put_tls(struct world *w, size_t i, size_t at, const uint64_t fields[7])
{
	memcpy(w->heap + LINK_MAPS + i * LINK_MAP + at, fields, 7 * 8);
}

static void tls_offsets_are_found_by_content_wherever_they_stand(void **state)
{
	(void)state;
	static const size_t places[] = {0x28, 0x400, 0x440, 0x448, 1600 - 56};
	for (size_t i = 0; i < XC_COUNT(places); i++) {
		struct world *w = new_world(true);
		uint64_t decoy[7] = {library(0) + 0x3010, 0x10, 0x60, 8, 0, 0xbad, 0xbad};
		uint64_t fields[7] = {library(0) + 0x3010, 0x10, 0x60, 16, 0, 0x180, 3};
		add_library(w, 0, "/lib/liba.so");
		put_link_map(w, 1, library(0), "/lib/liba.so", SIZE_MAX);
		give_tls(w->libs[0], 0x3010, 0x10, 0x60, 16);
		put_tls(w, 1, places[i] > 0x100 ? 0x80 : 0x200, decoy); /* the alignment differs: not it */
		put_tls(w, 1, places[i], fields);
		const struct xc_module *lib = find(w)->modules[1];
		assert_true(lib->tls_offset_known && lib->tls_offset == 0x180 && lib->tls_modid == 3);
		end(w);
	}
}

static void dynamic_tls_has_a_module_but_no_offset(void **state)
{
	(void)state;
	static const uint64_t none[] = {0, UINT64_MAX};
	for (size_t i = 0; i < XC_COUNT(none); i++) {
		struct world *w = new_world(true);
		uint64_t fields[7] = {library(0) + 0x3010, 0x10, 0x60, 16, 0, none[i], 5};
		add_library(w, 0, "/lib/liba.so");
		put_link_map(w, 1, library(0), "/lib/liba.so", SIZE_MAX);
		give_tls(w->libs[0], 0x3010, 0x10, 0x60, 16);
		put_tls(w, 1, 0x400, fields);
		const struct xc_module *lib = find(w)->modules[1];
		assert_true(lib->tls_modid == 5 && !lib->tls_offset_known);
		end(w);
	}
}

static void a_library_without_link_map_has_no_tls_offset(void **state)
{
	(void)state;
	struct world *w = new_world(false);
	add_library(w, 0, "/lib/liba.so");
	give_tls(w->libs[0], 0x3010, 0x10, 0x60, 16);
	const struct xc_module *lib = find(w)->modules[1];
	assert_false(lib->tls_offset_known);
	assert_int_equal(lib->tls_modid, 0);
	end(w);
}

/* The linker's rule (ld and lld; glibc _dl_determine_tlsoffset): the least offset that holds the block and is
 * congruent to -p_vaddr modulo the alignment. */
static void the_executables_tls_ends_at_the_thread_pointer(void **state)
{
	(void)state;
	static const struct {
		uint64_t vaddr, memsz, align;
		int64_t offset;
	} cases[] = {{0x3000, 0x60, 16, 0x60}, {0x3000, 0x61, 16, 0x70}, {0x3010, 0x10, 0x40, 0x30},
		     {0x3008, 4, 0, 4},        {0x3ff8, 8, 8, 8},        {0x3010, 0x30, 0x40, 0x30}};
	for (size_t i = 0; i < XC_COUNT(cases); i++) {
		struct world *w = new_world(false);
		give_tls(w->exe, cases[i].vaddr, 0, cases[i].memsz, cases[i].align);
		const struct xc_module *exe = find(w)->modules[0];
		assert_true(exe->tls_offset_known && exe->tls_modid == 1);
		assert_int_equal(exe->tls_offset, cases[i].offset);
		end(w);
	}
	struct world *w = new_world(false);
	give_tls(w->exe, 0x3000, 0, 0x60, 24); /* not a power of two */
	assert_false(find(w)->modules[0]->tls_offset_known);
	end(w);
}

static void modules_go_by_their_names_without_version(void **state)
{
	(void)state;
	struct xc_process *p = xc_process_new("core", false);
	struct xc_module *old = xc_module_add(p, "/usr/lib/libc-2.31.so", XC_MODULE_LIBRARY);
	struct xc_module *c = xc_module_add(p, "/usr/lib/libc.so.6", XC_MODULE_LIBRARY);
	struct xc_module *whole = xc_module_add(p, "/opt/libc", XC_MODULE_LIBRARY);
	assert_true(xc_module_matches_name(c, "libc") && xc_module_matches_name(c, "libc.so") &&
		    xc_module_matches_name(c, "libc.so.6"));
	assert_true(xc_module_matches_name(c, "/usr/lib/libc.so.6") && xc_module_matches_name(old, "libc"));
	assert_false(xc_module_matches_name(c, "lib") || xc_module_matches_name(c, "") ||
		     xc_module_matches_name(c, "libc.so.61"));
	assert_ptr_equal(xc_module_by_name(p, "libc"), whole); /* a complete name has priority over a truncated one */
	assert_ptr_equal(xc_module_by_name(p, "libc.so"), c);
	assert_ptr_equal(xc_module_by_name(p, "libc-2.31"), old);
	assert_null(xc_module_by_name(p, "libm"));
	xc_process_close(p);
}

static void identities_have_names(void **state)
{
	(void)state;
	assert_string_equal(xc_identity_text(XC_NO_FILE), "no file");
	assert_string_equal(xc_identity_text(XC_REFUSED), "refused");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_loaders_list_names_every_module),
		cmocka_unit_test(nt_file_names_them_when_the_list_is_lost),
		cmocka_unit_test(a_module_whose_headers_are_lost_is_named_without_a_bias),
		cmocka_unit_test(a_program_without_dynamic_section_stands_alone),
		cmocka_unit_test(an_executable_whose_headers_are_lost_is_still_named),
		cmocka_unit_test(a_deleted_file_is_marked),
		cmocka_unit_test(the_vdso_is_found_in_memory),
		cmocka_unit_test(no_facts_at_all_give_no_modules),
		cmocka_unit_test(a_looped_list_ends_with_a_remark),
		cmocka_unit_test(name_spaces_in_a_ring_are_walked_once),
		cmocka_unit_test(a_list_that_leads_nowhere_is_completed_from_nt_file),
		cmocka_unit_test(many_entries_over_one_costly_image_are_bounded),
		cmocka_unit_test(long_names_in_many_entries_are_bounded),
		cmocka_unit_test(hostile_program_headers_are_survived),
		cmocka_unit_test(dlmopened_objects_have_their_name_space),
		cmocka_unit_test(tls_offsets_are_found_by_content_wherever_they_stand),
		cmocka_unit_test(dynamic_tls_has_a_module_but_no_offset),
		cmocka_unit_test(a_library_without_link_map_has_no_tls_offset),
		cmocka_unit_test(the_executables_tls_ends_at_the_thread_pointer),
		cmocka_unit_test(modules_go_by_their_names_without_version),
		cmocka_unit_test(identities_have_names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
