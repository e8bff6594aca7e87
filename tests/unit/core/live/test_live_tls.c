/* layer: core
 *
 * A child's threads report their own thread pointers; these are compared with the ones found from outside. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/live_child.h"

enum { THREADS = 12 };

/* A thread's action: the last two have their list outside of their descriptor. */
enum kind { BLOCKED, RUNNING, NO_LIST, OTHER_LIST, KINDS };

static struct said {
	volatile pid_t tid;
	volatile uint64_t tp;
} * said; /* of each thread, shared; the first one is the main thread */

static struct robust_list_head other = {.list.next = &other.list};

static uint64_t own_thread_pointer(void)
{
	return (uint64_t)(uintptr_t)__builtin_thread_pointer();
}

static void tell_self(size_t number)
{
	said[number].tp = own_thread_pointer();
	said[number].tid = (pid_t)syscall(SYS_gettid);
}

static void *live(void *argument)
{
	size_t number = (size_t)(uintptr_t)argument;
	enum kind kind = number % KINDS;
	if (kind == NO_LIST || kind == OTHER_LIST)
		syscall(SYS_set_robust_list, kind == NO_LIST ? NULL : &other, sizeof other);
	tell_self(number);
	if (kind == RUNNING)
		for (;;)
			__asm__ volatile("pause");
	for (;;)
		pause();
	return NULL;
}

static void be_child(void)
{
	pthread_t thread;
	for (size_t i = 1; i < THREADS; i++)
		if (pthread_create(&thread, NULL, live, (void *)(uintptr_t)i))
			_exit(1);
	tell_self(0);
	for (;;)
		pause();
}

static void wait_for_all(void)
{
	for (size_t i = 0; i < THREADS; i++)
		while (!said[i].tid)
			usleep(1000);
}

static void what_is_found_is_what_threads_say(void **state)
{
	(void)state;
	said = mmap(NULL, THREADS * sizeof *said, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(said, MAP_FAILED);
	pid_t pid = fork();
	if (pid == 0)
		be_child();
	wait_for_all();
	struct xc_process *p = open_pid(pid);
	assert_int_equal(p->thread_count, THREADS);
	for (size_t i = 0; i < THREADS; i++) {
		const struct xc_thread *t = xc_process_thread(p, said[i].tid);
		uint64_t tp = 0;
		bool has_list = i % KINDS == BLOCKED || i % KINDS == RUNNING;
		assert_non_null(t);
		assert_int_equal(xc_regs_get(&t->regs, p->arch->tls.tp, &tp), has_list);
		assert_int_equal(tp, has_list ? said[i].tp : 0);
	}
	xc_process_close(p);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	munmap(said, THREADS * sizeof *said);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_found_is_what_threads_say),
	};
	return cmocka_run_group_tests_name("live_tls", tests, NULL, NULL);
}
