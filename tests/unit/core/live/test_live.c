/* layer: core
 *
 * Reports about a child and its threads, and about unreadable processes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/process/finder.h"
#include "core/live/live.h"
#include "core/live/sandbox.h"
#include "tests/support/check.h"
#include "tests/support/live_child.h"

/* ---- facts ---- */

static void a_blocked_thread_has_pc_sp_thread_pointer_and_arguments_only(void **state)
{
	struct child c = start_child();
	(void)state;
	tell(&c, 't');
	wait_for_state(c.pid, &shared->futex_tid, 'S');
	wait_for_state(c.pid, &c.pid, 'S'); /* it has answered, but may not be back at its read */
	struct xc_process *p = open_pid(c.pid);
	const struct xc_thread *t = xc_process_thread(p, shared->futex_tid);
	assert_non_null(t);
	assert_string_equal(t->name, "we(ird) n\nme");
	assert_int_equal(t->state, 'S');
	assert_true(t->has_regs);
	assert_int_equal(t->syscall, SYS_futex);
	assert_string_equal(t->regs_how, "blocked in system call 202 (futex)");
	uint64_t pc = 0, sp = 0;
	assert_true(xc_regs_get(&t->regs, p->arch->pc, &pc));
	assert_true(xc_regs_get(&t->regs, p->arch->sp, &sp));
	assert_true(xc_process_mapping(p, pc)->executable);
	assert_true(xc_process_mapping(p, sp)->writable);
	uint8_t before[2];
	XC_OK(xc_space_read(p->space, pc - 2, before, 2));
	assert_memory_equal(before, "\x0f\x05", 2); /* the syscall instruction */
	size_t known = 0;
	for (int i = 0; i < XC_REG_MAX; i++)
		known += xc_regs_known(&t->regs, i);
	uint64_t first;
	assert_int_equal(known, 3 + XC_COUNT(t->call_args));
	assert_true(xc_regs_get(&t->regs, xc_arch_reg_named(p->arch, "rdi"), &first));
	assert_int_equal(first, t->call_args[0]);
	assert_true(xc_regs_known(&t->regs, p->arch->tls.tp));
	assert_int_equal(p->threads[0].tid, c.pid);
	assert_int_equal(p->threads[0].syscall, SYS_read);
	xc_process_close(p);
	end_child(&c);
}

static void a_running_thread_says_why_it_has_no_registers(void **state)
{
	struct child c = start_child();
	(void)state;
	tell(&c, 's');
	wait_for_state(c.pid, &shared->spin_tid, 'R');
	struct xc_process *p = open_pid(c.pid);
	const struct xc_thread *t = xc_process_thread(p, shared->spin_tid);
	assert_non_null(t);
	assert_string_equal(t->name, "spinner");
	assert_int_equal(t->state, 'R');
	assert_false(t->has_regs);
	assert_non_null(strstr(t->why_no_regs, "running on a CPU"));
	xc_process_close(p);
	end_child(&c);
}

static void the_process_is_described(void **state)
{
	struct child c = start_child();
	struct xc_process *p = open_pid(c.pid);
	char self[4096];
	uint64_t value;
	(void)state;
	ssize_t len = readlink("/proc/self/exe", self, sizeof self - 1);
	self[len > 0 ? len : 0] = '\0';
	assert_true(p->live);
	assert_int_equal(p->pid, c.pid);
	assert_int_equal(p->ppid, getpid());
	assert_int_equal(p->uid, geteuid());
	assert_string_equal(p->exe_path, self);
	assert_non_null(p->args);
	assert_true(xc_process_auxv(p, 3 /* AT_PHDR */, &value));
	assert_true(p->module_count >= 3); /* the program, libc, the loader, … */
	assert_int_equal(p->modules[0]->kind, XC_MODULE_EXE);
	assert_string_equal(p->modules[0]->path, self);
	assert_int_equal(p->modules[0]->identity, XC_VERIFIED);
	assert_ptr_equal(xc_process_module(p, shared->code), p->modules[0]); /* forked: the same places */
	assert_true(p->link_map_known);
	assert_null(p->remarks);
	const struct xc_mapping *m = xc_process_mapping(p, shared->file);
	assert_string_equal(m->path, data_path);
	assert_false(m->shared);
	assert_true(xc_process_mapping(p, shared->memfd)->shared);
	xc_process_close(p);
	end_child(&c);
}

/* ---- refusals ---- */

static void assert_refused(pid_t pid, enum xc_error_code code, const char *why)
{
	struct xc_process *p = NULL;
	struct xc_error *err = try_open(pid, &p);
	assert_null(p);
	assert_non_null(err);
	if (err->code != code || !strstr(err->message, why))
		fail_msg("expected '%s' (%d), got '%s' (%d)", why, (int)code, err->message, (int)err->code);
	xc_error_free(err);
}

static void what_is_no_process_is_named(void **state)
{
	struct child c = start_child();
	(void)state;
	tell(&c, 't');
	wait_for_state(c.pid, &shared->futex_tid, 'S');
	assert_refused(shared->futex_tid, XC_ERR_NOT_FOUND, "is a thread of process");
	kill(c.pid, SIGKILL);
	siginfo_t info;
	waitid(P_PID, (id_t)c.pid, &info, WEXITED | WNOWAIT);
	assert_refused(c.pid, XC_ERR_NOT_FOUND, "zombie");
	pid_t pid = c.pid;
	end_child(&c);
	assert_refused(pid, XC_ERR_NOT_FOUND, ": no such process");
	assert_refused(0, XC_ERR_NOT_FOUND, "pid:0: no such process");
	assert_refused(-1, XC_ERR_NOT_FOUND, "pid:-1: no such process");
}

static void a_kernel_thread_has_no_memory(void **state)
{
	char exe[8];
	(void)state;
	if (access("/proc/2/status", F_OK) || readlink("/proc/2/exe", exe, sizeof exe) >= 0 || geteuid() != 0)
		check_skip("a pid name space without kernel threads, or not root");
	assert_refused(2, XC_ERR_UNSUPPORTED, "kernel thread");
}

/* Whether there is another user; not in every user namespace. */
static bool may_become_nobody(void)
{
	int status;
	const pid_t pid = geteuid() == 0 ? fork() : -1;
	if (pid == 0)
		_exit(setresgid(NOBODY, NOBODY, NOBODY) || setresuid(NOBODY, NOBODY, NOBODY));
	return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

/* Runs the check as another user, in a child process. True if it exited with 0. */
static bool as_nobody(void (*check)(pid_t pid), pid_t pid)
{
	pid_t reader = fork();
	if (reader == 0) {
		if (setresgid(NOBODY, NOBODY, NOBODY) || setresuid(NOBODY, NOBODY, NOBODY))
			_exit(9);
		check(pid);
		_exit(8);
	}
	int status;
	waitpid(reader, &status, 0);
	return status == 0;
}

static void exit_with(pid_t pid, const char *why, bool hinted)
{
	struct xc_process *p = NULL;
	struct xc_error *err = try_open(pid, &p);
	if (err && (!strstr(err->message, why) || (hinted && !err->hint)))
		fprintf(stderr, "got: %s\n", err->message);
	_exit(err && err->code == XC_ERR_PERMISSION && strstr(err->message, why) && (!hinted || err->hint) ? 0 : 1);
}

static void expect_uid_rule(pid_t pid)
{
	exit_with(pid, "rule: same uid", true);
}

static void expect_dumpable_rule(pid_t pid)
{
	exit_with(pid, "rule: dumpable", true);
}

static void expect_readable(pid_t pid)
{
	struct xc_process *p = NULL;
	struct xc_error *err = try_open(pid, &p);
	uint8_t byte = 0;
	if (err || xc_space_peek(p->space, shared->big + 5, &byte, 1) != 1 || byte != big_byte(5))
		_exit(1);
	/* Including absent pages, without any capability. */
	_exit(xc_space_peek(p->space, shared->file + PAGE, &byte, 1) == 1 && byte == 'b' ? 0 : 2);
}

static void a_refusal_names_the_rule(void **state)
{
	(void)state;
	if (!may_become_nobody())
		check_skip("needs two users");
	struct child c = start_child();
	assert_true(as_nobody(expect_uid_rule, c.pid));
	tell(&c, 'n');
	assert_true(as_nobody(expect_readable, c.pid));
	tell(&c, 'd');
	assert_true(as_nobody(expect_dumpable_rule, c.pid));
	end_child(&c);
}

static int read_behind_the_fence(pid_t pid, pid_t other)
{
	struct xc_process *p = NULL, *second = NULL;
	const char *landlock = NULL;
	uint8_t byte = 0;
	if (xc_sandbox_calls() || try_open(pid, &p) || xc_sandbox_writes(&(struct xc_sandbox_options){0}, &landlock))
		return 1;
	if (strncmp(landlock, "landlock", 8) != 0)
		return 77;
	for (size_t at = 0; at < BIG; at += 77777)
		if (xc_space_peek(p->space, shared->big + at, &byte, 1) != 1 || byte != big_byte(at))
			return 2;
	if (xc_space_peek(p->space, shared->untouched, &byte, 1) != 1 || byte != 0)
		return 3;
	if (xc_space_peek(p->space, shared->file + PAGE, &byte, 1) != 1 || byte != 'b')
		return 4;
	struct xc_source *source = NULL;
	if (xc_finder_open(p->live_root, data_path, &source) || source->bytes[2 * PAGE] != 'c')
		return 5;
	struct xc_error *err = try_open(other, &second);
	return err && err->code == XC_ERR_PERMISSION && strstr(err->message, "Landlock") ? 0 : 6;
}

static void an_open_process_is_readable_behind_the_fence(void **state)
{
	(void)state;
	struct child c = start_child();
	pid_t reader = fork();
	if (reader == 0)
		_exit(read_behind_the_fence(c.pid, getppid()));
	int status;
	waitpid(reader, &status, 0);
	end_child(&c);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		check_skip("a kernel without Landlock");
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_blocked_thread_has_pc_sp_thread_pointer_and_arguments_only),
		cmocka_unit_test(a_running_thread_says_why_it_has_no_registers),
		cmocka_unit_test(the_process_is_described),
		cmocka_unit_test(what_is_no_process_is_named),
		cmocka_unit_test(a_kernel_thread_has_no_memory),
		cmocka_unit_test(a_refusal_names_the_rule),
		cmocka_unit_test(an_open_process_is_readable_behind_the_fence),
	};
	return cmocka_run_group_tests_name("live", tests, live_child_make_files, live_child_remove_files);
}
