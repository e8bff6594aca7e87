/* layer: core */
#include "tests/support/check.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "core/process/finder.h"
#include "core/process/package.h"
#include "core/io/source.h"
#include "core/base/text.h"
#include "tests/support/corefile.h"
#include "tests/support/dying.h"

static const char *in(const struct corefile *c, struct xc_arena *arena)
{
	return xc_package_in_notes(c->notes.bytes, c->notes.len, c->note_align, c->big_endian, arena);
}

static void expect(const char *json, size_t len, const char *wanted)
{
	for (int variant = 0; variant < 4; variant++) {
		struct corefile c = corefile_new_for(EM_PPC64, ELFCLASS64, variant & 1);
		struct xc_arena arena = {0};
		c.note_align = variant & 2 ? 8 : 4;
		corefile_note(&c, "GNU", 3, "build-id", 8);
		corefile_note(&c, "GNU", 0xcafe1a7e, "{\"name\":\"no\"}", 14);
		corefile_note(&c, "FDO", 0xcafe1a7e, json, len);
		const char *got = in(&c, &arena);
		if (wanted)
			assert_string_equal(got, wanted);
		else
			assert_null(got);
		xc_arena_fini(&arena);
		corefile_fini(&c);
	}
}

#define EXPECT(json, wanted) expect(json, sizeof(json), wanted)

static void name_and_version_are_had_of_the_note(void **state)
{
	(void)state;
	EXPECT("{\"type\":\"deb\",\"os\":\"debian\",\"name\":\"shop\",\"version\":\"1.2-3\",\"architecture\":"
	       "\"amd64\"}",
	       "shop 1.2-3");
	EXPECT("{\"name\":\"shop\"}\0\0\0", "shop");
	expect("{\"name\":\"shop\"}", 15, "shop"); /* no NUL */
	EXPECT("{\"name\":\"a b\\n\\u001b[31m\\u00e9\",\"version\":\"1\"}", "a?b??[31m?? 1");
}

static void what_is_no_such_note_tells_nothing(void **state)
{
	(void)state;
	EXPECT("", NULL);
	EXPECT("{", NULL);
	EXPECT("[\"name\"]", NULL);
	EXPECT("{\"version\":\"1\"}", NULL);
	EXPECT("{\"name\":7}", NULL);
	EXPECT("{\"name\":\"\"}", NULL);
	EXPECT("{\"name\":\"a\",\"name\":\"b\"}", NULL);
}

static void long_words_and_cut_notes_are_bounded(void **state)
{
	(void)state;
	struct corefile c = corefile_new();
	struct xc_arena arena = {0};
	char json[2000];
	snprintf(json, sizeof json, "{\"name\":\"%01000d\",\"version\":\"%0500d\"}", 0, 0);
	corefile_note(&c, "FDO", 0xcafe1a7e, json, strlen(json) + 1);
	assert_int_equal(strlen(in(&c, &arena)), 256 + 1 + 256);
	for (size_t len = 0; len < 100; len++)
		assert_null(xc_package_in_notes(c.notes.bytes, len, 4, false, &arena));
	memset(c.notes.bytes, 0xff, 12);
	assert_null(in(&c, &arena));
	xc_arena_fini(&arena);
	corefile_fini(&c);
}

/* ---- as written by the linker ---- */

#define COMPILER                                                                                                       \
	"gcc -x c -Xlinker --package-metadata='{\"type\":\"deb\",\"name\":\"till\",\"version\":\"2:1.0~rc1-1\"}'"

static const char source[] = "int main(void) { return *(volatile int *)0; }\n";

static struct xc_process *till(const char **program_out)
{
	struct xc_finder finder = {.sysroot = "/nowhere"};
	const struct xc_open_options none = {.finder = &finder};
	struct xc_process *p = NULL;
	*program_out = dying_program("till", COMPILER, source);
	CHECK_OK(xc_process_open_core(dying_core(*program_out, NULL), &none, &p));
	return p;
}

static void a_core_has_it_without_the_file(void **state)
{
	(void)state;
	const char *program;
	struct xc_arena arena = {0};
	struct xc_process *p = till(&program);
	assert_string_equal(xc_package_of(p, p->modules[0], &arena), "till 2:1.0~rc1-1");
	for (size_t i = 1; i < p->module_count; i++)
		(void)xc_package_of(p, p->modules[i], &arena);
	xc_process_close(p);
	xc_arena_fini(&arena);
}

static void a_file_serves_where_the_memory_is_lost_unless_it_was_refused(void **state)
{
	(void)state;
	const char *program;
	struct xc_arena arena = {0};
	struct xc_process *p = till(&program);
	struct xc_module *exe = p->modules[0];
	exe->bias_known = false;
	assert_null(xc_package_of(p, exe, &arena));
	CHECK_OK(xc_source_open(program, NULL, &exe->file));
	exe->identity = XC_REFUSED;
	assert_null(xc_package_of(p, exe, &arena));
	exe->identity = XC_VERIFIED;
	assert_string_equal(xc_package_of(p, exe, &arena), "till 2:1.0~rc1-1");
	xc_process_close(p);
	xc_arena_fini(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(name_and_version_are_had_of_the_note),
		cmocka_unit_test(what_is_no_such_note_tells_nothing),
		cmocka_unit_test(long_words_and_cut_notes_are_bounded),
		cmocka_unit_test(a_core_has_it_without_the_file),
		cmocka_unit_test(a_file_serves_where_the_memory_is_lost_unless_it_was_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
