/* layer: core */
#include "tests/support/check.h"

#include <elf.h>
#include <sys/procfs.h>

#include "core/elf/arch.h"
#include "core/elf/regs.h"

static void x86_64_agrees_with_the_system_headers(void **state)
{
	(void)state;
	const struct xc_arch *arch = xc_arch_host();
	assert_string_equal(arch->name, "x86-64");
	assert_int_equal(arch->prstatus_pid_off, offsetof(struct elf_prstatus, pr_pid));
	assert_int_equal(arch->prstatus_reg_off, offsetof(struct elf_prstatus, pr_reg));
	assert_int_equal(arch->prstatus_reg_size, sizeof(elf_gregset_t));
	assert_int_equal(arch->prpsinfo_fname_off, offsetof(struct elf_prpsinfo, pr_fname));
	assert_int_equal(arch->prpsinfo_args_off, offsetof(struct elf_prpsinfo, pr_psargs));
	assert_int_equal(arch->prpsinfo_pid_off, offsetof(struct elf_prpsinfo, pr_pid));
}

static void check_reg(const char *name, size_t offset)
{
	const struct xc_arch *arch = xc_arch_host();
	for (size_t i = 0; i < arch->slot_count; i++) {
		if (arch->slots[i].dwarf < 0 || !xc_arch_reg_name(arch, arch->slots[i].dwarf))
			continue;
		if (!strcmp(xc_arch_reg_name(arch, arch->slots[i].dwarf), name)) {
			assert_int_equal(arch->slots[i].offset, offset);
			return;
		}
	}
	fail_msg("no slot for %s", name);
}

static void every_x86_64_register_stands_where_the_kernel_puts_it(void **state)
{
	(void)state;
	check_reg("r15", 0);
	check_reg("r14", 8);
	check_reg("r13", 16);
	check_reg("r12", 24);
	check_reg("rbp", 32);
	check_reg("rbx", 40);
	check_reg("r11", 48);
	check_reg("r10", 56);
	check_reg("r9", 64);
	check_reg("r8", 72);
	check_reg("rax", 80);
	check_reg("rcx", 88);
	check_reg("rdx", 96);
	check_reg("rsi", 104);
	check_reg("rdi", 112);
	check_reg("rip", 128);
	check_reg("eflags", 144);
	check_reg("rsp", 152);
	check_reg("fs_base", 168);
	check_reg("gs_base", 176);
}

static void slots_lie_inside_the_register_set(void **state)
{
	(void)state;
	static const uint16_t machines[] = {EM_X86_64, EM_386, EM_AARCH64, EM_ARM, EM_PPC64, EM_RISCV, EM_S390, 4711};
	for (size_t i = 0; i < XC_COUNT(machines); i++)
		for (int variant = 0; variant < 4; variant++) {
			const struct xc_arch *a =
				xc_arch_find(machines[i], variant & 1 ? ELFCLASS64 : ELFCLASS32, variant & 2);
			assert_non_null(a);
			assert_int_equal(a->word, variant & 1 ? 8 : 4);
			assert_int_equal(a->big_endian, (variant & 2) != 0);
			assert_true(a->pc < XC_REG_MAX && a->sp < XC_REG_MAX && a->fp < XC_REG_MAX);
			for (size_t j = 0; j < a->slot_count; j++) {
				assert_true(a->slots[j].offset + (size_t)a->reg_size <= a->prstatus_reg_size);
				assert_true(a->slots[j].dwarf < XC_REG_MAX);
			}
			if (a->prstatus_size)
				assert_int_equal(a->prstatus_size, a->prstatus_reg_off + a->prstatus_reg_size);
		}
}

static void unknown_machines_have_word_and_order_but_no_notes(void **state)
{
	(void)state;
	const struct xc_arch *a = xc_arch_find(4711, ELFCLASS32, true);
	assert_int_equal(a->prstatus_size, 0);
	assert_int_equal(a->pc, -1);
	assert_int_equal(a->slot_count, 0);
	assert_false(a->unwinds);
	assert_int_equal(xc_arch_find(EM_X86_64, ELFCLASS64, true)->prstatus_size, 0);
	assert_false(xc_arch_find(EM_S390, ELFCLASS64, true)->unwinds);
	assert_false(xc_arch_find(EM_AARCH64, ELFCLASS64, true)->unwinds);
	assert_string_equal(xc_arch_find(EM_X86_64, ELFCLASS32, false)->name, "x32");
}

/* Offsets as in readelf and the kernel's headers: sizeof(elf_prstatus) minus fpvalid, and places in pr_reg. */
static void foreign_registers_stand_where_the_kernel_puts_them(void **state)
{
	(void)state;
	static const struct {
		uint16_t machine;
		uint8_t elf_class;
		uint16_t prstatus;
		const char *name;
		uint16_t offset;
	} places[] = {
		{EM_386, ELFCLASS32, 140, "ebx", 0},      {EM_386, ELFCLASS32, 140, "eax", 24},
		{EM_386, ELFCLASS32, 140, "eip", 48},     {EM_386, ELFCLASS32, 140, "esp", 60},
		{EM_386, ELFCLASS32, 140, "ebp", 20},     {EM_X86_64, ELFCLASS32, 288, "rip", 128},
		{EM_X86_64, ELFCLASS32, 288, "rsp", 152}, {EM_AARCH64, ELFCLASS64, 384, "x29", 232},
		{EM_AARCH64, ELFCLASS64, 384, "sp", 248}, {EM_AARCH64, ELFCLASS64, 384, "pc", 256},
		{EM_ARM, ELFCLASS32, 144, "lr", 56},      {EM_ARM, ELFCLASS32, 144, "pc", 60},
		{EM_PPC64, ELFCLASS64, 496, "r1", 8},     {EM_PPC64, ELFCLASS64, 496, "pc", 256},
		{EM_PPC64, ELFCLASS64, 496, "lr", 288},   {EM_RISCV, ELFCLASS64, 368, "pc", 0},
		{EM_RISCV, ELFCLASS64, 368, "ra", 8},     {EM_RISCV, ELFCLASS64, 368, "t6", 248},
	};
	for (size_t i = 0; i < XC_COUNT(places); i++) {
		const struct xc_arch *a = xc_arch_find(places[i].machine, places[i].elf_class, false);
		bool found = false;
		assert_int_equal(a->prstatus_size, places[i].prstatus);
		for (size_t j = 0; j < a->slot_count; j++) {
			const char *name = xc_arch_reg_name(a, a->slots[j].dwarf);
			found |= name && !strcmp(name, places[i].name) && a->slots[j].offset == places[i].offset;
		}
		if (!found)
			fail_msg("%s: %s", a->name, places[i].name);
	}
}

/* Call-preserved and call-clobbered registers do not overlap, and have names. */
static void register_sets_are_sound(void **state)
{
	(void)state;
	static const uint16_t machines[] = {EM_X86_64, EM_386, EM_AARCH64, EM_ARM, EM_PPC64, EM_RISCV};
	for (size_t i = 0; i < XC_COUNT(machines); i++)
		for (uint8_t class = ELFCLASS32; class <= ELFCLASS64; class ++) {
			const struct xc_arch *a = xc_arch_find(machines[i], class, false);
			for (int reg = 0; a->unwinds && reg < XC_REG_MAX; reg++) {
				assert_false(xc_arch_has(a->preserved, reg) && xc_arch_has(a->scratch, reg));
				if (xc_arch_has(a->scratch, reg))
					assert_non_null(xc_arch_reg_name(a, reg));
			}
			if (a->unwinds)
				assert_false(xc_arch_has(a->scratch, a->sp) || xc_arch_has(a->scratch, a->pc));
		}
}

static void machine_names_cover_every_number(void **state)
{
	(void)state;
	assert_string_equal(xc_arch_machine_name(EM_AARCH64), "aarch64");
	assert_string_equal(xc_arch_machine_name(4711), "machine 4711");
	for (unsigned m = 0; m <= UINT16_MAX; m++)
		assert_true(xc_arch_machine_name((uint16_t)m)[0] != '\0');
}

static void register_names_are_bounded(void **state)
{
	(void)state;
	const struct xc_arch *arch = xc_arch_host();
	assert_string_equal(xc_arch_reg_name(arch, 16), "rip");
	assert_string_equal(xc_arch_reg_name(arch, 7), "rsp");
	assert_null(xc_arch_reg_name(arch, -1));
	assert_null(xc_arch_reg_name(arch, 60));
	assert_null(xc_arch_reg_name(arch, INT32_MAX));
	assert_null(xc_arch_reg_name(arch, 41));
	assert_null(xc_arch_reg_name(xc_arch_find(EM_S390, ELFCLASS64, true), 0));
}

static void an_unset_register_is_unknown_and_not_zero(void **state)
{
	(void)state;
	struct xc_regs regs = {0};
	uint64_t value = 7;
	assert_false(xc_regs_get(&regs, 3, &value));
	assert_int_equal(value, 7);
	xc_regs_set(&regs, 3, 0);
	xc_regs_set(&regs, 79, 9);
	assert_true(xc_regs_get(&regs, 3, &value) && value == 0);
	assert_true(xc_regs_get(&regs, 79, &value) && value == 9);
	xc_regs_forget(&regs, 3);
	assert_false(xc_regs_known(&regs, 3));
	assert_true(xc_regs_known(&regs, 79));
	xc_regs_set(&regs, -1, 1);
	xc_regs_set(&regs, XC_REG_MAX, 1);
	xc_regs_forget(&regs, XC_REG_MAX);
	assert_false(xc_regs_known(&regs, -1) || xc_regs_known(&regs, XC_REG_MAX));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(x86_64_agrees_with_the_system_headers),
		cmocka_unit_test(every_x86_64_register_stands_where_the_kernel_puts_it),
		cmocka_unit_test(slots_lie_inside_the_register_set),
		cmocka_unit_test(unknown_machines_have_word_and_order_but_no_notes),
		cmocka_unit_test(foreign_registers_stand_where_the_kernel_puts_them),
		cmocka_unit_test(register_sets_are_sound),
		cmocka_unit_test(machine_names_cover_every_number),
		cmocka_unit_test(register_names_are_bounded),
		cmocka_unit_test(an_unset_register_is_unknown_and_not_zero),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
