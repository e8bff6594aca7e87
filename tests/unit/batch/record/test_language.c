/* layer: batch */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "batch/record/language.h"

enum { MAX = 8 };

static void expect(const struct xc_record_frame *frames, size_t count, const enum xc_language *wanted)
{
	struct xc_record_frame copy[MAX];
	enum xc_language got[MAX];
	memcpy(copy, frames, count * sizeof *frames);
	const struct xc_record record = {.frames = copy, .frame_count = count};
	xc_languages(&record, got);
	for (size_t i = 0; i < count; i++)
		if (got[i] != wanted[i])
			fail_msg("frame %zu: %d, wanted %d", i, (int)got[i], (int)wanted[i]);
}

static void files_tell(void **state)
{
	(void)state;
	static const struct xc_record_frame frames[] = {
		{.file = "/s/a.go"},  {.file = "/s/a.rs"}, {.file = "a.c"},   {.file = "/s/a.cpp"},
		{.file = "/s/a.hpp"}, {.file = "/s/a.h"},  {.file = "/s/go"}, {.file = ""},
	};
	static const enum xc_language wanted[] = {
		XC_LANGUAGE_GO,  XC_LANGUAGE_RUST,    XC_LANGUAGE_C,       XC_LANGUAGE_CXX,
		XC_LANGUAGE_CXX, XC_LANGUAGE_UNKNOWN, XC_LANGUAGE_UNKNOWN, XC_LANGUAGE_UNKNOWN,
	};
	expect(frames, XC_COUNT(frames), wanted);
}

/* A stripped program has names but no files. */
static void run_times_tell_of_their_module(void **state)
{
	(void)state;
	static const struct xc_record_frame go[] = {
		{.function = "main.cold", .module = "a"},
		{.function = "strlen", .module = "libc.so.6"},
		{.function = "fill", .file = "fill.c", .module = "a"},
		{.function = "runtime.main", .module = "a"},
		{.function = NULL, .module = NULL},
	};
	static const enum xc_language of_go[] = {XC_LANGUAGE_GO, XC_LANGUAGE_UNKNOWN, XC_LANGUAGE_C, XC_LANGUAGE_GO,
						 XC_LANGUAGE_UNKNOWN};
	expect(go, XC_COUNT(go), of_go);
	static const struct xc_record_frame rust[] = {
		{.function = "core::option::unwrap_failed", .module = "a"},
		{.function = "app::run", .module = "a"},
		{.function = "<app::A as core::ops::Drop>::drop", .module = "b"},
		{.function = "__rustc[0123]::__rust_alloc", .module = "c"},
		{.function = "std::rt::lang_start<()>", .module = "a"},
		{.function = "core::option::unwrap_failed", .module = "d"},
	};
	static const enum xc_language of_rust[] = {XC_LANGUAGE_UNKNOWN, XC_LANGUAGE_UNKNOWN, XC_LANGUAGE_RUST,
						   XC_LANGUAGE_RUST,    XC_LANGUAGE_RUST,    XC_LANGUAGE_UNKNOWN};
	expect(rust, XC_COUNT(rust), of_rust);
}

/* A Rust library linked into a C++ program. */
static void records_tell_of_each_frame_alone(void **state)
{
	(void)state;
	static const struct xc_record_frame frames[] = {
		{.function = "core::Engine::tick", .module = "a", .language = "c++"},
		{.function = "on_tick", .module = "a"},
		{.function = "core::ops::function::FnOnce::call_once", .module = "a", .language = "rust"},
		{.function = "alloc::pool::give", .module = "a"},
		{.function = "std::rt::lang_start", .module = "a", .language = "cobol"},
		{.function = "runtime.main", .module = "b", .language = "c"},
		{.function = "f", .module = "a", .file = "x.c", .language = "go"},
	};
	static const enum xc_language wanted[] = {
		XC_LANGUAGE_CXX,  XC_LANGUAGE_UNKNOWN, XC_LANGUAGE_RUST, XC_LANGUAGE_UNKNOWN,
		XC_LANGUAGE_RUST, XC_LANGUAGE_C,       XC_LANGUAGE_GO,
	};
	expect(frames, XC_COUNT(frames), wanted);
	static const enum xc_language without_go[] = {XC_LANGUAGE_CXX, XC_LANGUAGE_UNKNOWN, XC_LANGUAGE_RUST,
						      XC_LANGUAGE_UNKNOWN, XC_LANGUAGE_RUST};
	expect(frames, XC_COUNT(without_go), without_go);
}

/* The race detector, or C code built without -g. */
static void what_has_no_debug_information_beside_go_that_has_is_not_go(void **state)
{
	(void)state;
	static const struct xc_record_frame frames[] = {
		{.function = "time.part.0", .module = "a"},
		{.function = "main.run", .module = "a", .language = "go"},
		{.function = "runtime.main", .module = "a"},
		{.function = "time.part.0", .module = "b"},
		{.function = "runtime.main", .module = "b"},
		{.function = "time.part.0", .module = "c"},
		{.function = "main.run", .module = "c", .file = "/src/run.go"},
	};
	static const enum xc_language wanted[] = {XC_LANGUAGE_UNKNOWN, XC_LANGUAGE_GO, XC_LANGUAGE_GO,
						  XC_LANGUAGE_GO,      XC_LANGUAGE_GO, XC_LANGUAGE_UNKNOWN,
						  XC_LANGUAGE_GO};
	expect(frames, XC_COUNT(frames), wanted);
}

static void dwarf_has_numbers_for_them(void **state)
{
	(void)state;
	static const struct {
		int dwarf;
		const char *name;
	} rows[] = {{0x01, "c"},    {0x02, "c"},   {0x0c, "c"},   {0x1d, "c"},   {0x2c, "c"},   {0x04, "c++"},
		    {0x19, "c++"},  {0x1a, "c++"}, {0x21, "c++"}, {0x2a, "c++"}, {0x2b, "c++"}, {0x16, "go"},
		    {0x1c, "rust"}, {0x13, NULL},  {0, NULL},     {-1, NULL}};
	for (size_t i = 0; i < XC_COUNT(rows); i++) {
		const char *got = xc_language_name(xc_language_of_dwarf(rows[i].dwarf));
		if (got != rows[i].name && (!got || !rows[i].name || strcmp(got, rows[i].name) != 0))
			fail_msg("0x%x: %s", (unsigned)rows[i].dwarf, got);
	}
}

static void names_that_look_alike_tell_nothing(void **state)
{
	(void)state;
	static const struct xc_record_frame frames[] = {
		{.function = "runtime.x::y", .module = "a"}, {.function = "main.cold", .module = "a"},
		{.function = "core::reply", .module = "a"},  {.function = "<lambda>", .module = "a"},
		{.function = "rusty", .module = "a"},
	};
	static const enum xc_language wanted[XC_COUNT(frames)] = {XC_LANGUAGE_UNKNOWN};
	expect(frames, XC_COUNT(frames), wanted);
}

static void rules_have_names_for_them(void **state)
{
	(void)state;
	enum xc_language language;
	assert_true(xc_language_named("c++|go", 3, &language));
	assert_int_equal(language, XC_LANGUAGE_CXX);
	assert_true(xc_language_named("c", 1, &language));
	assert_int_equal(language, XC_LANGUAGE_C);
	assert_false(xc_language_named("", 0, &language));
	assert_false(xc_language_named("cobol", 5, &language));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_tell),
		cmocka_unit_test(run_times_tell_of_their_module),
		cmocka_unit_test(records_tell_of_each_frame_alone),
		cmocka_unit_test(what_has_no_debug_information_beside_go_that_has_is_not_go),
		cmocka_unit_test(dwarf_has_numbers_for_them),
		cmocka_unit_test(names_that_look_alike_tell_nothing),
		cmocka_unit_test(rules_have_names_for_them),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
