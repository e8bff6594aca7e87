/* layer: core
 *
 * Records of perf_event_open(2), made by hand in the kernel's layout: what is read of them, and that a record that lies
 * about its own sizes is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "core/perf/perf_record.h"
#include "core/perf/perf_regs.h"

enum { WORDS = 128, STACK = 64, MARK = 0x80 };

/* A record being made. */
struct made {
	uint64_t words[WORDS];
	size_t count;
};

static void put(struct made *m, uint64_t word)
{
	assert_true(m->count < WORDS);
	m->words[m->count++] = word;
}

static void begin(struct made *m)
{
	memset(m, 0, sizeof *m);
	m->count = 1;
}

static size_t finish(struct made *m, uint32_t type, uint16_t misc)
{
	struct perf_event_header head = {.type = type, .misc = misc, .size = (uint16_t)(m->count * 8)};
	memcpy(m->words, &head, sizeof head);
	return m->count * 8;
}

static unsigned registers(void)
{
	return (unsigned)__builtin_popcountll(xc_perf_regs_mask());
}

/* A sample of thread 7 of process 5 with two kernel frames behind a mark; `copied` bytes of its stack are real. */
static size_t make_sample(struct made *m, uint64_t copied)
{
	begin(m);
	put(m, UINT64_C(7) << 32 | 5);
	put(m, 123456789);
	put(m, 3);
	put(m, 1000000); /* the period */
	put(m, 3);
	put(m, (uint64_t)PERF_CONTEXT_KERNEL);
	put(m, 0xffffffff81000010);
	put(m, 0xffffffff81000020);
	put(m, PERF_SAMPLE_REGS_ABI_64);
	for (unsigned i = 0; i < registers(); i++)
		put(m, 0x1000 + i);
	put(m, STACK);
	for (unsigned i = 0; i < STACK / 8; i++)
		put(m, MARK + i);
	put(m, copied);
	return finish(m, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL);
}

static bool read_made(const struct made *m, size_t len, struct xc_perf_record *record)
{
	return xc_perf_record_read((const uint8_t *)m->words, len, true, record);
}

static void a_sample_has_all_its_parts(void **state)
{
	struct made m;
	struct xc_perf_record r;
	(void)state;
	assert_true(read_made(&m, make_sample(&m, 24), &r));
	assert_int_equal(r.kind, XC_PERF_SAMPLE);
	assert_int_equal(r.pid, 5);
	assert_int_equal(r.tid, 7);
	assert_int_equal(r.time_ns, 123456789);
	assert_int_equal(r.cpu, 3);
	assert_true(r.in_kernel);
	assert_int_equal(r.kernel_count, 2); /* the mark is no frame */
	assert_true(r.kernel[0] == 0xffffffff81000010);
	assert_int_equal(r.regs[1], 0x1001);
	assert_int_equal(r.stack_len, 24);
	assert_int_equal(((const uint64_t *)(const void *)r.stack)[2], MARK + 2);
}

static void a_sample_of_a_kernel_thread_has_no_registers(void **state)
{
	struct made m;
	struct xc_perf_record r;
	(void)state;
	begin(&m);
	put(&m, UINT64_C(7) << 32 | 7);
	put(&m, 1);
	put(&m, 0);
	put(&m, 1);
	put(&m, 0); /* no frames */
	put(&m, PERF_SAMPLE_REGS_ABI_NONE);
	put(&m, 0); /* no stack */
	assert_true(read_made(&m, finish(&m, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL), &r));
	assert_null(r.regs);
	assert_null(r.stack);
}

static void sizes_that_lie_are_refused(void **state)
{
	struct made m;
	struct xc_perf_record r;
	(void)state;
	const size_t len = make_sample(&m, STACK + 8); /* more was copied than there is room for */
	assert_false(read_made(&m, len, &r));
	make_sample(&m, 24);
	m.words[5] = UINT64_MAX; /* frames without end */
	assert_false(read_made(&m, len, &r));
	make_sample(&m, 24);
	for (size_t cut = 0; cut < len; cut++) /* a stack that leaves the record; a length that is no multiple of 8 */
		assert_false(read_made(&m, cut, &r));
}

/* Any words behind the head: no read leaves the record (under sanitizers), and parts lie within it. */
static void words_at_random_stay_inside(void **state)
{
	struct made m;
	struct xc_perf_record r;
	(void)state;
	srand(4711);
	for (unsigned turn = 0; turn < 200000; turn++) {
		begin(&m);
		const size_t count = (size_t)rand() % (WORDS - 1);
		for (size_t i = 0; i < count; i++)
			put(&m, rand() % 3 ? (uint64_t)(rand() % 64) : (uint64_t)rand() << 33 | (uint64_t)rand());
		const size_t len = finish(&m, (uint32_t)(rand() % 24), (uint16_t)rand());
		const uint8_t *end = (const uint8_t *)m.words + len;
		if (!read_made(&m, len, &r) || r.kind != XC_PERF_SAMPLE)
			continue;
		assert_true(!r.stack || r.stack + r.stack_len <= end);
		assert_true(!r.regs || (const uint8_t *)(r.regs + registers()) <= end);
		assert_true(!r.kernel_count || (const uint8_t *)(r.kernel + r.kernel_count) <= end);
	}
}

static void other_records_have_what_is_needed_of_them(void **state)
{
	struct made m;
	struct xc_perf_record r;
	(void)state;
	begin(&m);
	put(&m, 77);
	put(&m, 12); /* lost */
	assert_true(read_made(&m, finish(&m, PERF_RECORD_LOST, 0), &r));
	assert_int_equal(r.kind, XC_PERF_LOST);
	assert_int_equal(r.count, 12);
	begin(&m);
	put(&m, UINT64_C(9) << 32 | 8);
	put(&m, 0x656d616e); /* "name" */
	assert_true(read_made(&m, finish(&m, PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC), &r));
	assert_true(r.exec && r.pid == 8 && r.tid == 9);
	assert_string_equal(r.name, "name");
	begin(&m);
	put(&m, UINT64_C(9) << 32 | 8);
	put(&m, UINT64_MAX); /* a name without an end */
	assert_false(read_made(&m, finish(&m, PERF_RECORD_COMM, 0), &r));
	begin(&m);
	assert_true(read_made(&m, finish(&m, 4711, 0), &r)); /* of a later kernel */
	assert_int_equal(r.kind, XC_PERF_OTHER);
	begin(&m);
	assert_false(read_made(&m, finish(&m, PERF_RECORD_LOST, 0), &r));
}

static void registers_that_an_interrupt_did_not_save_are_unknown(void **state)
{
	uint64_t values[64];
	struct xc_regs regs;
	(void)state;
	for (unsigned i = 0; i < XC_COUNT(values); i++)
		values[i] = i + 1;
	assert_true(xc_perf_regs_read(xc_arch_host(), values, &regs));
	assert_true(xc_regs_known(&regs, xc_arch_host()->pc) && xc_regs_known(&regs, xc_arch_host()->sp));
#ifdef __x86_64__
	uint64_t value;
	assert_true(xc_regs_get(&regs, 6, &value) && value == 7);   /* rbp: the seventh */
	assert_true(xc_regs_get(&regs, 16, &value) && value == 9);  /* rip */
	assert_true(xc_regs_get(&regs, 15, &value) && value == 20); /* r15: the last, behind cs and ss */
	values[1] = UINT64_MAX;
	assert_true(xc_perf_regs_read(xc_arch_host(), values, &regs));
	assert_false(xc_regs_known(&regs, 3)); /* rbx */
#endif
}

/* What follows each record but samples: thread 9 of process 5, at 777, on processor 2. */
static size_t make_switch(struct made *m, uint16_t misc)
{
	begin(m);
	put(m, UINT64_C(9) << 32 | 5);
	put(m, 777);
	put(m, 2);
	return finish(m, PERF_RECORD_SWITCH, misc);
}

static void a_switch_tells_who_and_when_and_why(void **state)
{
	struct made m;
	struct xc_perf_record r;
	(void)state;
	assert_true(read_made(&m, make_switch(&m, 0), &r));
	assert_int_equal(r.kind, XC_PERF_SWITCH);
	assert_int_equal(r.tid, 9);
	assert_int_equal(r.time_ns, 777);
	assert_false(r.out || r.preempted);
	assert_true(read_made(&m, make_switch(&m, PERF_RECORD_MISC_SWITCH_OUT), &r));
	assert_true(r.out && !r.preempted);
	assert_true(
		read_made(&m, make_switch(&m, PERF_RECORD_MISC_SWITCH_OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT), &r));
	assert_true(r.out && r.preempted);
	begin(&m);
	put(&m, 1);
	assert_false(read_made(&m, finish(&m, PERF_RECORD_SWITCH, 0), &r));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_switch_tells_who_and_when_and_why),
		cmocka_unit_test(a_sample_has_all_its_parts),
		cmocka_unit_test(a_sample_of_a_kernel_thread_has_no_registers),
		cmocka_unit_test(sizes_that_lie_are_refused),
		cmocka_unit_test(words_at_random_stay_inside),
		cmocka_unit_test(other_records_have_what_is_needed_of_them),
		cmocka_unit_test(registers_that_an_interrupt_did_not_save_are_unknown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
