/* layer: dwarf */
/* Prologues as compilers write them, and the facts read from them. */
#include "tests/support/compile_program.h"

#include "dwarf/unwind/prologue.h"

enum { CODE = 0x401000 };

static struct xc_prologue read_code(const char *bytes, size_t count, uint64_t at)
{
	struct xc_process *process = bare_process();
	struct xc_segment s = {
		.lo = CODE, .hi = CODE + count - 1, .provenance = XC_FROM_CORE, .bytes = (const uint8_t *)bytes};
	xc_space_add(process->space, &s);
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

/* ---- machines with a link register ---- */

static struct xc_prologue read_for(uint16_t machine, uint8_t class, bool thumb, const char *bytes, size_t count,
				   uint64_t at)
{
	struct xc_process *process = bare_process();
	struct xc_segment s = {
		.lo = CODE, .hi = CODE + count - 1, .provenance = XC_FROM_CORE, .bytes = (const uint8_t *)bytes};
	process->arch = xc_arch_find(machine, class, false);
	xc_space_add(process->space, &s);
	xc_space_seal(process->space);
	struct xc_prologue p = xc_prologue_read(process, CODE + thumb, CODE + at);
	xc_process_close(process);
	return p;
}

static void aarch64_stores_pairs(void **state)
{
	(void)state;
	/* paciasp; stp x29,x30,[sp,#-48]!; mov x29,sp; stp x19,x20,[sp,#16]; ldr x0,[x0]; bl */
	static const char code[] = "\x3f\x23\x03\xd5\xfd\x7b\xbd\xa9\xfd\x03\x00\x91\xf3\x53\x01\xa9"
				   "\x00\x00\x40\xf9\x00\x00\x00\x94";
	struct xc_prologue p = read_for(EM_AARCH64, ELFCLASS64, false, code, sizeof code - 1, 4);
	assert_true(p.known && p.whole && !p.link_saved && p.depth == 0);
	p = read_for(EM_AARCH64, ELFCLASS64, false, code, sizeof code - 1, 8);
	assert_true(p.whole && p.link_saved && !p.frame_pointer && p.depth == 48 && p.link_below == 40);
	p = read_for(EM_AARCH64, ELFCLASS64, false, code, sizeof code - 1, 16);
	assert_true(p.whole && p.frame_pointer && p.depth == 48);
	assert_true(p.saved >> 19 & 1 && p.below[19] == 32 && p.below[20] == 24 && p.below[29] == 48);
	p = read_for(EM_AARCH64, ELFCLASS64, false, code, sizeof code - 1, 24);
	assert_true(!p.whole && p.link_saved && p.depth == 48); /* the load is skipped, the call ends it */
}

static void arm_pushes_lists(void **state)
{
	(void)state;
	/* push {r4,fp,lr}; add fp,sp,#8; sub sp,sp,#260 */
	static const char arm[] = "\x10\x48\x2d\xe9\x08\xb0\x8d\xe2\x41\xdf\x4d\xe2";
	struct xc_prologue p = read_for(EM_ARM, ELFCLASS32, false, arm, sizeof arm - 1, 12);
	assert_true(p.whole && p.link_saved && p.frame_pointer);
	assert_int_equal(p.depth, 12 + 260);
	assert_int_equal(p.link_below, 4);
	assert_true(p.below[4] == 12 && p.below[11] == 8);
	/* cbz r0; push {r4,r7,lr}; sub sp,#20; add r7,sp,#0; push.w {r8,r9} */
	static const char thumb[] = "\x08\xb1\x90\xb5\x85\xb0\x00\xaf\x2d\xe9\x00\x03";
	p = read_for(EM_ARM, ELFCLASS32, true, thumb, sizeof thumb - 1, 12);
	assert_true(!p.whole && p.link_saved);
	assert_int_equal(p.depth, 12 + 20 + 8);
	assert_int_equal(p.link_below, 4);
	assert_true(p.below[7] == 8 && p.below[8] == 40);
	p = read_for(EM_ARM, ELFCLASS32, true, thumb, sizeof thumb - 1, 2);
	assert_true(!p.link_saved && p.depth == 0);
}

static void riscv_stores_one_by_one(void **state)
{
	(void)state;
	/* c.addi16sp -48; c.sdsp ra,40; c.sdsp s0,32; c.addi4spn s0,48; then wide forms: addi sp,-32; sd s1,24(sp) */
	static const char code[] = "\x79\x71\x06\xf4\x22\xf0\x00\x18\x13\x01\x01\xfe\x23\x3c\x91\x00";
	struct xc_prologue p = read_for(EM_RISCV, ELFCLASS64, false, code, sizeof code - 1, 8);
	assert_true(p.whole && p.link_saved && p.frame_pointer);
	assert_int_equal(p.depth, 48);
	assert_int_equal(p.link_below, 8);
	assert_int_equal(p.below[8], 16);
	p = read_for(EM_RISCV, ELFCLASS64, false, code, sizeof code - 1, 16);
	assert_true(p.whole && p.depth == 80 && p.below[9] == 80 - 24);
	/* c.addi sp,-16; c.jr ra ends it; later instructions do not count */
	static const char leaf[] = "\x41\x11\x82\x80\x41\x11";
	p = read_for(EM_RISCV, ELFCLASS64, false, leaf, sizeof leaf - 1, 6);
	assert_true(p.depth == 16 && !p.whole && !p.link_saved);
}

static void ppc64_saves_in_its_callers_frame(void **state)
{
	(void)state;
	/* addis r2; addi r2; mflr r0; std r0,16(r1); stdu r1,-112(r1) */
	static const char code[] = "\x02\x10\x40\x3c\x00\x7f\x42\x38\xa6\x02\x08\x7c\x10\x00\x01\xf8\x91\xff\x21\xf8";
	struct xc_prologue p = read_for(EM_PPC64, ELFCLASS64, false, code, sizeof code - 1, 12);
	assert_true(p.known && !p.link_saved && p.depth == 0);
	p = read_for(EM_PPC64, ELFCLASS64, false, code, sizeof code - 1, 16);
	assert_true(p.link_saved && p.depth == 0);
	p = read_for(EM_PPC64, ELFCLASS64, false, code, sizeof code - 1, 20);
	assert_true(p.link_saved && p.depth == 112);
}

static void i386_pushes_words_of_four_bytes(void **state)
{
	(void)state;
	/* endbr32; push %ebp; mov %esp,%ebp; push %ebx; sub $20,%esp */
	static const char code[] = "\xf3\x0f\x1e\xfb\x55\x89\xe5\x53\x83\xec\x14";
	struct xc_prologue p = read_for(EM_386, ELFCLASS32, false, code, sizeof code - 1, 11);
	assert_true(p.whole && p.frame_pointer);
	assert_int_equal(p.depth, 4 + 4 + 20);
	p = read_for(EM_386, ELFCLASS32, false, code, sizeof code - 1, 5);
	assert_true(p.whole && !p.frame_pointer && p.depth == 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pushes_and_subtractions_are_counted_as_far_as_they_were_executed),
		cmocka_unit_test(large_frames_and_landing_pads_are_read),
		cmocka_unit_test(what_is_cut_or_moves_the_stack_otherwise_ends_it),
		cmocka_unit_test(the_frame_pointer_counts_once_it_is_set),
		cmocka_unit_test(aarch64_stores_pairs),
		cmocka_unit_test(arm_pushes_lists),
		cmocka_unit_test(riscv_stores_one_by_one),
		cmocka_unit_test(ppc64_saves_in_its_callers_frame),
		cmocka_unit_test(i386_pushes_words_of_four_bytes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
