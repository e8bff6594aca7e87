/* layer: core tier: long */
/* The identity of a file: which one was mapped, by its build-id, Go's build-id, layout and contents. */
#include "tests/integration/core/process/found_file.h"

#include "core/process/identity_check.h"

/* ---- identity ---- */

static void equal_build_ids_verify(void **state)
{
	(void)state;
	const char *path = build("a.so", ID_A, TEXT_A);
	struct mapped m = map_file(path, path, true);
	xc_finder_module(&none, m.process, m.module);
	expect(&m, XC_VERIFIED, NULL);
	assert_string_equal(m.module->file_path, path);
	unmap(&m);
}

static void different_build_ids_refuse_and_are_named(void **state)
{
	(void)state;
	const char *image = build("a.so", ID_A, TEXT_A), *path = build("b.so", ID_B, TEXT_B);
	struct mapped m = map_file(image, path, true);
	xc_finder_module(&none, m.process, m.module);
	expect(&m, XC_REFUSED, "build-id aaaaaaaaaaaaaaaaaaaa in the core, bbbbbbbbbbbbbbbbbbbb in");
	assert_string_equal(m.module->file_path, path);
	assert_int_equal(m.module->file_build_id.bytes[0], 0xbb);
	unmap(&m);
}

static void a_file_that_lost_its_build_id_is_refused(void **state)
{
	(void)state;
	const char *image = build("a.so", ID_A, TEXT_A), *path = build("n.so", "-Wl,--build-id=none", TEXT_A);
	struct mapped m = map_file(image, path, true);
	xc_finder_module(&none, m.process, m.module);
	expect(&m, XC_REFUSED, "none in");
	unmap(&m);
}

/* The program's memory shows that it had no build-id; the file has one, so it is another build. */
static void a_build_id_that_was_not_there_is_refused(void **state)
{
	(void)state;
	const char *image = build("n.so", "-Wl,--build-id=none", TEXT_A), *path = build("a.so", ID_A, TEXT_A);
	struct mapped m = map_file(image, path, true);
	xc_finder_module(&none, m.process, m.module);
	expect(&m, XC_REFUSED, "no build-id in the core");
	unmap(&m);
}

/* ---- Go's build-id ---- */

#define GO_NOTE(size, id)                                                                                              \
	"__asm__(\".section .note.go.buildid,\\\"a\\\",@note\\n.long 4, " size ", 4\\n.ascii \\\"Go\\\\0\\\\0" id      \
	"\\\"\\n.balign 4\\n.text\");\n"
#define GO_PARTS "/OODjmahbIIxSuD-XA_aH/ToKTcNRO1d2bOQlZ8XPE/hLZk0srqS0CNqGjIhdcz"
static const char GO_A[] = GO_NOTE("83", "BUCmMyp-JQrc40oX2G8q" GO_PARTS) "int answer(void) { return 42; }\n";
static const char GO_B[] = GO_NOTE("83", "CVDnNzq-KRsd51pY3H9r" GO_PARTS) "int answer(void) { return 42; }\n";
static const char GO_CHOSEN[] = GO_NOTE("8", "redacted") "int answer(void) { return 42; }\n";

static void expect_go(const char *in_memory, const char *in_file, bool stored, enum xc_identity identity,
		      const char *why)
{
	const char *image = build("image.so", "-Wl,--build-id=none", in_memory);
	const char *path = build("file.so", "-Wl,--build-id=none", in_file);
	struct mapped m = map_file(image, path, true);
	if (stored)
		store_all(&m); /* gcc places the note behind the first page, Go in it */
	xc_finder_module(&none, m.process, m.module);
	expect(&m, identity, why);
	unmap(&m);
}

static void equal_ids_of_go_verify(void **state)
{
	(void)state;
	expect_go(GO_A, GO_A, true, XC_VERIFIED, NULL);
}

static void a_rebuilt_program_of_go_is_refused(void **state)
{
	(void)state;
	expect_go(GO_A, GO_B, true, XC_REFUSED, "its bytes differ");
}

static void an_id_of_go_that_its_builder_chose_verifies_nothing(void **state)
{
	(void)state;
	expect_go(GO_CHOSEN, GO_CHOSEN, true, XC_UNVERIFIED, "it has no build-id");
}

static void an_id_of_go_that_the_core_lost_verifies_nothing(void **state)
{
	(void)state;
	expect_go(GO_A, GO_A, false, XC_UNVERIFIED, " fits by layout");
	expect_go(GO_A, GO_B, false, XC_UNVERIFIED, " fits by layout");
}

static void a_lost_build_id_leaves_an_unverified_file(void **state)
{
	(void)state;
	const char *path = build("a.so", ID_A, TEXT_A);
	struct mapped m = map_file(path, path, false);
	xc_finder_module(&none, m.process, m.module);
	expect(&m, XC_UNVERIFIED, " fits by layout and 1 stored page");
	unmap(&m);
}

static void strict_refuses_unverified_files(void **state)
{
	(void)state;
	const struct xc_finder strict = {.strict = true};
	const char *path = build("a.so", ID_A, TEXT_A);
	struct mapped m = map_file(path, path, false);
	xc_finder_module(&strict, m.process, m.module);
	expect(&m, XC_REFUSED, "--strict");
	unmap(&m);
}

static void another_layout_is_refused(void **state)
{
	(void)state;
	const char *image = build("a.so", ID_A, TEXT_A), *path = build("long.so", ID_A, TEXT_LONG);
	struct mapped m = map_file(image, path, false);
	xc_finder_module(&none, m.process, m.module);
	expect(&m, XC_REFUSED, "do not match the module's mappings");
	unmap(&m);
}

/* A core of gdb's has neither the memory nor the name of a segment that nobody wrote to. Other cores have both, so
 * there it is another file. */
static void segments_that_gdb_left_out_are_no_other_layout(void **state)
{
	(void)state;
	const char *path = build("a.so", ID_A, TEXT_A);
	for (int by_gdb = 0; by_gdb < 2; by_gdb++) {
		struct mapped m = map_file(path, path, false);
		size_t at = 1; /* the code; the headers are before it */
		assert_false(m.process->mappings[at].writable);
		memmove(&m.process->mappings[at], &m.process->mappings[at + 1],
			(--m.process->mapping_count - at) * sizeof *m.process->mappings);
		m.process->core_maker = by_gdb ? "gdb" : "kernel";
		xc_process_index(m.process);
		xc_finder_module(&none, m.process, m.module);
		if (by_gdb)
			expect(&m, XC_UNVERIFIED, " fits by layout and 1 stored page");
		else
			expect(&m, XC_REFUSED, "do not match the module's mappings");
		unmap(&m);
	}
}

/* The same layout and a different constant in the code: only stored bytes can show the difference. */
static void a_stored_page_that_differs_is_refused(void **state)
{
	(void)state;
	const char *image = build("a.so", ID_A, TEXT_A), *path = build("b.so", ID_A, TEXT_B);
	struct mapped m = map_file(image, path, false);
	xc_finder_module(&none, m.process, m.module);
	expect(&m, XC_UNVERIFIED, "fits by"); /* the first page is equal */
	xc_source_close(m.module->file);
	m.module->file = NULL;
	const struct xc_mapping *code = &m.process->mappings[1];
	assert_true(code->executable);
	struct xc_segment s = {
		.lo = code->lo, .hi = code->hi, .provenance = XC_FROM_CORE, .bytes = m.image->bytes + code->offset};
	uint8_t page[0x1000] = {0}; /* the file may end before the page does */
	memcpy(page, s.bytes, m.image->size - code->offset < sizeof page ? m.image->size - code->offset : sizeof page);
	s.bytes = page;
	s.hi = s.lo + sizeof page - 1;
	xc_space_add(m.process->space, &s);
	xc_space_seal(m.process->space);
	xc_finder_module(&none, m.process, m.module);
	expect(&m, XC_REFUSED, "its bytes differ from those at 0x7f0000001000");
	unmap(&m);
}

static void lost_headers_are_made_good_from_the_file(void **state)
{
	(void)state;
	const char *path = build("a.so", ID_A, TEXT_A);
	struct mapped m = map_file(path, path, false);
	m.module->bias_known = false;
	m.module->bias = 0;
	xc_finder_module(&none, m.process, m.module);
	expect(&m, XC_UNVERIFIED, "fits by");
	assert_true(m.module->bias_known);
	assert_int_equal(m.module->bias, MAPPED_BIAS);
	unmap(&m);
}

static void a_file_for_another_machine_is_refused(void **state)
{
	(void)state;
	const char *path = build("a.so", ID_A, TEXT_A);
	struct mapped m = map_file(path, path, false);
	char *bytes = malloc(m.image->size);
	memcpy(bytes, m.image->bytes, m.image->size);
	bytes[18] = (char)EM_S390;
	const char *other = scratch_file("other.so", bytes, m.image->size);
	free(bytes);
	m.module->path = other;
	xc_finder_module(&none, m.process, m.module);
	expect(&m, XC_REFUSED, "another machine");
	unmap(&m);
}

/* It has the right build-id and no code. */
static void a_debug_file_never_serves_as_the_program(void **state)
{
	(void)state;
	const char *path = build("g.so", ID_A " -g", TEXT_A);
	shell("objcopy --only-keep-debug g.so g.debug");
	struct mapped m = map_file(path, scratch_path("g.debug"), true);
	xc_finder_module(&none, m.process, m.module);
	expect(&m, XC_REFUSED, "a debug file");
	unmap(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_build_ids_verify),
		cmocka_unit_test(different_build_ids_refuse_and_are_named),
		cmocka_unit_test(a_file_that_lost_its_build_id_is_refused),
		cmocka_unit_test(a_build_id_that_was_not_there_is_refused),
		cmocka_unit_test(equal_ids_of_go_verify),
		cmocka_unit_test(a_rebuilt_program_of_go_is_refused),
		cmocka_unit_test(an_id_of_go_that_its_builder_chose_verifies_nothing),
		cmocka_unit_test(an_id_of_go_that_the_core_lost_verifies_nothing),
		cmocka_unit_test(a_lost_build_id_leaves_an_unverified_file),
		cmocka_unit_test(strict_refuses_unverified_files),
		cmocka_unit_test(another_layout_is_refused),
		cmocka_unit_test(segments_that_gdb_left_out_are_no_other_layout),
		cmocka_unit_test(a_stored_page_that_differs_is_refused),
		cmocka_unit_test(lost_headers_are_made_good_from_the_file),
		cmocka_unit_test(a_file_for_another_machine_is_refused),
		cmocka_unit_test(a_debug_file_never_serves_as_the_program),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
