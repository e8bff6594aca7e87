/* layer: dwarf */
/* Instructions as encoded by GNU as (checked with objdump of the cross binutils 2.40). */
#include <elf.h>
#include <string.h>

#include "dwarf/decode/code.h"
#include "tests/support/check.h"

enum { CODE = 0x10000, SIZE = 64, RET = CODE + 32 };

static uint8_t bytes[SIZE];
static struct xc_mapping mapping = {.lo = CODE, .hi = CODE + SIZE - 1, .readable = true, .executable = true};

/* A process of the machine with code that ends in `code` before RET. */
static struct xc_process *process_of(uint16_t machine, uint8_t class, const char *code, size_t size)
{
	struct xc_process *p = xc_process_new("code", false);
	struct xc_segment s = {.lo = CODE, .hi = CODE + SIZE - 1, .provenance = XC_FROM_CORE, .bytes = bytes};
	memset(bytes, 0, sizeof bytes);
	memcpy(bytes + (RET - CODE) - size, code, size);
	p->arch = xc_arch_find(machine, class, false);
	p->mappings = xc_alloc(sizeof mapping);
	p->mappings[0] = mapping;
	p->mapping_count = 1;
	xc_space_add(p->space, &s);
	xc_space_seal(p->space);
	return p;
}

static const struct {
	uint16_t machine;
	uint8_t class;
	const char *code;
	size_t size;
	bool thumb, calls;
	xc_addr target; /* of a direct call */
} cases[] = {
	{EM_386, ELFCLASS32, "\xe8\x00\xff\xff\xff", 5, false, true, RET - 256},     /* call rel32, backwards */
	{EM_386, ELFCLASS32, "\xff\x53\x08", 3, false, true, 0},                     /* call *8(%ebx) */
	{EM_386, ELFCLASS32, "\xff\x63\x08", 3, false, false, 0},                    /* jmp *8(%ebx) */
	{EM_X86_64, ELFCLASS32, "\x41\xff\xd4", 3, false, true, 0},                  /* call *%r12 */
	{EM_AARCH64, ELFCLASS64, "\xc0\xff\xff\x97", 4, false, true, RET - 4 - 256}, /* bl */
	{EM_AARCH64, ELFCLASS64, "\x60\x02\x3f\xd6", 4, false, true, 0},             /* blr x19 */
	{EM_AARCH64, ELFCLASS64, "\x61\x0a\x3f\xd7", 4, false, true, 0},             /* blraa x19, x1 */
	{EM_AARCH64, ELFCLASS64, "\x1f\x0b\x3f\xd6", 4, false, true, 0},             /* blraaz x24 */
	{EM_AARCH64, ELFCLASS64, "\x60\x02\x1f\xd6", 4, false, false, 0},            /* br x19 */
	{EM_AARCH64, ELFCLASS64, "\x40\x00\x00\x14", 4, false, false, 0},            /* b */
	{EM_ARM, ELFCLASS32, "\xbe\xff\xff\xeb", 4, false, true, RET - 4 + 8 - 264}, /* bl */
	{EM_ARM, ELFCLASS32, "\x33\xff\x2f\x01", 4, false, true, 0},                 /* blxeq r3 */
	{EM_ARM, ELFCLASS32, "\x13\xff\x2f\xe1", 4, false, false, 0},                /* bx r3 */
	{EM_ARM, ELFCLASS32, "\xff\xf7\xfe\xff", 4, true, true, RET - 4 + 4 - 4},    /* bl, Thumb */
	{EM_ARM, ELFCLASS32, "\x98\x47", 2, true, true, 0},                          /* blx r3 */
	{EM_ARM, ELFCLASS32, "\x18\x47", 2, true, false, 0},                         /* bx r3 */
	{EM_PPC64, ELFCLASS64, "\x01\xff\xff\x4b", 4, false, true, RET - 4 - 256},   /* bl */
	{EM_PPC64, ELFCLASS64, "\x21\x04\x80\x4e", 4, false, true, 0},               /* bctrl */
	{EM_PPC64, ELFCLASS64, "\x20\x00\x80\x4e", 4, false, false, 0},              /* blr */
	{EM_RISCV, ELFCLASS64, "\xef\xf0\x1f\xf0", 4, false, true, RET - 4 - 256},   /* jal ra */
	{EM_RISCV, ELFCLASS64, "\xe7\x80\x07\x00", 4, false, true, 0},               /* jalr a5 */
	{EM_RISCV, ELFCLASS64, "\x82\x97", 2, false, true, 0},                       /* c.jalr a5 */
	{EM_RISCV, ELFCLASS64, "\x82\x87", 2, false, false, 0},                      /* c.jr a5 */
};

static void calls_are_known_and_jumps_are_not(void **state)
{
	(void)state;
	for (size_t i = 0; i < XC_COUNT(cases); i++) {
		struct xc_process *p = process_of(cases[i].machine, cases[i].class, cases[i].code, cases[i].size);
		xc_addr target = 1;
		bool calls = xc_code_returns(p, RET + cases[i].thumb, &target);
		if (calls != cases[i].calls || (calls && target != cases[i].target))
			fail_msg("case %zu: %d, 0x%llx", i, calls, (unsigned long long)target);
		assert_false(xc_code_returns(p, 0, &target));
		assert_false(xc_code_returns(p, CODE + 0x10000, &target));
		xc_process_close(p);
	}
}

/* Eight bytes after RET: the slot of indirect calls and jumps. */
static void set_slot(xc_addr value)
{
	memcpy(bytes + (RET - CODE) + 8, &value, sizeof value);
}

enum { SLOT = 0x123456 };

static void direct_calls_and_jumps_are_read_backwards(void **state)
{
	(void)state;
	static const struct {
		uint16_t machine;
		uint8_t class;
		const char *code;
		size_t size;
		bool jump, by_name_only;
		xc_addr target; /* 0: none */
	} goes[] = {
		{EM_X86_64, ELFCLASS64, "\xe8\x00\xff\xff\xff", 5, false, false, RET - 256},       /* call */
		{EM_X86_64, ELFCLASS64, "\xe9\x00\xff\xff\xff", 5, true, false, RET - 256},        /* jmp */
		{EM_X86_64, ELFCLASS64, "\xe9\x00\xff\xff\xff\x90", 6, true, true, RET - 1 - 256}, /* jmp; nop */
		{EM_X86_64, ELFCLASS64, "\x0f\x85\x00\xff\xff\xff", 6, true, true, RET - 256},     /* jne */
		{EM_X86_64, ELFCLASS64, "\xeb\xf0", 2, true, true, RET - 16},                      /* jmp rel8 */
		{EM_X86_64, ELFCLASS64, "\x74\xf0", 2, true, true, RET - 16},                      /* je rel8 */
		{EM_X86_64, ELFCLASS64, "\xff\x15\x08\x00\x00\x00", 6, false, true, SLOT},         /* call *8(%rip) */
		{EM_X86_64, ELFCLASS64, "\xff\x25\x08\x00\x00\x00", 6, true, true, SLOT},          /* jmp *8(%rip) */
		{EM_X86_64, ELFCLASS64, "\xff\x25\x00\x10\x00\x00", 6, true, true, 0},             /* not readable */
		{EM_X86_64, ELFCLASS64, "\xff\xd0", 2, false, false, 0},                           /* call *%rax */
		{EM_386, ELFCLASS32, "\xe9\x00\xff\xff\xff", 5, true, false, RET - 256},           /* jmp */
		{EM_386, ELFCLASS32, "\xff\x25\x28\x00\x01\x00", 6, true, true, SLOT},             /* jmp *0x10028 */
		{EM_AARCH64, ELFCLASS64, "\xc0\xff\xff\x97", 4, false, false, RET - 4 - 256},      /* bl */
		{EM_AARCH64, ELFCLASS64, "\xc0\xff\xff\x17", 4, true, false, RET - 4 - 256},       /* b */
		{EM_AARCH64, ELFCLASS64, "\x60\x02\x1f\xd6", 4, true, true, 0},                    /* br x19 */
		{EM_PPC64, ELFCLASS64, "\x00\xff\xff\x4b", 4, true, true, 0},                      /* b: not read */
	};
	for (size_t i = 0; i < XC_COUNT(goes); i++) {
		xc_addr found[XC_CODE_TARGETS];
		struct xc_process *p = process_of(goes[i].machine, goes[i].class, goes[i].code, goes[i].size);
		set_slot(SLOT);
		size_t count = xc_code_targets(p, RET, goes[i].jump, true, found);
		if (count != (goes[i].target != 0) || (count && found[0] != goes[i].target))
			fail_msg("case %zu: %zu, 0x%llx", i, count, (unsigned long long)(count ? found[0] : 0));
		if (xc_code_targets(p, RET, goes[i].jump, false, found) != (goes[i].target && !goes[i].by_name_only))
			fail_msg("case %zu, not named", i);
		assert_int_equal(xc_code_targets(p, RET, !goes[i].jump, false, found), 0);
		assert_int_equal(xc_code_targets(p, 0x90000, goes[i].jump, true, found), 0);
		xc_process_close(p);
	}
}

static void stubs_lead_through_their_slot(void **state)
{
	(void)state;
	static const struct {
		uint16_t machine;
		uint8_t class;
		const char *code;
		size_t size;
		xc_addr target;
	} stubs[] = {
		{EM_X86_64, ELFCLASS64, "\xff\x25\x08\x00\x00\x00", 6, SLOT},                      /* jmp *8(%rip) */
		{EM_X86_64, ELFCLASS64, "\xf3\x0f\x1e\xfa\xff\x25\x08\x00\x00\x00", 10, SLOT},     /* endbr64 before */
		{EM_X86_64, ELFCLASS64, "\xf3\x0f\x1e\xfa\xf2\xff\x25\x08\x00\x00\x00", 11, SLOT}, /* bnd too */
		{EM_X86_64, ELFCLASS64, "\xe9\x00\xff\xff\xff", 5, 0},                             /* a function */
		{EM_386, ELFCLASS32, "\xf3\x0f\x1e\xfb\xff\x25\x28\x00\x01\x00", 10, SLOT},        /* endbr32 */
		{EM_386, ELFCLASS32, "\xff\xa3\x0c\x00\x00\x00", 6, 0},                            /* jmp *12(%ebx) */
		{EM_AARCH64, ELFCLASS64, "\x10\x00\x00\x90\x11\x16\x40\xf9", 8, SLOT},             /* adrp, ldr */
		{EM_AARCH64, ELFCLASS64, "\x5f\x24\x03\xd5\x10\x00\x00\x90\x11\x16\x40\xf9", 12, SLOT}, /* bti c */
		{EM_AARCH64, ELFCLASS64, "\xf0\xff\xff\xf0\x11\x16\x40\xf9", 8, 0}, /* the page before */
		{EM_RISCV, ELFCLASS64, "\x17\x2e\x00\x00", 4, 0},
	};
	for (size_t i = 0; i < XC_COUNT(stubs); i++) {
		struct xc_process *p = process_of(stubs[i].machine, stubs[i].class, stubs[i].code, stubs[i].size);
		set_slot(SLOT);
		xc_addr target = xc_code_stub(p, RET - stubs[i].size);
		if (target != stubs[i].target)
			fail_msg("case %zu: 0x%llx", i, (unsigned long long)target);
		assert_int_equal(xc_code_stub(p, 0x90000), 0);
		xc_process_close(p);
	}
}

static void instructions_stand_where_they_may(void **state)
{
	(void)state;
	xc_addr target;
	struct xc_process *p = process_of(EM_AARCH64, ELFCLASS64, "\x60\x02\x3f\xd6", 4);
	assert_false(xc_code_returns(p, RET + 2, &target));
	xc_process_close(p);
	p = process_of(EM_RISCV, ELFCLASS64, "\x82\x97", 2);
	assert_false(xc_code_returns(p, RET + 1, &target));
	xc_process_close(p);
}

static void signatures_and_the_bit_of_thumb_are_stripped(void **state)
{
	(void)state;
	struct xc_process *p = process_of(EM_AARCH64, ELFCLASS64, "", 0);
	assert_int_equal(xc_code_address(p, UINT64_C(0x3a7f000000000000) | RET), RET);
	assert_int_equal(xc_code_address(p, RET), RET);
	assert_int_equal(xc_code_address(p, UINT64_C(0x4141414141414141)), UINT64_C(0x4141414141414141));
	p->code_mask = UINT64_C(0x0000ff0000000000); /* as recorded in the core */
	assert_int_equal(xc_code_address(p, UINT64_C(0x00005a0000000000) | RET), RET);
	assert_int_equal(xc_code_address(p, UINT64_C(0x3a00000000000000) | RET), UINT64_C(0x3a00000000000000) | RET);
	xc_process_close(p);
	p = process_of(EM_ARM, ELFCLASS32, "", 0);
	assert_int_equal(xc_code_address(p, RET + 1), RET);
	xc_process_close(p);
	p = process_of(EM_386, ELFCLASS32, "", 0);
	assert_int_equal(xc_code_address(p, RET + 1), RET + 1);
	xc_process_close(p);
}

static void trampolines_are_known_by_their_code(void **state)
{
	(void)state;
	static const struct {
		uint16_t machine;
		uint8_t class;
		const char *code;
		size_t size;
	} known[] = {{EM_X86_64, ELFCLASS64, "\x48\xc7\xc0\x0f\x00\x00\x00\x0f\x05", 9},
		     {EM_AARCH64, ELFCLASS64, "\x68\x11\x80\xd2\x01\x00\x00\xd4", 8},
		     {EM_ARM, ELFCLASS32, "\xad\x70\xa0\xe3\x00\x00\x00\xef", 8},
		     {EM_ARM, ELFCLASS32, "\x77\x27\x00\xdf", 4},
		     {EM_PPC64, ELFCLASS64, "\x80\x00\x21\x38\xac\x00\x00\x38\x02\x00\x00\x44", 12},
		     {EM_PPC64, ELFCLASS64, "\xac\x00\x00\x38\x02\x00\x00\x44", 8},
		     {EM_RISCV, ELFCLASS64, "\x93\x08\xb0\x08\x73\x00\x00\x00", 8}};
	for (size_t i = 0; i < XC_COUNT(known); i++) {
		struct xc_process *p = process_of(known[i].machine, known[i].class, known[i].code, known[i].size);
		struct xc_regs regs = {.vector = NULL}, saved;
		assert_true(xc_code_is_trampoline(p, RET - known[i].size));
		assert_false(xc_code_is_trampoline(p, RET - known[i].size + 1));
		assert_false(xc_code_interrupted(p, RET - known[i].size, &regs, &saved)); /* sp is not known */
		xc_regs_set(&regs, p->arch->sp, 0x1000);
		assert_false(xc_code_interrupted(p, RET - known[i].size, &regs, &saved)); /* no memory there */
		xc_process_close(p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_are_known_and_jumps_are_not),
		cmocka_unit_test(direct_calls_and_jumps_are_read_backwards),
		cmocka_unit_test(stubs_lead_through_their_slot),
		cmocka_unit_test(instructions_stand_where_they_may),
		cmocka_unit_test(signatures_and_the_bit_of_thumb_are_stripped),
		cmocka_unit_test(trampolines_are_known_by_their_code),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
