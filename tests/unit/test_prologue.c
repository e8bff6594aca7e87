/* layer: dwarf */
/* Bytes as compilers write them, and what is read from them. */
#include "compiled.h"

#include "../../dwarf/prologue.h"

enum { CODE = 0x401000 };

static struct xc_prologue read_code(const char *bytes, size_t count, uint64_t at)
{
	struct xc_process *process = bare_process();
	struct xc_segment s = {
		.lo = CODE, .hi = CODE + count - 1, .provenance = XC_FROM_CORE, .bytes = (const uint8_t *)bytes};
	xc_space_lay(process->space, &s);
	xc_space_seal(process->space);
	struct xc_prologue p = xc_prologue_read(process, CODE, CODE + at);
	assert_false(xc_prologue_read(process, 0, CODE).known);
	assert_false(xc_prologue_read(process, CODE, CODE - 1).known);
	assert_false(xc_prologue_read(process, CODE + 0x10000, CODE + 0x10000).known);
	xc_process_close(process);
	return p;
}

#define READ(bytes, at) read_code(bytes, sizeof bytes - 1, at)

static void pushes_and_subtractions_are_counted_as_far_as_they_were_executed(void **state)
{
	(void)state;
	/* push %rbx; push %r12; sub $40,%rsp; mov %rdi,%rbx; inc %rbx; push %rax */
	static const char code[] = "\x53\x41\x54\x48\x83\xec\x28\x48\x89\xfb\x48\xff\xc3\x50";
	assert_int_equal(READ(code, 0).depth, 0);
	assert_int_equal(READ(code, 1).depth, 8);
	assert_int_equal(READ(code, 3).depth, 16);
	assert_int_equal(READ(code, 7).depth, 56);
	assert_int_equal(READ(code, 14).depth, 56); /* inc ends the prologue */
	assert_false(READ(code, 14).frame_pointer);
	assert_true(READ(code, 14).known);
}

static void large_frames_and_landing_pads_are_read(void **state)
{
	(void)state;
	static const char code[] = "\xf3\x0f\x1e\xfa\x55\x31\xc0\x48\x81\xec\x00\x10\x00\x00\xc3";
	assert_int_equal(READ(code, 14).depth, 8 + 4096);
}

static void what_is_cut_or_moves_the_stack_otherwise_ends_it(void **state)
{
	(void)state;
	assert_int_equal(READ("\x53\x48\x83\xec", 4).depth, 8);
	assert_int_equal(READ("\x53\x48\x81\xec\x00\x10", 6).depth, 8);
	assert_int_equal(READ("\x53\x41", 2).depth, 8);
	assert_int_equal(READ("\x53\x48\x89\xfc\x53", 5).depth, 8);     /* mov %rdi,%rsp */
	assert_int_equal(READ("\x53\x49\x89\xfc\x53", 5).depth, 16);    /* mov %rdi,%r12 */
	assert_int_equal(READ("\x53\x48\x89\x3c\x24\x53", 6).depth, 8); /* mov %rdi,(%rsp) */
}

static void the_frame_pointer_counts_once_it_is_set(void **state)
{
	(void)state;
	static const char code[] = "\xf3\x0f\x1e\xfa\x55\x48\x89\xe5\x53";
	assert_false(READ(code, 5).frame_pointer);
	assert_true(READ(code, 8).frame_pointer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pushes_and_subtractions_are_counted_as_far_as_they_were_executed),
		cmocka_unit_test(large_frames_and_landing_pads_are_read),
		cmocka_unit_test(what_is_cut_or_moves_the_stack_otherwise_ends_it),
		cmocka_unit_test(the_frame_pointer_counts_once_it_is_set),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
