/* layer: core
 *
 * A child changes its memory while it is read: which data is fresh, which is kept, the cost of new mappings, the
 * counters. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/live/live.h"
#include "core/live/sandbox.h"
#include "tests/support/live_child.h"

static uint8_t byte_at(const struct xc_process *p, xc_addr addr)
{
	uint8_t byte = 0;
	XC_OK(xc_space_read(p->space, addr, &byte, 1));
	return byte;
}

static void a_reread_passes_the_cache_and_leaves_it(void **state)
{
	struct child c = start_child();
	struct xc_process *p = open_pid(c.pid);
	uint8_t buf[3 * PAGE];
	(void)state;
	assert_big(p, 0, PAGE);
	tell(&c, 'c');
	assert_int_equal(xc_live_reread(p, shared->big + 7, buf, 2 * PAGE), 2 * PAGE);
	for (size_t i = 0; i < 2 * PAGE; i++)
		assert_int_equal(buf[i], 7 + i < PAGE ? 0x5a : big_byte(7 + i));
	assert_big(p, 0, PAGE); /* the snapshot is unchanged */
	xc_live_forget(p);
	assert_int_equal(byte_at(p, shared->big), 0x5a);
	xc_process_close(p);
	end_child(&c);
}

static void a_reread_ends_where_memory_ends(void **state)
{
	struct child c = start_child();
	struct xc_process *p = open_pid(c.pid);
	uint8_t buf[4 * PAGE];
	(void)state;
	assert_int_equal(xc_live_reread(p, shared->fenced + 5, buf, 3 * PAGE), PAGE - 5);
	memset(buf, 1, sizeof buf);
	assert_int_equal(xc_live_reread(p, shared->untouched + 100, buf, 3 * PAGE), 3 * PAGE); /* absent pages */
	for (size_t i = 0; i < 3 * PAGE; i++)
		assert_int_equal(buf[i], 0);
	assert_int_equal(xc_live_reread(p, 16, buf, 8), 0);
	uint8_t *much = malloc(BIG);
	assert_int_equal(xc_live_reread(p, shared->big, much, BIG), BIG);
	for (size_t i = 0; i < BIG; i++)
		if (much[i] != big_byte(i))
			fail_msg("byte %zu", i);
	free(much);
	xc_process_close(p);
	end_child(&c);
}

static void frozen_bytes_stay_by_whatever_way_they_are_read(void **state)
{
	struct child c = start_child();
	struct xc_process *p = open_pid(c.pid);
	uint8_t buf[2 * PAGE];
	(void)state;
	XC_OK(xc_live_freeze(p, shared->big + 100, 8));
	XC_OK(xc_live_freeze(p, shared->big + PAGE - 4, 8));
	tell(&c, 'c');
	xc_live_forget(p);
	XC_OK(xc_space_read(p->space, shared->big, buf, sizeof buf));
	for (size_t i = 0; i < sizeof buf; i++) {
		bool changed = i < PAGE - 4 && (i < 100 || i >= 108);
		assert_int_equal(buf[i], changed ? 0x5a : big_byte(i));
	}
	assert_int_equal(xc_live_reread(p, shared->big + 99, buf, 10), 10);
	assert_int_equal(buf[0], 0x5a);
	assert_int_equal(buf[1], big_byte(100));
	assert_int_equal(buf[9], 0x5a);
	xc_live_refresh(p);
	assert_int_equal(byte_at(p, shared->big + 100), 0x5a);
	xc_process_close(p);
	end_child(&c);
}

static void what_is_frozen_is_what_is_there_now(void **state)
{
	struct child c = start_child();
	struct xc_process *p = open_pid(c.pid);
	(void)state;
	assert_big(p, 0, PAGE); /* cached */
	tell(&c, 'c');
	XC_OK(xc_live_freeze(p, shared->big, 8));
	assert_int_equal(byte_at(p, shared->big + 3), 0x5a);
	assert_int_equal(byte_at(p, shared->big + 8), big_byte(8)); /* still the cached data */
	xc_process_close(p);
	end_child(&c);
}

static void assert_no_freeze(struct xc_process *p, xc_addr addr, uint64_t len, enum xc_error_code code)
{
	struct xc_error *err = xc_live_freeze(p, addr, len);
	assert_non_null(err);
	assert_int_equal(err->code, code);
	xc_error_free(err);
}

static void freezing_has_errors(void **state)
{
	struct child c = start_child();
	struct xc_process *p = open_pid(c.pid);
	(void)state;
	assert_no_freeze(p, shared->fenced, 2 * PAGE, XC_ERR_FAULT);
	assert_no_freeze(p, UINT64_MAX, 8, XC_ERR_FAULT);
	assert_no_freeze(p, shared->big, (UINT64_C(256) << 20) + 1, XC_ERR_LIMIT);
	assert_no_freeze(p, shared->big, UINT64_MAX, XC_ERR_LIMIT);
	for (int i = 0; i < 8; i++) { /* a repetition takes no more room */
		XC_OK(xc_live_freeze(p, shared->big, BIG));
	}
	xc_process_close(p);
	end_child(&c);
}

static void memory_mapped_later_is_there_after_a_refresh(void **state)
{
	struct child c = start_child();
	struct xc_process *p = open_pid(c.pid);
	uint8_t byte;
	(void)state;
	tell(&c, 'g');
	assert_int_equal(xc_space_peek(p->space, shared->grown + PAGE, &byte, 1), 0);
	assert_null(xc_process_mapping(p, shared->grown));
	size_t files = p->file_count;
	xc_live_refresh(p);
	assert_int_equal(byte_at(p, shared->grown + PAGE), 'g');
	assert_true(xc_process_mapping(p, shared->grown)->writable);
	assert_int_equal(p->file_count, files);
	assert_big(p, 4000, PAGE);
	XC_OK(xc_space_read(p->space, shared->file + PAGE, &byte, 1)); /* mapped files are still available */
	assert_int_equal(byte, 'b');
	tell(&c, 'u');
	xc_live_refresh(p);
	assert_null(xc_space_find(p->space, shared->untouched + PAGE));
	xc_process_close(p);
	end_child(&c);
}

static void a_refresh_of_the_dead_is_harmless(void **state)
{
	struct child c = start_child();
	struct xc_process *p = open_pid(c.pid);
	(void)state;
	end_child(&c);
	xc_live_refresh(p);
	assert_fault(p, shared->big, "has exited");
	assert_true(xc_live_gone(p));
	xc_process_close(p);
}

/* Like a plugin: forked when both fences are up. */
static int read_in_a_grandchild(pid_t pid)
{
	struct xc_process *p = NULL;
	uint8_t byte = 0;
	int status;
	if (xc_sandbox_calls() || try_open(pid, &p) || xc_sandbox_writes(&(struct xc_sandbox_options){0}, NULL))
		return 1;
	struct xc_live_stats before = xc_live_stats(p);
	pid_t reader = fork();
	if (reader == 0) {
		for (size_t at = 0; at < BIG; at += PAGE - 1)
			if (xc_space_peek(p->space, shared->big + at, &byte, 1) != 1 || byte != big_byte(at))
				_exit(2);
		xc_live_count_torn(p);
		_exit(xc_live_reread(p, shared->untouched, &byte, 1) == 1 && byte == 0 ? 0 : 3);
	}
	waitpid(reader, &status, 0);
	if (status)
		return 4;
	struct xc_live_stats after = xc_live_stats(p);
	xc_process_close(p);
	return after.bytes - before.bytes >= BIG && after.torn == before.torn + 1 && after.read_ns > before.read_ns ? 0
														    : 5;
}

static void a_forked_child_reads_behind_the_fence_and_is_counted(void **state)
{
	struct child c = start_child();
	int status;
	(void)state;
	pid_t pid = fork();
	if (pid == 0)
		_exit(read_in_a_grandchild(c.pid));
	waitpid(pid, &status, 0);
	end_child(&c);
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_reread_passes_the_cache_and_leaves_it),
		cmocka_unit_test(a_reread_ends_where_memory_ends),
		cmocka_unit_test(frozen_bytes_stay_by_whatever_way_they_are_read),
		cmocka_unit_test(what_is_frozen_is_what_is_there_now),
		cmocka_unit_test(freezing_has_errors),
		cmocka_unit_test(memory_mapped_later_is_there_after_a_refresh),
		cmocka_unit_test(a_refresh_of_the_dead_is_harmless),
		cmocka_unit_test(a_forked_child_reads_behind_the_fence_and_is_counted),
	};
	return cmocka_run_group_tests_name("live_change", tests, live_child_make_files, live_child_remove_files);
}
