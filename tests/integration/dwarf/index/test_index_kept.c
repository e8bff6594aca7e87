/* layer: dwarf */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/looked.h"

static const char other_source[] = "struct node { struct node *next; long value; } head;\n"
				   "int main(void) { return *(volatile int *)0; }\n";

/* The path of the program's cached index; valid until the next call. */
static const char *kept_file(const struct xc_process *process, const char *cache)
{
	static char path[512];
	char hex[2 * XC_BUILD_ID_MAX + 1];
	snprintf(path, sizeof path, "%s/index/%s", cache, xc_build_id_hex(&process->modules[0]->build_id, hex));
	return path;
}

static const char *prepared_core(void)
{
	static const char *core;
	if (!core)
		core = dying_core(dying_program("kept", "g++ -g -Wl,--build-id -x c++", cpp_source), NULL);
	return core;
}

static void check_answers(struct xc_process *p)
{
	assert_int_equal(size_of(p, "outer::Box<unsigned long>::Inner"), 16);
	assert_int_equal(one(p, "outer::Shape::area", XC_NAME_ANY).kind, XC_NAME_FUNCTION);
	assert_int_equal(count_of(p, (struct xc_query){.name = "nothing"}), 0);
}

static void run_with(const char *cache)
{
	struct xc_process *p = open_in(prepared_core(), cache);
	check_answers(p);
	close_process(p);
}

static void an_index_is_kept_and_used_again(void **state)
{
	(void)state;
	const char *cache = scratch_path("cache-kept");
	struct xc_process *p = open_in(prepared_core(), cache);
	check_answers(p);
	const char *path = kept_file(p, cache);
	struct stat first = stat_of(path);
	close_process(p);
	run_with(cache);
	assert_int_equal(stat_of(path).st_ino, first.st_ino);
}

static void every_flipped_bit_is_noticed(void **state)
{
	(void)state;
	const char *cache = scratch_path("cache-flip");
	struct xc_process *p = open_in(prepared_core(), cache);
	check_answers(p);
	const char *path = kept_file(p, cache);
	close_process(p);
	off_t size = stat_of(path).st_size;
	for (off_t at = 0; at < size; at += at < 200 ? 3 : 131) {
		flip(path, at);
		run_with(cache);
		assert_int_equal(stat_of(path).st_size, size);
		if (at % 5 == 0)
			run_with(cache); /* the rebuilt index is complete */
	}
}

static void a_truncated_index_is_rebuilt(void **state)
{
	(void)state;
	const char *cache = scratch_path("cache-cut");
	struct xc_process *p = open_in(prepared_core(), cache);
	check_answers(p);
	const char *path = kept_file(p, cache);
	close_process(p);
	off_t size = stat_of(path).st_size;
	for (off_t cut = 0; cut < size; cut += 1777) {
		assert_int_equal(truncate(path, cut), 0);
		run_with(cache);
		assert_int_equal(stat_of(path).st_size, size);
	}
}

static void an_index_of_another_build_is_not_used(void **state)
{
	(void)state;
	const char *cache = scratch_path("cache-foreign");
	const char *other = dying_core(dying_program("other", "gcc -g -Wl,--build-id -x c", other_source), NULL);
	struct xc_process *p = open_in(other, cache);
	assert_int_equal(size_of(p, "node"), 16);
	char *foreign = xc_strdup(kept_file(p, cache));
	close_process(p);
	p = open_in(prepared_core(), cache);
	const char *path = kept_file(p, cache);
	assert_int_equal(rename(foreign, path), 0); /* a forged id */
	check_answers(p);
	close_process(p);
	free(foreign);
}

static void a_cache_that_cannot_be_written_does_no_harm(void **state)
{
	(void)state;
	const char *file = scratch_file("cache-is-a-file", "x", 1);
	run_with(file);
	run_with("/proc/xcore-cannot-be-made");
}

/* At most 100 bytes fit: as on a full disk, only part of the file is written. */
static void a_full_disk_leaves_no_half_index(void **state)
{
	(void)state;
	const char *cache = scratch_path("cache-full");
	pid_t child = fork();
	if (child == 0) {
		signal(SIGXFSZ, SIG_IGN);
		setrlimit(RLIMIT_FSIZE, &(struct rlimit){100, 100});
		struct xc_process *p = open_in(prepared_core(), cache);
		bool good = count_of(p, (struct xc_query){.name = "outer::Shape::area"}) == 1;
		_exit(good ? 0 : 1);
	}
	int status;
	waitpid(child, &status, 0);
	assert_int_equal(status, 0);
	struct xc_process *p = open_in(prepared_core(), cache);
	struct stat st;
	assert_int_not_equal(stat(kept_file(p, cache), &st), 0);
	check_answers(p);
	assert_int_equal(stat(kept_file(p, cache), &st), 0);
	close_process(p);
}

/* The signal arrives during the write. */
static void a_writer_that_dies_leaves_no_half_index(void **state)
{
	(void)state;
	const char *cache = scratch_path("cache-dies");
	for (rlim_t size = 1; size < 30000; size += 4999) {
		pid_t child = fork();
		if (child == 0) {
			signal(SIGXFSZ, SIG_DFL);
			setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
			setrlimit(RLIMIT_FSIZE, &(struct rlimit){size, size});
			struct xc_process *p = open_in(prepared_core(), cache);
			_exit(count_of(p, (struct xc_query){.name = "outer::Shape::area"}) == 1 ? 0 : 1);
		}
		int status;
		waitpid(child, &status, 0);
		assert_true(WIFSIGNALED(status) || status == 0);
		run_with(cache);
	}
}

/* Several at once, some of them killed during the work: the remaining ones give correct answers. */
static void writers_that_race_and_die_leave_a_sound_index(void **state)
{
	(void)state;
	const char *cache = scratch_path("cache-race");
	enum { WRITERS = 12 };
	pid_t children[WRITERS];
	prepared_core();
	for (int i = 0; i < WRITERS; i++) {
		children[i] = fork();
		if (children[i] == 0) {
			struct xc_process *p = open_in(prepared_core(), cache);
			_exit(count_of(p, (struct xc_query){.name = "outer::Shape::area"}) == 1 ? 0 : 1);
		}
	}
	for (int i = 0; i < WRITERS; i++) {
		int status;
		if (i % 3 == 0) {
			usleep((useconds_t)i * 700);
			kill(children[i], SIGKILL);
		}
		waitpid(children[i], &status, 0);
		if (i % 3)
			assert_int_equal(status, 0);
	}
	run_with(cache);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_index_is_kept_and_used_again),
		cmocka_unit_test(every_flipped_bit_is_noticed),
		cmocka_unit_test(a_truncated_index_is_rebuilt),
		cmocka_unit_test(an_index_of_another_build_is_not_used),
		cmocka_unit_test(a_cache_that_cannot_be_written_does_no_harm),
		cmocka_unit_test(a_full_disk_leaves_no_half_index),
		cmocka_unit_test(a_writer_that_dies_leaves_no_half_index),
		cmocka_unit_test(writers_that_race_and_die_leave_a_sound_index),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
