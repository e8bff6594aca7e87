/* layer: batch */
/* part: merged shards equal the whole, in any order; parts that do not belong together are refused. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "batch/shard/part.h"
#include "batch/shard/shard.h"
#include "tests/support/check.h"

enum { CORES = 40 };

static struct xc_record *record(struct xc_arena *arena, const char *path)
{
	return xc_record_failed(arena, XC_RECORD_UNREADABLE, path, "not an ELF file");
}

/* Every shard of a batch of CORES, in files of a new directory. */
static void write_parts(char *directory, unsigned of, struct xc_arena *arena)
{
	assert_non_null(mkdtemp(directory));
	for (unsigned i = 0; i < of; i++) {
		struct xc_record *records[CORES];
		struct xc_part part = {.version = "1", .config = "c", .manifest = "m", .shard = i, .of = of};
		const struct xc_shard shard = {i, of};
		part.records = records;
		for (unsigned k = 0; k < CORES; k++) {
			char path[32];
			snprintf(path, sizeof path, "core.%02u", k);
			if (xc_shard_has(&shard, path))
				records[part.count++] = record(arena, path);
		}
		xc_auto(xc_freep) char *name = xc_part_name(i, of);
		xc_auto(xc_freep) char *path = xc_asprintf("%s/%s", directory, name);
		FILE *file = fopen(path, "w");
		assert_null(xc_part_write(&part, file));
		fclose(file);
	}
}

static void remove_all(const char *directory)
{
	xc_auto(xc_freep) char *command = xc_asprintf("rm -r %s", directory);
	assert_int_equal(system(command), 0);
}

static void all_shards_are_the_whole(void **state)
{
	static const unsigned counts[] = {1, 2, 7};
	(void)state;
	for (size_t i = 0; i < XC_COUNT(counts); i++) {
		struct xc_arena arena = {0};
		char directory[] = "/tmp/xcore-parts-XXXXXX";
		const char *paths[] = {directory};
		struct xc_parts parts;
		struct xc_merged merged;
		write_parts(directory, counts[i], &arena);
		assert_null(xc_parts_read(paths, 1, 0, &arena, &parts));
		assert_int_equal(parts.count, counts[i]);
		assert_null(xc_parts_merge(&parts, &arena, &merged));
		assert_int_equal(merged.count, CORES);
		assert_int_equal(merged.missing_count, 0);
		for (size_t k = 1; k < merged.count; k++)
			assert_true(strcmp(merged.records[k - 1]->path, merged.records[k]->path) < 0);
		remove_all(directory);
		xc_arena_fini(&arena);
	}
}

static void what_one_machine_could_not_look_into_is_left_out_of_the_whole(void **state)
{
	struct xc_arena arena = {0};
	char directory[] = "/tmp/xcore-parts-XXXXXX";
	const char *paths[] = {directory};
	struct xc_parts parts;
	struct xc_merged merged;
	(void)state;
	write_parts(directory, 2, &arena);
	assert_null(xc_parts_read(paths, 1, 0, &arena, &parts));
	parts.parts[0]->left_out = 3;
	xc_auto(xc_freep) char *path = xc_asprintf("%s/%s", directory, parts.parts[0]->name);
	FILE *file = fopen(path, "w");
	assert_null(xc_part_write(parts.parts[0], file));
	fclose(file);
	assert_null(xc_parts_read(paths, 1, 0, &arena, &parts));
	assert_null(xc_parts_merge(&parts, &arena, &merged));
	assert_int_equal(merged.left_out, 3);
	remove_all(directory);
	xc_arena_fini(&arena);
}

static void a_whole_is_redacted_when_every_part_says_so(void **state)
{
	struct xc_arena arena = {0};
	char directory[] = "/tmp/xcore-parts-XXXXXX";
	const char *paths[] = {directory};
	struct xc_parts parts;
	struct xc_merged merged;
	(void)state;
	write_parts(directory, 2, &arena);
	for (unsigned said = 0; said <= 2; said++) {
		assert_null(xc_parts_read(paths, 1, 0, &arena, &parts));
		assert_null(xc_parts_merge(&parts, &arena, &merged));
		assert_int_equal(merged.redacted, said == 2);
		if (said == 2)
			break;
		parts.parts[said]->redacted = true;
		xc_auto(xc_freep) char *path = xc_asprintf("%s/%s", directory, parts.parts[said]->name);
		FILE *file = fopen(path, "w");
		assert_null(xc_part_write(parts.parts[said], file));
		fclose(file);
	}
	remove_all(directory);
	xc_arena_fini(&arena);
}

static void parts_of_other_numbers_of_shards_may_lie_beside_them(void **state)
{
	struct xc_arena arena = {0};
	char directory[] = "/tmp/xcore-parts-XXXXXX", other[] = "/tmp/xcore-parts-XXXXXX";
	const char *paths[] = {directory};
	struct xc_parts parts;
	(void)state;
	write_parts(directory, 3, &arena);
	write_parts(other, 2, &arena);
	xc_auto(xc_freep) char *line = xc_asprintf("cp %s/* %s", other, directory);
	assert_int_equal(system(line), 0);
	assert_null(xc_parts_read(paths, 1, 0, &arena, &parts));
	assert_int_equal(parts.count, 5);
	for (unsigned of = 2; of <= 3; of++) {
		assert_null(xc_parts_read(paths, 1, of, &arena, &parts));
		assert_int_equal(parts.count, of);
		assert_int_equal(parts.parts[0]->of, of);
	}
	remove_all(directory);
	remove_all(other);
	xc_arena_fini(&arena);
}

static void parts_may_be_named_by_a_pattern(void **state)
{
	struct xc_arena arena = {0};
	char directory[] = "/tmp/xcore-parts-XXXXXX";
	struct xc_parts parts;
	(void)state;
	write_parts(directory, 3, &arena);
	xc_auto(xc_freep) char *some = xc_asprintf("%s/part-0000[02]*.jsonl", directory);
	xc_auto(xc_freep) char *none = xc_asprintf("%s/*.json", directory);
	const char *const paths[] = {some, none};
	assert_null(xc_parts_read(paths, 1, 0, &arena, &parts));
	assert_int_equal(parts.count, 2);
	CHECK_ERROR(xc_parts_read(paths, 2, 0, &arena, &parts), XC_ERR_NOT_FOUND, "*.json: no file's name fits");
	remove_all(directory);
	xc_arena_fini(&arena);
}

static void a_missing_shard_is_named(void **state)
{
	struct xc_arena arena = {0};
	char directory[] = "/tmp/xcore-parts-XXXXXX";
	const char *paths[] = {directory};
	struct xc_parts parts;
	struct xc_merged merged;
	(void)state;
	write_parts(directory, 3, &arena);
	xc_auto(xc_freep) char *gone = xc_asprintf("%s/part-00001-of-00003.jsonl", directory);
	unlink(gone);
	assert_null(xc_parts_read(paths, 1, 0, &arena, &parts));
	assert_null(xc_parts_merge(&parts, &arena, &merged));
	assert_int_equal(merged.missing_count, 1);
	assert_string_equal(merged.missing[0], "part-00001-of-00003.jsonl");
	remove_all(directory);
	xc_arena_fini(&arena);
}

/* Write text as a part and read it. */
static struct xc_error *read_text(const char *text, struct xc_part **part, struct xc_arena *arena)
{
	char path[] = "/tmp/xcore-part-XXXXXX";
	int fd = mkstemp(path);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
	struct xc_error *err = xc_part_read(path, arena, part);
	unlink(path);
	return err;
}

static void a_part_is_whole_or_none(void **state)
{
	static const char *const broken[] = {
		"",
		"{}\n",
		"{\"schema\":\"xcore.part/1\"}\n",
		"{\"schema\":\"xcore.part/"
		"1\",\"version\":\"1\",\"config\":\"c\",\"manifest\":\"m\",\"shard\":2,\"of\":2,"
		"\"cores\":0}\n",
		"{\"schema\":\"xcore.part/"
		"1\",\"version\":\"1\",\"config\":\"c\",\"manifest\":\"m\",\"shard\":0,\"of\":1,"
		"\"cores\":1}\n",
		"{\"schema\":\"xcore.part/"
		"1\",\"version\":\"1\",\"config\":\"c\",\"manifest\":\"m\",\"shard\":0,\"of\":1,"
		"\"cores\":0}\n{}\n",
		"{\"schema\":\"xcore.part/"
		"1\",\"version\":\"1\",\"config\":\"c\",\"manifest\":\"m\",\"shard\":0,\"of\":1,"
		"\"cores\":1}\n{\"schema\":\"xcore.record/1\",\"status\":\"died\",\"path\":\"a\",\"why\":\"b\"}",
	};
	struct xc_arena arena = {0};
	struct xc_part *part;
	(void)state;
	for (size_t i = 0; i < XC_COUNT(broken); i++) {
		struct xc_error *err = read_text(broken[i], &part, &arena);
		assert_non_null(err);
		assert_int_equal(err->code, XC_ERR_FORMAT);
		xc_error_free(err);
	}
	xc_arena_fini(&arena);
}

static void what_never_ends_is_no_part(void **state)
{
	static char text[3 << 20];
	char path[] = "/tmp/xcore-part-XXXXXX";
	struct xc_arena arena = {0};
	struct xc_part *part;
	(void)state;
	close(mkstemp(path));
	unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0); /* and does not wait for a writer */
	const char *const names[] = {path, "/dev/zero"};
	for (size_t i = 0; i < XC_COUNT(names); i++) {
		struct xc_error *err = xc_part_read(names[i], &arena, &part);
		assert_int_equal(err->code, XC_ERR_UNSUPPORTED);
		xc_error_free(err);
	}
	unlink(path);
	memset(text, 'x', sizeof text - 1);
	struct xc_error *err = read_text(text, &part, &arena);
	assert_non_null(strstr(err->message, "line 1 has more than"));
	xc_error_free(err);
	int n = snprintf(
		text, sizeof text,
		"{\"schema\":\"" XC_PART_SCHEMA
		"\",\"version\":\"1\",\"config\":\"c\",\"manifest\":\"m\",\"shard\":0,\"of\":1,\"cores\":1}\n");
	text[n] = 'x';
	err = read_text(text, &part, &arena);
	assert_non_null(strstr(err->message, "line 2 has more than"));
	xc_error_free(err);
	xc_arena_fini(&arena);
}

/* A name of the run is written, read and compared with all that have one. */
static void parts_of_runs_with_different_names_are_refused(void **state)
{
	char directory[] = "/tmp/xcore-part-XXXXXX";
	const char *runs[][3] = {{NULL, "a", "b"}, {"a", NULL, "b"}, {"a", NULL, "a"}, {NULL, NULL, "a"}};
	const char *paths[] = {directory};
	(void)state;
	assert_non_null(mkdtemp(directory));
	for (size_t i = 0; i < XC_COUNT(runs); i++) {
		struct xc_arena arena = {0};
		struct xc_parts parts;
		struct xc_merged merged;
		for (unsigned k = 0; k < 3; k++) {
			const struct xc_part part = {
				.version = "1", .config = "c", .manifest = "m", .shard = k, .of = 3, .run = runs[i][k]};
			xc_auto(xc_freep) char *name = xc_part_name(k, 3),
					       *path = xc_asprintf("%s/%s", directory, name);
			FILE *file = fopen(path, "w");
			assert_null(xc_part_write(&part, file));
			fclose(file);
		}
		assert_null(xc_parts_read(paths, 1, 0, &arena, &parts));
		struct xc_error *err = xc_parts_merge(&parts, &arena, &merged);
		assert_int_equal(err != NULL, i < 2);
		assert_true(!err || (err->code == XC_ERR_MISMATCH && strstr(err->message, "different runs")));
		xc_error_free(err);
		xc_arena_fini(&arena);
	}
	remove_all(directory);
}

static void parts_of_different_runs_are_refused(void **state)
{
	struct xc_record *none[1] = {NULL};
	struct xc_part a = {
		.name = "a", .version = "1", .config = "c", .manifest = "m", .shard = 0, .of = 2, .records = none};
	struct xc_part b = a;
	struct xc_part *list[] = {&a, &b};
	const struct xc_parts parts = {list, 2};
	struct xc_arena arena = {0};
	struct xc_merged merged;
	(void)state;
	b.shard = 1;
	assert_null(xc_parts_merge(&parts, &arena, &merged));
	const char **members[] = {&b.version, &b.config, &b.manifest};
	for (size_t i = 0; i < XC_COUNT(members); i++) {
		const char *good = *members[i];
		*members[i] = "other";
		struct xc_error *err = xc_parts_merge(&parts, &arena, &merged);
		assert_non_null(err);
		assert_int_equal(err->code, XC_ERR_MISMATCH);
		xc_error_free(err);
		*members[i] = good;
	}
	xc_arena_fini(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_shards_are_the_whole),
		cmocka_unit_test(what_one_machine_could_not_look_into_is_left_out_of_the_whole),
		cmocka_unit_test(a_whole_is_redacted_when_every_part_says_so),
		cmocka_unit_test(parts_of_other_numbers_of_shards_may_lie_beside_them),
		cmocka_unit_test(parts_may_be_named_by_a_pattern),
		cmocka_unit_test(a_missing_shard_is_named),
		cmocka_unit_test(a_part_is_whole_or_none),
		cmocka_unit_test(what_never_ends_is_no_part),
		cmocka_unit_test(parts_of_different_runs_are_refused),
		cmocka_unit_test(parts_of_runs_with_different_names_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
