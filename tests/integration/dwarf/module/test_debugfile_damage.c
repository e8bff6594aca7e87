/* layer: dwarf tier: long */
/* Compressed debug files, and damaged ones: a reason is told, and nothing is harmed. */
#include "tests/integration/dwarf/module/split_file.h"

#include <unistd.h>

#include "dwarf/elf/elffile.h"

/* ---- compression ---- */

static void compressed_sections_are_inflated_and_the_file_stays_as_it_is(void **state)
{
	(void)state;
	struct mapped m;
	const char *const kinds[] = {"zlib", "zlib-gnu", "zstd"};
	for (size_t i = 0; i < XC_COUNT(kinds); i++) {
		split(ID, "");
		shell("objcopy --compress-debug-sections=%s a.full a.so && cmp -s a.full a.so; test $? = 1", kinds[i]);
		struct xc_debugfile *df = begin(&m, "a.so", true);
		expect_dwarf(df, scratch_path("a.so"));
		assert_memory_equal(m.module->file->bytes, m.image->bytes, m.image->size);
		assert_non_null(xc_debugfile_dwarf_elf(df));
		end(&m);
	}
}

static void damaged_compression_is_a_reason(void **state)
{
	(void)state;
	struct mapped m;
	build("a.so", "-g " ID, TEXT);
	shell("objcopy --compress-debug-sections=zlib a.so");
	struct xc_source *source = NULL;
	CHECK_OK(xc_source_open(scratch_path("a.so"), NULL, &source));
	char *bytes = malloc(source->size);
	memcpy(bytes, source->bytes, source->size);
	size_t size = (size_t)source->size;
	xc_source_close(source);
	struct xc_elffile file;
	void *copy = xc_alloc(size + 1);
	memcpy(copy, bytes, size);
	assert_true(xc_elffile_open_image(&file, copy, size));
	Elf_Data *info = xc_elffile_section(file.elf, ".debug_info");
	size_t at = (size_t)((char *)info->d_buf - (char *)copy);
	memset(bytes + at + 40, 0x5a, 8); /* after Elf64_Chdr */
	xc_elffile_close(&file);
	scratch_file("a.so", bytes, size);
	free(bytes);
	struct xc_debugfile *df = begin(&m, "a.so", true);
	expect_why(df, "is damaged");
	end(&m);
}

static void a_section_of_zeros_a_thousand_to_one_is_a_reason(void **state)
{
	(void)state;
	struct mapped m;
	build("a.so", "-g " ID, TEXT);
	shell("truncate -s 70000000 zeros && objcopy --add-section .debug_bomb=zeros a.so");
	shell("objcopy --compress-debug-sections=zlib a.so");
	struct xc_debugfile *df = begin(&m, "a.so", true);
	expect_why(df, "would inflate to 70000000 bytes");
	end(&m);
}

static void a_damaged_entry_of_the_cache_is_replaced(void **state)
{
	(void)state;
	struct mapped m;
	build("a.so", "-g " ID, TEXT);
	shell("head -c 1000000 /dev/urandom >noise && objcopy --add-section .debug_noise=noise a.so && "
	      "objcopy --compress-debug-sections=zlib a.so");
	finder.cache_dir = scratch_path("cache");
	for (int i = 0; i < 3; i++) {
		struct xc_debugfile *df = begin(&m, "a.so", true);
		expect_dwarf(df, scratch_path("a.so"));
		end(&m);
		if (i == 0) /* the trailer stays whole */
			shell("dd if=/dev/zero of=\"$(ls cache/debug/*.plain)\" bs=4096 count=1 conv=notrunc 2>dd.log");
		else
			shell(i == 1 ? "test -z \"$(ls cache/debug)\"" : "test -n \"$(ls cache/debug)\"");
	}
}

/* Arbitrary bytes: no crash (under ASan), whatever is found. */
static void damaged_files_do_no_harm(void **state)
{
	(void)state;
	const char *const kinds[] = {"zlib", "zlib-gnu", "zstd"};
	unsigned seed = 815;
	split(ID, "");
	for (size_t k = 0; k < XC_COUNT(kinds); k++) {
		struct xc_source *source = NULL;
		shell("objcopy --compress-debug-sections=%s a.full z.so", kinds[k]);
		CHECK_OK(xc_source_open(scratch_path("z.so"), NULL, &source));
		for (int round = 0; round < 400; round++) {
			struct xc_elffile file;
			Dwarf *dwarf = NULL;
			char *bytes = xc_alloc(source->size + 1);
			memcpy(bytes, source->bytes, source->size);
			for (int i = 0; i < 6; i++) { /* the sections and their headers are in the last half */
				seed = seed * 1103515245 + 12345;
				bytes[source->size - 1 - (seed >> 8) % (source->size / 2)] = (char)(seed >> 4);
			}
			if (!xc_elffile_open_image(&file, bytes, source->size))
				continue;
			xc_error_free(xc_elffile_dwarf(&file, NULL, &dwarf));
			xc_elffile_build_id(file.elf);
			xc_elffile_close(&file);
		}
		xc_source_close(source);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(compressed_sections_are_inflated_and_the_file_stays_as_it_is, use_nothing),
		cmocka_unit_test_setup(damaged_compression_is_a_reason, use_nothing),
		cmocka_unit_test_setup(a_section_of_zeros_a_thousand_to_one_is_a_reason, use_nothing),
		cmocka_unit_test_setup(a_damaged_entry_of_the_cache_is_replaced, use_nothing),
		cmocka_unit_test_setup(damaged_files_do_no_harm, use_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
