/* layer: core */
/* A core as a process: its contents, compression, hostile program headers, files that are no core, look-ups. */
#include "tests/unit/core/process/module_core.h"

#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/remarked.h"
#include "tests/support/zst.h"

/* ---- contents of the core ---- */

static void stored_bytes_win_and_clean_pages_come_from_the_file(void **state)
{
	(void)state;
	struct corefile c = usual_core();
	struct xc_process *p = open_built(&c);
	assert_int_equal(p->module_count, 1);
	assert_int_equal(p->modules[0]->identity, XC_VERIFIED);
	check_bytes(p, BASE, memory, PAGE, XC_FROM_CORE);
	check_bytes(p, BASE + PAGE, object + PAGE, 2 * PAGE, XC_FROM_FILE);
	check_bytes(p, BASE + 3 * PAGE, memory + 3 * PAGE, PAGE, XC_FROM_CORE); /* not the file's initial data */
	check_bytes(p, STACK, stack, PAGE, XC_FROM_CORE);
	xc_process_close(p);
}

static void memory_that_was_not_dumped_is_a_fault(void **state)
{
	(void)state;
	struct corefile c = corefile_new();
	add_threads(&c);
	corefile_load(&c, 0x10000, 4 * PAGE, PF_R | PF_W, stack, PAGE); /* 1 page of 4 */
	corefile_load(&c, 0x20000, PAGE, PF_R | PF_W, NULL, 0);
	struct xc_process *p = open_built(&c);
	check_bytes(p, 0x10000, stack, PAGE, XC_FROM_CORE);
	check_fault(p, 0x10000 + PAGE, "not dumped into the core");
	check_fault(p, 0x10000 + 4 * PAGE - 1, "not dumped into the core");
	check_fault(p, 0x20000, "not dumped into the core");
	check_fault(p, 0x10000 + 4 * PAGE, "not mapped");
	check_fault(p, 0, "not mapped");
	assert_int_equal(p->missing_bytes, 0);
	xc_process_close(p);
}

static void a_cut_core_says_which_bytes_are_lost(void **state)
{
	(void)state;
	struct corefile c = corefile_new();
	struct xc_text file = {0};
	add_threads(&c);
	corefile_load(&c, 0x10000, PAGE, PF_R | PF_W, stack, PAGE);
	corefile_load(&c, 0x20000, 2 * PAGE, PF_R | PF_W, stack, PAGE);
	corefile_load(&c, 0x30000, PAGE, PF_R | PF_W, stack, PAGE);
	corefile_build(&c, &file);
	struct xc_process *p = open_bytes(&file, file.len - PAGE - 100);
	check_bytes(p, 0x20000, stack, PAGE - 100, XC_FROM_CORE);
	check_fault(p, 0x20000 + PAGE - 100, "cut short");
	check_fault(p, 0x20000 + PAGE, "not dumped"); /* it was never in the core */
	check_fault(p, 0x30000, "cut short");
	assert_int_equal(p->missing_bytes, PAGE + 100);
	assert_int_equal(p->expected_size, file.len);
	assert_true(remarked(p, "cut short"));
	assert_true(!p->mappings[0].cut && p->mappings[1].cut && p->mappings[2].cut);
	xc_process_close(p);
	xc_text_fini(&file);
	corefile_fini(&c);
}

/* ---- compression ---- */

static void a_zstd_core_gives_the_same_bytes(void **state)
{
	(void)state;
	struct corefile c = usual_core();
	struct xc_text file = {0}, packed = {0};
	corefile_build(&c, &file);
	zst_frame(&packed, file.bytes, file.len, 3, true);
	struct xc_process *p = open_bytes(&packed, packed.len);
	check_bytes(p, STACK, stack, PAGE, XC_FROM_CORE);
	assert_null(p->remarks);
	xc_process_close(p);
	packed.len = 0;
	zst_frame(&packed, file.bytes, file.len - PAGE, 3, true); /* two frames, the second one cut */
	zst_frame(&packed, file.bytes + file.len - PAGE, PAGE, 3, true);
	p = open_bytes(&packed, packed.len - 5);
	assert_true(remarked(p, "compressed data is damaged or truncated"));
	check_bytes(p, BASE, memory, PAGE, XC_FROM_CORE);
	xc_process_close(p);
	xc_text_fini(&file);
	xc_text_fini(&packed);
	corefile_fini(&c);
}

/* ---- program headers ---- */

static void seventy_thousand_segments_are_all_mapped(void **state)
{
	(void)state;
	enum { COUNT = 70000 };
	struct corefile c = corefile_new();
	struct xc_text file = {0};
	add_threads(&c);
	for (xc_addr i = 0; i < COUNT; i++)
		corefile_load(&c, 0x100000 + i * 2 * PAGE, PAGE, PF_R, stack, i == COUNT - 1 ? 64 : 0);
	corefile_build(&c, &file);
	struct xc_process *p = open_bytes(&file, file.len - 64); /* without the section header that counts them */
	assert_int_equal(p->mapping_count, COUNT);
	check_bytes(p, 0x100000 + UINT64_C(2) * (COUNT - 1) * PAGE, stack, 64, XC_FROM_CORE);
	check_fault(p, 0x100000 + PAGE, "not mapped");
	xc_process_close(p);
	xc_text_fini(&file);
	corefile_fini(&c);
}

static void segments_that_wrap_overlap_or_lie_are_survived(void **state)
{
	(void)state;
	struct corefile c = corefile_new();
	add_threads(&c);
	corefile_load(&c, UINT64_MAX - 9, PAGE, PF_R | PF_W, stack, 64);
	corefile_load(&c, UINT64_MAX, UINT64_MAX, PF_R, stack, 0);
	corefile_load(&c, 0x10000, UINT64_MAX, PF_R, stack, 64);
	corefile_load(&c, 0x11000, PAGE, PF_R, stack, 64);
	corefile_load(&c, 0x20000, 16, PF_R, stack, 64); /* filesz > memsz */
	corefile_load(&c, 0x30000, 0, PF_R, stack, 64);
	struct xc_process *p = open_built(&c);
	assert_true(remarked(p, "overlap"));
	for (size_t i = 1; i < p->mapping_count; i++)
		assert_true(p->mappings[i].lo > p->mappings[i - 1].hi);
	check_bytes(p, 0x11000, stack, 64, XC_FROM_CORE);
	check_bytes(p, 0x20000, stack, 16, XC_FROM_CORE);
	assert_int_equal(xc_space_find(p->space, 0x20010)->provenance, XC_NOT_DUMPED);
	xc_process_close(p);
}

static void a_cut_at_every_hundredth_byte_opens_or_says_why(void **state)
{
	(void)state;
	struct corefile c = usual_core();
	struct xc_text file = {0};
	corefile_build(&c, &file);
	for (size_t len = 0; len < file.len; len += len < 2000 ? 7 : 501) {
		struct xc_process *p = NULL;
		struct xc_error *err = open_path(scratch_file("cut", file.bytes, len), false, &p);
		assert_true((err == NULL) == (p != NULL));
		assert_true(p ? p->remarks != NULL : err->message[0] != '\0');
		assert_int_equal(p != NULL, len >= 64 + 56);
		xc_error_free(err);
		xc_process_close(p);
	}
	xc_text_fini(&file);
	corefile_fini(&c);
}

static void foreign_cores_give_facts_and_a_remark(void **state)
{
	(void)state;
	static const struct {
		uint16_t machine;
		uint8_t elf_class;
		bool big_endian;
		const char *name;
	} kinds[] = {{EM_386, ELFCLASS32, false, NULL},
		     {EM_X86_64, ELFCLASS32, false, NULL},
		     {EM_MIPS, ELFCLASS32, true, "a program for mips (32-bit, big-endian)"},
		     {EM_S390, ELFCLASS64, true, "s390"},
		     {4711, ELFCLASS32, true, "machine 4711"}};
	for (size_t i = 0; i < XC_COUNT(kinds); i++) {
		struct corefile c = corefile_new_for(kinds[i].machine, kinds[i].elf_class, kinds[i].big_endian);
		uint64_t value;
		add_threads(&c);
		corefile_load(&c, 0x10000, PAGE, PF_R, "\1\2\3\4", 4);
		struct xc_process *p = open_built(&c);
		if (kinds[i].name)
			assert_true(remarked(p, kinds[i].name));
		else
			assert_false(remarked(p, "facts and maps"));
		assert_int_equal(p->mapping_count, 1);
		assert_true(xc_space_peek_uint(p->space, 0x10000, 4, &value));
		assert_int_equal(value, kinds[i].big_endian ? 0x01020304 : 0x04030201);
		xc_process_close(p);
	}
}

/* ---- unusable files ---- */

static void check_refused(const char *path, enum xc_error_code code, const char *part)
{
	struct xc_process *p = NULL;
	struct xc_error *err = open_path(path, false, &p);
	assert_null(p);
	assert_non_null(err);
	assert_non_null(strstr(err->message, path));
	check_error(err, code, part, path);
}

static void what_is_no_core_gets_one_clear_line(void **state)
{
	(void)state;
	const char *fifo = scratch_path("pipe");
	assert_int_equal(mkfifo(fifo, 0600), 0);
	check_refused(scratch_path("none"), XC_ERR_NOT_FOUND, "No such file");
	check_refused(scratch_dir(), XC_ERR_UNSUPPORTED, "a directory");
	check_refused(fifo, XC_ERR_UNSUPPORTED, "a FIFO");
	check_refused(scratch_file("empty", "", 0), XC_ERR_FORMAT, "the file is empty");
	check_refused(scratch_file("text", "hello\n", 6), XC_ERR_FORMAT, "not an ELF file");
	check_refused(scratch_file("program", object, sizeof object), XC_ERR_FORMAT, "not a core");
	check_refused(scratch_file("gz", "\x1f\x8b\x08\0", 4), XC_ERR_FORMAT, "truncated before any data");
	struct corefile c = usual_core();
	struct xc_text file = {0};
	corefile_build(&c, &file);
	check_refused(scratch_file("headless", file.bytes, 64 + 55), XC_ERR_FORMAT, "without program headers");
	xc_text_fini(&file);
	corefile_fini(&c);
}

/* ---- look-ups ---- */

static void addresses_find_their_mapping_and_module(void **state)
{
	(void)state;
	struct corefile c = usual_core();
	struct xc_process *p = open_built(&c);
	assert_ptr_equal(xc_process_module(p, BASE), p->modules[0]);
	assert_ptr_equal(xc_process_module(p, BASE + 4 * PAGE - 1), p->modules[0]);
	assert_null(xc_process_module(p, BASE - 1));
	assert_null(xc_process_module(p, BASE + 4 * PAGE));
	assert_ptr_equal(xc_process_mapping(p, BASE + PAGE + 5), &p->mappings[1]);
	assert_null(xc_process_mapping(p, UINT64_MAX));
	assert_non_null(xc_process_thread(p, 77));
	assert_null(xc_process_thread(p, 78));
	uint64_t value = 5;
	assert_false(xc_process_auxv(p, AT_PHDR, &value) || xc_process_auxv(p, 64, &value) ||
		     xc_process_auxv(p, UINT32_MAX, &value));
	assert_int_equal(value, 5);
	assert_string_equal(xc_process_mapping(p, STACK)->label, "[stack:77]");
	xc_process_close(p);
}

static void mappings_are_named_by_the_row_they_lie_in(void **state)
{
	(void)state;
	struct corefile c = corefile_new();
	add_threads(&c);
	corefile_file(&c, 0x10000, 0x14000, 8, "/a"); /* one row; mprotect split the mapping */
	corefile_file(&c, 0x20000, 0x21000, 0, "/b");
	corefile_load(&c, 0x20000, PAGE, PF_R, NULL, 0);
	corefile_load(&c, 0x12000, 2 * PAGE, PF_R | PF_W, NULL, 0);
	corefile_load(&c, 0x10000, 2 * PAGE, PF_R, NULL, 0);
	corefile_load(&c, 0x14000, PAGE, PF_R, NULL, 0);
	struct xc_process *p = open_built(&c);
	assert_string_equal(p->mappings[0].path, "/a");
	assert_int_equal(p->mappings[0].offset, 8 * PAGE);
	assert_string_equal(p->mappings[1].path, "/a");
	assert_int_equal(p->mappings[1].offset, 10 * PAGE);
	assert_null(p->mappings[2].path);
	assert_string_equal(p->mappings[3].path, "/b");
	xc_process_close(p);
}

static void an_empty_process_answers_nothing(void **state)
{
	(void)state;
	struct xc_process *p = xc_process_new("x", false);
	assert_null(xc_process_module(p, 0));
	assert_null(xc_process_mapping(p, 0));
	assert_null(xc_process_thread(p, 0));
	xc_process_index(p);
	assert_null(xc_process_module(p, 0));
	xc_process_closep(&p);
	xc_process_close(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stored_bytes_win_and_clean_pages_come_from_the_file),
		cmocka_unit_test(memory_that_was_not_dumped_is_a_fault),
		cmocka_unit_test(a_cut_core_says_which_bytes_are_lost),
		cmocka_unit_test(a_zstd_core_gives_the_same_bytes),
		cmocka_unit_test(seventy_thousand_segments_are_all_mapped),
		cmocka_unit_test(segments_that_wrap_overlap_or_lie_are_survived),
		cmocka_unit_test(a_cut_at_every_hundredth_byte_opens_or_says_why),
		cmocka_unit_test(foreign_cores_give_facts_and_a_remark),
		cmocka_unit_test(what_is_no_core_gets_one_clear_line),
		cmocka_unit_test(addresses_find_their_mapping_and_module),
		cmocka_unit_test(mappings_are_named_by_the_row_they_lie_in),
		cmocka_unit_test(an_empty_process_answers_nothing),
	};
	return cmocka_run_group_tests(tests, make_files, NULL);
}
