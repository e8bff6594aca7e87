/* layer: triage tier: long */
/* Programs that wait for a child until another process kills them. tests/live/hung.bats has those that nobody kills. */
#include "tests/support/grid.h"
#include "tests/support/run_verdict.h"

/* The other process kills this one when it sleeps. */
static const char program[] =
	"#define _GNU_SOURCE\n#include <fcntl.h>\n#include <poll.h>\n#include <signal.h>\n#include <stdio.h>\n#include "
	"<stdlib.h>\n"
	"#include <string.h>\n#include <sys/prctl.h>\n#include <sys/wait.h>\n#include <time.h>\n#include <unistd.h>\n"
	"#define DEEP __attribute__((noinline)) int\n"
	"static void nap(void) { struct timespec pause = {0, 1000000}; nanosleep(&pause, NULL); }\n"
	"static int sleeps(pid_t who) {\n"
	"	char name[64], line[200] = \"\"; snprintf(name, sizeof name, \"/proc/%d/stat\", who);\n"
	"	FILE *f = fopen(name, \"r\"); if (!f || !fgets(line, sizeof line, f)) exit(0); fclose(f);\n"
	"	return strncmp(strrchr(line, ')'), \") S\", 3) == 0; }\n"
	"static pid_t child(void) { pid_t pid = fork(); if (!pid) prctl(PR_SET_PDEATHSIG, SIGKILL); return pid; }\n"
	"static void doom(void) {\n"
	"	pid_t parent = getpid();\n	if (child()) return;\n"
	"	for (int seen = 0; seen < 5; seen = sleeps(parent) ? seen + 1 : 0) nap();\n"
	"	kill(parent, SIGABRT);\n	_exit(0);\n}\n"
	/* The child never reads, and never writes. */
	"struct helper { pid_t pid; int to, from; long sent; };\n"
	"struct worker { const char *name; int ends[2]; pid_t pid; };\n"
	"static char bytes[1 << 20];\n"
	"static void start(struct helper *h) { int a[2], b[2]; if (pipe(a) || pipe(b)) exit(1);\n"
	"	h->pid = child(); if (!h->pid) for (;;) pause();\n"
	"	close(b[1]); close(a[0]); h->to = a[1]; h->from = b[0]; doom(); }\n"
	"DEEP feed(int fd) { return write(fd, bytes, sizeof bytes) != 0; }\n"
	"DEEP ask(struct helper *h) { return read(h->from, bytes, sizeof bytes) != 0; }\n"
	"DEEP end(struct helper *h) { int status; return waitpid(h->pid, &status, 0) != 0; }\n"
	"DEEP watch(struct worker *w) { struct pollfd p = {w->ends[1], POLLIN, 0}; return poll(&p, 1, -1) != 0; }\n"
	"DEEP idle(int number) { return read(number, bytes, sizeof bytes) != 0; }\n"
	/* The child has the lock of a file, and keeps it. */
	"DEEP lock(int file) { struct flock l = {.l_type = F_WRLCK}; return fcntl(file, F_SETLKW, &l); }\n"
	"static int spool(void) { char c, name[] = \"/tmp/peer_wait.XXXXXX\"; int ends[2], spool_fd = mkstemp(name);\n"
	"	if (spool_fd < 0 || unlink(name) || pipe(ends)) return 1;\n"
	"	if (!child()) { lock(spool_fd); if (write(ends[1], \"r\", 1) == 1) for (;;) pause(); }\n"
	"	if (read(ends[0], &c, 1) != 1) return 1;\n"
	"	doom(); return lock(spool_fd); }\n"
	"int main(int argc, char **argv) {\n"
	"	struct helper helper = {0}; struct worker worker = {\"w\", {-1, -1}, 0}; int both[2];\n"
	"	switch (atoi(argv[argc - 1])) {\n"
	"	case 0: start(&helper); return feed(helper.to) + (int)helper.sent;\n"
	"	case 1: start(&helper); return ask(&helper);\n"
	"	case 2: start(&helper); return end(&helper);\n"
	"	case 3: start(&helper); worker.ends[1] = helper.from; worker.pid = helper.pid; return watch(&worker);\n"
	"	case 4: if (pipe(both)) return 1; doom(); return idle(both[0]);\n"
	"	case 5: return spool(); } }\n";

static const char *const compilers[] = {"gcc -g -O0 -x c", "gcc -g -O2 -x c", "clang -g -O2 -x c"};

static void expect(const struct wanted *want)
{
	GRID(c, XC_COUNT(compilers))
		judged_expect(compilers[c], program, false, want);
}

static void a_write_that_nobody_reads(void **state)
{
	(void)state;
	static const struct wanted left = {.class_name = "killed", .argument = "0", .says = "of 1048576 bytes left"},
				   owner = {.class_name = "killed",
					    .argument = "0",
					    .says = "`helper.to`, in feed",
					    .also = "no thread reads `helper.from` (descriptor"},
				   child = {.class_name = "killed",
					    .argument = "0",
					    .says = "has the other end: `helper.pid`"};
	expect(&left);
	expect(&owner);
	expect(&child);
}

static void an_answer_that_does_not_come(void **state)
{
	(void)state;
	static const struct wanted want = {.class_name = "killed",
					   .argument = "1",
					   .says = "`h->from`, in ask",
					   .also = "not closed, or not read: `h->to` ("};
	expect(&want);
}

static void a_child_that_does_not_end(void **state)
{
	(void)state;
	static const struct wanted want = {.class_name = "killed",
					   .argument = "2",
					   .says = "`h->pid`, in end",
					   .also = "not closed, or not read: `h->to` ("};
	expect(&want);
}

static void a_poll_without_an_end(void **state)
{
	(void)state;
	static const struct wanted want = {
		.class_name = "killed", .argument = "3", .says = "the first is `", .also = "has the other end: `"};
	expect(&want);
}

static void a_program_without_input(void **state)
{
	(void)state;
	static const struct wanted want = {
		.class_name = "killed", .argument = "4", .says = "read from descriptor", .without = "perhaps process"};
	expect(&want);
}

static void a_lock_of_a_file(void **state)
{
	(void)state;
	static const struct wanted want = {.class_name = "killed",
					   .argument = "5",
					   .says = "waiting for a lock of a byte range of the file of descriptor",
					   .also = "the holder of that file's lock: a core does not record it",
					   .without = "has the other end"};
	expect(&want);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_write_that_nobody_reads), cmocka_unit_test(an_answer_that_does_not_come),
		cmocka_unit_test(a_child_that_does_not_end), cmocka_unit_test(a_poll_without_an_end),
		cmocka_unit_test(a_program_without_input),   cmocka_unit_test(a_lock_of_a_file),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
