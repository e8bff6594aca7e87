/* layer: core */
/* File contents are used only where the kernel omitted a clean page. */
#include "tests/unit/core/process/module_core.h"

/* ---- contents from a file ---- */

static void a_writable_global_that_was_cut_off_is_a_fault(void **state)
{
	(void)state;
	struct corefile c = usual_core();
	struct xc_text file = {0};
	corefile_build(&c, &file);
	struct xc_process *p = open_bytes(&file, file.len - PAGE - (PAGE - 8)); /* 8 bytes of the data are left */
	check_bytes(p, BASE + 3 * PAGE, memory + 3 * PAGE, 8, XC_FROM_CORE);
	check_fault(p, BASE + 3 * PAGE + 8, "cut short");
	check_fault(p, BASE + 4 * PAGE - 1, "cut short");
	check_bytes(p, BASE + PAGE, object + PAGE, 2 * PAGE, XC_FROM_FILE); /* memory omitted on purpose is not lost */
	xc_process_close(p);
	xc_text_fini(&file);
	corefile_fini(&c);
}

static void bytes_lost_to_the_cut_never_come_from_the_file(void **state)
{
	(void)state;
	static const uint64_t stored[4] = {PAGE, PAGE, PAGE, PAGE};
	struct corefile c = module_core(stored);
	struct xc_text file = {0};
	corefile_build(&c, &file);
	struct xc_process *p = open_bytes(&file, file.len - 3 * PAGE); /* the code was stored, and lost */
	for (xc_addr at = BASE + PAGE; at < BASE + 4 * PAGE; at += 511)
		check_fault(p, at, "cut short");
	xc_process_close(p);
	xc_text_fini(&file);
	corefile_fini(&c);
}

static void untouched_data_comes_from_the_file_only_if_touched_data_was_dumped(void **state)
{
	(void)state;
	static const uint64_t stored[4] = {PAGE, 0, 0, 0};
	for (int filtered = 0; filtered < 2; filtered++) {
		struct corefile c = module_core(stored);
		corefile_load(&c, STACK, PAGE, PF_R | PF_W, stack,
			      filtered ? 0 : PAGE); /* coredump_filter without bit 0 */
		struct xc_process *p = open_built(&c);
		if (filtered)
			check_fault(p, BASE + 3 * PAGE, "not dumped");
		else
			check_bytes(p, BASE + 3 * PAGE, object + 3 * PAGE, PAGE, XC_FROM_FILE);
		check_bytes(p, BASE + PAGE, object + PAGE, PAGE, XC_FROM_FILE);
		xc_process_close(p);
	}
}

static void partly_dumped_data_is_not_completed_from_the_file(void **state)
{
	(void)state;
	static const uint64_t stored[4] = {PAGE, 0, 0, 100};
	struct corefile c = module_core(stored);
	corefile_load(&c, STACK, PAGE, PF_R | PF_W, stack, PAGE);
	struct xc_process *p = open_built(&c);
	check_fault(p, BASE + 3 * PAGE + 100, "not dumped");
	xc_process_close(p);
}

static void data_files_never_show_through(void **state)
{
	(void)state;
	struct corefile c = usual_core();
	scratch_file("root/var/data", object, sizeof object);
	corefile_file(&c, 0x50000, 0x51000, 0, "/var/data");
	corefile_load(&c, 0x50000, PAGE, PF_R, NULL, 0);
	struct xc_process *p = open_built(&c);
	check_fault(p, 0x50000, "not dumped");
	assert_int_equal(p->module_count, 1);
	xc_process_close(p);
}

static void a_file_with_another_build_id_is_refused_and_never_read(void **state)
{
	(void)state;
	uint8_t other[OBJECT_SIZE];
	objectfile_build("another build-id....", other);
	scratch_file("root/lib/libobject.so", other, sizeof other);
	struct corefile c = usual_core();
	struct xc_process *p = open_built(&c);
	scratch_file("root/lib/libobject.so", object, sizeof object);
	assert_int_equal(p->modules[0]->identity, XC_REFUSED);
	assert_non_null(strstr(p->modules[0]->why, "build-id"));
	check_fault(p, BASE + PAGE, "not dumped");
	xc_process_close(p);
}

static void a_file_shorter_than_its_mapping_ends_where_it_ends(void **state)
{
	(void)state;
	scratch_file("root/lib/libobject.so", object, 2 * PAGE + 100);
	struct corefile c = usual_core();
	struct xc_process *p = open_built(&c);
	scratch_file("root/lib/libobject.so", object, sizeof object);
	if (p->modules[0]->file) {
		check_bytes(p, BASE + 2 * PAGE, object + 2 * PAGE, 100, XC_FROM_FILE);
		check_fault(p, BASE + 2 * PAGE + 100, "not dumped");
	} else {
		check_fault(p, BASE + 2 * PAGE, "not dumped");
	}
	xc_process_close(p);
}

/* The loader wrote relocations to a page that RELRO made read-only: if dirty pages were not dumped, the file's contents
 * are stale. */
static void relocated_read_only_pages_do_not_come_from_the_file(void **state)
{
	(void)state;
	struct corefile c = corefile_new();
	add_threads(&c);
	for (uint64_t i = 0; i < 4; i++) {
		corefile_file(&c, BASE + i * PAGE, BASE + (i + 1) * PAGE, i, "/lib/libobject.so");
		corefile_load(&c, BASE + i * PAGE, PAGE, i == 1 ? PF_R | PF_X : PF_R, memory, i ? 0 : PAGE);
	}
	corefile_load(&c, STACK, PAGE, PF_R | PF_W, NULL, 0);
	struct xc_process *p = open_built(&c);
	check_fault(p, BASE + 3 * PAGE, "not dumped"); /* PF_W in the file's headers, read-only when it died */
	check_bytes(p, BASE + 2 * PAGE, object + 2 * PAGE, PAGE, XC_FROM_FILE);
	xc_process_close(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_writable_global_that_was_cut_off_is_a_fault),
		cmocka_unit_test(bytes_lost_to_the_cut_never_come_from_the_file),
		cmocka_unit_test(untouched_data_comes_from_the_file_only_if_touched_data_was_dumped),
		cmocka_unit_test(partly_dumped_data_is_not_completed_from_the_file),
		cmocka_unit_test(data_files_never_show_through),
		cmocka_unit_test(a_file_with_another_build_id_is_refused_and_never_read),
		cmocka_unit_test(a_file_shorter_than_its_mapping_ends_where_it_ends),
		cmocka_unit_test(relocated_read_only_pages_do_not_come_from_the_file),
	};
	return cmocka_run_group_tests(tests, make_files, NULL);
}
