/* layer: core */
/* The modules of a process: names, name spaces, thread-local storage. */
#include "tests/unit/core/process/module_world.h"

#include "core/process/notes.h"

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
