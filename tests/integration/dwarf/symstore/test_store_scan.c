/* layer: dwarf tier: long */
#include "dwarf/symstore/store_scan.h"

#include <fcntl.h>
#include <unistd.h>

#include "tests/support/property.h"
#include "tests/support/mapped_fixture.h"

#define ID "-Wl,--build-id=0xaaaaaaaaaaaaaaaaaaaa"
static const char TEXT[] = "struct s { int a; }; int f(struct s *p) { return p->a; }\n";

static struct xc_arena arena;

static struct xc_store_scan scan_of(const char *name)
{
	struct stat st;
	struct xc_store_scan scan;
	if (!xc_store_scan_at(AT_FDCWD, scratch_path(name), &arena, &st, &scan))
		fail_msg("%s cannot be read", name);
	return scan;
}

static void expect(const char *name, uint32_t has, const char *id)
{
	char hex[2 * XC_BUILD_ID_MAX + 1];
	struct xc_store_scan scan = scan_of(name);
	assert_int_equal(scan.kind, XC_STORE_ELF);
	if (scan.has != has)
		fail_msg("%s has 0x%x, not 0x%x", name, scan.has, has);
	assert_string_equal(xc_build_id_hex(&scan.id, hex), id);
}

static int forget(void **state)
{
	(void)state;
	xc_arena_fini(&arena);
	return 0;
}

/* An independent reader's answer for the same file; false if it has none. */
static bool told_by(const char *command, char *line, size_t size)
{
	xc_auto(xc_freep) char *all = xc_asprintf("cd %s && %s", scratch_word(scratch_dir()), command);
	FILE *pipe = popen(all, "r");
	bool good = fgets(line, (int)size, pipe) != NULL;
	pclose(pipe);
	if (good)
		line[strcspn(line, "\n")] = '\0';
	return good;
}

/* ---- ELF files with a build-id ---- */

static void each_kind_of_file_is_told_by_content(void **state)
{
	(void)state;
	build("a.so", ID " -g", TEXT);
	shell("cp a.so a.txt && objcopy --only-keep-debug a.so a.debug && strip -g a.so -o a.nodebug && "
	      "strip a.so -o a.stripped && objcopy --strip-section-headers a.stripped a.bare 2>/dev/null || "
	      "cp a.stripped a.bare");
	expect("a.txt", XC_STORE_CODE | XC_STORE_SYMBOLS | XC_STORE_DWARF, "aaaaaaaaaaaaaaaaaaaa");
	expect("a.debug", XC_STORE_SYMBOLS | XC_STORE_DWARF, "aaaaaaaaaaaaaaaaaaaa");
	expect("a.nodebug", XC_STORE_CODE | XC_STORE_SYMBOLS, "aaaaaaaaaaaaaaaaaaaa");
	expect("a.stripped", XC_STORE_CODE, "aaaaaaaaaaaaaaaaaaaa");
	expect("a.bare", XC_STORE_CODE, "aaaaaaaaaaaaaaaaaaaa");
}

static void a_file_without_section_headers_has_its_segments(void **state)
{
	(void)state;
	struct xc_source *s = NULL;
	CHECK_OK(xc_source_open(build("a.so", ID, TEXT), NULL, &s));
	uint8_t *bytes = malloc(s->size);
	memcpy(bytes, s->bytes, s->size);
	memset(bytes + offsetof(Elf64_Ehdr, e_shoff), 0, 8);
	scratch_file("bare", bytes, s->size);
	free(bytes);
	xc_source_close(s);
	expect("bare", XC_STORE_CODE, "aaaaaaaaaaaaaaaaaaaa");
}

static void compressed_sections_and_minidebuginfo_count(void **state)
{
	(void)state;
	build("z.so", ID " -g -gz", TEXT);
	shell("printf x >mini && strip z.so -o m.so && objcopy --add-section .gnu_debugdata=mini m.so");
	expect("z.so", XC_STORE_CODE | XC_STORE_SYMBOLS | XC_STORE_DWARF, "aaaaaaaaaaaaaaaaaaaa");
	expect("m.so", XC_STORE_CODE | XC_STORE_MINI, "aaaaaaaaaaaaaaaaaaaa");
}

static void what_dwz_makes_is_told_apart(void **state)
{
	(void)state;
	static const char SHARED[] = "struct long_and_shared { unsigned long long first_member, second_member; struct "
				     "long_and_shared *next; "
				     "char name[64]; union { double real; long integer; } value; } shared;\n"
				     "int shown(int n) { return n + (int)shared.value.integer; }\n";
	build("a.so", "-g -gdwarf-4 " ID, SHARED);
	build("b.so", "-g -gdwarf-4 -DOTHER -Wl,--build-id=0xbbbbbbbbbbbbbbbbbbbb", SHARED);
	shell("dwz -m common -M /c a.so b.so");
	char line[256];
	assert_true(told_by("readelf -n common | awk '/Build ID/ {print $3}'", line, sizeof line));
	expect("common", XC_STORE_DWARF | XC_STORE_ALT, line);
	expect("a.so", XC_STORE_CODE | XC_STORE_SYMBOLS | XC_STORE_DWARF | XC_STORE_WANTS_ALT, "aaaaaaaaaaaaaaaaaaaa");
	build("c.so", "-g -gdwarf-5 " ID, SHARED);
	build("d.so", "-g -gdwarf-5 -DOTHER -Wl,--build-id=0xbbbbbbbbbbbbbbbbbbbb", SHARED);
	shell("dwz --dwarf-5 -m sup -M /c c.so d.so");
	struct xc_store_scan scan = scan_of("sup"); /* its checksum replaces a build-id */
	assert_int_equal(scan.has, XC_STORE_DWARF | XC_STORE_ALT);
	assert_int_equal(scan.id.size, 20);
	expect("c.so", XC_STORE_CODE | XC_STORE_SYMBOLS | XC_STORE_DWARF | XC_STORE_WANTS_ALT, "aaaaaaaaaaaaaaaaaaaa");
}

static void other_classes_and_byte_orders_are_read(void **state)
{
	(void)state;
	shell("printf x >raw");
	const char *const formats[] = {"elf32-i386", "elf32-big", "elf64-big"};
	shell("printf '\\4\\0\\0\\0\\4\\0\\0\\0\\3\\0\\0\\0GNU\\0\\1\\2\\3\\4' >note && "
	      "printf '\\0\\0\\0\\4\\0\\0\\0\\4\\0\\0\\0\\3GNU\\0\\1\\2\\3\\4' >note-big");
	for (size_t i = 0; i < XC_COUNT(formats); i++) {
		const char *note = strstr(formats[i], "big") ? "note-big" : "note";
		shell("rm -f f.o && objcopy -I binary -O %s --add-section .note.gnu.build-id=%s --set-section-flags "
		      ".note.gnu.build-id=alloc,readonly raw f.o",
		      formats[i], note);
		struct xc_store_scan scan = scan_of("f.o");
		if (scan.id.size != 4 || memcmp(scan.id.bytes, "\1\2\3\4", 4) != 0)
			fail_msg("%s: no build-id", formats[i]);
	}
}

/* ---- unusable files ---- */

static void what_cannot_be_looked_up_is_dull(void **state)
{
	(void)state;
	build("n.so", "-g -Wl,--build-id=none", TEXT);
	scratch_file("text", "hello", 5);
	scratch_file("empty", "", 0);
	scratch_file("head", "\177ELF\2\1\1", 7);
	shell("printf 'int x;' >x.c && gcc -g -c -o x.o x.c && ar rc x.a x.o");
	const char *const names[] = {"n.so", "text", "empty", "head", "x.o", "x.a"};
	for (size_t i = 0; i < XC_COUNT(names); i++)
		assert_int_equal(scan_of(names[i]).kind, XC_STORE_DULL);
}

static void packages_are_recognised(void **state)
{
	(void)state;
	shell("printf '2.0\\n' >debian-binary && rm -f p.deb && ar rc p.deb debian-binary");
	assert_int_equal(scan_of("p.deb").kind, XC_STORE_PACKAGE);
	scratch_file("p.rpm", "\xed\xab\xee\xdb\3\0\0\0\0\0\0\0", 12);
	assert_int_equal(scan_of("p.rpm").kind, XC_STORE_PACKAGE);
}

static void special_files_are_not_opened(void **state)
{
	(void)state;
	struct stat st;
	struct xc_store_scan scan;
	alarm(120);
	shell("rm -rf fifo link && mkfifo fifo && ln -s fifo link");
	assert_false(xc_store_scan_at(AT_FDCWD, scratch_path("fifo"), &arena, &st, &scan));
	assert_false(xc_store_scan_at(AT_FDCWD, scratch_path("link"), &arena, &st, &scan));
	assert_false(xc_store_scan_at(AT_FDCWD, "/dev/zero", &arena, &st, &scan));
	assert_false(xc_store_scan_at(AT_FDCWD, scratch_path("none"), &arena, &st, &scan));
	alarm(0);
}

/* ---- split units ---- */

/* The ids that readelf prints for this section, or for the package's table, equal those of the scan. */
static void expect_units(const char *name, uint32_t has, const char *ids_by)
{
	struct xc_store_scan scan = scan_of(name);
	char line[64];
	assert_int_equal(scan.kind, XC_STORE_ELF);
	assert_int_equal(scan.has & (XC_STORE_DWO | XC_STORE_DWP), has);
	xc_auto(xc_freep) char *count = xc_asprintf("%s | sort -u | wc -l", ids_by);
	assert_true(told_by(count, line, sizeof line));
	if (scan.dwo_count != (size_t)atoi(line) || !scan.dwo_count)
		fail_msg("%s: %zu units, readelf says %s", name, scan.dwo_count, line);
	for (size_t i = 0; i < scan.dwo_count; i++) {
		xc_auto(xc_freep) char *grep =
			xc_asprintf("%s | grep -i -m 1 '%llx'", ids_by, (unsigned long long)scan.dwo_ids[i]);
		if (!told_by(grep, line, sizeof line))
			fail_msg("%s: readelf does not know unit %llx", name, (unsigned long long)scan.dwo_ids[i]);
	}
}

static void split_units_have_the_ids_that_their_skeletons_ask_for(void **state)
{
	(void)state;
	static const char BY_ATTRIBUTE[] =
		"readelf --debug-dump=info s1.dwo 2>/dev/null | sed -n 's/.*GNU_dwo_id.*0x//p'";
	static const char BY_HEADER[] = "readelf --debug-dump=info s1.dwo 2>/dev/null | sed -n 's/.*DWO ID: *0x//p'";
	static const char BY_TABLE[] = "readelf --debug-dump=cu_index s.dwp 2>/dev/null | grep -o '\\] 0x[0-9a-f]*'";
	scratch_file("s1.c", TEXT, strlen(TEXT));
	scratch_file("s2.c", "int g(void) { return 7; }\n", 26);
	shell("gcc -g -gsplit-dwarf -gdwarf-4 -c s1.c && gcc -g -gsplit-dwarf -gdwarf-4 -c s2.c && dwp -o s.dwp s1.dwo "
	      "s2.dwo");
	expect_units("s1.dwo", XC_STORE_DWO, BY_ATTRIBUTE);
	expect_units("s.dwp", XC_STORE_DWP, BY_TABLE);
	shell("gcc -g -gsplit-dwarf -gdwarf-5 -c s1.c && gcc -g -gsplit-dwarf -gdwarf-5 -c s2.c");
	expect_units("s1.dwo", XC_STORE_DWO, BY_HEADER);
	shell("gcc -g -gsplit-dwarf -gdwarf-5 -fdebug-types-section -c s1.c"); /* one section for each type unit */
	expect_units("s1.dwo", XC_STORE_DWO, BY_HEADER);
}

/* binutils 2.40 neither creates nor shows them. */
static void packages_of_dwarf_5_have_the_units_that_they_were_made_of(void **state)
{
	(void)state;
	check_needs("llvm-dwp");
	scratch_file("s1.c", TEXT, strlen(TEXT));
	shell("gcc -g -gsplit-dwarf -gdwarf-5 -c s1.c && llvm-dwp -o s.dwp s1.dwo");
	struct xc_store_scan part = scan_of("s1.dwo"), all = scan_of("s.dwp");
	assert_int_equal(all.has & XC_STORE_DWP, XC_STORE_DWP);
	assert_int_equal(all.dwo_count, 1);
	assert_true(all.dwo_ids[0] == part.dwo_ids[0]);
}

static void single_file_split_units_are_found_in_the_object(void **state)
{
	(void)state;
	scratch_file("s1.c", TEXT, strlen(TEXT));
	shell("clang -g -gdwarf-5 -gsplit-dwarf=single -c s1.c -o single.o");
	struct xc_store_scan scan = scan_of("single.o");
	assert_int_equal(scan.kind, XC_STORE_ELF);
	assert_int_equal(scan.dwo_count, 1);
	assert_true(scan.has & XC_STORE_DWO);
}

/* ---- arbitrary bytes ---- */

/* Real files with changed bytes in headers and tables: an answer, within time and memory limits. */
static void damaged_files_are_read_within_bounds(void **state)
{
	(void)state;
	scratch_file("s1.c", TEXT, strlen(TEXT));
	build("a.so", ID " -g", TEXT);
	shell("gcc -g -gsplit-dwarf -gdwarf-4 -c s1.c && gcc -g -gsplit-dwarf -gdwarf-5 -c s1.c -o t1.o && "
	      "dwp -o s.dwp t1.dwo 2>/dev/null || dwp -o s.dwp s1.dwo");
	const char *const names[] = {"a.so", "s1.dwo", "s.dwp"};
	struct rng rng = {.state = 4711, .seed = 4711};
	for (size_t i = 0; i < XC_COUNT(names); i++) {
		struct xc_source *s = NULL;
		CHECK_OK(xc_source_open(scratch_path(names[i]), NULL, &s));
		uint8_t *bytes = malloc(s->size);
		for (int round = 0; round < 400; round++) {
			struct stat st;
			struct xc_store_scan scan;
			memcpy(bytes, s->bytes, s->size);
			for (int k = 0; k < 4; k++) {
				uint64_t table = s->size - 64 * 12, at = rng_next(&rng);
				at = k % 2 ? at % 64 : k ? table + at % (64 * 12) : at % s->size;
				bytes[at] = (uint8_t)(round % 3 ? rng_next(&rng) : 0xff);
			}
			const char *path =
				scratch_file("damaged", bytes, round % 5 ? s->size : rng_next(&rng) % s->size);
			xc_store_scan_at(AT_FDCWD, path, &arena, &st, &scan);
			xc_arena_fini(&arena);
		}
		free(bytes);
		xc_source_close(s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(each_kind_of_file_is_told_by_content, forget),
		cmocka_unit_test_teardown(a_file_without_section_headers_has_its_segments, forget),
		cmocka_unit_test_teardown(compressed_sections_and_minidebuginfo_count, forget),
		cmocka_unit_test_teardown(what_dwz_makes_is_told_apart, forget),
		cmocka_unit_test_teardown(other_classes_and_byte_orders_are_read, forget),
		cmocka_unit_test_teardown(what_cannot_be_looked_up_is_dull, forget),
		cmocka_unit_test_teardown(packages_are_recognised, forget),
		cmocka_unit_test_teardown(special_files_are_not_opened, forget),
		cmocka_unit_test_teardown(split_units_have_the_ids_that_their_skeletons_ask_for, forget),
		cmocka_unit_test_teardown(packages_of_dwarf_5_have_the_units_that_they_were_made_of, forget),
		cmocka_unit_test_teardown(single_file_split_units_are_found_in_the_object, forget),
		cmocka_unit_test_teardown(damaged_files_are_read_within_bounds, forget),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
