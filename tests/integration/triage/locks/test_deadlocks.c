/* layer: triage */
/* Threads of running programs that wait for each other. The programs report their own lock holders. */
#include <stdlib.h>

#include "tests/support/grid.h"
#include "triage/cause.h"
#include "triage/locks/deadlock.h"
#include "triage/waits/waits.h"
#include "tests/integration/triage/locks/waiting_program.h"

/* ---- programs ---- */

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

/* ---- cycles ---- */

static void assert_callers(struct running *r, struct xc_unwinder *unwinder, const char *who, const char *part)
{
	struct xc_text text = {0};
	xc_wait_callers(r->process, xc_waits_thread(xc_waits_of(r->process), tid_of(r, who)), unwinder, &text);
	if (!strstr(xc_text_string(&text), part))
		fail_msg("%s: %s, without %s", who, xc_text_string(&text), part);
	xc_text_fini(&text);
}

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
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
