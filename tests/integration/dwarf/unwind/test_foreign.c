/* layer: dwarf */
/* Cores of machines that this host cannot run, built byte by byte, with known stacks. */
#include <elf.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "dwarf/elf/symbol.h"
#include "tests/support/corefile.h"
#include "tests/support/opened.h"

enum { TEXT = 0x10000, TEXT_SIZE = 0x4000, STACK = 0x7fff0000, STACK_SIZE = 0x1000, SIG = 11 };
/* Return addresses are far enough apart for nameless code to count as several functions. */
enum { PC = TEXT + 0x100, RET1 = TEXT + 0x1200, RET2 = TEXT + 0x2400, RET3 = TEXT + 0x3600 };

struct machine {
	uint16_t elf_machine;
	uint8_t elf_class;
	const char *call; /* an indirect call instruction, right before a return address */
	size_t call_size;
	int lr;      /* or -1 */
	size_t slot; /* bytes of a return address on the stack */
};

static const struct machine machines[] = {
	{EM_386, ELFCLASS32, "\xff\xd0", 2, -1, 4},             /* call *%eax */
	{EM_X86_64, ELFCLASS32, "\xff\xd0", 2, -1, 8},          /* call *%rax */
	{EM_AARCH64, ELFCLASS64, "\x00\x00\x3f\xd6", 4, 30, 8}, /* blr x0 */
	{EM_ARM, ELFCLASS32, "\x33\xff\x2f\xe1", 4, 14, 4},     /* blx r3 */
	{EM_PPC64, ELFCLASS64, "\x21\x04\x80\x4e", 4, 65, 8},   /* bctrl */
	{EM_RISCV, ELFCLASS64, "\xe7\x80\x07\x00", 4, 1, 8},    /* jalr a5 */
};

static uint8_t text[TEXT_SIZE], stack[STACK_SIZE];

static void put(size_t at, uint64_t value, size_t size)
{
	memcpy(stack + at, &value, size);
}

/* The frame record of each machine at fp, as drawn in unwind_guess.c. */
static void put_record(const struct machine *m, uint64_t fp, uint64_t saved, uint64_t ret)
{
	size_t at = (size_t)(fp - STACK), word = m->slot;
	switch (m->elf_machine) {
	case EM_ARM:
		put(at - word, saved, word);
		put(at, ret, word);
		break;
	case EM_RISCV:
		put(at - 2 * word, saved, word);
		put(at - word, ret, word);
		break;
	case EM_PPC64: /* fp is the place of the back chain; the return address of the frame below is in this one */
		put(at, saved, word);
		put(at + 16, ret, word);
		break;
	default:
		put(at, saved, word);
		put(at + word, ret, word);
		break;
	}
}

static struct xc_process *open_made(struct corefile *c)
{
	struct xc_text file = {0};
	char path[] = "/tmp/xc-foreign-XXXXXX";
	int fd = mkstemp(path);
	corefile_build(c, &file);
	assert_int_equal(write(fd, file.bytes, file.len), file.len);
	close(fd);
	struct xc_process *p = open_core(path);
	unlink(path);
	xc_text_fini(&file);
	corefile_fini(c);
	return p;
}

static struct xc_process *made(const struct machine *m, const struct xc_regs *regs)
{
	static const xc_addr rets[] = {RET1, RET2, RET3};
	struct corefile c = corefile_new_for(m->elf_machine, m->elf_class, false);
	for (size_t i = 0; i < XC_COUNT(rets); i++)
		memcpy(text + (rets[i] - TEXT) - m->call_size, m->call, m->call_size);
	corefile_prstatus_regs(&c, 77, SIG, regs);
	corefile_prpsinfo(&c, 77, "made", "./made up");
	corefile_load(&c, TEXT, TEXT_SIZE, PF_R | PF_X, text, TEXT_SIZE);
	corefile_load(&c, STACK, STACK_SIZE, PF_R | PF_W, stack, STACK_SIZE);
	return open_made(&c);
}

static void check_pcs(struct xc_process *p, const xc_addr *pcs, size_t count)
{
	struct xc_unwinder *u = xc_unwinder_new(p);
	struct xc_frame frame;
	const char *stop = NULL;
	assert_true(xc_unwind_first(u, &p->threads[0], &frame));
	for (size_t i = 0; i < count; i++) {
		if (frame.pc != pcs[i])
			fail_msg("%s: frame %zu at 0x%llx", p->arch->name, i, (unsigned long long)frame.pc);
		if (i + 1 < count && !xc_unwind_step(u, &frame, &frame, &stop))
			fail_msg("%s: frame %zu has no caller: %s", p->arch->name, i, stop);
	}
	assert_false(xc_unwind_step(u, &frame, &frame, &stop));
	assert_non_null(stop);
	xc_unwinder_free(u);
}

static void frames_chained_by_pointers_are_followed_on_every_machine(void **state)
{
	(void)state;
	for (size_t i = 0; i < XC_COUNT(machines); i++) {
		const struct machine *m = &machines[i];
		const struct xc_arch *a = xc_arch_find(m->elf_machine, m->elf_class, false);
		const uint64_t fp1 = STACK + 0x100, fp2 = STACK + 0x200, fp3 = STACK + 0x300;
		struct xc_regs regs = {.vector = NULL};
		memset(text, 0, sizeof text);
		memset(stack, 0, sizeof stack);
		xc_regs_set(&regs, a->pc, PC);
		if (m->elf_machine == EM_PPC64) { /* the chain starts at sp */
			xc_regs_set(&regs, a->sp, STACK + 0x40);
			put_record(m, STACK + 0x40, fp1, 0);
			put_record(m, fp1, fp2, RET1);
			put_record(m, fp2, fp3, RET2);
			put_record(m, fp3, 0, RET3);
		} else {
			xc_regs_set(&regs, a->sp, STACK + 0x40);
			xc_regs_set(&regs, a->fp, fp1);
			put_record(m, fp1, fp2, RET1);
			put_record(m, fp2, fp3, RET2);
			put_record(m, fp3, 0, RET3);
		}
		xc_regs_set(&regs, m->lr, PC + 8); /* left by a call it made */
		struct xc_process *p = made(m, &regs);
		assert_true(p->threads[0].has_regs);
		check_pcs(p, (const xc_addr[]){PC, RET1, RET2, RET3}, 4);
		close_process(p);
	}
}

static void a_call_through_a_bad_pointer_returns_to_its_caller(void **state)
{
	(void)state;
	for (size_t i = 0; i < XC_COUNT(machines); i++) {
		const struct machine *m = &machines[i];
		const struct xc_arch *a = xc_arch_find(m->elf_machine, m->elf_class, false);
		struct xc_regs regs = {.vector = NULL};
		struct xc_frame first, caller;
		const char *stop;
		memset(text, 0, sizeof text);
		memset(stack, 0, sizeof stack);
		xc_regs_set(&regs, a->pc, 0x41414140);
		xc_regs_set(&regs, a->sp, STACK + 0x40);
		if (m->lr < 0)
			put(0x40, RET1, m->slot);
		else
			xc_regs_set(&regs, m->lr, RET1);
		struct xc_process *p = made(m, &regs);
		struct xc_unwinder *u = xc_unwinder_new(p);
		uint64_t sp;
		assert_true(xc_unwind_first(u, &p->threads[0], &first));
		assert_int_equal(first.pc, 0x41414140);
		assert_true(xc_unwind_step(u, &first, &caller, &stop));
		assert_int_equal(caller.pc, RET1);
		assert_int_equal(caller.trust, XC_TRUST_SCAN);
		assert_true(xc_regs_get(&caller.regs, a->sp, &sp));
		assert_int_equal(sp, STACK + 0x40 + (m->lr < 0 ? m->slot : 0));
		xc_unwinder_free(u);
		close_process(p);
	}
}

/* A handler's frame returns to a trampoline; after it all registers have their old values. */
static void signal_frames_of_riscv64_give_all_registers(void **state)
{
	(void)state;
	static const uint8_t trampoline[] = {0x93, 0x08, 0xb0, 0x08, 0x73, 0x00, 0x00, 0x00};
	const struct machine *m = &machines[5];
	struct xc_regs regs = {.vector = NULL};
	enum { AT = 0x800, SP = 0x200 };
	memset(text, 0, sizeof text);
	memset(stack, 0, sizeof stack);
	memcpy(text + AT, trampoline, sizeof trampoline);
	xc_regs_set(&regs, 65, TEXT + AT); /* the handler has just returned */
	xc_regs_set(&regs, 2, STACK + SP);
	put(SP + 304, PC, 8);
	for (unsigned reg = 1; reg < 32; reg++)
		put(SP + 304 + 8 * reg, 0x1000 + reg, 8);
	put(SP + 304 + 8 * 2, STACK + 0x800, 8);
	struct xc_process *p = made(m, &regs);
	struct xc_unwinder *u = xc_unwinder_new(p);
	struct xc_frame frame;
	const char *stop;
	uint64_t value;
	assert_true(xc_unwind_first(u, &p->threads[0], &frame));
	assert_true(frame.signal && frame.trampoline);
	assert_true(xc_unwind_step(u, &frame, &frame, &stop));
	assert_true(frame.interrupted && !frame.signal && frame.pc == PC);
	assert_int_equal(frame.trust, XC_TRUST_CONTEXT);
	assert_true(xc_regs_get(&frame.regs, 2, &value) && value == STACK + 0x800);
	assert_true(xc_regs_get(&frame.regs, 31, &value) && value == 0x1000 + 31);
	xc_unwinder_free(u);
	close_process(p);
}

/* ---- x32, compiled; needs no library and does not run ---- */

static const char x32_source[] = "struct node { struct node *next; long number; long long wide; };\n"
				 "struct node last = {0, -2, 1LL << 40}, first = {&last, 7, 3};\n"
				 "__attribute__((noinline)) int leaf(int x) { return *(volatile int *)0 + x; }\n"
				 "__attribute__((noinline)) int caller(int number) { return leaf(number) + 1; }\n"
				 "int start(void) { return caller(42) + 2; }\n";

/* The address after the call of `callee` in `function`. */
static xc_addr behind_call(struct xc_process *p, const char *function, const char *callee)
{
	xc_addr at, target;
	assert_non_null(xc_symbol_find(p, function, NULL, &at));
	assert_non_null(xc_symbol_find(p, callee, NULL, &target));
	for (xc_addr end = at + 64; at < end; at++) {
		uint64_t code, relative;
		assert_true(xc_space_peek_uint(p->space, at, 1, &code));
		assert_true(xc_space_peek_uint(p->space, at + 1, 4, &relative));
		if (code == 0xe8 && (uint32_t)(at + 5 + relative) == target)
			return at + 5;
	}
	fail_msg("%s does not call %s", function, callee);
	return 0;
}

/* A core of the program's segments, a stack and three registers. */
static struct xc_process *x32_core(const char *path, xc_addr pc, xc_addr sp, xc_addr fp)
{
	static const struct xc_finder finder = {.quiet = true};
	struct corefile c = corefile_new_for(EM_X86_64, ELFCLASS32, false);
	struct xc_regs regs = {.vector = NULL};
	struct xc_source *file;
	struct xc_elf elf;
	CHECK_OK(xc_source_open(path, NULL, &file));
	CHECK_OK(xc_elf_parse(file->bytes, file->size, &elf));
	xc_regs_set(&regs, 16, pc);
	xc_regs_set(&regs, 7, sp);
	xc_regs_set(&regs, 6, fp);
	corefile_prstatus_regs(&c, 77, SIG, &regs);
	for (uint32_t i = 0; i < elf.phdrs_readable; i++) {
		struct xc_phdr load = xc_elf_phdr(&elf, i);
		xc_addr lo = load.vaddr & ~UINT64_C(0xfff);
		if (load.type == PT_LOAD && load.filesz) {
			uint64_t size = load.filesz + (load.vaddr - lo), whole = (size + 0xfff) & ~UINT64_C(0xfff);
			corefile_load(&c, lo, whole, load.flags, file->bytes + load.offset - (load.vaddr - lo), size);
			corefile_file(&c, lo, lo + whole, (load.offset - (load.vaddr - lo)) / 4096, path);
		}
		if (load.type == PT_LOAD && load.offset == 0)
			corefile_auxv(&c, AT_PHDR, load.vaddr + elf.phoff);
	}
	corefile_auxv(&c, AT_PHNUM, elf.phnum);
	corefile_load(&c, STACK, STACK_SIZE, PF_R | PF_W, stack, STACK_SIZE);
	struct xc_process *p = open_made(&c);
	xc_debugfiles_use(p, &finder);
	xc_source_close(file);
	return p;
}

static void a_core_of_x32_has_its_stack_and_values(void **state)
{
	(void)state;
	const char *path = dying_program(
		"program", "gcc -mx32 -g -O0 -fno-omit-frame-pointer -nostdlib -static -no-pie -Wl,-e,start -x c",
		x32_source);
	const uint64_t fp1 = STACK + 0x200, fp2 = STACK + 0x280;
	xc_addr leaf, first;
	memset(stack, 0, sizeof stack);
	struct xc_process *p = x32_core(path, 0x1000, STACK + 0x100, 0); /* to learn addresses */
	assert_non_null(xc_symbol_find(p, "leaf", NULL, &leaf));
	xc_addr in_caller = behind_call(p, "caller", "leaf"), in_start = behind_call(p, "start", "caller");
	close_process(p);
	for (size_t at = 0x104; at < 0x200; at += 4) /* the caller's frame: its argument, wherever it is */
		put(at, 42, 4);
	put(0x100, in_caller, 8); /* leaf was just entered: eight bytes, although addresses have four */
	put(0x200, fp2, 8);
	put(0x208, in_start, 8);
	p = x32_core(path, leaf, STACK + 0x100, fp1);
	assert_string_equal(p->arch->name, "x32");
	assert_int_equal(p->modules[0]->identity, XC_VERIFIED);
	struct xc_unwinder *u = xc_unwinder_new(p);
	struct xc_frame frame;
	const char *stop;
	assert_true(xc_unwind_first(u, &p->threads[0], &frame));
	assert_string_equal(function_of(p, &frame), "leaf");
	assert_true(xc_unwind_step(u, &frame, &frame, &stop));
	assert_int_equal(frame.trust, XC_TRUST_CFI);
	assert_int_equal(frame.pc, in_caller);
	assert_string_equal(function_of(p, &frame), "caller");
	assert_true(xc_unwind_step(u, &frame, &frame, &stop));
	assert_string_equal(function_of(p, &frame), "start");
	uint64_t next, number;
	assert_non_null(xc_symbol_find(p, "first", NULL, &first));
	assert_true(xc_space_peek_uint(p->space, first, 4, &next) &&
		    xc_space_peek_uint(p->space, first + 4, 4, &number));
	assert_int_equal(number, 7);
	assert_true(xc_space_peek_uint(p->space, next + 4, 4, &number) && (int32_t)number == -2);
	xc_unwinder_free(u);
	close_process(p);
}

/* ---- machines that are not unwound ---- */

static void others_are_recognised_and_refused_in_one_line(void **state)
{
	(void)state;
	static const struct {
		uint16_t machine;
		uint8_t elf_class;
		const char *name;
	} kinds[] = {{EM_S390, ELFCLASS64, "s390"}, {EM_MIPS, ELFCLASS32, "mips"}, {EM_PPC64, ELFCLASS64, "ppc64"}};
	for (size_t i = 0; i < XC_COUNT(kinds); i++) {
		struct corefile c = corefile_new_for(kinds[i].machine, kinds[i].elf_class, true);
		struct xc_frame frame;
		corefile_prstatus(&c, 77, SIG, PC, STACK);
		corefile_load(&c, STACK, STACK_SIZE, PF_R | PF_W, stack, STACK_SIZE);
		struct xc_process *p = open_made(&c);
		struct xc_unwinder *u = xc_unwinder_new(p);
		assert_int_equal(p->mapping_count, 1);
		assert_int_equal(p->thread_count, kinds[i].machine == EM_MIPS ? 0 : 1);
		assert_false(p->thread_count && xc_unwind_first(u, &p->threads[0], &frame));
		size_t told = 0;
		for (const struct xc_remark *r = p->remarks; r; r = r->next)
			told += strstr(r->text, kinds[i].name) && strstr(r->text, "big-endian");
		assert_int_equal(told, 1);
		xc_unwinder_free(u);
		close_process(p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_chained_by_pointers_are_followed_on_every_machine),
		cmocka_unit_test(a_call_through_a_bad_pointer_returns_to_its_caller),
		cmocka_unit_test(signal_frames_of_riscv64_give_all_registers),
		cmocka_unit_test(a_core_of_x32_has_its_stack_and_values),
		cmocka_unit_test(others_are_recognised_and_refused_in_one_line),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
