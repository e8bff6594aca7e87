/* layer: core
 *
 * Reads the memory of a child while it runs, sleeps, unmaps, execs and dies. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/live/live.h"
#include "tests/support/check.h"
#include "tests/support/live_child.h"

/* True if the child's own page tables contain the page. */
static bool present(pid_t pid, xc_addr addr)
{
	char path[40];
	uint64_t entry = 0;
	snprintf(path, sizeof path, "/proc/%d/pagemap", (int)pid);
	int fd = open(path, O_RDONLY);
	assert_int_equal(pread(fd, &entry, sizeof entry, (off_t)(addr / PAGE * 8)), sizeof entry);
	close(fd);
	return entry >> 62 != 0;
}

/* ---- memory ---- */

static void memory_larger_than_the_cache_reads_true(void **state)
{
	struct child c = start_child();
	struct xc_process *p = open_pid(c.pid);
	(void)state;
	for (size_t at = 0; at < BIG; at += 2 * PAGE)
		assert_big(p, at, 2 * PAGE);
	srand(4711);
	for (int i = 0; i < 20000; i++)
		assert_big(p, (size_t)rand() % (BIG - 300), 1 + (size_t)rand() % 299);
	struct xc_live_stats stats = xc_live_stats(p);
	assert_true(stats.bytes >= BIG);
	assert_true(stats.batches < stats.bytes / PAGE); /* neighbours are combined */
	xc_process_close(p);
	end_child(&c);
}

/* The cost of a walk over `pages` pages by `step`, in read system calls. */
static uint64_t batches_of_walk(struct xc_process *p, xc_addr from, long step, size_t count)
{
	uint64_t before = xc_live_stats(p).batches;
	for (size_t i = 0; i < count; i++) {
		size_t at = (size_t)((long)(from - shared->big) + (long)i * step);
		assert_big(p, at, 8);
	}
	return xc_live_stats(p).batches - before;
}

static void walks_up_and_down_come_in_large_batches(void **state)
{
	(void)state;
#ifdef XC_HOSTILE
	check_skip("a hostile build's batches are small");
#endif
	struct child c = start_child();
	struct xc_process *p = open_pid(c.pid);
	const size_t span = 8 << 20, pages = span / PAGE;
	assert_in_range(batches_of_walk(p, shared->big, 512, span / 512), pages / 64, pages / 64 + 8);
	xc_live_forget(p);
	assert_in_range(batches_of_walk(p, shared->big + BIG - 8, -512, span / 512), pages / 64, pages / 64 + 8);
	xc_live_forget(p);
	assert_in_range(batches_of_walk(p, shared->big, 2 * PAGE, pages / 2), pages / 64, pages / 64 + 8);
	xc_live_forget(p);
	uint64_t bytes = xc_live_stats(p).bytes; /* one page in a hundred is not a walk: it does not read them all */
	assert_in_range(batches_of_walk(p, shared->big, 100 * PAGE, 100), 100, 100);
	assert_in_range(xc_live_stats(p).bytes - bytes, 100 * PAGE, 400 * PAGE);
	xc_process_close(p);
	end_child(&c);
}

static void cached_memory_is_a_picture_until_refreshed(void **state)
{
	struct child c = start_child();
	struct xc_process *p = open_pid(c.pid);
	uint8_t byte = 0;
	(void)state;
	assert_big(p, 0, PAGE);
	tell(&c, 'c');
	assert_big(p, 0, PAGE);
	xc_live_refresh(p);
	XC_OK(xc_space_read(p->space, shared->big, &byte, 1));
	assert_int_equal(byte, 0x5a);
	xc_process_close(p);
	end_child(&c);
}

/* The read system calls of reading a word of each of these pages. */
static uint64_t batches_of_words(struct xc_process *p, const size_t *pages, size_t count)
{
	const uint64_t before = xc_live_stats(p).batches;
	uint64_t word;
	for (size_t i = 0; i < count; i++)
		XC_OK(xc_space_read(p->space, shared->big + pages[i] * PAGE, &word, sizeof word));
	return xc_live_stats(p).batches - before;
}

static void what_a_reader_reads_again_is_there_and_of_now(void **state)
{
	/* With one that is read ahead, as many as the hostile build reads with one call. */
	static const size_t pages[] = {500, 0, 1}, others[] = {1000, 1100};
	struct child c = start_child();
	struct xc_process *p = open_pid(c.pid);
	uint8_t byte = 0;
	(void)state;
	xc_live_brief(p, true);
	xc_live_renew(p, 1);
	assert_true(batches_of_words(p, pages, 3) >= 2);
	xc_live_renew(p, 2);
	assert_int_equal(batches_of_words(p, others, 2), 2); /* another reader's are not read for it */
	for (unsigned round = 0; round < 20; round++) {
		xc_live_renew(p, 1);
		assert_int_equal(batches_of_words(p, pages, 3), 0);
	}
	tell(&c, 'c');
	XC_OK(xc_space_read(p->space, shared->big, &byte, 1));
	assert_int_not_equal(byte, 0x5a);
	xc_live_renew(p, 1);
	XC_OK(xc_space_read(p->space, shared->big, &byte, 1));
	assert_int_equal(byte, 0x5a);
	xc_process_close(p);
	end_child(&c);
}

static void a_reader_that_goes_on_elsewhere_reads_no_old_pages(void **state)
{
	struct child c = start_child();
	struct xc_process *p = open_pid(c.pid);
	uint64_t word;
	(void)state;
	xc_live_brief(p, true);
	for (size_t at = 0; at < 2000; at += 3) {
		xc_live_renew(p, 1);
		XC_OK(xc_space_read(p->space, shared->big + at * PAGE, &word, sizeof word));
	}
	const uint64_t before = xc_live_stats(p).bytes;
	xc_live_renew(p, 1);
	assert_true(xc_live_stats(p).bytes - before <= 24 * PAGE);
	xc_process_close(p);
	end_child(&c);
}

static void reading_brings_no_page_into_the_process(void **state)
{
	struct child c = start_child();
	struct xc_process *p = open_pid(c.pid);
	uint8_t buf[2 * PAGE];
	(void)state;
	assert_false(present(c.pid, shared->untouched));
	memset(buf, 0xff, sizeof buf);
	XC_OK(xc_space_read(p->space, shared->untouched + 10, buf, sizeof buf));
	for (size_t i = 0; i < sizeof buf; i++)
		assert_int_equal(buf[i], 0); /* the process itself would read this */
	assert_false(present(c.pid, shared->untouched));
	assert_false(present(c.pid, shared->untouched + PAGE));
	xc_process_close(p);
	end_child(&c);
}

static void an_absent_private_file_page_comes_from_the_file(void **state)
{
	struct child c = start_child();
	struct xc_process *p = open_pid(c.pid);
	char buf[2];
	(void)state;
	assert_false(present(c.pid, shared->file + PAGE));
	XC_OK(xc_space_read(p->space, shared->file, buf, 2));
	assert_memory_equal(buf, "Aa", 2); /* changed by the child: its page, not the file's */
	XC_OK(xc_space_read(p->space, shared->file + PAGE, buf, 2));
	assert_memory_equal(buf, "bb", 2);
	assert_false(present(c.pid, shared->file + PAGE));
	xc_process_close(p);
	end_child(&c);
}

static void a_shared_page_that_another_process_filled_is_seen(void **state)
{
	(void)state;
	struct child c = start_child();
	char file[96];
	snprintf(file, sizeof file, "/proc/%d/map_files/%llx-%llx", (int)c.pid, (unsigned long long)shared->memfd,
		 (unsigned long long)shared->memfd + 2 * PAGE);
	const int fd = open(file, O_RDONLY);
	if (fd < 0) {
		end_child(&c);
		check_skip("map_files needs a capability");
	}
	close(fd);
	assert_int_equal(pwrite(memfd, "from the parent", 15, PAGE), 15);
	struct xc_process *p = open_pid(c.pid);
	char buf[15];
	assert_false(present(c.pid, shared->memfd + PAGE));
	XC_OK(xc_space_read(p->space, shared->memfd + PAGE, buf, sizeof buf));
	assert_memory_equal(buf, "from the parent", 15);
	assert_false(present(c.pid, shared->memfd + PAGE));
	xc_process_close(p);
	end_child(&c);
}

static void a_page_without_read_permission_is_a_fault(void **state)
{
	struct child c = start_child();
	struct xc_process *p = open_pid(c.pid);
	char buf[PAGE];
	(void)state;
	XC_OK(xc_space_read(p->space, shared->fenced, buf, PAGE));
	assert_int_equal(buf[PAGE - 1], 'x');
	assert_fault(p, shared->fenced + PAGE, "without read permission");
	assert_int_equal(xc_space_peek(p->space, shared->fenced + PAGE - 5, buf, 10), 5);
	XC_OK(xc_space_read(p->space, shared->fenced + 2 * PAGE, buf, PAGE));
	const struct xc_mapping *m = xc_process_mapping(p, shared->fenced + PAGE);
	assert_non_null(m);
	assert_int_equal(m->lo, shared->fenced + PAGE);
	assert_false(m->readable);
	xc_process_close(p);
	end_child(&c);
}

static void a_userfaultfd_range_is_never_waited_for(void **state)
{
	struct child c = start_child();
	struct xc_process *p = open_pid(c.pid);
	(void)state;
	if (shared->watched)
		assert_fault(p, shared->watched, "userfaultfd");
	bool skipped = !shared->watched;
	xc_process_close(p);
	end_child(&c);
	if (skipped)
		check_skip("userfaultfd is refused");
}

static bool faults(const struct xc_process *p, xc_addr addr)
{
	char byte;
	struct xc_error *err = xc_space_read(p->space, addr, &byte, 1);
	xc_error_free(err);
	return err;
}

static void what_was_unmapped_meanwhile_is_a_fault_not_zeroes(void **state)
{
	struct child c = start_child();
	struct xc_process *p = open_pid(c.pid);
	(void)state;
	tell(&c, 'u');
	/* Mappings are refreshed every 10 ms, or 50 times what that takes: long, where others use the processor. A page
	 * that was read is kept, so each try is at the next one of the eight. */
	xc_addr at = shared->untouched;
	for (useconds_t pause = 300000; pause < 40000000; pause *= 2, at += PAGE) {
		usleep(pause);
		if (faults(p, at))
			break;
	}
	assert_fault(p, at, "unmapped since");
	char byte = 1;
	XC_OK(xc_space_read(p->space, shared->untouched + 12 * PAGE, &byte, 1)); /* the rest is still there */
	assert_int_equal(byte, 0);
	xc_process_close(p);
	end_child(&c);
}

struct reader {
	const struct xc_process *process;
	unsigned seed;
	size_t wrong;
};

static void *read_at_random(void *arg)
{
	struct reader *r = arg;
	uint8_t buf[200];
	for (int i = 0; i < 20000; i++) {
		size_t at = (size_t)rand_r(&r->seed) % (BIG - sizeof buf);
		if (xc_space_peek(r->process->space, shared->big + at, buf, sizeof buf) != sizeof buf ||
		    buf[0] != big_byte(at) || buf[199] != big_byte(at + 199))
			r->wrong++;
	}
	return NULL;
}

static void several_threads_read_the_same_space(void **state)
{
	struct child c = start_child();
	struct xc_process *p = open_pid(c.pid);
	struct reader readers[4];
	pthread_t threads[4];
	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		readers[i] = (struct reader){p, i, 0};
		pthread_create(&threads[i], NULL, read_at_random, &readers[i]);
	}
	for (unsigned i = 0; i < 4; i++) {
		pthread_join(threads[i], NULL);
		assert_int_equal(readers[i].wrong, 0);
	}
	xc_process_close(p);
	end_child(&c);
}

/* ---- the end of the process ---- */

static void after_exit_reads_are_faults_that_say_so(void **state)
{
	struct child c = start_child();
	struct xc_process *p = open_pid(c.pid);
	(void)state;
	assert_big(p, 0, PAGE);
	assert_false(xc_live_gone(p));
	end_child(&c);
	assert_fault(p, shared->big + BIG / 2, "has exited");
	assert_fault(p, shared->untouched, "has exited");
	assert_true(xc_live_gone(p));
	xc_process_close(p);
}

static void after_exec_no_byte_of_the_new_program_is_read(void **state)
{
	struct child c = start_child();
	struct xc_process *p = open_pid(c.pid);
	char byte;
	(void)state;
	tell(&c, 'e');
	while (read(c.answer, &byte, 1) > 0) /* closed by the exec */
		;
	assert_fault(p, shared->big, "exec");
	xc_live_refresh(p); /* drop the data read earlier */
	for (size_t i = 0; i < p->mapping_count; i++)
		assert_int_equal(xc_space_peek(p->space, p->mappings[i].lo, &byte, 1), 0);
	xc_process_close(p);
	end_child(&c);
}

static void memory_survives_the_end_of_the_main_thread(void **state)
{
	struct child c = start_child();
	(void)state;
	tell(&c, 'm');
	wait_for_state(c.pid, &c.pid, 'Z'); /* until pthread_exit has reached that point */
	struct xc_process *p = open_pid(c.pid);
	assert_big(p, 12345, 3 * PAGE);
	assert_int_equal(p->thread_count, 2);
	assert_int_equal(p->threads[0].state, 'Z');
	assert_false(p->threads[0].has_regs);
	xc_process_close(p);
	end_child(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_larger_than_the_cache_reads_true),
		cmocka_unit_test(walks_up_and_down_come_in_large_batches),
		cmocka_unit_test(cached_memory_is_a_picture_until_refreshed),
		cmocka_unit_test(what_a_reader_reads_again_is_there_and_of_now),
		cmocka_unit_test(a_reader_that_goes_on_elsewhere_reads_no_old_pages),
		cmocka_unit_test(reading_brings_no_page_into_the_process),
		cmocka_unit_test(an_absent_private_file_page_comes_from_the_file),
		cmocka_unit_test(a_shared_page_that_another_process_filled_is_seen),
		cmocka_unit_test(a_page_without_read_permission_is_a_fault),
		cmocka_unit_test(a_userfaultfd_range_is_never_waited_for),
		cmocka_unit_test(what_was_unmapped_meanwhile_is_a_fault_not_zeroes),
		cmocka_unit_test(several_threads_read_the_same_space),
		cmocka_unit_test(after_exit_reads_are_faults_that_say_so),
		cmocka_unit_test(after_exec_no_byte_of_the_new_program_is_read),
		cmocka_unit_test(memory_survives_the_end_of_the_main_thread),
	};
	return cmocka_run_group_tests_name("live_memory", tests, live_child_make_files, live_child_remove_files);
}
