/* layer: core */
/* Notes of a core: each note, whole and damaged; the process, the auxiliary vector and the mapped files they tell of;
 * cost. */
#include "tests/unit/core/process/read_notes.h"

#include <time.h>

#include "core/elf/note.h"

/* ---- one note ---- */

static struct xc_error *next(const struct corefile *c, size_t len, struct xc_note *note, size_t *left)
{
	struct xc_cursor at = xc_cursor(c->notes.bytes, len, "notes");
	at.big_endian = c->big_endian;
	struct xc_error *err = xc_note_next(&at, c->note_align, note);
	*left = xc_cursor_left(&at);
	return err;
}

static void a_note_has_name_type_and_descriptor(void **state)
{
	(void)state;
	for (int variant = 0; variant < 4; variant++) {
		struct corefile c = corefile_new_for(EM_PPC64, ELFCLASS64, variant & 1);
		struct xc_note note;
		size_t left;
		c.note_align = variant & 2 ? 8 : 4;
		corefile_note(&c, "LINUX", 0x46e62b7f, "seven!!", 7);
		corefile_note(&c, "X", 1, "", 0);
		CHECK_OK(next(&c, c.notes.len, &note, &left));
		assert_int_equal(note.type, 0x46e62b7f);
		assert_int_equal(note.name_len, 5);
		assert_memory_equal(note.name, "LINUX", 5);
		assert_int_equal(note.desc_len, 7);
		assert_memory_equal(note.desc, "seven!!", 7);
		assert_int_equal(left, 12 + c.note_align);
		corefile_fini(&c);
	}
}

static void a_cut_note_is_an_error_and_does_not_advance(void **state)
{
	(void)state;
	struct corefile c = corefile_new();
	struct xc_note note;
	size_t left;
	corefile_note(&c, "CORE", 1, "descriptor", 10);
	for (size_t len = 0; len < 12 + 8 + 10; len++) {
		CHECK_ERROR(next(&c, len, &note, &left), XC_ERR_FORMAT, "cut short");
		assert_int_equal(left, len);
	}
	CHECK_OK(next(&c, 30, &note, &left)); /* only the padding is lost */
	assert_int_equal(left, 0);
	corefile_fini(&c);
}

static void note_lengths_near_2_32_do_not_wrap(void **state)
{
	(void)state;
	for (uint32_t less = 0; less < 16; less++)
		for (int variant = 0; variant < 4; variant++) {
			struct corefile c = corefile_new();
			struct xc_note note;
			size_t left;
			c.note_align = variant & 1 ? 8 : 4;
			corefile_note_header(&c, variant & 2 ? UINT32_MAX - less : 4,
					     variant & 2 ? 4 : UINT32_MAX - less, 1);
			xc_text_addn(&c.notes, "CORE\0\0\0\0\0\0\0\0", 12);
			CHECK_ERROR(next(&c, c.notes.len, &note, &left), XC_ERR_FORMAT, "cut short");
			corefile_fini(&c);
		}
}

static void a_name_may_be_empty_or_without_its_nul(void **state)
{
	(void)state;
	struct corefile c = corefile_new();
	struct xc_note note;
	size_t left;
	corefile_note_header(&c, 4, 0, 1);
	xc_text_addn(&c.notes, "QEMU", 4);
	CHECK_OK(next(&c, c.notes.len, &note, &left));
	assert_int_equal(note.name_len, 4);
	corefile_fini(&c);
	corefile_note_header(&c, 0, 0, 1);
	CHECK_OK(next(&c, c.notes.len, &note, &left));
	assert_int_equal(note.name_len, 0);
	corefile_fini(&c);
}

/* ---- all notes ---- */

static void the_notes_of_a_kernel_core_are_all_read(void **state)
{
	(void)state;
	struct corefile c = corefile_new();
	fill_kernel_core(&c);
	struct xc_process *p = read_all(&c);
	uint64_t value;
	assert_null(p->remarks);
	assert_int_equal(p->thread_count, 2);
	assert_true(p->threads[0].tid == 4242 && p->threads[0].crashed && p->threads[0].signal == SIGSEGV);
	assert_true(p->threads[1].tid == 4243 && !p->threads[1].crashed && p->threads[1].signal == 0);
	assert_true(xc_regs_get(&p->threads[1].regs, 16, &value) && value == 0x401500);
	assert_true(xc_regs_get(&p->threads[0].regs, 7, &value) && value == 0x7ffc0000);
	assert_string_equal(p->threads[0].name, "crasher");
	assert_null(p->threads[1].name);
	assert_non_null(p->threads[0].regs.vector);
	assert_int_equal(p->threads[0].vector->st[1][0], 32 + 16);
	assert_int_equal(p->threads[0].vector->xmm[0][0], 160);
	assert_null(p->threads[1].vector);
	assert_true(p->signal.known && p->signal.has_info && p->signal.addr_known && p->signal.addr == 0xdead0);
	assert_true(p->ids_known && p->pid == 4242 && p->ppid == 1 && p->uid == 1000);
	assert_string_equal(p->args, "./crasher --now");
	assert_true(xc_process_auxv(p, AT_ENTRY, &value) && value == 0x401000);
	assert_false(xc_process_auxv(p, AT_PHDR, &value) || xc_process_auxv(p, 1000, &value));
	xc_process_close(p);
}

static void file_rows_are_sorted_and_lose_their_deleted_mark(void **state)
{
	(void)state;
	struct corefile c = corefile_new();
	fill_kernel_core(&c);
	struct xc_process *p = read_all(&c);
	size_t count;
	const struct xc_note_file *rows = xc_notes_files(p, &count);
	assert_int_equal(count, 3);
	assert_true(p->files_known && rows[0].lo == 0x400000 && rows[0].hi == 0x401fff && rows[0].offset == 0);
	assert_true(rows[1].offset == 0x2000 && !rows[1].deleted);
	assert_string_equal(rows[2].path, "/tmp/lib");
	assert_true(rows[2].deleted);
	xc_process_close(p);
}

static void a_cut_at_every_byte_keeps_what_was_before(void **state)
{
	(void)state;
	struct corefile c = corefile_new();
	struct xc_text file = {0};
	fill_kernel_core(&c);
	xc_process_close(read_cut(&c, &file, SIZE_MAX));
	for (size_t len = 64 + 56; len < file.len; len++) {
		char *exact = malloc(len);
		memcpy(exact, file.bytes, len);
		struct xc_text cut = {.bytes = exact, .len = len};
		struct xc_process *p = read_cut(&c, &cut, SIZE_MAX);
		size_t first = 64 + 56 + 12 + 8 + 336; /* the first thread's note ends */
		assert_int_equal(p->thread_count > 0, len >= first);
		assert_true(remarked(p, "ends inside its notes"));
		assert_false(remarked(p, "damaged"));
		xc_process_close(p);
		free(exact);
	}
	xc_text_fini(&file);
	corefile_fini(&c);
}

/* Two layouts of elf_prpsinfo on 32-bit machines: user ids of 16 bits, or of 32. */
static void wide_user_ids_shift_the_names(void **state)
{
	(void)state;
	struct corefile c = corefile_new_for(EM_386, ELFCLASS32, false);
	char desc[128] = {0};
	desc[8] = 7;
	desc[16] = 42;
	memcpy(desc + 32, "wide", 4);
	memcpy(desc + 48, "./wide 1", 8);
	corefile_note(&c, "CORE", NT_PRPSINFO, desc, sizeof desc);
	struct xc_process *p = read_all(&c);
	assert_true(p->ids_known && p->pid == 42 && p->uid == 7);
	assert_string_equal(p->comm, "wide");
	assert_string_equal(p->args, "./wide 1");
	xc_process_close(p);
}

static void an_unknown_machine_keeps_files_and_auxv(void **state)
{
	(void)state;
	struct corefile c = corefile_new_for(4711, ELFCLASS32, true);
	fill_kernel_core(&c);
	struct xc_process *p = read_all(&c);
	assert_int_equal(p->thread_count, 0);
	assert_int_equal(p->file_count, 3);
	assert_true(p->auxv[AT_PAGESZ] == 4096);
	assert_null(p->comm);
	assert_true(remarked(p, "NT_PRSTATUS"));
	xc_process_close(p);
}

/* ---- damaged notes ---- */

static void unknown_notes_and_names_are_skipped(void **state)
{
	(void)state;
	struct corefile c = corefile_new();
	corefile_note(&c, "LINUX", 0x12345678, "?", 1);
	corefile_note(&c, "FreeBSD", NT_PRSTATUS, "????????????", 12);
	corefile_note(&c, "CORE", 0, "", 0);
	corefile_note(&c, "COREX", NT_AUXV, "0123456789abcdef", 16);
	corefile_prstatus(&c, 1, 11, 0x1000, 0x2000);
	struct xc_process *p = read_all(&c);
	assert_int_equal(p->thread_count, 1);
	assert_null(p->remarks);
	assert_true(p->auxv_known == 0);
	xc_process_close(p);
}

static void names_that_fill_their_field_end_there(void **state)
{
	(void)state;
	struct corefile c = corefile_new();
	char args[81];
	memset(args, 'a', 80);
	args[80] = '\0';
	corefile_prpsinfo(&c, 1, "0123456789abcdef", args);
	corefile_prpsinfo(&c, 2, "second", "second");
	struct xc_process *p = read_all(&c);
	assert_string_equal(p->comm, "0123456789abcdef");
	assert_string_equal(p->args, args);
	assert_int_equal(p->pid, 1);
	xc_process_close(p);
}

/* ---- NT_FILE ---- */

static void a_hostile_number_of_files_is_refused(void **state)
{
	(void)state;
	static const uint64_t counts[] = {2, 3, 1000, UINT32_MAX, UINT64_MAX, UINT64_MAX / 24 + 2, UINT64_C(1) << 61};
	for (size_t i = 0; i < XC_COUNT(counts); i++) {
		struct corefile c = corefile_new();
		corefile_file(&c, 0x1000, 0x2000, 0, "/a");
		c.file_count = counts[i];
		struct xc_process *p = read_all(&c);
		assert_true(remarked(p, "NT_FILE"));
		assert_true(p->file_count <= 1);
		xc_process_close(p);
	}
}

static void rows_before_the_damage_stay(void **state)
{
	(void)state;
	struct corefile c = corefile_new();
	corefile_file(&c, 0x1000, 0x2000, 0, "/a");
	corefile_file(&c, 0x3000, 0x4000, 0, "/b");
	c.file_names.len -= 3; /* the second name is gone */
	struct xc_process *p = read_all(&c);
	assert_int_equal(p->file_count, 1);
	assert_string_equal(p->files[0].path, "/a");
	assert_true(p->files_known && remarked(p, "1 of its rows"));
	xc_process_close(p);
}

static void upside_down_rows_are_left_out(void **state)
{
	(void)state;
	struct corefile c = corefile_new();
	corefile_file(&c, 0x2000, 0x1000, 0, "/down");
	corefile_file(&c, 0x2000, 0x2000, 0, "/empty");
	corefile_file(&c, 0x2000, 0, 0, "/zero");
	corefile_file(&c, 0x5000, UINT64_MAX, 0, "/up");
	struct xc_process *p = read_all(&c);
	assert_int_equal(p->file_count, 1);
	assert_true(p->files[0].hi == UINT64_MAX - 1);
	xc_process_close(p);
}

static void offsets_are_in_pages_of_the_size_the_note_says(void **state)
{
	(void)state;
	struct corefile c = corefile_new();
	c.page = 1; /* gdb's generate-core-file */
	corefile_file(&c, 0x1000, 0x2000, 0x3000, "/a");
	struct xc_process *p = read_all(&c);
	assert_true(p->files[0].offset == 0x3000);
	xc_process_close(p);
}

static void offsets_that_cannot_be_are_damage(void **state)
{
	(void)state;
	for (int variant = 0; variant < 2; variant++) {
		struct corefile c = corefile_new();
		c.page = variant ? 0 : 4096;
		corefile_file(&c, 0x1000, 0x2000, 1, "/good");
		corefile_file(&c, 0x3000, 0x4000, UINT64_MAX / 4096 + 2, "/wraps");
		struct xc_process *p = read_all(&c);
		assert_int_equal(p->file_count, variant ? 0 : 1);
		assert_true(remarked(p, "NT_FILE"));
		xc_process_close(p);
	}
}

static void auxv_ends_at_null_and_a_half_pair_is_left_out(void **state)
{
	(void)state;
	struct corefile c = corefile_new();
	uint64_t pairs[] = {AT_ENTRY, 7, AT_PHDR, 8, AT_NULL, 0, AT_BASE, 9};
	corefile_note(&c, "CORE", NT_AUXV, pairs, 3 * 8 + 4);
	struct xc_process *p = read_all(&c);
	assert_true(p->auxv_known == UINT64_C(1) << AT_ENTRY);
	xc_process_close(p);
	c = corefile_new();
	corefile_note(&c, "CORE", NT_AUXV, pairs, sizeof pairs);
	p = read_all(&c);
	uint64_t value;
	assert_true(xc_process_auxv(p, AT_PHDR, &value) && !xc_process_auxv(p, AT_BASE, &value));
	xc_process_close(p);
}

/* ---- cost ---- */

static size_t remark_count(const struct xc_process *p)
{
	size_t n = 0;
	for (const struct xc_remark *r = p->remarks; r; r = r->next)
		n++;
	return n;
}

static void a_hundred_thousand_broken_notes_make_few_remarks(void **state)
{
	(void)state;
	struct corefile c = corefile_new();
	for (int i = 0; i < 100000; i++)
		corefile_note(&c, "CORE", NT_PRSTATUS, "", 0);
	struct xc_process *p = read_all(&c);
	assert_true(remark_count(p) < 1000);
	xc_process_close(p);
}

static void overlapping_note_segments_are_read_in_linear_time(void **state)
{
	(void)state;
	enum { SEGMENTS = 20000, THREADS = 2000 };
	struct corefile c = corefile_new();
	struct xc_text file = {0};
	for (int i = 0; i < THREADS; i++)
		corefile_prstatus(&c, i + 1, 0, 1, 2);
	for (int i = 0; i < SEGMENTS; i++)
		corefile_load(&c, 0, 0, 0, NULL, 0);
	corefile_build(&c, &file);
	for (size_t i = 1; i <= SEGMENTS; i++)
		memcpy(file.bytes + 64 + 56 * i, file.bytes + 64, 56);
	clock_t before = clock();
	struct xc_process *p = read_cut(&c, &file, SIZE_MAX);
	assert_true(clock() - before < 5 * CLOCKS_PER_SEC);
	assert_true(p->thread_count >= THREADS && p->thread_count < 10 * THREADS);
	xc_process_close(p);
	xc_text_fini(&file);
	corefile_fini(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_note_has_name_type_and_descriptor),
		cmocka_unit_test(a_cut_note_is_an_error_and_does_not_advance),
		cmocka_unit_test(note_lengths_near_2_32_do_not_wrap),
		cmocka_unit_test(a_name_may_be_empty_or_without_its_nul),
		cmocka_unit_test(the_notes_of_a_kernel_core_are_all_read),
		cmocka_unit_test(file_rows_are_sorted_and_lose_their_deleted_mark),
		cmocka_unit_test(a_cut_at_every_byte_keeps_what_was_before),
		cmocka_unit_test(wide_user_ids_shift_the_names),
		cmocka_unit_test(an_unknown_machine_keeps_files_and_auxv),
		cmocka_unit_test(unknown_notes_and_names_are_skipped),
		cmocka_unit_test(names_that_fill_their_field_end_there),
		cmocka_unit_test(a_hostile_number_of_files_is_refused),
		cmocka_unit_test(rows_before_the_damage_stay),
		cmocka_unit_test(upside_down_rows_are_left_out),
		cmocka_unit_test(offsets_are_in_pages_of_the_size_the_note_says),
		cmocka_unit_test(offsets_that_cannot_be_are_damage),
		cmocka_unit_test(auxv_ends_at_null_and_a_half_pair_is_left_out),
		cmocka_unit_test(a_hundred_thousand_broken_notes_make_few_remarks),
		cmocka_unit_test(overlapping_note_segments_are_read_in_linear_time),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
