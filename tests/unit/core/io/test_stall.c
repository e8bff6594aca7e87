/* layer: core tier: test */
/* stall: detects processes that wait for a file that does not answer, with its name, and distinguishes other waits. */
#include "tests/support/check.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/io/stall.h"
#include "tests/support/scratch.h"
#include "tests/support/silent.h"

enum { LOOK_US = 2000, LONG = 10 };

static const char *there; /* a directory that does not answer, or a FIFO without a writer */

static bool is_told_here(void)
{
	return access("/proc/self/syscall", R_OK) == 0 && access("/proc/self/wchan", R_OK) == 0;
}

/* A child that waits so, at most as long as its parent lives. */
static pid_t waiting(void (*wait_so)(void))
{
	const pid_t parent = getpid(), pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		alarm(SILENT_PATIENCE);
		if (getppid() == parent)
			wait_so();
		_exit(1);
	}
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL); /* one blocked in the kernel ends with its file system */
	waitpid(pid, NULL, WNOHANG);
}

/* Look until it has waited for the same thing in many looks; reports nothing if it ends first. */
static struct xc_stalled_thread stalled(pid_t pid, enum xc_stall_kind kind)
{
	struct xc_stall stall = {.count = 0};
	struct xc_stalled_thread result = {.kind = XC_STALL_NONE};
	for (uint64_t clock = 1; result.kind == XC_STALL_NONE && !waitpid(pid, NULL, WNOHANG); clock++) {
		xc_stall_scan(&stall, pid, clock);
		const struct xc_stalled_thread *longest = xc_stall_longest(&stall, kind);
		if (longest && clock - longest->since_ms >= LONG)
			result = *longest;
		usleep(LOOK_US);
	}
	xc_stall_fini(&stall);
	return result;
}

/* 0 if a child that waits so is detected, with this name. */
static int names(void (*wait_so)(void), enum xc_stall_kind kind, const char *name)
{
	const pid_t pid = waiting(wait_so);
	struct xc_text text = {0};
	const struct xc_stalled_thread seen = stalled(pid, kind);
	if (seen.kind == kind)
		xc_stall_describe(&seen, &text);
	const bool right = seen.kind == kind && !strcmp(xc_text_string(&text), name);
	if (!right)
		fprintf(stderr, "%s: not %s but %s\n", name, seen.kind == kind ? "that" : "seen",
			xc_text_string(&text));
	xc_text_fini(&text);
	end(pid);
	return !right;
}

static int names_below(void (*wait_so)(void), const char *name)
{
	xc_auto(xc_freep) char *full = xc_asprintf("%s%s", there, name);
	return names(wait_so, XC_STALL_FILE, full);
}

/* ---- files ---- */

static const char *below(const char *name)
{
	static char path[4096];
	snprintf(path, sizeof path, "%s/%s", there, name);
	return path;
}

static void open_it(void)
{
	close(open(below("core"), O_RDONLY));
}

static void look_at_it(void)
{
	struct stat st;
	(void)!stat(below("core"), &st);
}

static void list_it(void)
{
	opendir(there);
}

static void ask_its_size(void)
{
	struct statfs fs;
	(void)!statfs(there, &fs);
}

static void create_below(void)
{
	const int dir = open(there, O_PATH | O_DIRECTORY);
	close(openat(dir, "new", O_WRONLY | O_CREAT | O_EXCL, 0600));
}

static void rename_it(void)
{
	xc_auto(xc_freep) char *from = xc_asprintf("%s/x", there);
	rename(from, below("y"));
}

static void open_in_root(void)
{
	const struct open_how how = {.flags = O_RDONLY, .resolve = RESOLVE_IN_ROOT};
	const int dir = open(there, O_PATH | O_DIRECTORY);
	(void)!syscall(SYS_openat2, dir, "/lib/x.so", &how, sizeof how);
}

static void *open_it_there(void *unused)
{
	open_it();
	return unused;
}

/* The thread that waits for it does not wait for a file. */
static void open_in_a_thread(void)
{
	pthread_t thread;
	pthread_create(&thread, NULL, open_it_there, NULL);
	pthread_join(thread, NULL);
}

static void open_in_a_child(void)
{
	waitpid(waiting(open_it), NULL, 0);
}

static int of_names(const char *at)
{
	there = at;
	return names_below(open_it, "/core") || names_below(look_at_it, "/core") || names_below(list_it, "") ||
	       names_below(ask_its_size, "") || names_below(create_below, "/new") || names_below(rename_it, "/y") ||
	       names_below(open_in_root, "/lib/x.so") || names_below(open_in_a_thread, "/core") ||
	       names_below(open_in_a_child, "/core");
}

static void read_it(void)
{
	char byte;
	(void)!read(open(below("core"), O_RDONLY), &byte, 1);
}

static void touch_it(void)
{
	const volatile char *bytes = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, open(below("core"), O_RDONLY), 0);
	_exit(bytes[0]);
}

static int of_bytes(const char *at)
{
	there = at;
	return names_below(read_it, "/core") || names_below(touch_it, "/core");
}

static void expect(enum silent how, int (*body)(const char *at))
{
	if (!is_told_here())
		check_skip("what threads wait for is not told here");
	const int result = silent_try(how, body);
	if (result == SILENT_CANNOT_MOUNT)
		check_skip("no mount may be made here");
	assert_int_equal(result, 0);
}

static void a_file_that_does_not_answer_is_named(void **state)
{
	(void)state;
	expect(SILENT_DEAF, of_names);
	expect(SILENT_MUTE, of_names);
}

static void a_file_whose_bytes_do_not_come_is_named(void **state)
{
	(void)state;
	expect(SILENT_WITHOUT_DATA, of_bytes);
}

/* ---- other waits ---- */

static void open_fifo(void)
{
	close(open(there, O_RDONLY));
}

static void read_fifo(void)
{
	char byte;
	(void)!read(open(there, O_RDWR), &byte, 1);
}

static void fill_fifo(void)
{
	const int fd = open(there, O_RDWR);
	while (write(fd, "", 1) == 1)
		;
}

static void read_standard_input(void)
{
	int pipes[2];
	char byte;
	if (!pipe(pipes) && dup2(pipes[0], STDIN_FILENO) == STDIN_FILENO)
		(void)!read(STDIN_FILENO, &byte, 1);
}

static int make_fifo(void **state)
{
	(void)state;
	while (open("/dev/null", O_RDWR) <= STDERR_FILENO) /* no file opened by a test is standard input */
		;
	const char *path = scratch_path("fifo");
	if (mkfifo(path, 0600))
		return -1;
	there = realpath(path, NULL); /* the kernel's name */
	return there ? 0 : -1;
}

static void a_pipe_is_for_others_to_fill_or_empty(void **state)
{
	(void)state;
	if (!is_told_here())
		check_skip("what threads wait for is not told here");
	assert_int_equal(names(open_fifo, XC_STALL_PIPE, there), 0);
	assert_int_equal(names(read_fifo, XC_STALL_PIPE, there), 0);
	assert_int_equal(names(fill_fifo, XC_STALL_PIPE, there), 0);
	assert_int_equal(names(read_standard_input, XC_STALL_PIPE, "standard input"), 0);
}

/* ---- no wait ---- */

static void sleep_on(void)
{
	while (pause())
		;
}

static void wait_for_a_child(void)
{
	waitpid(waiting(sleep_on), NULL, 0);
}

static void wait_for_a_socket(void)
{
	int sockets[2];
	char byte;
	if (!socketpair(AF_UNIX, SOCK_STREAM, 0, sockets))
		(void)!read(sockets[0], &byte, 1);
}

/* Another process watches it. */
static void open_in_a_session(void)
{
	setsid();
	open_fifo();
}

static void have_it_opened_in_a_session(void)
{
	waitpid(waiting(open_in_a_session), NULL, 0);
}

static char state_of(pid_t pid)
{
	char path[64], line[256];
	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	FILE *file = fopen(path, "r");
	const bool read = file && fgets(line, sizeof line, file);
	if (file)
		fclose(file);
	return read ? strrchr(line, ')')[2] : 'X';
}

/* Neither now, while it sleeps, nor after enough time for detection. */
static void check_nothing(void (*wait_so)(void), bool stopped)
{
	struct xc_stall stall = {.count = 0};
	const pid_t pid = waiting(wait_so);
	while (state_of(pid) != 'S')
		usleep(LOOK_US);
	if (stopped)
		kill(pid, SIGSTOP);
	while (state_of(pid) != (stopped ? 'T' : 'S'))
		usleep(LOOK_US);
	for (uint64_t clock = 1; clock <= LONG; clock++) {
		xc_stall_scan(&stall, pid, clock);
		usleep(LOOK_US);
	}
	assert_null(xc_stall_longest(&stall, XC_STALL_FILE));
	assert_null(xc_stall_longest(&stall, XC_STALL_PIPE));
	xc_stall_fini(&stall);
	end(pid);
}

static void who_waits_for_no_file_is_not_seen(void **state)
{
	(void)state;
	check_nothing(wait_for_a_child, false);
	check_nothing(wait_for_a_socket, false);
	check_nothing(have_it_opened_in_a_session, false);
}

static void who_was_stopped_waits_for_nobody(void **state)
{
	(void)state;
	check_nothing(read_fifo, true);
}

/* ---- time ---- */

static int ends[2];

static void write_and_write(void)
{
	while (write(ends[1], "", 1) == 1)
		usleep(LOOK_US / 2);
}

/* It answers every time. */
static void read_and_read(void)
{
	char byte;
	(void)!pipe(ends);
	waiting(write_and_write);
	dup2(ends[0], STDIN_FILENO);
	while (read(STDIN_FILENO, &byte, 1) == 1)
		;
}

static void each_wait_has_its_own_time(void **state)
{
	struct xc_stall stall = {.count = 0};
	(void)state;
	if (!is_told_here())
		check_skip("what threads wait for is not told here");
	const pid_t pid = waiting(read_and_read);
	uint64_t clock = 1, begun = 0;
	for (unsigned times = 0; times < 3; clock++) { /* new ones start repeatedly */
		xc_stall_scan(&stall, pid, clock);
		const struct xc_stalled_thread *longest = xc_stall_longest(&stall, XC_STALL_PIPE);
		times += longest && longest->since_ms != begun;
		begun = longest ? longest->since_ms : begun;
		usleep(LOOK_US);
	}
	xc_stall_fini(&stall);
	end(pid);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_that_does_not_answer_is_named),
		cmocka_unit_test(a_file_whose_bytes_do_not_come_is_named),
		cmocka_unit_test(a_pipe_is_for_others_to_fill_or_empty),
		cmocka_unit_test(who_waits_for_no_file_is_not_seen),
		cmocka_unit_test(who_was_stopped_waits_for_nobody),
		cmocka_unit_test(each_wait_has_its_own_time),
	};
	return cmocka_run_group_tests(tests, make_fifo, NULL);
}
