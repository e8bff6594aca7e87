/* layer: batch */
/* input: the files selected from directories and files, and their names. */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/check.h"
#include "batch/input/input.h"
#include "batch/record/record.h"
#include "tests/support/scratch.h"
#include "tests/unit/batch/input/planted.h"

static void a_directory_gives_the_cores_in_it(void **state)
{
	(void)state;
	PLANT("d1/b", core);
	PLANT("d1/a/core.7", big_core);
	PLANT("d1/a/core.7.zst", zstd);
	PLANT("d1/a/other.zst", zstd);
	PLANT("d1/a/core.8.pz", "\x50\x2a\x4d\x18\4\0\0\0");
	PLANT("d1/.hidden/core", core);
	PLANT("d1/x.pack", "\x5e\x2a\x4d\x18\xff\0\0\0XCOREPCK\1\0\0\0");
	PLANT("d1/program", program);
	PLANT("d1/core.txt", "core dumped");
	PLANT("d1/empty.core", "");
	struct xc_inputs *inputs = FIND(scratch_path("d1"));
	CHECK_PATHS(inputs, ".hidden/core", "a/core.7", "a/core.7.zst", "a/core.8.pz", "b", "empty.core", "x.pack");
	assert_int_equal(inputs->skipped, 3);
	assert_int_equal(inputs->note_count, 0);
	assert_int_equal(inputs->inputs[1].size, sizeof big_core - 1);
	assert_true(inputs->inputs[1].mtime_ns > INT64_C(1000000000));
	assert_string_equal(inputs->inputs[1].file, scratch_path("d1/a/core.7"));
	xc_inputs_free(inputs);
	xc_inputs_free(NULL);
}

static void what_may_be_the_rest_of_a_core_is_not_left_out(void **state)
{
	(void)state;
	PLANT("rest/core.empty", "");
	PLANT("rest/core.bz2", "BZh91AY&SY");
	PLANT("rest/core.4711", "no core at all");
	PLANT("rest/core", "no core at all");
	PLANT("rest/core.c", "int main(void);");
	PLANT("rest/core.4711.txt", "notes");
	PLANT("rest/empty", "");
	struct xc_inputs *inputs = FIND(scratch_path("rest"));
	CHECK_PATHS(inputs, "core", "core.4711", "core.bz2", "core.empty");
	assert_int_equal(inputs->skipped, 3);
	xc_inputs_free(inputs);
}

static void links_and_what_is_no_file_are_left_alone(void **state)
{
	(void)state;
	PLANT("d2/core", core);
	assert_int_equal(symlink("..", scratch_path("d2/up")), 0);
	assert_int_equal(symlink("self", scratch_path("d2/self")), 0);
	assert_int_equal(symlink("core", scratch_path("d2/core.link")), 0);
	assert_int_equal(mkfifo(scratch_path("d2/fifo"), 0600), 0); /* and does not wait for a writer */
	struct xc_inputs *inputs = FIND(scratch_path("d2"));
	CHECK_PATHS(inputs, "core");
	assert_int_equal(inputs->skipped, 4);
	assert_int_equal(inputs->note_count, 1);
	assert_int_equal(inputs->unread, 0);
	assert_non_null(strstr(inputs->notes[0], "d2/core.link: a link"));
	xc_inputs_free(inputs);
	inputs = FIND(scratch_path("d2/core.link")); /* named files are accepted */
	CHECK_PATHS(inputs, "core.link");
	xc_inputs_free(inputs);
}

static void paths_begin_where_operands_differ(void **state)
{
	(void)state;
	PLANT("d3/one/core", core);
	PLANT("d3/two/core", core);
	PLANT("d3/two/core.2", core);
	const char *one = scratch_path("d3/one"), *two = scratch_path("d3/two");
	struct xc_inputs *inputs = FIND(two, one);
	CHECK_PATHS(inputs, "one/core", "two/core", "two/core.2");
	xc_inputs_free(inputs);
	inputs = FIND(scratch_path("d3")); /* the same via one directory */
	CHECK_PATHS(inputs, "one/core", "two/core", "two/core.2");
	xc_inputs_free(inputs);
	inputs = FIND(scratch_path("d3/two/core"), one);
	CHECK_PATHS(inputs, "one/core", "two/core");
	xc_inputs_free(inputs);
	inputs = FIND(scratch_path("d3/two/core"));
	CHECK_PATHS(inputs, "core");
	xc_inputs_free(inputs);
}

static void what_is_given_twice_is_taken_once(void **state)
{
	(void)state;
	PLANT("d4/core", core);
	PLANT("d4/core.1", core);
	char *spelt = xc_asprintf("%s/.//d4//core", scratch_dir());
	struct xc_inputs *inputs = FIND(scratch_path("d4"), spelt, scratch_path("d4/core"));
	CHECK_PATHS(inputs, "d4/core", "d4/core.1");
	xc_inputs_free(inputs);
	free(spelt);
}

static void names_that_are_no_text_stay_apart(void **state)
{
	(void)state;
	PLANT("d5/core.\xff", core);
	PLANT("d5/core.\\xff", core);
	PLANT("d5/core.\\xff (1", core);
	PLANT("d5/core.\n\033[31m", core);
	struct xc_inputs *inputs = FIND(scratch_path("d5"));
	CHECK_PATHS(inputs, "core.\n\033[31m", "core.\\xff", "core.\\xff (1", "core.\\xff (2)");
	assert_string_equal(inputs->inputs[1].file, scratch_path("d5/core.\\xff"));
	assert_string_equal(inputs->inputs[3].file, scratch_path("d5/core.\xff"));
	xc_inputs_free(inputs);
}

/* 70 nested directories. */
static void make_deep(const char *name)
{
	char *deep = xc_strdup(scratch_path(name));
	for (unsigned i = 0; i < 70; i++) {
		mkdir(deep, 0755);
		chmod(deep, 0755); /* regardless of the umask */
		char *deeper = xc_asprintf("%s/x", deep);
		free(deep);
		deep = deeper;
	}
	free(deep);
}

static void what_cannot_be_read_is_a_note_or_a_core_by_name(void **state)
{
	(void)state;
	make_deep("d6/core.d");
	chmod(PLANT("d6/core", core), 0644);
	chmod(PLANT("d6/core.secret", core), 0);
	chmod(PLANT("d6/notes", "text"), 0);
	PLANT("d6/private/core", core);
	chmod(scratch_path("d6/private"), 0);
	chmod(scratch_path("d6"), 0755);
	chmod(scratch_dir(), 0755);
	const bool root = geteuid() == 0; /* who may read everything */
	if (root && seteuid(65534) != 0)
		check_skip("a name space without other users");
	if (faccessat(AT_FDCWD, scratch_path("d6"), R_OK | X_OK, AT_EACCESS) != 0) {
		assert_true(!root || seteuid(0) == 0);
		check_skip("TMPDIR is for root alone");
	}
	struct xc_inputs *inputs = FIND(scratch_path("d6"));
	assert_true(!root || seteuid(0) == 0);
	chmod(scratch_path("d6/private"), 0700);
	CHECK_PATHS(inputs, "core", "core.secret");
	assert_int_equal(inputs->note_count, 3);
	assert_int_equal(inputs->unread, 3);
	assert_non_null(strstr(inputs->notes[0], "/x/x: too deep"));
	assert_non_null(strstr(inputs->notes[1], "d6/notes: Permission denied"));
	assert_non_null(strstr(inputs->notes[2], "d6/private: Permission denied"));
	xc_inputs_free(inputs);
}

static void the_kernels_own_directories_are_not_searched(void **state)
{
	(void)state;
	struct xc_inputs *inputs = FIND("/proc");
	assert_int_equal(inputs->count, 0);
	assert_int_equal(inputs->note_count, 1);
	assert_int_equal(inputs->unread, 0);
	assert_string_equal(inputs->notes[0], "/proc: not files, but the kernel's");
	xc_inputs_free(inputs);
}

/* A file with one name is one core, regardless of its path; hard links are two names. */
static void a_file_by_several_names_is_one_core(void **state)
{
	(void)state;
	PLANT("d11/core", core);
	PLANT("d11/core.1", core);
	assert_int_equal(link(scratch_path("d11/core.1"), scratch_path("d11/core.2")), 0);
	assert_int_equal(symlink("d11", scratch_path("d11-link")), 0);
	assert_int_equal(symlink("core", scratch_path("d11/link")), 0);
	struct xc_inputs *inputs =
		FIND(scratch_path("d11"), scratch_path("d11-link/core"), scratch_path("d11/link"), scratch_path("d11"));
	CHECK_PATHS(inputs, "d11-link/core", "d11/core.1", "d11/core.2");
	assert_int_equal(inputs->inputs[1].ino, inputs->inputs[2].ino);
	assert_int_equal(inputs->inputs[1].links, 2);
	xc_inputs_free(inputs);
}

static void check_shared(const struct xc_inputs *inputs, const char *directory)
{
	char *shared = xc_inputs_shared(inputs);
	assert_string_equal(shared, directory);
	free(shared);
}

static void the_shared_directory_is_the_deepest_one(void **state)
{
	struct xc_input list[] = {
		{.file = "/a/b/c/core"}, {.file = "/a/b/cc/core"}, {.file = "/a/b/core"}, {.file = "/x"}};
	struct xc_inputs inputs = {.inputs = list};
	(void)state;
	check_shared(&inputs, "");
	inputs.count = 1;
	check_shared(&inputs, "/a/b/c");
	inputs.count = 3;
	check_shared(&inputs, "/a/b");
	inputs.count = 4;
	check_shared(&inputs, "/");
	list[0].file = "core";
	check_shared(&inputs, "");
}

static void directories_of_operands_are_known_plainly(void **state)
{
	(void)state;
	PLANT("d12/core", core);
	PLANT("d12/sub/core", core);
	char *spelt = xc_asprintf("%s/./d12//", scratch_dir()), *list = xc_asprintf("%s/d12/sub\n", scratch_dir());
	char *operand = xc_asprintf("@%s", scratch_file("list", list, strlen(list)));
	struct xc_inputs *inputs = FIND(spelt, operand);
	assert_int_equal(inputs->directory_count, 1);
	assert_string_equal(inputs->directories[0], scratch_path("d12"));
	xc_inputs_free(inputs);
	char *before = getcwd(NULL, 0);
	assert_int_equal(chdir(scratch_path("d12")), 0);
	inputs = FIND(".");
	assert_int_equal(chdir(before), 0);
	assert_string_equal(inputs->directories[0], "");
	CHECK_PATHS(inputs, "core", "sub/core");
	xc_inputs_free(inputs);
	free(before);
	free(operand);
	free(list);
	free(spelt);
}

/* Bytes that become four letters each: a path too long for a record. */
static void paths_that_no_record_holds_are_cut_and_told_apart(void **state)
{
	char name[256], *path = xc_strdup("d13");
	(void)state;
	memset(name, '\xff', 255);
	name[255] = '\0';
	for (unsigned i = 0; i < 5; i++) {
		char *deeper = xc_asprintf("%s/%s", path, name);
		free(path);
		path = deeper;
	}
	char *one = xc_asprintf("%s/core.1", path), *two = xc_asprintf("%s/core.2", path);
	scratch_file(one, core, sizeof core - 1);
	scratch_file(two, core, sizeof core - 1);
	struct xc_inputs *inputs = FIND(scratch_path("d13"));
	assert_int_equal(inputs->count, 2);
	for (size_t i = 0; i < 2; i++) {
		struct xc_arena arena = {0};
		assert_string_equal(xc_record_text(&arena, inputs->inputs[i].path), inputs->inputs[i].path);
		xc_arena_fini(&arena);
	}
	assert_string_not_equal(inputs->inputs[0].path, inputs->inputs[1].path);
	assert_true(strlen(inputs->inputs[0].file) > 1200);
	xc_inputs_free(inputs);
	free(one);
	free(two);
	free(path);
}

static void operands_that_are_not_there_are_errors(void **state)
{
	(void)state;
	struct xc_inputs *inputs = NULL;
	const char *none[] = {scratch_path("not-there")}, *report[] = {PLANT("x.crash", "ProblemType: Crash\n")};
	CHECK_ERROR(xc_inputs_find(none, 1, &inputs), XC_ERR_NOT_FOUND, "not-there");
	CHECK_ERROR(xc_inputs_find(report, 1, &inputs), XC_ERR_UNSUPPORTED, "an apport report");
	PLANT("d8/x.crash", "ProblemType: Crash\n");
	inputs = FIND(scratch_path("d8"));
	assert_int_equal(inputs->note_count, 1);
	assert_non_null(strstr(inputs->notes[0], "x.crash: an apport report"));
	xc_inputs_free(inputs);
}

static void check_once(struct xc_inputs *inputs)
{
	assert_int_equal(inputs->count, 2);
	assert_int_equal(inputs->skipped, 1);
	assert_int_equal(inputs->unread, 1);
	assert_int_equal(inputs->note_count, 1);
	xc_inputs_free(inputs);
}

static void a_directory_by_several_names_is_searched_once(void **state)
{
	(void)state;
	PLANT("d16/in/core", core);
	PLANT("d16/in/note", "note");
	chmod(PLANT("d16/in/core.secret", core), 0);
	make_deep("d16/in/deep");
	assert_int_equal(symlink("d16", scratch_path("d16-link")), 0);
	char *spelt = xc_asprintf("%s/./d16/", scratch_dir());
	struct xc_inputs *inputs = FIND(scratch_path("d16"), spelt);
	CHECK_PATHS(inputs, "in/core", "in/core.secret"); /* as if it were given alone */
	check_once(inputs);
	check_once(FIND(scratch_path("d16"), scratch_path("d16-link")));
	check_once(FIND(scratch_path("d16/in"), scratch_path("d16")));
	check_once(FIND(scratch_path("d16"), scratch_path("d16-link/in/core.secret"), scratch_path("d16/in")));
	free(spelt);
}

static void names_tell_the_command(void **state)
{
	(void)state;
	PLANT("d9/core.a\\x1b.0.0123456789abcdef0123456789abcdef.1.1700000000000000", core);
	PLANT("d9/core.b\xff.1", core);
	PLANT("d9/core.1", core);
	struct xc_inputs *inputs = FIND(scratch_path("d9"));
	assert_int_equal(inputs->count, 3);
	assert_null(inputs->inputs[0].comm);
	assert_string_equal(inputs->inputs[1].comm, "a\033");
	assert_string_equal(inputs->inputs[2].comm, "b\\xff");
	xc_inputs_free(inputs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_directory_gives_the_cores_in_it),
		cmocka_unit_test(what_may_be_the_rest_of_a_core_is_not_left_out),
		cmocka_unit_test(links_and_what_is_no_file_are_left_alone),
		cmocka_unit_test(paths_begin_where_operands_differ),
		cmocka_unit_test(what_is_given_twice_is_taken_once),
		cmocka_unit_test(names_that_are_no_text_stay_apart),
		cmocka_unit_test(the_kernels_own_directories_are_not_searched),
		cmocka_unit_test(a_file_by_several_names_is_one_core),
		cmocka_unit_test(the_shared_directory_is_the_deepest_one),
		cmocka_unit_test(directories_of_operands_are_known_plainly),
		cmocka_unit_test(paths_that_no_record_holds_are_cut_and_told_apart),
		cmocka_unit_test(operands_that_are_not_there_are_errors),
		cmocka_unit_test(a_directory_by_several_names_is_searched_once),
		cmocka_unit_test(names_tell_the_command),
		cmocka_unit_test(what_cannot_be_read_is_a_note_or_a_core_by_name),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
