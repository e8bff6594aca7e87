/* layer: batch */
/* plan: every core is in one shard, for any number of shards; shards have about equal work; a modified plan is
 * refused. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "batch/shard/plan.h"

enum { CORES = 500 };

static char file[] = "/tmp/xcore-plan-XXXXXX";

/* Names that must be read back unchanged, then many more; sorted by path. */
static struct xc_inputs inputs_of(size_t count, struct xc_input *inputs, char names[][64])
{
	static const char *const odd[] = {"a \"b\"\n\t{}", "a$(reboot)", "a\\x41", "a\xc3\xa4"};
	const struct xc_inputs all = {.inputs = inputs, .count = count};
	for (size_t i = 0; i < count; i++) {
		if (i < XC_COUNT(odd))
			snprintf(names[i], 64, "%s", odd[i]);
		else
			snprintf(names[i], 64, "core.%04zu", i);
		/* A few huge cores, many tiny ones. */
		inputs[i] = (struct xc_input){.path = names[i], .file = names[i], .size = i * i * i * i % 4294967291u};
	}
	return all;
}

static void write_plan(const struct xc_inputs *inputs)
{
	FILE *out = fopen(file, "w");
	assert_null(xc_plan_write(inputs, out));
	assert_int_equal(fclose(out), 0);
}

static void write_text(const char *text)
{
	FILE *out = fopen(file, "w");
	fputs(text, out);
	assert_int_equal(fclose(out), 0);
}

static void shards_divide_all_evenly(void **state)
{
	static const unsigned counts[] = {1, 2, 7, 8, 499, 500, 2000};
	static char names[CORES][64];
	static struct xc_input list[CORES];
	const struct xc_inputs inputs = inputs_of(CORES, list, names);
	struct xc_arena arena = {0};
	struct xc_plan plan;
	(void)state;
	write_plan(&inputs);
	assert_null(xc_plan_read(file, &arena, &plan));
	assert_int_equal(plan.count, CORES);
	for (size_t n = 0; n < XC_COUNT(counts); n++) {
		uint64_t total = 0, largest = 0, most = 0;
		bool seen[CORES] = {0};
		for (struct xc_shard shard = {0, counts[n]}; shard.index < shard.of; shard.index++) {
			const struct xc_input **mine;
			size_t count;
			uint64_t load = 0;
			xc_plan_inputs(&plan, &shard, &inputs, &arena, &mine, &count);
			for (size_t i = 0; i < count; i++) {
				assert_true(mine[i] >= list && mine[i] < list + CORES);
				assert_false(seen[mine[i] - list]);
				seen[mine[i] - list] = true;
				assert_true(!i || mine[i - 1] < mine[i]);
				load += mine[i]->size + (UINT64_C(16) << 20);
				largest = mine[i]->size > largest ? mine[i]->size : largest;
			}
			total += load;
			most = load > most ? load : most;
		}
		for (size_t i = 0; i < CORES; i++)
			assert_true(seen[i]);
		/* The bound of any greedy partition: the mean plus one core. */
		assert_true(most <= total / counts[n] + largest + (UINT64_C(16) << 20));
	}
	xc_arena_fini(&arena);
}

static void the_same_plan_for_the_same_cores(void **state)
{
	static char names[6][64];
	struct xc_input list[6];
	struct xc_inputs inputs = inputs_of(6, list, names);
	struct xc_arena arena = {0};
	struct xc_plan a, b, c;
	(void)state;
	write_plan(&inputs);
	assert_null(xc_plan_read(file, &arena, &a));
	list[2].file = "elsewhere";
	list[2].mtime_ns = 77;
	write_plan(&inputs);
	assert_null(xc_plan_read(file, &arena, &b));
	list[2].size++;
	write_plan(&inputs);
	assert_null(xc_plan_read(file, &arena, &c));
	assert_string_equal(a.manifest, b.manifest);
	assert_string_not_equal(a.manifest, c.manifest);
	for (size_t i = 0; i < 6; i++)
		assert_string_equal(a.cores[i].path, names[i]);
	xc_arena_fini(&arena);
}

static void no_cores_is_a_plan(void **state)
{
	const struct xc_inputs none = {.count = 0};
	const struct xc_shard shard = {1, 2};
	struct xc_arena arena = {0};
	struct xc_plan plan;
	const struct xc_input **mine;
	size_t count;
	(void)state;
	write_plan(&none);
	assert_null(xc_plan_read(file, &arena, &plan));
	xc_plan_inputs(&plan, &shard, &none, &arena, &mine, &count);
	assert_int_equal(count, 0);
	xc_arena_fini(&arena);
}

/* Cores appear and disappear between plan and shard. */
static void a_lost_core_stays_in_its_shard(void **state)
{
	static char names[8][64];
	struct xc_input list[8], late = {.path = "late", .file = "late", .size = 5};
	const struct xc_inputs inputs = inputs_of(8, list, names), now = {.inputs = &late, .count = 1};
	const struct xc_shard all = {0, 1};
	struct xc_arena arena = {0};
	struct xc_plan plan;
	const struct xc_input **mine;
	size_t count;
	(void)state;
	write_plan(&inputs);
	assert_null(xc_plan_read(file, &arena, &plan));
	xc_plan_inputs(&plan, &all, &now, &arena, &mine, &count);
	assert_int_equal(count, 8);
	for (size_t i = 0; i < 8; i++) {
		assert_string_equal(mine[i]->path, names[i]);
		assert_string_equal(mine[i]->file, "");
	}
	xc_arena_fini(&arena);
}

static void what_is_no_plan_is_refused(void **state)
{
#define HEAD "{\"schema\":\"xcore.plan/1\",\"manifest\":\"00\",\"cores\":"
	static const struct {
		const char *text, *message;
	} cases[] = {
		{"", "not a plan"},
		{"[]\n", "not a plan"},
		{"{\"schema\":\"xcore.part/1\",\"manifest\":\"\",\"cores\":0}\n", "not a plan"},
		{HEAD "-1}\n", "not a plan"},
		{HEAD "0.5}\n", "not a plan"},
		{HEAD "9223372036854775807}\n", "ends or continues after 0"},
		{HEAD "1}\n{\"path\":\"a\",\"size\":1}", "after 0"},
		{HEAD "1}\n{\"path\":\"a\",\"size\":-1}\n", "after 0"},
		{HEAD "1}\n{\"path\":7,\"size\":1}\n", "after 0"},
		{HEAD "1}\n[]\n", "after 0"},
		{HEAD "1}\n{\"path\":\"a\",\"size\":1}\n{\"path\":\"b\",\"size\":1}\n", "after 1"},
		{HEAD "1}\n{\"path\":\"a\",\"size\":1}\n", "it was changed"},
	};
	(void)state;
	for (size_t i = 0; i < XC_COUNT(cases); i++) {
		struct xc_arena arena = {0};
		struct xc_plan plan;
		write_text(cases[i].text);
		struct xc_error *err = xc_plan_read(file, &arena, &plan);
		assert_non_null(err);
		assert_int_equal(err->code, XC_ERR_FORMAT);
		if (!strstr(err->message, cases[i].message) || !strstr(err->message, file))
			fail_msg("%s: %s", cases[i].text, err->message);
		xc_error_free(err);
		xc_arena_fini(&arena);
	}
}

static int make_file(void **state)
{
	(void)state;
	return close(mkstemp(file));
}

static int remove_file(void **state)
{
	(void)state;
	return unlink(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shards_divide_all_evenly),   cmocka_unit_test(the_same_plan_for_the_same_cores),
		cmocka_unit_test(no_cores_is_a_plan),         cmocka_unit_test(a_lost_core_stays_in_its_shard),
		cmocka_unit_test(what_is_no_plan_is_refused),
	};
	return cmocka_run_group_tests(tests, make_file, remove_file);
}
