/* layer: core */
/* Damaged lists of modules and damaged headers: nothing hangs, and what is not damaged is found. */
#include "tests/unit/core/process/module_world.h"

#include <time.h>

#include "tests/support/remarked.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_looped_list_ends_with_a_remark),
		cmocka_unit_test(name_spaces_in_a_ring_are_walked_once),
		cmocka_unit_test(a_list_that_leads_nowhere_is_completed_from_nt_file),
		cmocka_unit_test(many_entries_over_one_costly_image_are_bounded),
		cmocka_unit_test(long_names_in_many_entries_are_bounded),
		cmocka_unit_test(hostile_program_headers_are_survived),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
