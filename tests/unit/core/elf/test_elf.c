/* layer: core */
#include "tests/support/check.h"

#include <elf.h>
#include <time.h>

#include "tests/support/corefile.h"

static const uint8_t some_bytes[64] = "memory";

static struct xc_elf parse(const struct xc_text *file, size_t len)
{
	struct xc_elf elf;
	CHECK_OK(xc_elf_parse(file->bytes, len, &elf));
	return elf;
}

/* A core with `count` loads of one page; the first bytes of each are stored if `stored`. */
static void build(struct corefile *c, size_t count, bool stored, struct xc_text *out)
{
	corefile_prstatus(c, 1, 11, 0x1000, 0x2000);
	for (size_t i = 0; i < count; i++)
		corefile_load(c, 0x10000 + i * 0x2000, 0x1000, PF_R, some_bytes, stored ? sizeof some_bytes : 0);
	corefile_build(c, out);
}

static void headers_widen_in_every_class_and_order(void **state)
{
	(void)state;
	for (int variant = 0; variant < 4; variant++) {
		struct corefile c = corefile_new_for(EM_PPC64, variant & 1 ? ELFCLASS64 : ELFCLASS32, variant & 2);
		struct xc_text file = {0};
		build(&c, 3, true, &file);
		struct xc_elf elf = parse(&file, file.len);
		assert_int_equal(elf.type, ET_CORE);
		assert_int_equal(elf.machine, EM_PPC64);
		assert_int_equal(elf.phnum, 4);
		assert_int_equal(elf.phdrs_readable, 4);
		struct xc_phdr p = xc_elf_phdr(&elf, 2);
		assert_true(p.type == PT_LOAD && p.flags == PF_R && p.vaddr == 0x12000 && p.memsz == 0x1000);
		assert_true(p.filesz == sizeof some_bytes && p.align == 4096);
		assert_memory_equal(file.bytes + p.offset, some_bytes, sizeof some_bytes);
		xc_text_fini(&file);
		corefile_fini(&c);
	}
}

static void what_is_no_elf_file_says_so(void **state)
{
	(void)state;
	struct xc_elf elf;
	struct corefile c = corefile_new();
	struct xc_text file = {0};
	build(&c, 1, false, &file);
	CHECK_ERROR(xc_elf_parse(NULL, 0, &elf), XC_ERR_FORMAT, "not an ELF file");
	CHECK_ERROR(xc_elf_parse("#!/bin/sh\nexit 1\n", 17, &elf), XC_ERR_FORMAT, "not an ELF file");
	CHECK_ERROR(xc_elf_parse(file.bytes, 15, &elf), XC_ERR_FORMAT, "not an ELF file");
	CHECK_ERROR(xc_elf_parse(file.bytes, 63, &elf), XC_ERR_FORMAT, "cut short: the file has 63 bytes");
	file.bytes[EI_CLASS] = 7;
	CHECK_ERROR(xc_elf_parse(file.bytes, file.len, &elf), XC_ERR_FORMAT, "class 7");
	file.bytes[EI_CLASS] = ELFCLASS64;
	file.bytes[EI_DATA] = 0;
	CHECK_ERROR(xc_elf_parse(file.bytes, file.len, &elf), XC_ERR_FORMAT, "byte order 0");
	file.bytes[EI_DATA] = ELFDATA2LSB;
	file.bytes[54] = 55; /* e_phentsize */
	CHECK_ERROR(xc_elf_parse(file.bytes, file.len, &elf), XC_ERR_FORMAT, "program headers of 55 bytes");
	file.bytes[54] = 0; /* would divide by zero */
	CHECK_ERROR(xc_elf_parse(file.bytes, file.len, &elf), XC_ERR_FORMAT, "program headers of 0 bytes");
	xc_text_fini(&file);
	corefile_fini(&c);
}

static void a_cut_anywhere_leaves_whole_headers(void **state)
{
	(void)state;
	for (int wide = 0; wide < 2; wide++) {
		struct corefile c = corefile_new_for(wide ? EM_X86_64 : EM_386, wide ? ELFCLASS64 : ELFCLASS32, false);
		struct xc_text file = {0};
		build(&c, 5, true, &file);
		size_t ehdr = wide ? 64 : 52, phdr = wide ? 56 : 32;
		for (size_t len = ehdr; len <= file.len; len++) {
			char *exact = malloc(len); /* ASan checks its end */
			struct xc_elf elf;
			memcpy(exact, file.bytes, len);
			CHECK_OK(xc_elf_parse(exact, len, &elf));
			size_t whole = (len - ehdr) / phdr;
			assert_int_equal(elf.phdrs_readable, whole < 6 ? whole : 6);
			for (uint32_t i = 0; i < elf.phdrs_readable; i++)
				assert_int_equal(xc_elf_phdr(&elf, i).type, i ? PT_LOAD : PT_NOTE);
			assert_int_equal(xc_elf_build_id(&elf).size, 0);
			free(exact);
		}
		xc_text_fini(&file);
		corefile_fini(&c);
	}
}

static void more_than_65535_segments_are_all_there(void **state)
{
	(void)state;
	for (int lost = 0; lost < 2; lost++) {
		struct corefile c = corefile_new();
		struct xc_text file = {0};
		c.lose_sections = lost;
		build(&c, 70000, false, &file);
		struct xc_elf elf = parse(&file, file.len);
		assert_int_equal(elf.phnum, 70001);
		assert_int_equal(elf.phdrs_readable, 70001);
		assert_true(xc_elf_phdr(&elf, 70000).vaddr == 0x10000 + UINT64_C(69999) * 0x2000);
		xc_text_fini(&file);
		corefile_fini(&c);
	}
}

static void pn_xnum_cut_inside_its_headers_counts_them_by_the_notes(void **state)
{
	(void)state;
	struct corefile c = corefile_new();
	struct xc_text file = {0};
	build(&c, 66000, false, &file);
	struct xc_elf elf = parse(&file, 64 + 56 * 1000 + 3);
	assert_int_equal(elf.phnum, 66001);
	assert_int_equal(elf.phdrs_readable, 1000);
	xc_text_fini(&file);
	corefile_fini(&c);
}

/* A file that was allocated before it was written, and then truncated, has zeros in place of the section header. */
static void a_zeroed_section_header_is_no_answer(void **state)
{
	(void)state;
	struct corefile c = corefile_new();
	struct xc_text file = {0};
	build(&c, 66000, false, &file);
	memset(file.bytes + file.len - 64, 0, 64);
	struct xc_elf elf = parse(&file, file.len);
	assert_int_equal(elf.phnum, 66001);
	assert_int_equal(elf.phdrs_readable, 66001);
	xc_text_fini(&file);
	corefile_fini(&c);
}

static void wild_offsets_and_counts_stay_inside_the_file(void **state)
{
	(void)state;
	static const uint64_t wild[] = {0, 1, 63, 65, UINT32_MAX, UINT64_MAX / 2, UINT64_MAX - 55, UINT64_MAX};
	for (size_t i = 0; i < XC_COUNT(wild); i++)
		for (int extended = 0; extended < 2; extended++) {
			struct corefile c = corefile_new();
			struct xc_text file = {0};
			c.extended = extended;
			build(&c, 3, true, &file);
			memcpy(file.bytes + 32, &wild[i], 8); /* e_phoff */
			if (extended)
				memcpy(file.bytes + 40, &wild[XC_COUNT(wild) - 1 - i], 8); /* e_shoff */
			struct xc_elf elf = parse(&file, file.len);
			for (uint32_t j = 0; j < elf.phdrs_readable; j++)
				xc_elf_phdr(&elf, j); /* ASan checks */
			assert_true(elf.phdrs_readable <= file.len / 56);
			xc_elf_build_id(&elf);
			xc_text_fini(&file);
			corefile_fini(&c);
		}
}

/* ---- build-ids ---- */

static const char id_bytes[] = "\xde\xad\xbe\xef"
			       "56789012345678901234567890";

static struct xc_build_id find(const struct corefile *c)
{
	char *exact = malloc(c->notes.len);
	memcpy(exact, c->notes.bytes, c->notes.len);
	struct xc_build_id id = xc_elf_build_id_in_notes(exact, c->notes.len, c->note_align, c->big_endian);
	free(exact);
	return id;
}

static void a_build_id_is_found_among_other_notes(void **state)
{
	(void)state;
	for (int variant = 0; variant < 4; variant++) {
		struct corefile c = corefile_new_for(EM_S390, ELFCLASS64, variant & 1);
		c.note_align = variant & 2 ? 8 : 4;
		corefile_note(&c, "GNU", 5, "12345", 5);
		corefile_note(&c, "stapsdt", NT_GNU_BUILD_ID, "not this one", 12);
		corefile_note(&c, "GNU", NT_GNU_BUILD_ID, id_bytes, 20);
		struct xc_build_id id = find(&c);
		assert_int_equal(id.size, 20);
		assert_memory_equal(id.bytes, id_bytes, 20);
		corefile_fini(&c);
	}
}

static void a_cut_note_gives_no_build_id(void **state)
{
	(void)state;
	struct corefile c = corefile_new();
	corefile_note(&c, "GNU", NT_GNU_BUILD_ID, id_bytes, 20);
	for (; c.notes.len; c.notes.len--)
		assert_int_equal(find(&c).size, c.notes.len < 36 ? 0 : 20);
	corefile_fini(&c);
	assert_int_equal(xc_elf_build_id_in_notes(NULL, 0, 4, false).size, 0);
}

static void note_lengths_near_2_32_do_not_wrap(void **state)
{
	(void)state;
	static const uint32_t lengths[] = {UINT32_MAX,     UINT32_MAX - 1,  UINT32_MAX - 3,
					   UINT32_MAX - 7, UINT32_MAX - 11, 0x80000000};
	for (size_t i = 0; i < XC_COUNT(lengths) * 2; i++) {
		struct corefile c = corefile_new();
		uint32_t len = lengths[i / 2];
		c.note_align = i & 1 ? 8 : 4;
		corefile_note_header(&c, len, 4, NT_GNU_BUILD_ID);
		corefile_note_header(&c, 4, len, NT_GNU_BUILD_ID);
		corefile_note(&c, "GNU", NT_GNU_BUILD_ID, id_bytes, 20);
		assert_int_equal(find(&c).size, 0);
		corefile_fini(&c);
	}
}

static void a_build_id_longer_than_ours_is_unknown(void **state)
{
	(void)state;
	char longer[XC_BUILD_ID_MAX + 1] = "x";
	struct corefile c = corefile_new();
	corefile_note(&c, "GNU", NT_GNU_BUILD_ID, longer, sizeof longer);
	assert_int_equal(find(&c).size, 0);
	corefile_note(&c, "GNU", NT_GNU_BUILD_ID, longer, XC_BUILD_ID_MAX);
	assert_int_equal(find(&c).size, XC_BUILD_ID_MAX);
	corefile_fini(&c);
}

static void a_file_gives_the_build_id_of_its_note_segment(void **state)
{
	(void)state;
	static uint8_t object[OBJECT_SIZE];
	struct xc_elf elf;
	char hex[2 * XC_BUILD_ID_MAX + 1];
	objectfile_build(id_bytes, object);
	CHECK_OK(xc_elf_parse(object, sizeof object, &elf));
	struct xc_build_id id = xc_elf_build_id(&elf), none = {0};
	assert_string_equal(xc_build_id_hex(&id, hex), "deadbeef35363738393031323334353637383930");
	assert_string_equal(xc_build_id_hex(&none, hex), "");
	assert_true(xc_build_id_equal(&id, &id));
	assert_false(xc_build_id_equal(&none, &none)); /* two unknown ids are no evidence */
	struct xc_build_id shorter = id;
	shorter.size = 19;
	assert_false(xc_build_id_equal(&id, &shorter));
	objectfile_build(NULL, object);
	CHECK_OK(xc_elf_parse(object, sizeof object, &elf));
	assert_int_equal(xc_elf_build_id(&elf).size, 0);
}

/* Every header claims that the whole file is notes: the cost must not multiply. */
static void overlapping_note_segments_are_read_in_linear_time(void **state)
{
	(void)state;
	enum { SEGMENTS = 40000, NOTES = 40000 };
	struct corefile c = corefile_new();
	struct xc_text file = {0};
	for (int i = 0; i < NOTES; i++)
		corefile_note(&c, "X", 1, "", 0);
	for (int i = 0; i < SEGMENTS; i++)
		corefile_load(&c, 0, 0, 0, NULL, 0);
	corefile_build(&c, &file);
	uint64_t at = 64 + 56 * (SEGMENTS + 1), size = c.notes.len;
	for (size_t i = 1; i <= SEGMENTS; i++) {
		uint32_t note = PT_NOTE;
		memcpy(file.bytes + 64 + 56 * i, &note, 4);
		memcpy(file.bytes + 64 + 56 * i + 8, &at, 8);
		memcpy(file.bytes + 64 + 56 * i + 32, &size, 8);
	}
	struct xc_elf elf = parse(&file, file.len);
	clock_t before = clock();
	assert_int_equal(xc_elf_build_id(&elf).size, 0);
	assert_true(clock() - before < 5 * CLOCKS_PER_SEC); /* a millisecond, or half a minute */
	xc_text_fini(&file);
	corefile_fini(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(headers_widen_in_every_class_and_order),
		cmocka_unit_test(what_is_no_elf_file_says_so),
		cmocka_unit_test(a_cut_anywhere_leaves_whole_headers),
		cmocka_unit_test(more_than_65535_segments_are_all_there),
		cmocka_unit_test(pn_xnum_cut_inside_its_headers_counts_them_by_the_notes),
		cmocka_unit_test(a_zeroed_section_header_is_no_answer),
		cmocka_unit_test(wild_offsets_and_counts_stay_inside_the_file),
		cmocka_unit_test(a_build_id_is_found_among_other_notes),
		cmocka_unit_test(a_cut_note_gives_no_build_id),
		cmocka_unit_test(note_lengths_near_2_32_do_not_wrap),
		cmocka_unit_test(a_build_id_longer_than_ours_is_unknown),
		cmocka_unit_test(a_file_gives_the_build_id_of_its_note_segment),
		cmocka_unit_test(overlapping_note_segments_are_read_in_linear_time),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
