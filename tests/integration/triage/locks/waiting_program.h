/* waiting_program: programs whose threads wait for locks and tell who holds them, and looks at them while they run. */
#ifndef XC_TEST_WAITING_PROGRAM_H
#define XC_TEST_WAITING_PROGRAM_H

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/opened.h"
#include "triage/locks/locks.h"
#include "triage/waits/waits.h"
#include "triage/locks/wait_report.h"

/* ---- programs ---- */

#define HEAD                                                                                                           \
	"#include <poll.h>\n#include <pthread.h>\n#include <semaphore.h>\n#include <stdio.h>\n#include <stdlib.h>\n"   \
	"#include <string.h>\n#include <unistd.h>\n#include <sys/syscall.h>\n#include <sys/select.h>\n"                \
	"#include <sys/wait.h>\n"                                                                                      \
	"struct account { long balance; pthread_mutex_t lock; };\n"                                                    \
	"struct account first = {1, PTHREAD_MUTEX_INITIALIZER}, second = {2, PTHREAD_MUTEX_INITIALIZER}, *third;\n"    \
	"pthread_rwlock_t table = PTHREAD_RWLOCK_INITIALIZER; pthread_cond_t changed = PTHREAD_COND_INITIALIZER;\n"    \
	"pthread_barrier_t both; sem_t room; volatile int sink;\n"                                                     \
	"static void tell(const char *who) { dprintf(1, \"%s=%d\\n\", who, (int)syscall(SYS_gettid)); }\n"             \
	"static void start(void *(*f)(void *), void *a) { pthread_t t; pthread_create(&t, 0, f, a); }\n"               \
	"static void *ready(void *a) { dprintf(1, \"ready\\n\"); for (;;) pause(); }\n"

#define MAIN(body)                                                                                                     \
	"int main(void) { pthread_barrier_init(&both, 0, 2); third = calloc(1, sizeof *third); alarm(900);\n"          \
	"pthread_mutex_init(&third->lock, 0); sem_init(&room, 0, 0);\n" body " start(ready, 0); for (;;) pause(); }\n"

#define TRANSFER                                                                                                       \
	"__attribute__((noinline)) void transfer(struct account *from, struct account *to) {\n"                        \
	" pthread_mutex_lock(&from->lock); pthread_barrier_wait(&both); pthread_mutex_lock(&to->lock);\n"              \
	" to->balance += from->balance; pthread_mutex_unlock(&to->lock); pthread_mutex_unlock(&from->lock); }\n"       \
	"void *forth(void *a) { tell(\"forth\"); transfer(&first, a ? third : &second); return 0; }\n"                 \
	"void *back(void *a) { tell(\"back\"); transfer(a ? third : &second, &first); return 0; }\n"

static const char two[] = HEAD TRANSFER MAIN("start(forth, 0); start(back, 0);");
static const char joined[] = HEAD
	"pthread_t held;\nvoid *worker(void *a) { tell(\"worker\"); pthread_barrier_wait(&both);\n"
	" pthread_mutex_lock(&first.lock); sink++; return 0; }\n"
	"void *boss(void *a) { tell(\"boss\"); pthread_mutex_lock(&first.lock); pthread_barrier_wait(&both);\n"
	" pthread_join(held, 0); sink++; return 0; }\n" MAIN("pthread_create(&held, 0, worker, 0); start(boss, 0);");

/* ---- running them ---- */

struct told {
	char name[32];
	int tid;
};

struct running {
	pid_t pid;
	FILE *out;
	struct told told[16];
	size_t count;
	struct xc_process *process;
};

/* Records a thread's report. False if it is ready, or has ended. */
static inline bool hear(struct running *r)
{
	char line[64];
	if (!fgets(line, sizeof line, r->out) || !strcmp(line, "ready\n"))
		return false;
	if (r->count < XC_COUNT(r->told) &&
	    sscanf(line, "%31[^=]=%d", r->told[r->count].name, &r->told[r->count].tid) == 2)
		r->count++;
	return true;
}

static inline void run(struct running *r, const char *compiler, const char *source)
{
	const char *path = dying_program("program", compiler, source);
	int ends[2];
	*r = (struct running){.pid = 0};
	assert_int_equal(pipe(ends), 0);
	if ((r->pid = fork()) == 0) {
		dup2(ends[1], STDOUT_FILENO);
		execl(path, path, (char *)NULL);
		_exit(127);
	}
	close(ends[1]);
	r->out = fdopen(ends[0], "r");
	while (hear(r))
		;
}

static inline void look(struct running *r)
{
	static const struct xc_finder finder = {.quiet = true};
	CHECK_OK(xc_process_open_live(r->pid, &(struct xc_open_options){.finder = &finder}, &r->process));
	xc_debugfiles_use(r->process, &finder);
}

static inline void look_away(struct running *r)
{
	close_process(r->process);
	r->process = NULL;
}

static inline bool sleeps(pid_t pid, const char *tid)
{
	char path[300], text[512];
	snprintf(path, sizeof path, "/proc/%d/task/%s/stat", (int)pid, tid);
	FILE *stat = fopen(path, "r");
	const size_t len = stat ? fread(text, 1, sizeof text - 1, stat) : 0;
	if (stat)
		fclose(stat);
	text[len] = '\0';
	const char *end = strrchr(text, ')');
	return end && end[1] && end[2] == 'S';
}

/* Waits until all threads were seen asleep. A thread that was read early may have been woken by another since: the
 * caller retries. */
static inline void wait_until_asleep(pid_t pid)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
	for (bool all = false; !all; usleep(1000)) {
		DIR *tasks = opendir(path);
		all = true;
		for (const struct dirent *task; tasks && (task = readdir(tasks));)
			all &= *task->d_name == '.' || sleeps(pid, task->d_name);
		if (tasks)
			closedir(tasks);
	}
}

enum { LOOKS = 1000 };

static inline const struct xc_locks *look_until(struct running *r, size_t cycles, size_t locks)
{
	for (int i = 0; i < LOOKS; i++) {
		wait_until_asleep(r->pid);
		look(r);
		const struct xc_locks *l = xc_locks_of(r->process);
		if (l->cycle_count == cycles && l->lock_count == locks)
			return l;
		look_away(r);
	}
	look(r);
	return xc_locks_of(r->process);
}

static inline void end(struct running *r)
{
	if (r->process)
		look_away(r);
	kill(r->pid, SIGKILL);
	waitpid(r->pid, NULL, 0);
	fclose(r->out);
}

/* A thread may report only when the others are ready. */
static inline int tid_of(struct running *r, const char *name)
{
	size_t i = 0;
	do
		for (; i < r->count; i++)
			if (!strcmp(r->told[i].name, name))
				return r->told[i].tid;
	while (hear(r));
	fail_msg("the program did not tell of %s", name);
	return 0;
}

static inline const struct xc_lock *lock_named(const struct xc_locks *l, const char *name)
{
	for (size_t i = 0; i < l->lock_count; i++)
		if (!strcmp(l->locks[i].name, name))
			return &l->locks[i];
	for (size_t i = 0; i < l->lock_count; i++)
		print_message("a lock: %s\n", l->locks[i].name);
	fail_msg("no lock is called %s", name);
	return NULL;
}

static inline void assert_held(struct running *r, const struct xc_locks *l, const char *lock, const char *by)
{
	assert_int_equal(lock_named(l, lock)->owner, tid_of(r, by));
}

static inline bool has_words(struct running *r, const char *who, const char *part, struct xc_text *said)
{
	const struct xc_wait *wait = xc_waits_thread(xc_waits_of(r->process), tid_of(r, who));
	assert_non_null(wait);
	said->len = 0;
	xc_wait_report_describe(r->process, wait, true, said);
	return strstr(xc_text_string(said), part);
}

static inline void assert_words(struct running *r, const char *who, const char *part)
{
	struct xc_text text = {0};
	if (!has_words(r, who, part, &text))
		fail_msg("%s: %s, without %s", who, xc_text_string(&text), part);
	xc_text_fini(&text);
}

static const char *const compilers[] = {"gcc -g -O0 -x c", "gcc -g -O2 -x c", "clang -g -O0 -x c", "clang -g -O2 -x c"};

#endif
