/* layer: triage tier: long */
/* Operands of assembled instructions against the manual: access, size and address, from known registers. */
#include "triage/code/operand.h"

#include "tests/support/scene.h"

enum { R8 = 8, R13 = 13, RFLAGS = 49, FS_BASE = 58, DIRECTION = 1 << 10 };

struct expected {
	const char *code;
	const char *text; /* NULL: not checked */
	struct {
		enum xc_access access;
		uint32_t size;
		xc_addr addr;
	} operands[3]; /* in any order; the first with access UNKNOWN ends them */
};

#define R XC_ACCESS_READ
#define W XC_ACCESS_WRITE
#define X XC_ACCESS_EXECUTE

/* rax 0x1000, rcx 3, rdx 0x10, rbx 0x2000, rsp STACK_LO + 0x100, rbp STACK_LO + 0x200, rsi 0x3000, rdi 0x4000,
 * r8 0xfffffffff0000000, r13 0x10000, fs base 0x7f0000000000 */
static const struct expected table[] = {
	{"movq %rdx, 0x18(%rax)", "mov %rdx,0x18(%rax)", {{W, 8, 0x1018}}},
	{"movl 0x18(%rax), %ecx", NULL, {{R, 4, 0x1018}}},
	{"movb $1, (%rbx,%rcx,4)", NULL, {{W, 1, 0x200c}}},
	{"movzbl -1(%rax), %ecx", "movzbl -0x1(%rax),%ecx", {{R, 1, 0xfff}}},
	{"movsd %xmm0, (%rax)", NULL, {{W, 8, 0x1000}}},
	{"movups (%rax), %xmm0", NULL, {{R, 16, 0x1000}}},
	{"vmovdqu %ymm0, (%rax)", NULL, {{W, 32, 0x1000}}},
	{"vpcmpeqb (%rdi), %ymm0, %ymm1", "vpcmpeqb (%rdi),%ymm0,%ymm1", {{R, 32, 0x4000}}},
	{"vpsadbw (%rdi), %ymm3, %ymm0", "vpsadbw (%rdi),%ymm3,%ymm0", {{R, 32, 0x4000}}},
	{"vfmadd231ps (%rdi), %ymm3, %ymm1", "vfmadd231ps (%rdi),%ymm3,%ymm1", {{R, 32, 0x4000}}},
	{"vaddsd (%rdi), %xmm3, %xmm1", "vaddsd (%rdi),%xmm3,%xmm1", {{R, 8, 0x4000}}},
	{"vpcmpeqb (%rdi), %ymm16, %k0", "vpcmpeqb (%rdi),%ymm16,%k0", {{R, 32, 0x4000}}},
	{"cmpl $0, 8(%rax)", "cmpl $0x0,0x8(%rax)", {{R, 4, 0x1008}}},
	{"testb $1, (%rax)", NULL, {{R, 1, 0x1000}}},
	{"addq %rdx, (%rax)", NULL, {{W, 8, 0x1000}}},
	{"addq (%rax), %rdx", NULL, {{R, 8, 0x1000}}},
	{"lock cmpxchgl %edx, (%rbx)", NULL, {{W, 4, 0x2000}}},
	{"lock xaddq %rdx, (%rbx)", NULL, {{W, 8, 0x2000}}},
	{"xchgl %edx, (%rbx)", NULL, {{W, 4, 0x2000}}},
	{"setne (%rax)", NULL, {{W, 1, 0x1000}}},
	{"incw (%rax)", NULL, {{W, 2, 0x1000}}},
	{"pushq %rax", NULL, {{W, 8, STACK_LO + 0xf8}}},
	{"pushq $1", NULL, {{W, 8, STACK_LO + 0xf8}}},
	{"pushw %ax", NULL, {{W, 2, STACK_LO + 0xfe}}},
	{"pushq (%rax)", NULL, {{R, 8, 0x1000}, {W, 8, STACK_LO + 0xf8}}},
	{"popq %rax", NULL, {{R, 8, STACK_LO + 0x100}}},
	{"popq 8(%rsp)", NULL, {{W, 8, STACK_LO + 0x110}, {R, 8, STACK_LO + 0x100}}},
	{"movq 8(%rsp), %rax", NULL, {{R, 8, STACK_LO + 0x108}}},
	{"leave", NULL, {{R, 8, STACK_LO + 0x200}}},
	{"call *%rbx", NULL, {{W, 8, STACK_LO + 0xf8}, {X, 0, 0x2000}}},
	{"call *(%rsp)", "call *(%rsp)", {{R, 8, STACK_LO + 0x100}, {W, 8, STACK_LO + 0xf8}, {X, 0, 0x5555}}},
	{"jmp *%rbx", NULL, {{X, 0, 0x2000}}},
	{"jmp *0x10(%rax)", NULL, {{R, 8, 0x1010}}},
	{"ret", NULL, {{R, 8, STACK_LO + 0x100}, {X, 0, 0x5555}}},
	{"rep stosb", NULL, {{W, 1, 0x4000}}},
	{"rep movsq", "rep movsq", {{R, 8, 0x3000}, {W, 8, 0x4000}}},
	{"repe cmpsb", NULL, {{R, 1, 0x3000}, {R, 1, 0x4000}}},
	{"lodsl", NULL, {{R, 4, 0x3000}}},
	{"repne scasb", NULL, {{R, 1, 0x4000}}},
	{"xlatb", NULL, {{R, 1, 0x2000}}},
	{"movq %fs:0x28, %rax", NULL, {{R, 8, 0x7f0000000028}}},
	{"movl %fs:(%rax), %ecx", NULL, {{R, 4, 0x7f0000001000}}},
	{"movl (%r8d), %eax", NULL, {{R, 4, 0xf0000000}}},
	{"movl 0x10(%rax,%r8), %ecx", NULL, {{R, 4, 0xfffffffff0001010}}},
	{"btsq %r13, (%rax)", NULL, {{W, 8, 0x3000}}},
	{"btsq $3, (%rax)", NULL, {{W, 8, 0x1000}}},
	{"fstpt (%rax)", NULL, {{W, 10, 0x1000}}},
	{"fldl (%rax)", NULL, {{R, 8, 0x1000}}},
	{"idivl (%rax)", NULL, {{R, 4, 0x1000}}},
	{"movnti %rdx, (%rax)", NULL, {{W, 8, 0x1000}}},
	{"cmpxchg16b (%rax)", NULL, {{W, 16, 0x1000}}},
	{"leaq 0x10(%rax), %rdx", NULL, {{0}}},
	{"nopl 0x10(%rax)", NULL, {{0}}},
	{"movl %eax, %edx", NULL, {{0}}},
	{"hlt", "hlt", {{0}}},
};

static struct scene *scene_of(const char *instruction)
{
	char source[256];
	snprintf(source, sizeof source, ".globl code\n.type code, @function\ncode: %s\nud2\n.size code, .-code\n",
		 instruction);
	struct scene *s = make_scene("gcc -x assembler", source);
	const struct {
		int number;
		uint64_t value;
	} registers[] = {
		{RAX, 0x1000},
		{RCX, 3},
		{RDX, 0x10},
		{RBX, 0x2000},
		{RSP, STACK_LO + 0x100},
		{RBP, STACK_LO + 0x200},
		{RSI, 0x3000},
		{RDI, 0x4000},
		{R8, 0xfffffffff0000000},
		{R13, 0x10000},
		{RFLAGS, 0x202},
		{FS_BASE, 0x7f0000000000},
	};
	for (size_t i = 0; i < XC_COUNT(registers); i++)
		set_reg(s, registers[i].number, registers[i].value);
	set_reg(s, RIP, label(s, "code"));
	s->stack[0x100 / 8] = 0x5555;
	return s;
}

static struct xc_instruction decoded(const struct scene *s)
{
	struct xc_instruction instruction;
	assert_true(xc_operand_decode(s->process, &s->thread.regs, &instruction));
	return instruction;
}

static bool has_operand(const struct xc_instruction *got, enum xc_access access, uint32_t size, xc_addr addr)
{
	for (size_t i = 0; i < got->operand_count; i++) {
		const struct xc_memory_operand *o = &got->operands[i];
		if (o->access == access && o->size == size && o->addr_known && o->addr == addr)
			return true;
	}
	return false;
}

static void check_case(const struct expected *expected)
{
	struct scene *s = scene_of(expected->code);
	struct xc_instruction got = decoded(s);
	size_t count = 0;
	for (; count < XC_COUNT(expected->operands) && expected->operands[count].access; count++)
		if (!has_operand(&got, expected->operands[count].access, expected->operands[count].size,
				 expected->operands[count].addr))
			fail_msg("%s: operand %zu is not there (first: access %d, %u bytes at 0x%llx)", expected->code,
				 count, got.operands[0].access, got.operands[0].size,
				 (unsigned long long)got.operands[0].addr);
	size_t known = 0; /* a target in missing memory is unknown */
	for (size_t i = 0; i < got.operand_count; i++)
		known += got.operands[i].addr_known;
	if (known != count)
		fail_msg("%s: %zu operands, not %zu", expected->code, known, count);
	if (expected->text)
		assert_string_equal(got.text, expected->text);
	end_scene(s);
}

static void access_size_and_address_are_those_of_the_manual(void **state)
{
	(void)state;
	for (size_t i = 0; i < XC_COUNT(table); i++)
		check_case(&table[i]);
}

static void a_repeated_instruction_touches_all_that_is_left(void **state)
{
	(void)state;
	struct scene *s = scene_of("rep stosq");
	struct xc_instruction up = decoded(s);
	assert_non_null(xc_operand_at(&up, 0x4017, XC_ACCESS_WRITE));
	assert_null(xc_operand_at(&up, 0x4018, XC_ACCESS_WRITE));
	assert_null(xc_operand_at(&up, 0x3fff, XC_ACCESS_WRITE));
	set_reg(s, RFLAGS, 0x202 | DIRECTION);
	struct xc_instruction down = decoded(s);
	assert_non_null(xc_operand_at(&down, 0x3ff0, XC_ACCESS_WRITE));
	assert_non_null(xc_operand_at(&down, 0x4007, XC_ACCESS_WRITE));
	assert_null(xc_operand_at(&down, 0x3fef, XC_ACCESS_WRITE));
	set_reg(s, RCX, UINT64_MAX); /* no wrap */
	down = decoded(s);
	assert_non_null(xc_operand_at(&down, 0, XC_ACCESS_WRITE));
	end_scene(s);
}

static void an_operand_is_found_by_any_of_its_bytes(void **state)
{
	(void)state;
	struct scene *s = scene_of("movsq");
	struct xc_instruction i = decoded(s);
	assert_int_equal(xc_operand_at(&i, 0x3007, XC_ACCESS_UNKNOWN)->access, XC_ACCESS_READ);
	assert_int_equal(xc_operand_at(&i, 0x4000, XC_ACCESS_UNKNOWN)->access, XC_ACCESS_WRITE);
	assert_null(xc_operand_at(&i, 0x3008, XC_ACCESS_UNKNOWN));
	set_reg(s, RDI, 0x3000); /* both operands: the access decides */
	i = decoded(s);
	assert_int_equal(xc_operand_at(&i, 0x3000, XC_ACCESS_READ)->access, XC_ACCESS_READ);
	assert_int_equal(xc_operand_at(&i, 0x3000, XC_ACCESS_WRITE)->access, XC_ACCESS_WRITE);
	end_scene(s);
}

static void an_unknown_register_makes_an_unknown_address(void **state)
{
	(void)state;
	struct scene *s = scene_of("movq %rdx, 0x18(%rax,%rcx)");
	xc_regs_forget(&s->thread.regs, RCX);
	struct xc_instruction i = decoded(s);
	assert_int_equal(i.operand_count, 1);
	assert_false(i.operands[0].addr_known);
	assert_int_equal(i.operands[0].access, XC_ACCESS_WRITE);
	assert_null(xc_operand_at(&i, 0x1018, XC_ACCESS_WRITE));
	end_scene(s);
}

static void expect_invalid(const char *code, int reg, uint64_t value, xc_addr addr, bool misaligned)
{
	struct scene *s = scene_of(code);
	bool got_misaligned;
	set_reg(s, reg, value);
	struct xc_instruction i = decoded(s);
	const struct xc_memory_operand *o = xc_operand_invalid(&i, &got_misaligned);
	if (!o || o->addr != addr || got_misaligned != misaligned)
		fail_msg("%s: %s", code, o ? "another address or reason" : "nothing found");
	end_scene(s);
}

static void general_protection_is_explained_by_the_operand(void **state)
{
	(void)state;
	const xc_addr wild = 0x4141414141414141;
	expect_invalid("movl 8(%rbx), %eax", RBX, wild, wild + 8, false);
	expect_invalid("call *%rbx", RBX, wild, wild, false);
	expect_invalid("jmp *%rbx", RBX, wild, wild, false);
	expect_invalid("movaps %xmm0, (%rbx)", RBX, 0x2008, 0x2008, true);
	expect_invalid("vmovdqa (%rbx), %ymm0", RBX, 0x2010, 0x2010, true);
	expect_invalid("addps (%rbx), %xmm0", RBX, 0x2004, 0x2004, true);
	expect_invalid("cmpxchg16b (%rbx)", RBX, 0x2008, 0x2008, true);
	struct scene *s = scene_of("vmovdqu (%rbx), %ymm0");
	bool misaligned;
	set_reg(s, RBX, 0x2001);
	struct xc_instruction i = decoded(s);
	assert_null(xc_operand_invalid(&i, &misaligned));
	end_scene(s);
}

static void a_return_to_no_address_is_told(void **state)
{
	(void)state;
	struct scene *s = scene_of("ret");
	bool misaligned;
	s->stack[0x100 / 8] = 0xdead0000beef;
	struct xc_instruction i = decoded(s);
	const struct xc_memory_operand *o = xc_operand_invalid(&i, &misaligned);
	assert_non_null(o);
	assert_int_equal(o->access, XC_ACCESS_EXECUTE);
	assert_int_equal(o->addr, 0xdead0000beef);
	end_scene(s);
}

static void instructions_of_the_kernel_are_marked(void **state)
{
	(void)state;
	static const struct {
		const char *code;
		bool privileged, halts;
	} cases[] = {{"hlt", true, true},      {"inb %dx, %al", true, false}, {"cli", true, false},
		     {"outsb", true, false},   {"wrmsr", true, false},        {"nop", false, false},
		     {"syscall", false, false}};
	for (size_t i = 0; i < XC_COUNT(cases); i++) {
		struct scene *s = scene_of(cases[i].code);
		struct xc_instruction got = decoded(s);
		if (got.privileged != cases[i].privileged || got.halts != cases[i].halts)
			fail_msg("%s", cases[i].code);
		end_scene(s);
	}
}

static void bytes_that_are_missing_or_no_code_do_not_decode(void **state)
{
	(void)state;
	struct xc_instruction i;
	struct scene *s = scene_of("nop");
	set_reg(s, RIP, 0x10);
	assert_false(xc_operand_decode(s->process, &s->thread.regs, &i));
	xc_regs_forget(&s->thread.regs, RIP);
	assert_false(xc_operand_decode(s->process, &s->thread.regs, &i));
	end_scene(s);
	s = scene_of(".byte 0x06"); /* push %es: not in long mode */
	assert_false(xc_operand_decode(s->process, &s->thread.regs, &i));
	s->process->arch = xc_arch_find(EM_AARCH64, ELFCLASS64, false);
	assert_false(xc_operand_decode(s->process, &s->thread.regs, &i));
	end_scene(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(access_size_and_address_are_those_of_the_manual),
		cmocka_unit_test(a_repeated_instruction_touches_all_that_is_left),
		cmocka_unit_test(an_operand_is_found_by_any_of_its_bytes),
		cmocka_unit_test(an_unknown_register_makes_an_unknown_address),
		cmocka_unit_test(general_protection_is_explained_by_the_operand),
		cmocka_unit_test(a_return_to_no_address_is_told),
		cmocka_unit_test(instructions_of_the_kernel_are_marked),
		cmocka_unit_test(bytes_that_are_missing_or_no_code_do_not_decode),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
