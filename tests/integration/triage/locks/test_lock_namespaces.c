/* layer: triage */
/* Lock holders whose ids are those of another pid namespace, or of threads that have ended. */
#include "triage/locks/deadlock.h"
#include "triage/locks/locks.h"
#include "triage/waits/namespace_tid.h"
#include "triage/locks/wait_report.h"
#include "tests/integration/triage/locks/waiting_program.h"

static const char left[] =
	HEAD "void *leave(void *a) { tell(\"owner\"); pthread_mutex_lock(&first.lock); return 0; }\n"
	     "void *want(void *a) { tell(\"waiter\"); pthread_mutex_lock(&first.lock); sink++; return 0; }\n" MAIN(
		     "pthread_t t; pthread_create(&t, 0, leave, 0); pthread_join(t, 0); start(want, 0);");

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(owners_of_another_pid_namespace_are_found_by_their_descriptors),
		cmocka_unit_test(a_thread_that_is_awaited_is_named_by_its_id_in_the_list),
		cmocka_unit_test(an_owner_has_ended_only_where_all_ids_can_be_compared),
		cmocka_unit_test(one_damaged_descriptor_does_not_make_another_namespace),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
