/* layer: dwarf tier: long */
/* Debug files: the places where they are searched, dwz's common file, modules without a file. */
#include "tests/integration/dwarf/module/split_file.h"

#include "dwarf/elf/elffile.h"
#include "dwarf/elf/symbol.h"

static const char *dirs[1];

static void use_store(void)
{
	dirs[0] = scratch_path("store");
	finder = (struct xc_finder){.debug_dirs = dirs, .debug_dir_count = 1};
	shell("rm -rf store && mkdir -p store/.build-id/aa");
}

/* ---- places ---- */

static void a_file_with_dwarf_needs_no_other(void **state)
{
	(void)state;
	struct mapped m;
	split(ID, "");
	shell("cp a.full a.so");
	struct xc_debugfile *df = begin(&m, "a.so", true);
	expect_dwarf(df, scratch_path("a.so"));
	assert_non_null(xc_symtab_named(xc_debugfile_symbols(df), "hidden"));
	assert_null(xc_debugfile_separate(df));
	end(&m);
}

static void a_debug_dir_is_searched_by_build_id_and_by_path(void **state)
{
	(void)state;
	struct mapped m;
	char by_path[512];
	split(ID, "");
	snprintf(by_path, sizeof by_path, "store%s.debug", scratch_path("a.so"));
	const char *const places[] = {"store/.build-id/aa/aaaaaaaaaaaaaaaaaa.debug", "store/a.so.debug", "store/a.so",
				      by_path};
	for (size_t i = 0; i < XC_COUNT(places); i++) {
		use_store();
		shell("mkdir -p \"$(dirname %s)\" && cp a.debug %s", scratch_word(places[i]), scratch_word(places[i]));
		struct xc_debugfile *df = begin(&m, "a.so", true);
		expect_dwarf(df, scratch_path(places[i]));
		assert_non_null(xc_symtab_named(xc_debugfile_symbols(df), "hidden"));
		assert_non_null(xc_debugfile_separate(df));
		end(&m);
	}
}

static void a_debug_file_of_another_build_is_refused_and_named(void **state)
{
	(void)state;
	struct mapped m;
	split(OTHER_ID, "");
	shell("mv a.debug other.debug");
	split(ID, "");
	use_store();
	shell("cp other.debug store/.build-id/aa/aaaaaaaaaaaaaaaaaa.debug");
	struct xc_debugfile *df = begin(&m, "a.so", true);
	expect_why(df, "has build-id bbbbbbbbbbbbbbbbbbbb, not aaaaaaaaaaaaaaaaaaaa");
	end(&m);
}

static void without_any_the_reason_names_the_build_id(void **state)
{
	(void)state;
	struct mapped m;
	split(ID, "");
	struct xc_debugfile *df = begin(&m, "a.so", true);
	expect_why(df, "build-id aaaaaaaaaaaaaaaaaaaa");
	assert_non_null(xc_debugfile_elf(df));
	assert_non_null(xc_symtab_named(xc_debugfile_symbols(df), "shown"));
	assert_null(xc_symtab_named(xc_debugfile_symbols(df), "hidden"));
	end(&m);
}

/* The core names the file's directory; a debuglink is next to it or in .debug. */
static void a_debuglink_is_followed_when_its_crc_fits(void **state)
{
	(void)state;
	struct mapped m;
	const char *const places[] = {"a.dbg", ".debug/a.dbg"};
	split(NO_ID, "");
	shell("cp a.debug a.dbg && objcopy --add-gnu-debuglink=a.dbg a.so && cp a.dbg kept.dbg");
	for (size_t i = 0; i < XC_COUNT(places); i++) {
		shell("rm -rf a.dbg .debug && mkdir -p .debug && cp kept.dbg %s", scratch_word(places[i]));
		struct xc_debugfile *df = begin(&m, "a.so", true);
		assert_int_equal(m.module->identity, XC_UNVERIFIED); /* never had a build-id */
		expect_dwarf(df, scratch_path(places[i]));
		end(&m);
	}
	shell("printf x >> .debug/a.dbg");
	struct xc_debugfile *df = begin(&m, "a.so", true);
	expect_why(df, "the CRC of");
	end(&m);
	shell("rm -rf .debug a.dbg");
}

static void a_debuglink_that_is_a_path_is_ignored(void **state)
{
	(void)state;
	struct mapped m;
	split(NO_ID, "");
	shell("mkdir -p sub && cp a.so sub/b.so && cp a.debug a.dbg && objcopy --add-gnu-debuglink=a.dbg a.so &&"
	      " objcopy -O binary --only-section=.gnu_debuglink --set-section-flags .gnu_debuglink=alloc a.so link.bin "
	      "&&"
	      " { printf '../a.dbg\\0\\0\\0\\0'; tail -c 4 link.bin; } > path.bin &&"
	      " objcopy --add-section .gnu_debuglink=path.bin sub/b.so");
	struct xc_debugfile *df = begin(&m, "sub/b.so", true);
	expect_why(df, "no debug info");
	end(&m);
	shell("rm -f a.dbg");
}

static void an_unverified_file_gives_code_and_symbols_only(void **state)
{
	(void)state;
	struct mapped m;
	split(ID, "");
	shell("cp a.full a.so");
	struct xc_debugfile *df = begin(&m, "a.so", false);
	assert_int_equal(m.module->identity, XC_UNVERIFIED);
	expect_why(df, "unverified");
	assert_non_null(xc_debugfile_elf(df));
	assert_non_null(xc_symtab_named(xc_debugfile_symbols(df), "hidden"));
	end(&m);
}

static void minidebuginfo_adds_symbols(void **state)
{
	(void)state;
	struct mapped m;
	check_needs("xz");
	split(ID, "");
	shell("objcopy -S --remove-section .gnu_debuglink a.debug mini && cp a.full mini && strip -g mini && xz -k -f "
	      "mini &&"
	      " objcopy --add-section .gnu_debugdata=mini.xz a.so");
	struct xc_debugfile *df = begin(&m, "a.so", true);
	assert_non_null(xc_symtab_named(xc_debugfile_symbols(df), "hidden"));
	assert_non_null(xc_symtab_named(xc_debugfile_symbols(df), "shown"));
	assert_null(xc_debugfile_dwarf(df));
	end(&m);
	shell("head -c 100 mini.xz > cut.xz && objcopy --update-section .gnu_debugdata=cut.xz a.so");
	df = begin(&m, "a.so", true);
	assert_null(xc_symtab_named(xc_debugfile_symbols(df), "hidden"));
	assert_non_null(xc_symtab_named(xc_debugfile_symbols(df), "shown"));
	end(&m);
}

/* ---- dwz ---- */

/* flags for gcc, and for dwz */
static void dwz_split(const char *flags, const char *five)
{
	check_needs("dwz");
	split(OTHER_ID, flags);
	shell("mv a.debug b.debug");
	split(ID, flags);
	shell("dwz %s -m common.debug -M common.debug a.debug b.debug 2>/dev/null && test -s common.debug", five);
}

static void the_common_file_of_dwz_is_attached(void **state)
{
	(void)state;
	struct mapped m;
	const char *const flags[][2] = {{"-gdwarf-4", ""}, {"-gdwarf-5", ""}, {"-gdwarf-5", "-5"}};
	for (size_t i = 0; i < XC_COUNT(flags); i++) {
		dwz_split(flags[i][0], flags[i][1]);
		use_store();
		shell("cp a.debug common.debug store/.build-id/aa/ &&"
		      " mv store/.build-id/aa/a.debug store/.build-id/aa/aaaaaaaaaaaaaaaaaa.debug");
		struct xc_debugfile *df = begin(&m, "a.so", true);
		assert_non_null(xc_debugfile_dwarf(df));
		if (xc_debugfile_why(df))
			fail_msg("%s", xc_debugfile_why(df));
		assert_non_null(xc_debugfile_alternate(df));
		assert_true(knows_pair(dwarf_getalt(xc_debugfile_dwarf(df))));
		end(&m);
	}
}

/* libdw must not search by itself then. */
static void a_missing_common_file_is_told(void **state)
{
	(void)state;
	struct mapped m;
	dwz_split("-gdwarf-4", "");
	use_store();
	shell("cp a.debug store/.build-id/aa/aaaaaaaaaaaaaaaaaa.debug");
	struct xc_debugfile *df = begin(&m, "a.so", true);
	assert_non_null(xc_debugfile_dwarf(df));
	assert_non_null(strstr(xc_debugfile_why(df), "dwz moved to common.debug"));
	assert_null(xc_debugfile_alternate(df));
	assert_non_null(dwarf_getalt(xc_debugfile_dwarf(df))); /* the empty one */
	knows_pair(xc_debugfile_dwarf(df));
	end(&m);
}

/* ---- memory ---- */

static void a_module_without_file_is_rebuilt_from_its_memory(void **state)
{
	(void)state;
	struct mapped m;
	split(ID, "");
	m = map_file(scratch_path("a.so"), scratch_path("a.so"), true);
	store_all(&m);
	m.module->identity = XC_NO_FILE;
	struct xc_debugfile *df = xc_debugfile_of(m.process, m.module);
	Elf *elf = xc_debugfile_elf(df);
	assert_non_null(elf);
	const struct xc_symbol *shown = xc_symtab_named(xc_debugfile_symbols(df), "shown");
	assert_non_null(shown);
	Dwarf_CFI *cfi = dwarf_getcfi_elf(elf);
	Dwarf_Frame *frame = NULL;
	assert_non_null(cfi);
	assert_int_equal(dwarf_cfi_addrframe(cfi, shown->value, &frame), 0);
	free(frame);
	dwarf_cfi_end(cfi);
	end(&m);
}

static void what_memory_lost_stays_absent(void **state)
{
	(void)state;
	struct mapped m;
	split(ID, "");
	m = map_file(scratch_path("a.so"), scratch_path("a.so"), true); /* the first page only */
	m.module->identity = XC_NO_FILE;
	Elf *elf = xc_debugfile_elf(xc_debugfile_of(m.process, m.module));
	assert_true(!elf || !xc_elffile_section(elf, ".eh_frame"));
	end(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_file_with_dwarf_needs_no_other, use_nothing),
		cmocka_unit_test_setup(a_debug_dir_is_searched_by_build_id_and_by_path, use_nothing),
		cmocka_unit_test_setup(a_debug_file_of_another_build_is_refused_and_named, use_nothing),
		cmocka_unit_test_setup(without_any_the_reason_names_the_build_id, use_nothing),
		cmocka_unit_test_setup(a_debuglink_is_followed_when_its_crc_fits, use_nothing),
		cmocka_unit_test_setup(a_debuglink_that_is_a_path_is_ignored, use_nothing),
		cmocka_unit_test_setup(an_unverified_file_gives_code_and_symbols_only, use_nothing),
		cmocka_unit_test_setup(minidebuginfo_adds_symbols, use_nothing),
		cmocka_unit_test_setup(the_common_file_of_dwz_is_attached, use_nothing),
		cmocka_unit_test_setup(a_missing_common_file_is_told, use_nothing),
		cmocka_unit_test_setup(a_module_without_file_is_rebuilt_from_its_memory, use_nothing),
		cmocka_unit_test_setup(what_memory_lost_stays_absent, use_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
