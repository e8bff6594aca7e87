/* layer: batch */
/* input: the files selected from directories, files and lists, and their names. */
#include "tests/support/check.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "batch/input/input.h"
#include "batch/util/namelist.h"
#include "batch/record/record.h"
#include "tests/support/scratch.h"

static const char core[] = "\177ELF\2\1\1\0\0\0\0\0\0\0\0\0\4\0\x3e",
		  big_core[] = "\177ELF\2\2\1\0\0\0\0\0\0\0\0\0\0\4\0",
		  program[] = "\177ELF\2\1\1\0\0\0\0\0\0\0\0\0\3\0\x3e", zstd[] = "\x28\xb5\x2f\xfd there";

#define PLANT(name, bytes) scratch_file(name, bytes, sizeof(bytes) - 1)

static struct xc_inputs *find(const char *const *operands, size_t count)
{
	struct xc_inputs *inputs = NULL;
	CHECK_OK(xc_inputs_find(operands, count, &inputs));
	return inputs;
}

#define FIND(...) find((const char *const[]){__VA_ARGS__}, XC_COUNT(((const char *const[]){__VA_ARGS__})))

static void check_paths(const struct xc_inputs *inputs, const char *const *paths, size_t count)
{
	for (size_t i = 0; i < inputs->count && i < count; i++)
		assert_string_equal(inputs->inputs[i].path, paths[i]);
	assert_int_equal(inputs->count, count);
}

#define CHECK_PATHS(inputs, ...)                                                                                       \
	check_paths(inputs, (const char *const[]){__VA_ARGS__}, XC_COUNT(((const char *const[]){__VA_ARGS__})))

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

static struct xc_inputs *listed(const char *bytes, size_t len)
{
	char *operand = xc_asprintf("@%s", scratch_file("list", bytes, len));
	struct xc_inputs *inputs = FIND(operand);
	free(operand);
	return inputs;
}

static void a_list_names_files_and_directories(void **state)
{
	(void)state;
	PLANT("d7/core", core);
	PLANT("d7/a\nb", core);
	PLANT("d7/dir/core", core);
	PLANT("d7/dir/note", "note");
	char list[4096];
	int n = snprintf(list, sizeof list, "\n%s/d7/core\n%s/d7/gone\n%s/d7/dir", scratch_dir(), scratch_dir(),
			 scratch_dir());
	struct xc_inputs *inputs = listed(list, (size_t)n);
	CHECK_PATHS(inputs, "core", "dir/core", "gone"); /* not omitted: its record reports it */
	assert_int_equal(inputs->inputs[2].size, 0);
	xc_inputs_free(inputs);
	n = snprintf(list, sizeof list, "%s/d7/a\nb%c%s/d7/core%c", scratch_dir(), 0, scratch_dir(), 0);
	inputs = listed(list, (size_t)n);
	CHECK_PATHS(inputs, "a\nb", "core");
	xc_inputs_free(inputs);
	inputs = listed("", 0);
	assert_int_equal(inputs->count, 0);
	xc_inputs_free(inputs);
}

/* As written by editors of another system. */
static void a_list_may_have_a_mark_and_long_line_ends(void **state)
{
	(void)state;
	PLANT("d10/core", core);
	PLANT("d10/core.1\r", core);
	char list[4096];
	int n = snprintf(list, sizeof list, "\xef\xbb\xbf%s/d10/core\r\n\r\n%s/d10/gone\r", scratch_dir(),
			 scratch_dir());
	struct xc_inputs *inputs = listed(list, (size_t)n);
	CHECK_PATHS(inputs, "core", "gone");
	assert_true(inputs->inputs[0].size > 0);
	xc_inputs_free(inputs);
	n = snprintf(list, sizeof list, "%s/d10/core.1\r%c%s/d10/core%c", scratch_dir(), 0, scratch_dir(), 0);
	inputs = listed(list, (size_t)n); /* after NUL separators names are literal */
	CHECK_PATHS(inputs, "core", "core.1\r");
	assert_true(inputs->inputs[1].size > 0);
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

static void a_list_that_is_no_regular_file_is_an_error(void **state)
{
	struct xc_namelist list = {0};
	(void)state;
	assert_int_equal(mkfifo(scratch_path("fifo-list"), 0600), 0); /* and does not wait for a writer */
	CHECK_ERROR(xc_namelist_read(&list, scratch_path("fifo-list")), XC_ERR_UNSUPPORTED, "not a regular file");
	CHECK_ERROR(xc_namelist_read(&list, "/dev/zero"), XC_ERR_UNSUPPORTED, "not a regular file");
	int saved = dup(0), fd = open("/dev/zero", O_RDONLY);
	dup2(fd, 0);
	CHECK_ERROR(xc_namelist_read(&list, "-"), XC_ERR_LIMIT, "standard input: more than 10000000 names");
	dup2(saved, 0);
	close(saved);
	close(fd);
	clearerr(stdin);
	xc_namelist_fini(&list);
}

static void a_list_that_is_none_is_an_error(void **state)
{
	(void)state;
	struct xc_namelist list = {0};
	static char text[70000];
	memset(text, 'x', sizeof text);
	CHECK_ERROR(xc_namelist_read(&list, scratch_file("l", text, sizeof text)), XC_ERR_FORMAT, "line 1 is too long");
	memcpy(text, "a\nb\r\n\n", 6);
	CHECK_ERROR(xc_namelist_read(&list, scratch_file("l", text, sizeof text)), XC_ERR_FORMAT, "line 4 is too long");
	memset(text, '\n', sizeof text - 1);
	text[sizeof text - 1] = '\0';
	CHECK_ERROR(xc_namelist_read(&list, scratch_file("l", text, sizeof text)), XC_ERR_FORMAT, "NUL");
	CHECK_ERROR(xc_namelist_read(&list, scratch_path("none")), XC_ERR_NOT_FOUND, "none");
	CHECK_ERROR(xc_namelist_read(&list, scratch_dir()), XC_ERR_IO, "s a directory");
	xc_namelist_fini(&list);
}

static void standard_input_is_a_list(void **state)
{
	(void)state;
	char *line = xc_asprintf("%s\n", scratch_path("absent/core"));
	int saved = dup(0), fd = open(scratch_file("names", line, strlen(line)), O_RDONLY);
	rmdir(scratch_path("absent"));
	dup2(fd, 0);
	struct xc_inputs *inputs = FIND("-");
	dup2(saved, 0);
	close(saved);
	close(fd);
	free(line);
	CHECK_PATHS(inputs, "core");
	xc_inputs_free(inputs);
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

static void a_pattern_stands_for_the_names_that_fit(void **state)
{
	(void)state;
	struct xc_inputs *inputs = NULL;
	PLANT("d14/one/core.1.zst", zstd);
	PLANT("d14/one/core.2.zst", zstd);
	PLANT("d14/one/core.3", core);
	PLANT("d14/one/.core.4.zst", zstd);
	PLANT("d14/two/core.5.zst", zstd);
	PLANT("d14/t[w]o", core);
	inputs = FIND(scratch_path("d14/one/*.zst"));
	CHECK_PATHS(inputs, "core.1.zst", "core.2.zst");
	xc_inputs_free(inputs);
	inputs = FIND(scratch_path("d14/*/core.[25].zs?"));
	CHECK_PATHS(inputs, "one/core.2.zst", "two/core.5.zst");
	xc_inputs_free(inputs);
	inputs = FIND(scratch_path("d14/t[w]o")); /* a file with this literal name exists */
	CHECK_PATHS(inputs, "t[w]o");
	xc_inputs_free(inputs);
	PLANT("d14/[x]/core.7", core);
	PLANT("d14/x/core.8", core);
	inputs = FIND(scratch_path("d14/[x]/core.*"));
	CHECK_PATHS(inputs, "[x]/core.7", "x/core.8");
	xc_inputs_free(inputs);
	PLANT("d14/in [31m/core.6", core);
	inputs = FIND(scratch_path("d14/in [31m")); /* not a pattern */
	CHECK_PATHS(inputs, "core.6");
	assert_int_equal(inputs->directory_count, 1);
	xc_inputs_free(inputs);
	inputs = FIND(scratch_path("d14/o?e")); /* a directory */
	CHECK_PATHS(inputs, ".core.4.zst", "core.1.zst", "core.2.zst", "core.3");
	xc_inputs_free(inputs);
	const char *none[] = {scratch_path("d14/*.gz")};
	CHECK_ERROR(xc_inputs_find(none, 1, &inputs), XC_ERR_NOT_FOUND, "d14/*.gz: no file's name fits this pattern");
	char *before = getcwd(NULL, 0);
	assert_int_equal(chdir(scratch_path("d14/one")), 0);
	inputs = FIND("*.zst");
	assert_int_equal(chdir(before), 0);
	CHECK_PATHS(inputs, "core.1.zst", "core.2.zst");
	free(before);
	xc_inputs_free(inputs);
}

/* A user with write permission there decides which files match, or have the pattern as their name, and can remove them
 * before they are examined. */
static void what_a_pattern_finds_is_not_what_the_user_named(void **state)
{
	(void)state;
	PLANT("d17/in/core", core);
	PLANT("d17-other/core", core);
	assert_int_equal(symlink("../d17-other", scratch_path("d17/link")), 0);
	assert_int_equal(symlink("nowhere", scratch_path("d17/nothing")), 0);
	struct xc_inputs *inputs = FIND(scratch_path("d17/*"));
	CHECK_PATHS(inputs, "in/core", "link/core", "nothing");
	assert_int_equal(inputs->inputs[2].size, 0);
	assert_int_equal(inputs->directory_count, 0);
	xc_inputs_free(inputs);
	assert_int_equal(symlink("../d17-other", scratch_path("d17/*")), 0);
	inputs = FIND(scratch_path("d17/*"));
	CHECK_PATHS(inputs, "core");
	assert_int_equal(inputs->directory_count, 0);
	xc_inputs_free(inputs);
	inputs = FIND(scratch_path("d17/in"), scratch_path("d17/i*"));
	assert_int_equal(inputs->directory_count, 1);
	xc_inputs_free(inputs);
}

static void patterns_stand_in_lists_of_lines_only(void **state)
{
	(void)state;
	PLANT("d15/core.1", core);
	PLANT("d15/core.2", core);
	char list[4096];
	int n = snprintf(list, sizeof list, "%s/d15/core.*\n%s/d15/*.gz\n", scratch_dir(), scratch_dir());
	struct xc_inputs *inputs = listed(list, (size_t)n);
	CHECK_PATHS(inputs, "*.gz", "core.1", "core.2");
	assert_int_equal(inputs->note_count, 1);
	assert_non_null(strstr(inputs->notes[0], "*.gz: no file's name fits"));
	xc_inputs_free(inputs);
	n = snprintf(list, sizeof list, "%s/d15/core.*%c", scratch_dir(), 0);
	inputs = listed(list, (size_t)n);
	CHECK_PATHS(inputs, "core.*");
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
		cmocka_unit_test(a_list_names_files_and_directories),
		cmocka_unit_test(a_list_may_have_a_mark_and_long_line_ends),
		cmocka_unit_test(a_file_by_several_names_is_one_core),
		cmocka_unit_test(the_shared_directory_is_the_deepest_one),
		cmocka_unit_test(directories_of_operands_are_known_plainly),
		cmocka_unit_test(paths_that_no_record_holds_are_cut_and_told_apart),
		cmocka_unit_test(a_list_that_is_no_regular_file_is_an_error),
		cmocka_unit_test(a_list_that_is_none_is_an_error),
		cmocka_unit_test(standard_input_is_a_list),
		cmocka_unit_test(operands_that_are_not_there_are_errors),
		cmocka_unit_test(a_pattern_stands_for_the_names_that_fit),
		cmocka_unit_test(what_a_pattern_finds_is_not_what_the_user_named),
		cmocka_unit_test(patterns_stand_in_lists_of_lines_only),
		cmocka_unit_test(a_directory_by_several_names_is_searched_once),
		cmocka_unit_test(names_tell_the_command),
		cmocka_unit_test(what_cannot_be_read_is_a_note_or_a_core_by_name),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
