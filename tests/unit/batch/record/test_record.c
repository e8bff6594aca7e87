/* layer: batch tier: check */
/* record: every member is read back as written, and all input is bounded, whoever wrote it. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "batch/record/record.h"

static struct xc_record_frame frames[] = {
	{.function = "parse(char const*)",
	 .module = "libshop.so.1",
	 .build_id = "0123456789abcdef",
	 .package = "libshop 1.2-3",
	 .has_offset = true,
	 .offset = UINT64_MAX,
	 .language = "c++",
	 .file = "../src/parse.c",
	 .line = UINT_MAX,
	 .trust = "context",
	 .inlined = true,
	 .signal = true,
	 .unverified = true,
	 .thread = "thread 7 \"worker\""},
	{.has_offset = true}, /* at the file's first byte */
	{.function = ""},
	{.trust = "scan"},
};

static const char *absent[] = {"libfoo.so.1 0123: not found", ""};

/* Every member is set, each to a different value. */
static const struct xc_record full = {
	.status = XC_RECORD_OK,
	.path = "a/core.1",
	.core_id = "c0",
	.stored = 1,
	.size = UINT64_MAX,
	.missing = (UINT64_C(1) << 53) + 1,
	.note = "its heap",
	.program = "shop",
	.build_id = "b1",
	.package = "shop 1.2",
	.arch = "x86_64",
	.signal = "SIGSEGV",
	.class_name = "null-read",
	.kind = "kind",
	.severity = "low",
	.confidence = "certain",
	.headline = "SIGSEGV: read 4 bytes at 0x18",
	.cause = "reading `r->len`: \"r\" is NULL",
	.expression = "r->len",
	.origin = "returned by find()",
	.message = "first line\nsecond\tline \x1b[0m",
	.function = "reply",
	.file = "shop.c",
	.line = 88,
	.thread = "w\xc3\xb6rker",
	.threads = 7,
	.frames = frames,
	.frame_count = XC_COUNT(frames),
	.elided = 14310,
	.elided_at = 3,
	.cycle = "14,310 × [parse_value → parse_array]",
	.fault_at = 2,
	.stop = "end",
	.unit = "some.service",
	.without_exe = true,
	.every = {UINT_MAX - 1, UINT_MAX},
	.crashed = {2, 4},
	.top = {0, 4},
	.absent = absent,
	.absent_count = XC_COUNT(absent),
};

static char *written(const struct xc_record *record)
{
	json_t *object = xc_record_json(record);
	char *text = json_dumps(object, JSON_COMPACT);
	json_decref(object);
	assert_non_null(text);
	return text;
}

static struct xc_record *read_back(const char *text, struct xc_arena *arena)
{
	struct xc_record *record = NULL;
	struct xc_error *err = xc_record_read(text, strlen(text), arena, &record);
	if (err)
		fail_msg("%s", err->message);
	return record;
}

static void same_text(const char *left, const char *right)
{
	assert_int_equal(left == NULL, right == NULL);
	if (left)
		assert_string_equal(left, right);
}

static void same_frame(const struct xc_record_frame *left, const struct xc_record_frame *right)
{
	same_text(left->function, right->function);
	same_text(left->module, right->module);
	same_text(left->build_id, right->build_id);
	same_text(left->package, right->package);
	same_text(left->language, right->language);
	same_text(left->file, right->file);
	same_text(left->trust, right->trust);
	same_text(left->thread, right->thread);
	assert_int_equal(left->has_offset, right->has_offset);
	assert_int_equal(left->offset, right->offset);
	assert_int_equal(left->line, right->line);
	assert_int_equal(left->inlined, right->inlined);
	assert_int_equal(left->signal, right->signal);
	assert_int_equal(left->unverified, right->unverified);
}

static void same_texts(const struct xc_record *left, const struct xc_record *right)
{
	same_text(left->why, right->why);
	same_text(left->path, right->path);
	same_text(left->core_id, right->core_id);
	same_text(left->note, right->note);
	same_text(left->program, right->program);
	same_text(left->build_id, right->build_id);
	same_text(left->package, right->package);
	same_text(left->arch, right->arch);
	same_text(left->signal, right->signal);
	same_text(left->class_name, right->class_name);
	same_text(left->kind, right->kind);
	same_text(left->severity, right->severity);
	same_text(left->confidence, right->confidence);
	same_text(left->headline, right->headline);
	same_text(left->cause, right->cause);
	same_text(left->expression, right->expression);
	same_text(left->origin, right->origin);
	same_text(left->message, right->message);
	same_text(left->function, right->function);
	same_text(left->file, right->file);
	same_text(left->thread, right->thread);
	same_text(left->cycle, right->cycle);
	same_text(left->stop, right->stop);
	same_text(left->unit, right->unit);
}

static void same_numbers(const struct xc_record *left, const struct xc_record *right)
{
	assert_int_equal(left->status, right->status);
	assert_int_equal(left->stored, right->stored);
	assert_int_equal(left->size, right->size);
	assert_int_equal(left->missing, right->missing);
	assert_int_equal(left->line, right->line);
	assert_int_equal(left->threads, right->threads);
	assert_int_equal(left->elided, right->elided);
	assert_int_equal(left->elided_at, right->elided_at);
	assert_int_equal(left->fault_at, right->fault_at);
	assert_int_equal(left->without_exe, right->without_exe);
	assert_memory_equal(&left->every, &right->every, sizeof left->every);
	assert_memory_equal(&left->crashed, &right->crashed, sizeof left->crashed);
	assert_memory_equal(&left->top, &right->top, sizeof left->top);
}

static void every_member_is_read_as_it_was_written(void **state)
{
	struct xc_arena arena = {0};
	char *text = written(&full);
	(void)state;
	const struct xc_record *record = read_back(text, &arena);
	same_texts(record, &full);
	same_numbers(record, &full);
	assert_int_equal(record->frame_count, full.frame_count);
	for (size_t i = 0; i < full.frame_count; i++)
		same_frame(&record->frames[i], &full.frames[i]);
	assert_int_equal(record->absent_count, full.absent_count);
	for (size_t i = 0; i < full.absent_count; i++)
		assert_string_equal(record->absent[i], full.absent[i]);
	free(text);
	xc_arena_fini(&arena);
}

static void failures_are_read_as_they_were_written(void **state)
{
	static const enum xc_record_status all[] = {XC_RECORD_UNREADABLE, XC_RECORD_TIMEOUT, XC_RECORD_LIMIT,
						    XC_RECORD_DIED};
	struct xc_arena arena = {0};
	(void)state;
	for (size_t i = 0; i < XC_COUNT(all); i++) {
		const struct xc_record *failed = xc_record_failed(&arena, all[i], "p\xff\x1b", "why\xc2\x85");
		assert_string_equal(failed->path, "p\\xff\x1b");
		char *text = written(failed);
		const struct xc_record *record = read_back(text, &arena);
		same_texts(record, failed);
		same_numbers(record, failed);
		free(text);
	}
	xc_arena_fini(&arena);
}

/* ---- damaged ---- */

/* A changed value in the full record must be refused, or change nothing else. */
static void expect_refused(const char *key, json_t *value, bool in_frame)
{
	struct xc_arena arena = {0};
	struct xc_pool pool = {.arena = &arena, .single = true};
	struct xc_record *record = NULL;
	json_t *object = xc_record_json(&full);
	json_object_set_new(in_frame ? json_array_get(json_object_get(object, "frames"), 0) : object, key, value);
	struct xc_error *err = xc_record_parse(object, &pool, &record);
	if (!err)
		fail_msg("\"%s\" of another type was taken", key);
	assert_int_equal(err->code, XC_ERR_FORMAT);
	xc_error_free(err);
	json_decref(object);
	xc_arena_fini(&arena);
}

static json_t *other_type(const json_t *value)
{
	return json_is_string(value) ? json_integer(7) : json_string("x");
}

static void members_of_another_type_are_refused(void **state)
{
	json_t *object = xc_record_json(&full), *value;
	const json_t *frame = json_array_get(json_object_get(object, "frames"), 0);
	size_t count = 0;
	const char *key;
	(void)state;
	json_object_foreach(object, key, value)
	{
		if (strcmp(key, "frames") == 0 || strcmp(key, "known") == 0 || strcmp(key, "absent") == 0)
			continue;
		if (json_is_string(value) && json_string_value(value)[0] >= '0' && json_string_value(value)[0] <= '9' &&
		    (!strcmp(key, "size") || !strcmp(key, "missing")))
			expect_refused(key, json_string("12x"), false); /* too large for a JSON number */
		else
			expect_refused(key, other_type(value), false);
		expect_refused(key, json_array(), false);
		expect_refused(key, json_real(1.5), false);
		count++;
	}
	assert_int_equal(count, 34); /* everything except "why" */
	json_object_foreach((json_t *)frame, key, value)
	{
		expect_refused(key, json_array(), true);
	}
	expect_refused("stored", json_integer(-1), false);
	expect_refused("status", json_string("fine"), false);
	expect_refused("schema", json_string("xcore.record/2"), false);
	json_decref(object);
}

static struct xc_error *error_of(const char *text)
{
	struct xc_arena arena = {0};
	struct xc_record *record = NULL;
	struct xc_error *err = xc_record_read(text, strlen(text), &arena, &record);
	xc_arena_fini(&arena);
	return err;
}

static void what_is_no_record_is_an_error(void **state)
{
	static const char *const texts[] = {
		"",
		"null",
		"[]",
		"{}",
		"{\"schema\":\"xcore.record/1\"}",
		"{\"schema\":\"xcore.record/1\",\"status\":\"ok\",\"path\":\"a\"}",
		"{\"schema\":\"xcore.record/1\",\"status\":\"died\",\"path\":\"a\"}",
		"{\"schema\":\"xcore.record/1\",\"status\":\"died\",\"why\":\"a\"}",
		"{\"schema\":\"xcore.record/1\",\"status\":\"died\",\"why\":\"a\",\"path\":\"a\"} x",
		"{\"schema\":\"xcore.record/1\",\"status\":\"died\",\"why\":\"a\",\"path\":\"a\",\"path\":\"b\"}",
		"{\"schema\":\"xcore.record/1\",\"status\":\"died\",\"why\":\"a\",\"path\":\"a\\u0000b\"}",
		"{\"schema\":\"xcore.record/1\",\"status\":\"died\",\"why\":\"a\",\"path\":\"a\xff\"}",
		"{\"schema\":\"xcore.record/1\",\"status\":\"ok\",\"path\":\"a\",\"class\":\"a\",\"severity\":\"a\","
		"\"confidence\":\"a\",\"frames\":[1]}",
		"{\"schema\":\"xcore.record/1\",\"status\":\"ok\",\"path\":\"a\",\"class\":\"a\",\"severity\":\"a\","
		"\"confidence\":\"a\",\"absent\":[{}]}",
	};
	(void)state;
	for (size_t i = 0; i < XC_COUNT(texts); i++) {
		struct xc_error *err = error_of(texts[i]);
		if (!err)
			fail_msg("taken: %s", texts[i]);
		xc_error_free(err);
	}
}

static void a_record_that_is_cut_is_an_error(void **state)
{
	char *text = written(&full);
	(void)state;
	for (size_t len = strlen(text); len-- > 0;) {
		text[len] = '\0';
		struct xc_error *err = error_of(text);
		assert_non_null(err);
		xc_error_free(err);
	}
	free(text);
}

/* ---- bounds ---- */

/* A pool changes no value, and stores data shared by records once. */
static void what_records_share_is_kept_once(void **state)
{
	struct xc_arena arena = {0};
	struct xc_pool pool = {.arena = &arena};
	struct xc_record *one, *two;
	struct xc_record other = full;
	(void)state;
	other.path = "another";
	char *first = written(&full), *second = written(&other);
	assert_null(xc_record_read_into(first, strlen(first), &pool, &one));
	assert_null(xc_record_read_into(second, strlen(second), &pool, &two));
	same_texts(one, &full);
	same_texts(two, &other);
	for (size_t i = 0; i < full.frame_count; i++)
		same_frame(&two->frames[i], &full.frames[i]);
	assert_ptr_equal(one->frames, two->frames);
	assert_ptr_equal(one->headline, two->headline);
	assert_string_equal(two->path, "another");
	xc_pool_fini(&pool);
	free(first);
	free(second);
	xc_arena_fini(&arena);
}

static void what_is_too_much_is_cut(void **state)
{
	struct xc_arena arena = {0};
	struct xc_record_frame *many = calloc(1000, sizeof *many);
	struct xc_record record = full;
	const char **modules = calloc(5000, sizeof *modules);
	char *long_text = malloc(9001);
	(void)state;
	memset(long_text, 'a', 9000);
	long_text[9000] = '\0';
	for (size_t i = 0; i < 5000; i++)
		modules[i] = "m";
	record.frames = many;
	record.frame_count = 1000;
	record.elided_at = 999;
	record.fault_at = 500;
	record.absent = modules;
	record.absent_count = 5000;
	record.headline = many[0].function = long_text;
	char *text = written(&record);
	const struct xc_record *read = read_back(text, &arena);
	assert_int_equal(read->frame_count, XC_RECORD_FRAMES);
	assert_int_equal(read->elided_at, 0); /* it would be outside */
	assert_int_equal(read->elided, 0);
	assert_int_equal(read->fault_at, 0);
	assert_int_equal(read->absent_count, 1024);
	assert_int_equal(strlen(read->headline), XC_RECORD_TEXT);
	assert_int_equal(strlen(read->frames[0].function), XC_RECORD_TEXT);
	free(text);
	free(long_text);
	free(modules);
	free(many);
	xc_arena_fini(&arena);
}

/* Data that was read is written and read again unchanged, wherever a text was truncated and whatever it contains. */
static void reading_again_changes_nothing(void **state)
{
	static const char *const ends[] = {"",     "\xe2\x80\x9c", "\xc3\xb6", "\xf0\x9f\x98\x80",
					   "\x80", "\xc2\x85",     "\x7f",     "\xe2\x80\xae",
					   "\\x",  "\x01"};
	char long_text[2 * XC_RECORD_TEXT];
	(void)state;
	for (size_t i = 0; i < XC_COUNT(ends); i++)
		for (size_t before = XC_RECORD_TEXT - 8; before <= XC_RECORD_TEXT; before++) {
			struct xc_arena arena = {0};
			struct xc_record record = full;
			memset(long_text, 'a', before);
			snprintf(long_text + before, 64, "%s%s%s", ends[i], ends[i], ends[i]);
			record.headline = long_text;
			char *first = written(&record), *second = written(read_back(first, &arena));
			char *third = written(read_back(second, &arena));
			assert_string_equal(second, third);
			assert_true(strlen(read_back(second, &arena)->headline) <= XC_RECORD_TEXT);
			free(first);
			free(second);
			free(third);
			xc_arena_fini(&arena);
		}
}

/* Whatever a compromised worker wrote: the stored part can be read again, and reports its omissions. */
static void every_record_can_be_made_to_fit(void **state)
{
	static const char letters[] = {'a', '"', '\x01'}; /* literal bytes; two bytes in JSON, six */
	static char long_text[XC_RECORD_TEXT + 1];
	struct xc_record_frame *many = calloc(XC_RECORD_FRAMES, sizeof *many);
	const char **modules = calloc(1024, sizeof *modules);
	(void)state;
	for (size_t k = 0; k < sizeof letters; k++) {
		struct xc_arena arena = {0};
		memset(long_text, letters[k], XC_RECORD_TEXT);
		for (size_t i = 0; i < XC_RECORD_FRAMES; i++)
			many[i] = (struct xc_record_frame){.function = long_text,
							   .module = long_text,
							   .build_id = long_text,
							   .file = long_text,
							   .trust = long_text};
		for (size_t i = 0; i < 1024; i++)
			modules[i] = long_text;
		struct xc_record record = full;
		record.frames = many;
		record.frame_count = XC_RECORD_FRAMES;
		record.elided_at = 128;
		record.elided = UINT64_MAX - 3;
		record.fault_at = 250;
		record.absent = modules;
		record.absent_count = 1024;
		record.headline = record.cause = record.message = record.stop = record.cycle = record.why = long_text;
		xc_record_fit(&record, &arena);
		record.unit = record.program = long_text;
		char *text = written(&record);
		const struct xc_record *read = read_back(text, &arena);
		assert_non_null(strstr(read->note, "its heap; its record was too long: "));
		assert_true(read->frame_count > 0 && read->frame_count <= 32);
		assert_int_equal(read->elided, UINT64_MAX);
		char *again = written(read);
		assert_string_equal(text, again);
		free(again);
		free(text);
		xc_arena_fini(&arena);
	}
	free(modules);
	free(many);
}

static void what_fits_stays_as_it_is(void **state)
{
	struct xc_arena arena = {0};
	struct xc_record record = full;
	(void)state;
	char *before = written(&record);
	xc_record_fit(&record, &arena);
	char *after = written(&record);
	assert_string_equal(before, after);
	free(before);
	free(after);
	xc_arena_fini(&arena);
}

static void a_text_of_megabytes_is_refused(void **state)
{
	char *text = malloc(XC_RECORD_MAX + 2);
	struct xc_arena arena = {0};
	struct xc_record *record = NULL;
	(void)state;
	memset(text, ' ', XC_RECORD_MAX + 2);
	struct xc_error *err = xc_record_read(text, XC_RECORD_MAX + 1, &arena, &record);
	assert_int_equal(err->code, XC_ERR_LIMIT);
	xc_error_free(err);
	free(text);
	xc_arena_fini(&arena);
}

static void records_are_ordered_by_path(void **state)
{
	const struct xc_record a = {.path = "a/b"}, b = {.path = "a\xc3"};
	const struct xc_record *left = &a, *right = &b;
	(void)state;
	assert_true(xc_record_compare(&left, &right) < 0);
	assert_true(xc_record_compare(&right, &left) > 0);
	assert_int_equal(xc_record_compare(&left, &left), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_member_is_read_as_it_was_written),
		cmocka_unit_test(failures_are_read_as_they_were_written),
		cmocka_unit_test(members_of_another_type_are_refused),
		cmocka_unit_test(what_is_no_record_is_an_error),
		cmocka_unit_test(a_record_that_is_cut_is_an_error),
		cmocka_unit_test(what_records_share_is_kept_once),
		cmocka_unit_test(what_is_too_much_is_cut),
		cmocka_unit_test(reading_again_changes_nothing),
		cmocka_unit_test(every_record_can_be_made_to_fit),
		cmocka_unit_test(what_fits_stays_as_it_is),
		cmocka_unit_test(a_text_of_megabytes_is_refused),
		cmocka_unit_test(records_are_ordered_by_path),
	};
	return cmocka_run_group_tests_name("record", tests, NULL, NULL);
}
