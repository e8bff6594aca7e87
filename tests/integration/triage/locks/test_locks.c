/* layer: triage */
/* Waits of the threads of running programs that report their own lock holders. */
#include "tests/support/grid.h"
#include "tests/support/opened.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "triage/cause.h"
#include "triage/locks/deadlock.h"
#include "triage/locks/locks.h"
#include "triage/locks/namespace_tid.h"
#include "triage/locks/waits.h"
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
static const char on_heap[] = HEAD TRANSFER MAIN("start(forth, third); start(back, third);");
/* Both locks are `to->lock` of the thread that waits; statics lead to them, or only the threads' own pointers. */
static const char twins[] =
	HEAD TRANSFER "struct account *shards[2];\n"
		      "void *there(void *a) { tell(\"there\"); transfer(shards[0], shards[1]); return 0; }\n"
		      "void *here(void *a) { tell(\"here\"); transfer(shards[1], shards[0]); return 0; }\n" MAIN(
			      "for (int i = 0; i < 2; i++) { shards[i] = calloc(1, sizeof **shards);"
			      " pthread_mutex_init(&shards[i]->lock, 0); } start(there, 0); start(here, 0);");
static const char strangers[] = HEAD TRANSFER
	"struct pair { struct account *a, *b; };\n"
	"void *there(void *a) { struct pair *p = a; tell(\"there\"); transfer(p->a, p->b); return 0; }\n"
	"void *here(void *a) { struct pair *p = a; tell(\"here\"); transfer(p->b, p->a); return 0; }\n" MAIN(
		"struct pair *p = malloc(sizeof *p); p->a = calloc(1, sizeof *p->a); p->b = calloc(1, sizeof *p->b);"
		" pthread_mutex_init(&p->a->lock, 0); pthread_mutex_init(&p->b->lock, 0);"
		" start(there, p); start(here, p);");
static const char handled[] = HEAD TRANSFER
	"#include <signal.h>\nstatic void on(int s) { for (;;) pause(); }\n"
	/* `forth` is: it has marked the lock as wanted, and sleeps since then */
	"static int asleep(void) { char path[64], state = 0; if (second.lock.__data.__lock != 2) return 0;\n"
	" sprintf(path, \"/proc/self/task/%d/stat\", first.lock.__data.__owner); FILE *f = fopen(path, \"r\");\n"
	" int n = fscanf(f, \"%*d (%*[^)]) %c\", &state); fclose(f); return n == 1 && state == 'S'; }\n" MAIN(
		"signal(SIGUSR1, on); pthread_t t; pthread_create(&t, 0, forth, 0); start(back, 0);"
		" while (!asleep()) usleep(1000); pthread_kill(t, SIGUSR1);");
static const char self[] = HEAD "void *again(void *a) { tell(\"again\"); pthread_mutex_lock(&first.lock);\n"
				" pthread_mutex_lock(&first.lock); sink++; return 0; }\n" MAIN("start(again, 0);");
static const char rwlock[] =
	HEAD "void *writer(void *a) { tell(\"writer\"); pthread_rwlock_wrlock(&table); pthread_barrier_wait(&both);\n"
	     " pthread_mutex_lock(&first.lock); sink++; return 0; }\n"
	     "void *reader(void *a) { tell(\"reader\"); pthread_mutex_lock(&first.lock); pthread_barrier_wait(&both);\n"
	     " pthread_rwlock_rdlock(&table); sink++; return 0; }\n" MAIN("start(writer, 0); start(reader, 0);");
static const char joined[] = HEAD
	"pthread_t held;\nvoid *worker(void *a) { tell(\"worker\"); pthread_barrier_wait(&both);\n"
	" pthread_mutex_lock(&first.lock); sink++; return 0; }\n"
	"void *boss(void *a) { tell(\"boss\"); pthread_mutex_lock(&first.lock); pthread_barrier_wait(&both);\n"
	" pthread_join(held, 0); sink++; return 0; }\n" MAIN("pthread_create(&held, 0, worker, 0); start(boss, 0);");
static const char recursive[] =
	HEAD "void *f(void *a) { pthread_mutexattr_t t; pthread_mutexattr_init(&t);\n"
	     "pthread_mutexattr_settype(&t, PTHREAD_MUTEX_RECURSIVE); pthread_mutexattr_setprotocol(&t, 1);\n"
	     "pthread_mutex_init(&first.lock, &t); pthread_mutex_lock(&first.lock); pthread_mutex_lock(&first.lock);\n"
	     "tell(\"owner\"); start(a, 0); for (;;) pause(); }\n"
	     "void *g(void *a) { tell(\"waiter\"); pthread_mutex_lock(&first.lock); sink++; return 0; }\n" MAIN(
		     "start(f, g);");
static const char convoy[] = HEAD "void *queue(void *a) { pthread_mutex_lock(&first.lock); sink++; return 0; }\n" MAIN(
	"tell(\"main\"); pthread_mutex_lock(&first.lock); for (int i = 0; i < 5; i++) start(queue, 0);");
static const char idle[] =
	HEAD "void *on_condition(void *a) { tell(\"condition\"); pthread_mutex_lock(&first.lock);\n"
	     " for (;;) pthread_cond_wait(&changed, &first.lock); }\n"
	     "void *on_semaphore(void *a) { tell(\"semaphore\"); sem_wait(&room); sink++; return 0; }\n"
	     "void *on_read(void *a) { int p[2]; char c; pipe(p); dup2(p[0], 77); tell(\"read\"); sink = read(77, &c, "
	     "1); return 0; }\n"
	     "void *on_poll(void *a) { struct pollfd p[9]; memset(p, 0, sizeof p); for (int i = 0; i < 9; i++) p[i].fd "
	     "= -1;\n"
	     " tell(\"poll\"); sink = poll(p, 9, -1); return 0; }\n"
	     "void *on_time(void *a) { tell(\"time\"); sleep(800); return 0; }\n"
	     "void *on_clock(void *a) { struct timespec t; clockid_t clock = (long)a; clock_gettime(clock, &t);\n"
	     " t.tv_sec += 7100 - t.tv_sec % 10; tell(clock == CLOCK_REALTIME ? \"real\" : \"mono\");\n"
	     " clock_nanosleep(clock, TIMER_ABSTIME, &t, 0); return 0; }\n" MAIN(
		     "start(on_condition, 0); start(on_semaphore, 0); start(on_read, 0); start(on_poll, 0); "
		     "start(on_time, 0); start(on_clock, (void *)CLOCK_REALTIME); start(on_clock, (void "
		     "*)CLOCK_MONOTONIC);");
static const char left[] =
	HEAD "void *leave(void *a) { tell(\"owner\"); pthread_mutex_lock(&first.lock); return 0; }\n"
	     "void *want(void *a) { tell(\"waiter\"); pthread_mutex_lock(&first.lock); sink++; return 0; }\n" MAIN(
		     "pthread_t t; pthread_create(&t, 0, leave, 0); pthread_join(t, 0); start(want, 0);");
static const char many[] =
	HEAD "pthread_mutex_t locks[120];\n"
	     "void *want(void *a) { pthread_mutex_lock(a); sink++; return 0; }\n"
	     "void *tangle(void *a) { tell(\"tangle\"); pthread_mutex_lock(&second.lock); "
	     "pthread_mutex_lock(&second.lock); sink++; return 0; }\n" MAIN(
		     "for (int i = 0; i < 120; i++) { pthread_mutex_init(&locks[i], 0); pthread_mutex_lock(&locks[i]);"
		     " start(want, &locks[i]); } start(want, &locks[119]); start(tangle, 0);");
static const char ring[] =
	HEAD "pthread_mutex_t locks[51]; pthread_barrier_t all;\n"
	     "void *pass(void *a) { pthread_mutex_t *m = a; pthread_mutex_lock(m); pthread_barrier_wait(&all);\n"
	     " pthread_mutex_lock(m == &locks[50] ? locks : m + 1); sink++; return 0; }\n" MAIN(
		     "pthread_barrier_init(&all, 0, 51); for (int i = 0; i < 51; i++) {"
		     " pthread_mutex_init(&locks[i], 0); start(pass, &locks[i]); }");
/* One waits for `first` while the other holds it and continues to `second`, which the one takes later: never a cycle.
 * circle. */
static const char busy[] =
	HEAD "void *one(void *a) { for (;;) { pthread_mutex_lock(&first.lock); usleep(20); "
	     "pthread_mutex_unlock(&first.lock);\n"
	     " pthread_mutex_lock(&second.lock); usleep(300); pthread_mutex_unlock(&second.lock); } }\n"
	     "void *other(void *a) { for (;;) { pthread_mutex_lock(&first.lock); usleep(20); "
	     "pthread_mutex_lock(&second.lock);\n"
	     " usleep(20); pthread_mutex_unlock(&second.lock); pthread_mutex_unlock(&first.lock); } }\n" MAIN(
		     "start(one, 0); start(other, 0);");
static const char cxx[] =
	"#include <condition_variable>\n#include <cstdio>\n#include <mutex>\n#include <shared_mutex>\n#include "
	"<thread>\n"
	"#include <pthread.h>\n#include <unistd.h>\n#include <sys/syscall.h>\npthread_barrier_t both;\n"
	"struct shop { int items; std::mutex door; std::shared_mutex shelf; } store; int sink;\n"
	"static void tell(const char *who) { dprintf(1, \"%s=%d\\n\", who, (int)syscall(SYS_gettid)); }\n"
	"static void clerk() { tell(\"clerk\"); std::lock_guard<std::mutex> l(store.door); "
	"pthread_barrier_wait(&both);\n"
	" std::unique_lock<std::shared_mutex> s(store.shelf); sink++; }\n"
	"static void buyer() { tell(\"buyer\"); std::unique_lock<std::shared_mutex> s(store.shelf); "
	"pthread_barrier_wait(&both);\n"
	" std::lock_guard<std::mutex> l(store.door); sink++; }\n"
	"int main() { alarm(900); pthread_barrier_init(&both, 0, 2); std::thread a(clerk), b(buyer); dprintf(1, "
	"\"ready\\n\"); "
	"a.join(); }\n";

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
static bool hear(struct running *r)
{
	char line[64];
	if (!fgets(line, sizeof line, r->out) || !strcmp(line, "ready\n"))
		return false;
	if (r->count < XC_COUNT(r->told) &&
	    sscanf(line, "%31[^=]=%d", r->told[r->count].name, &r->told[r->count].tid) == 2)
		r->count++;
	return true;
}

static void run(struct running *r, const char *compiler, const char *source)
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

static void look(struct running *r)
{
	static const struct xc_finder finder = {.quiet = true};
	CHECK_OK(xc_process_open_live(r->pid, &(struct xc_open_options){.finder = &finder}, &r->process));
	xc_debugfiles_use(r->process, &finder);
}

static void look_away(struct running *r)
{
	close_process(r->process);
	r->process = NULL;
}

static bool sleeps(pid_t pid, const char *tid)
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
static void wait_until_asleep(pid_t pid)
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

static const struct xc_locks *look_until(struct running *r, size_t cycles, size_t locks)
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

static void end(struct running *r)
{
	if (r->process)
		look_away(r);
	kill(r->pid, SIGKILL);
	waitpid(r->pid, NULL, 0);
	fclose(r->out);
}

/* A thread may report only when the others are ready. */
static int tid_of(struct running *r, const char *name)
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

static const struct xc_lock *lock_named(const struct xc_locks *l, const char *name)
{
	for (size_t i = 0; i < l->lock_count; i++)
		if (!strcmp(l->locks[i].name, name))
			return &l->locks[i];
	for (size_t i = 0; i < l->lock_count; i++)
		print_message("a lock: %s\n", l->locks[i].name);
	fail_msg("no lock is called %s", name);
	return NULL;
}

static void assert_held(struct running *r, const struct xc_locks *l, const char *lock, const char *by)
{
	assert_int_equal(lock_named(l, lock)->owner, tid_of(r, by));
}

static bool has_words(struct running *r, const char *who, const char *part, struct xc_text *said)
{
	const struct xc_wait *wait = xc_waits_thread(xc_waits_of(r->process), tid_of(r, who));
	assert_non_null(wait);
	said->len = 0;
	xc_wait_report_describe(r->process, wait, true, said);
	return strstr(xc_text_string(said), part);
}

static void assert_words(struct running *r, const char *who, const char *part)
{
	struct xc_text text = {0};
	if (!has_words(r, who, part, &text))
		fail_msg("%s: %s, without %s", who, xc_text_string(&text), part);
	xc_text_fini(&text);
}

/* Like look_until: until each has a known wait. */
static void look_until_said(struct running *r, const char *const words[][2], size_t count)
{
	struct xc_text said = {0};
	for (int i = 0; i < LOOKS; i++) {
		size_t right = 0;
		wait_until_asleep(r->pid);
		look(r);
		while (right < count && has_words(r, words[right][0], words[right][1], &said))
			right++;
		if (right == count)
			break;
		look_away(r);
	}
	xc_text_fini(&said);
	if (!r->process)
		fail_msg("not all threads have fallen asleep");
}

static void assert_callers(struct running *r, struct xc_unwinder *unwinder, const char *who, const char *part)
{
	struct xc_text text = {0};
	xc_wait_callers(r->process, xc_waits_thread(xc_waits_of(r->process), tid_of(r, who)), unwinder, &text);
	if (!strstr(xc_text_string(&text), part))
		fail_msg("%s: %s, without %s", who, xc_text_string(&text), part);
	xc_text_fini(&text);
}

/* ---- cycles ---- */

static const char *const compilers[] = {"gcc -g -O0 -x c", "gcc -g -O2 -x c", "clang -g -O0 -x c", "clang -g -O2 -x c"};

static void two_threads_that_wait_for_each_other_are_a_deadlock(void **state)
{
	struct running r;
	(void)state;
	GRID(i, XC_COUNT(compilers)) {
		run(&r, compilers[i], two);
		const struct xc_locks *l = look_until(&r, 1, 2);
		assert_int_equal(l->cycle_count, 1);
		assert_int_equal(l->cycles[0].count, 2);
		assert_held(&r, l, "first.lock", "forth");
		assert_held(&r, l, "second.lock", "back");
		assert_string_equal(xc_wait_function(&l->waits->items[l->cycles[0].members[0]]), "transfer");
		assert_words(&r, "forth", "waiting for mutex `second.lock`, held by thread ");
		assert_string_equal(xc_waits_thread(l->waits, tid_of(&r, "forth"))->role, "forth");
		end(&r);
	}
}

static void one_unwinder_serves_the_stacks_of_all_threads(void **state)
{
	struct running r;
	(void)state;
	run(&r, compilers[1], two);
	look_until(&r, 1, 2);
	struct xc_unwinder *unwinder = xc_unwinder_new(r.process);
	assert_callers(&r, unwinder, "forth", ") ← forth (");
	assert_callers(&r, unwinder, "back", ") ← back (");
	assert_callers(&r, unwinder, "forth", ") ← forth (");
	xc_unwinder_free(unwinder);
	end(&r);
}

static void a_hung_process_gets_a_verdict(void **state)
{
	struct running r;
	(void)state;
	run(&r, compilers[0], two);
	look_until(&r, 1, 2);
	struct xc_report *report = xc_report_new("analyze");
	xc_cause(report, r.process, NULL);
	assert_non_null(report->verdict);
	assert_string_equal(report->verdict->class_name, "deadlock");
	assert_string_equal(report->verdict->kind, "cycle");
	assert_string_equal(report->verdict->confidence, "certain");
	assert_string_equal(report->verdict->function, "transfer");
	assert_string_equal(report->verdict->headline, "deadlock: 2 threads wait for each other");
	xc_report_free(report);
	end(&r);
}

/* A thread that calls abort() may be a watchdog, or have another reason. */
static void a_deadlock_is_the_likely_reason_of_an_abort(void **state)
{
	struct running r;
	(void)state;
	run(&r, compilers[0], two);
	look_until(&r, 1, 2);
	struct xc_report *report = xc_report_new("analyze");
	struct xc_crash_context q = {.report = report, .process = r.process, .verdict = xc_report_verdict(report)};
	xc_crash_context_classify(&q, "abort", NULL, "low", "certain", NULL);
	xc_deadlock_classify(&q);
	assert_string_equal(report->verdict->class_name, "deadlock");
	assert_string_equal(report->verdict->confidence, "likely");
	xc_report_free(report);
	end(&r);
}

static void locks_on_the_heap_are_called_as_the_frame_calls_them(void **state)
{
	struct running r;
	(void)state;
	run(&r, compilers[1], on_heap); /* without optimization the frame pointer of a running thread is unknown */
	const struct xc_locks *l = look_until(&r, 1, 2);
	assert_int_equal(l->cycle_count, 1);
	assert_held(&r, l, "to->lock", "back");
	assert_words(&r, "forth", "waiting for mutex `to->lock` (0x");
	end(&r);
}

static void expect_cause(const char *source, const char *part, const char *other)
{
	struct running r;
	run(&r, compilers[1], source);
	look_until(&r, 1, 2);
	struct xc_report *report = xc_report_new("analyze");
	xc_cause(report, r.process, NULL);
	assert_non_null(report->verdict);
	if (!strstr(report->verdict->cause, part) || !strstr(report->verdict->cause, other) ||
	    strstr(report->verdict->cause, "holds mutex `to->lock`"))
		fail_msg("%s", report->verdict->cause);
	xc_report_free(report);
	end(&r);
}

static void locks_that_share_a_name_get_others(void **state)
{
	(void)state;
	expect_cause(twins, "holds mutex `shards[0]->lock` and waits for mutex `shards[1]->lock`",
		     "holds mutex `shards[1]->lock` and waits for mutex `shards[0]->lock`");
	/* optimised, the holder has only its pair, which leads there */
	expect_cause(strangers, "holds mutex `p->a->lock` (0x", "and waits for mutex `to->lock` (0x");
	expect_cause(strangers, "holds mutex `p->b->lock` (0x", "and waits for mutex `to->lock` (0x");
}

static void a_thread_in_a_signal_handler_waits_as_before(void **state)
{
	struct running r;
	(void)state;
	run(&r, compilers[1], handled);
	const struct xc_locks *l = look_until(&r, 1, 2);
	assert_int_equal(l->cycle_count, 1);
	assert_held(&r, l, "first.lock", "forth");
	assert_held(&r, l, "second.lock", "back");
	assert_words(&r, "forth", "waiting for mutex `second.lock`");
	end(&r);
}

static void a_thread_can_wait_for_itself(void **state)
{
	struct running r;
	(void)state;
	run(&r, compilers[1], self);
	const struct xc_locks *l = look_until(&r, 1, 1);
	assert_int_equal(l->cycle_count, 1);
	assert_int_equal(l->cycles[0].count, 1);
	assert_held(&r, l, "first.lock", "again");
	end(&r);
}

static void reader_writer_locks_know_their_writer(void **state)
{
	struct running r;
	(void)state;
	GRID(i, XC_COUNT(compilers)) {
		run(&r, compilers[i], rwlock);
		const struct xc_locks *l = look_until(&r, 1, 2);
		assert_int_equal(l->cycle_count, 1);
		assert_held(&r, l, "table", "writer");
		assert_int_equal(lock_named(l, "table")->readers, 0); /* the one that is registered waits */
		assert_held(&r, l, "first.lock", "reader");
		assert_words(&r, "reader", "waiting for reader-writer lock `table` to read");
		end(&r);
	}
}

static void waiting_for_a_thread_to_end_is_waiting_too(void **state)
{
	struct running r;
	(void)state;
	run(&r, compilers[0], joined);
	const struct xc_locks *l = look_until(&r, 1, 1);
	assert_int_equal(l->cycle_count, 1);
	assert_int_equal(l->cycles[0].count, 2);
	assert_int_equal(xc_waits_thread(l->waits, tid_of(&r, "boss"))->target, tid_of(&r, "worker"));
	end(&r);
}

static void mutexes_of_cxx_are_named(void **state)
{
	static const char *const with[] = {"g++ -g -O0 -std=c++17 -x c++", "g++ -g -O2 -std=c++17 -x c++",
					   "clang++ -g -O2 -std=c++17 -x c++"};
	struct running r;
	(void)state;
	GRID(i, XC_COUNT(with)) {
		run(&r, with[i], cxx);
		const struct xc_locks *l = look_until(&r, 1, 2);
		assert_int_equal(l->cycle_count, 1);
		assert_held(&r, l, "store.door", "clerk");
		assert_held(&r, l, "store.shelf", "buyer");
		const struct xc_wait *wait = xc_waits_thread(l->waits, tid_of(&r, "clerk"));
		assert_string_equal(wait->role, "clerk");
		assert_string_equal(xc_wait_function(wait), "clerk");
		end(&r);
	}
}

/* ---- ids of another pid namespace ---- */

enum { FURTHER = 1 << 22 }; /* above all ids: /proc/sys/kernel/pid_max */

/* The process as a core taken by gdb from outside of its namespace. */
static const struct xc_locks *look_from_outside(struct running *r, bool with_descriptors)
{
	look(r);
	for (size_t i = 0; i < r->process->thread_count; i++) {
		struct xc_thread *thread = &r->process->threads[i];
		thread->tid += FURTHER;
		if (!with_descriptors)
			xc_regs_forget(&thread->regs, r->process->arch->tls.tp);
	}
	r->process->core_maker = "gdb";
	r->process->live = false;
	return xc_locks_of(r->process);
}

static void look_away_from_core(struct running *r)
{
	r->process->live = true;
	end(r);
}

static void owners_of_another_pid_namespace_are_found_by_their_descriptors(void **state)
{
	struct running r;
	(void)state;
	run(&r, compilers[1], two);
	look_until(&r, 1, 2);
	look_away(&r);
	const struct xc_locks *l = look_from_outside(&r, true);
	assert_int_equal(l->waits->ids_are, XC_IDS_OTHERS);
	assert_held(&r, l, "first.lock", "forth");
	assert_int_equal(l->waits->items[lock_named(l, "first.lock")->holder].thread->tid,
			 tid_of(&r, "forth") + FURTHER);
	assert_int_equal(l->waits->items[lock_named(l, "first.lock")->holder].namespace_tid, tid_of(&r, "forth"));
	assert_int_equal(l->cycle_count, 1);
	assert_false(l->cycles[0].likely);
	look_away_from_core(&r);
}

static void a_thread_that_is_awaited_is_named_by_its_id_in_the_list(void **state)
{
	struct running r;
	(void)state;
	run(&r, compilers[1], joined);
	look_until(&r, 1, 1);
	look_away(&r);
	const struct xc_locks *l = look_from_outside(&r, true);
	assert_int_equal(l->cycle_count, 1);
	const struct xc_wait *boss = xc_namespace_tid_thread(l->waits, tid_of(&r, "boss"));
	assert_non_null(boss);
	assert_int_equal(boss->target, tid_of(&r, "worker") + FURTHER);
	look_away_from_core(&r);
}

static void assert_lock_is_told(struct running *r, const struct xc_locks *l, bool orphan, const char *part,
				const char *without)
{
	struct xc_text text = {0};
	assert_int_equal(l->lock_count, 1);
	assert_int_equal(l->locks[0].owner, tid_of(r, "owner"));
	assert_int_equal(xc_lock_is_orphan(r->process, l, &l->locks[0]), orphan);
	xc_wait_report_describe(r->process, &l->waits->items[l->locks[0].first], false, &text);
	assert_non_null(strstr(xc_text_string(&text), part));
	assert_null(strstr(text.bytes, without));
	xc_text_fini(&text);
}

static void assert_orphan_is_told(const struct running *r, pid_t owner, const char *part)
{
	const struct xc_locks *l = xc_locks_of(r->process);
	struct xc_lock lock = l->locks[0];
	struct xc_text text = {0};
	lock.owner = owner;
	xc_deadlock_describe_orphan(r->process, l, &lock, &text);
	assert_non_null(strstr(xc_text_string(&text), part));
	xc_text_fini(&text);
}

static void an_owner_has_ended_only_where_all_ids_can_be_compared(void **state)
{
	struct running r;
	(void)state;
	run(&r, compilers[1], left);
	look_until(&r, 0, 1);
	r.process->live = false; /* a kernel core: its ids are those of the process */
	assert_lock_is_told(&r, xc_locks_of(r.process), true, "held by thread", "in its pid namespace");
	assert_orphan_is_told(&r, tid_of(&r, "owner"), "it ended without unlocking it, or fork() did not copy it");
	assert_orphan_is_told(&r, r.process->pid - 1, "likely took the lock before fork()");
	r.process->live = true;
	look_away(&r);
	assert_lock_is_told(&r, look_from_outside(&r, true), true, "held by the thread with id ", "of another process");
	r.process->live = true;
	look_away(&r);
	assert_lock_is_told(&r, look_from_outside(&r, false), false, "held by the thread with id ", "does not exist");
	look_away_from_core(&r);
}

/* One thread's descriptor does not count where the others agree with the list. */
static void one_damaged_descriptor_does_not_make_another_namespace(void **state)
{
	struct running r;
	(void)state;
	run(&r, compilers[1], two);
	look_until(&r, 1, 2);
	look_away(&r);
	look(&r);
	struct xc_regs *last = &r.process->threads[r.process->thread_count - 1].regs;
	xc_regs_set(last, r.process->arch->tls.tp, r.process->threads[0].regs.value[r.process->arch->tls.tp]);
	const struct xc_locks *l = xc_locks_of(r.process);
	assert_int_equal(l->waits->ids_are, XC_IDS_SAME);
	assert_int_equal(l->cycle_count, 1);
	end(&r);
}

/* ---- no cycles ---- */

static void a_recursive_lock_has_its_owner_and_no_circle(void **state)
{
	struct running r;
	(void)state;
	run(&r, compilers[0], recursive);
	const struct xc_locks *l = look_until(&r, 0, 1);
	assert_int_equal(l->cycle_count, 0);
	assert_held(&r, l, "first.lock", "owner");
	end(&r);
}

static void a_convoy_is_no_deadlock(void **state)
{
	struct running r;
	(void)state;
	run(&r, compilers[1], convoy);
	const struct xc_locks *l = look_until(&r, 0, 1);
	for (int i = 0; i < LOOKS && l->lock_count && l->locks[0].waiters < 5; i++) {
		look_away(&r);
		l = look_until(&r, 0, 1);
	}
	assert_int_equal(l->cycle_count, 0);
	assert_int_equal(lock_named(l, "first.lock")->waiters, 5);
	assert_held(&r, l, "first.lock", "main");
	struct xc_report *report = xc_report_new("analyze");
	xc_cause(report, r.process, NULL);
	/* Five threads that wait for one that goes on: perhaps a hang, and no circle. */
	assert_string_equal(report->verdict->class_name, "hang");
	assert_string_equal(report->verdict->kind, "lock held");
	assert_string_equal(report->verdict->confidence, "guess");
	assert_string_equal(report->verdict->severity, "low");
	xc_report_free(report);
	end(&r);
}

static void a_busy_process_is_never_called_a_deadlock(void **state)
{
	struct running r;
	const size_t looks = grid_count(40, 150), wanted = grid_count(5, 16);
	size_t waits = 0;
	(void)state;
	run(&r, compilers[1], busy);
	for (size_t i = 0; i < looks || (i < 10000 && waits < wanted); i++) {
		look(&r);
		const struct xc_locks *l = xc_locks_of(r.process);
		assert_int_equal(l->cycle_count, 0);
		waits += l->lock_count;
		look_away(&r);
	}
	assert_true(waits >= wanted); /* otherwise the test proves nothing */
	end(&r);
}

/* ---- the report ---- */

static const struct xc_table *table_of(const struct xc_section *section, const char *first_column)
{
	for (const struct xc_item *item = section->items; item; item = item->next)
		if (item->kind == XC_ITEM_TABLE && !strcmp(item->table->columns[0].key, first_column))
			return item->table;
	fail_msg("no table begins with %s", first_column);
	return NULL;
}

static bool says(const struct xc_section *section, const char *text)
{
	for (const struct xc_item *item = section->items; item; item = item->next)
		if (item->kind == XC_ITEM_MESSAGE && !strcmp(item->message.text, text))
			return true;
	return false;
}

static void of_many_locks_those_that_matter_most_are_listed(void **state)
{
	struct running r;
	(void)state;
	run(&r, compilers[1], many);
	look_until(&r, 1, 121);
	struct xc_report *report = xc_report_new("analyze");
	xc_deadlock_report(report, r.process);
	const struct xc_section *section = report->sections;
	const struct xc_table *locks = table_of(section, "lock");
	assert_int_equal(locks->row_count, 50);
	assert_string_equal(locks->cells[0].text, "second.lock");
	assert_string_equal(locks->cells[locks->column_count].text, "locks[119]");
	assert_true(says(section, "71 more locks, which 71 threads wait for"));
	assert_int_equal(table_of(section, "cycle")->row_count, 1);
	xc_report_free(report);
	end(&r);
}

static void of_a_large_circle_the_first_members_are_listed(void **state)
{
	struct running r;
	(void)state;
	run(&r, compilers[1], ring);
	look_until(&r, 1, 51);
	struct xc_report *report = xc_report_new("analyze");
	xc_deadlock_report(report, r.process);
	const struct xc_section *section = report->sections;
	assert_int_equal(table_of(section, "cycle")->row_count, 50);
	assert_true(says(section, "1 more thread waits in a circle"));
	assert_true(says(section, "1 more lock, which 1 thread waits for"));
	xc_report_free(report);
	end(&r);
}

/* ---- other waits ---- */

static void idle_threads_say_what_they_wait_for(void **state)
{
	static const char *const words[][2] = {{"condition", "waiting for condition `changed`"},
					       {"semaphore", "waiting for semaphore `room`"},
					       {"read", "read from descriptor 77 = pipe:["},
					       {"poll", "poll on 9 descriptors"},
					       {"time", "sleep of 800 s"},
					       {"real", "sleep, 70"}, /* 7090 to 7100 s, less the test's own */
					       {"mono", "sleep, 70"}};
	struct running r;
	(void)state;
	GRID(i, XC_COUNT(compilers)) {
		run(&r, compilers[i], idle);
		look_until_said(&r, words, XC_COUNT(words));
		assert_int_equal(xc_locks_of(r.process)->lock_count, 0);
		end(&r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_threads_that_wait_for_each_other_are_a_deadlock),
		cmocka_unit_test(one_unwinder_serves_the_stacks_of_all_threads),
		cmocka_unit_test(a_hung_process_gets_a_verdict),
		cmocka_unit_test(a_deadlock_is_the_likely_reason_of_an_abort),
		cmocka_unit_test(locks_on_the_heap_are_called_as_the_frame_calls_them),
		cmocka_unit_test(locks_that_share_a_name_get_others),
		cmocka_unit_test(a_thread_in_a_signal_handler_waits_as_before),
		cmocka_unit_test(a_thread_can_wait_for_itself),
		cmocka_unit_test(reader_writer_locks_know_their_writer),
		cmocka_unit_test(waiting_for_a_thread_to_end_is_waiting_too),
		cmocka_unit_test(mutexes_of_cxx_are_named),
		cmocka_unit_test(owners_of_another_pid_namespace_are_found_by_their_descriptors),
		cmocka_unit_test(a_thread_that_is_awaited_is_named_by_its_id_in_the_list),
		cmocka_unit_test(an_owner_has_ended_only_where_all_ids_can_be_compared),
		cmocka_unit_test(one_damaged_descriptor_does_not_make_another_namespace),
		cmocka_unit_test(a_recursive_lock_has_its_owner_and_no_circle),
		cmocka_unit_test(a_convoy_is_no_deadlock),
		cmocka_unit_test(a_busy_process_is_never_called_a_deadlock),
		cmocka_unit_test(of_many_locks_those_that_matter_most_are_listed),
		cmocka_unit_test(of_a_large_circle_the_first_members_are_listed),
		cmocka_unit_test(idle_threads_say_what_they_wait_for),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
