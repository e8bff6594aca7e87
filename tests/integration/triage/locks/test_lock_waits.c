/* layer: triage tier: long */
/* Waits of running programs that are no cycle, what a report lists of many, and what idle threads wait for. */
#include "tests/support/grid.h"
#include "triage/cause.h"
#include "triage/locks/deadlock.h"
#include "triage/locks/locks.h"
#include "tests/integration/triage/locks/waiting_program.h"

/* ---- programs ---- */

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
/* One waits for `first` while the other holds it and continues to `second`, which the one takes later: never a cycle. */
static const char busy[] =
	HEAD "void *one(void *a) { for (;;) { pthread_mutex_lock(&first.lock); usleep(20); "
	     "pthread_mutex_unlock(&first.lock);\n"
	     " pthread_mutex_lock(&second.lock); usleep(300); pthread_mutex_unlock(&second.lock); } }\n"
	     "void *other(void *a) { for (;;) { pthread_mutex_lock(&first.lock); usleep(20); "
	     "pthread_mutex_lock(&second.lock);\n"
	     " usleep(20); pthread_mutex_unlock(&second.lock); pthread_mutex_unlock(&first.lock); } }\n" MAIN(
		     "start(one, 0); start(other, 0);");

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
		cmocka_unit_test(a_recursive_lock_has_its_owner_and_no_circle),
		cmocka_unit_test(a_convoy_is_no_deadlock),
		cmocka_unit_test(a_busy_process_is_never_called_a_deadlock),
		cmocka_unit_test(of_many_locks_those_that_matter_most_are_listed),
		cmocka_unit_test(of_a_large_circle_the_first_members_are_listed),
		cmocka_unit_test(idle_threads_say_what_they_wait_for),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
