/* layer: dwarf */
/* Hand-made tables as an assembler would write them; the oracle is "Exception Handling ABI for the Arm
 * Architecture". */
#include <elf.h>
#include <string.h>

#include "dwarf/cfi/exidx.h"
#include "tests/support/check.h"

enum { FILE_SIZE = 0x1000, TABLE = 0x400, EXTAB = 0x600, CODE = 0x800, EXIDX_SEGMENT = 0x70000001, SP = 13, LR = 14 };

static uint8_t file[FILE_SIZE];
static size_t entries, extab;

static void word(size_t at, uint32_t value)
{
	memcpy(file + at, &value, 4);
}

/* A 31-bit offset to a file address, encoded at another one. */
static uint32_t relative(uint32_t from, uint32_t to)
{
	return (to - from) & 0x7fffffff;
}

static void begin(void)
{
	memset(file, 0, sizeof file);
	entries = extab = 0;
}

/* The entry of the function at `code` with this second word. */
static void entry(uint32_t code, uint32_t second)
{
	uint32_t at = TABLE + 8 * (uint32_t)entries++;
	word(at, relative(at, code));
	word(at + 4, second);
}

/* The same with its instructions in .ARM.extab. */
static void entry_elsewhere(uint32_t code, const uint32_t *words, size_t count)
{
	uint32_t to = EXTAB + (uint32_t)extab;
	for (size_t i = 0; i < count; i++)
		word(to + 4 * i, words[i]);
	extab += 4 * count;
	entry(code, relative(TABLE + 8 * (uint32_t)entries + 4, to));
}

/* ELF32 headers for all of it, mapped at 0. */
static struct xc_exidx opened(void)
{
	Elf32_Ehdr h = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS32, ELFDATA2LSB, EV_CURRENT},
			.e_type = ET_DYN,
			.e_machine = EM_ARM,
			.e_phoff = sizeof h,
			.e_phentsize = sizeof(Elf32_Phdr),
			.e_phnum = 2};
	Elf32_Phdr p[2] = {{.p_type = PT_LOAD, .p_filesz = FILE_SIZE, .p_memsz = FILE_SIZE, .p_flags = PF_R | PF_X},
			   {.p_type = EXIDX_SEGMENT, .p_offset = TABLE, .p_vaddr = TABLE}};
	struct xc_exidx x;
	p[1].p_filesz = p[1].p_memsz = (Elf32_Word)(8 * entries);
	memcpy(file, &h, sizeof h);
	memcpy(file + sizeof h, p, sizeof p);
	xc_exidx_open(&x, file, sizeof file);
	return x;
}

static const struct xc_arch *arm(void)
{
	return xc_arch_find(EM_ARM, ELFCLASS32, false);
}

static struct xc_cfi_row *row_at(uint32_t addr)
{
	static union {
		struct xc_cfi_row row;
		uint8_t room[sizeof(struct xc_cfi_row) + XC_REG_MAX * sizeof(struct xc_cfi_rule)];
	} made;
	struct xc_exidx x = opened();
	memset(&made, 0, sizeof made);
	xc_exidx_row(&x, arm(), addr, arm()->frame_regs, &made.row);
	return &made.row;
}

static void check_saved(const struct xc_cfi_row *row, int reg, int64_t offset)
{
	assert_int_equal(row->rules[reg].kind, XC_CFI_AT_CFA);
	assert_int_equal(row->rules[reg].offset, offset);
}

static void compact_entries_pop_from_the_stack(void **state)
{
	(void)state;
	begin();
	entry(CODE, 0x80a8b0b0);      /* pop {r4, lr} */
	entry(CODE + 32, 0x80019bb0); /* vsp += 8; vsp = r11 */
	entry(CODE + 64, 0x8001ab41); /* vsp += 8; pop {r4-r7, lr}; vsp -= 8 */
	const struct xc_cfi_row *row = row_at(CODE + 10);
	assert_true(row->found && row->at_calls && row->cfa_reg == SP && row->return_reg == LR);
	assert_int_equal(row->cfa_offset, 8);
	check_saved(row, 4, -8);
	check_saved(row, LR, -4);
	assert_int_equal(row->rules[5].kind, XC_CFI_SAME);
	assert_int_equal(row->rules[0].kind, XC_CFI_LOST);
	assert_int_equal(row->rules[SP].kind, XC_CFI_CFA_PLUS);
	row = row_at(CODE + 32);
	assert_true(row->found && row->cfa_reg == 11 && row->cfa_offset == 0);
	row = row_at(CODE + 0x400);
	assert_true(row->found && row->cfa_reg == SP);
	assert_int_equal(row->cfa_offset, 8 + 20 - 8);
	check_saved(row, 4, 8 - 20);
	check_saved(row, LR, 8 + 16 - 20);
}

static void longer_ones_stand_in_the_other_table(void **state)
{
	(void)state;
	begin();
	/* personality 1, two words more: pop {r4-r11} by mask, pop d8-d9 (VPUSH), pop {lr}; vsp += 0x204 + 4 * 2 */
	static const uint32_t two_words[] = {0x810280ff, 0xd18400b2, 0x02b0b0b0};
	/* a C++ personality routine, then: no further word, pop {r0, r3}, pop {lr} */
	static const uint32_t generic[] = {0x00000100, 0x00b109a8, 0x00b0b0b0};
	entry_elsewhere(CODE, two_words, XC_COUNT(two_words));
	entry_elsewhere(CODE + 32, generic, XC_COUNT(generic));
	const struct xc_cfi_row *row = row_at(CODE);
	int64_t all = 32 + 16 + 4 + 0x204 + 8;
	assert_true(row->found);
	assert_int_equal(row->cfa_offset, all);
	check_saved(row, 4, -all);
	check_saved(row, 11, 28 - all);
	check_saved(row, arm()->high_at, 32 - all); /* d8 */
	check_saved(row, arm()->high_at + 1, 40 - all);
	assert_int_equal(row->rules[arm()->high_at + 2].kind, XC_CFI_SAME);
	check_saved(row, LR, 48 - all);
	row = row_at(CODE + 32);
	assert_true(row->found);
	check_saved(row, 0, -16);
	check_saved(row, 3, -12);
	check_saved(row, 4, -8);
	check_saved(row, LR, -4);
}

static void a_popped_pc_is_the_return_address(void **state)
{
	(void)state;
	begin();
	entry(CODE, 0x808800b0); /* pop {pc}: mask bit 11 */
	const struct xc_cfi_row *row = row_at(CODE);
	assert_true(row->found && row->return_reg == LR);
	check_saved(row, LR, -4);
}

static void what_cannot_be_unwound_loses_its_return_address(void **state)
{
	(void)state;
	begin();
	entry(CODE, 1);
	const struct xc_cfi_row *row = row_at(CODE + 4);
	assert_true(row->found);
	assert_int_equal(row->rules[LR].kind, XC_CFI_LOST);
	assert_false(row_at(CODE - 2)->found); /* before the first */
}

static void damaged_tables_give_no_row(void **state)
{
	(void)state;
	static const uint32_t refused[] = {
		0x808000b0, /* pop nothing: refuse to unwind */
		0x809db0b0, /* vsp = sp */
		0x809fb0b0, /* vsp = pc */
		0x80a89bb0, /* vsp = r11 after registers were popped */
		0x80b110b0, /* pop with reserved bits */
		0x80b5b0b0, /* spare */
		0x80ca00b0, /* spare */
		0x808200b0, /* pop {sp} */
		0x83a8b0b0, /* a compact entry of another routine, inline */
	};
	for (size_t i = 0; i < XC_COUNT(refused); i++) {
		begin();
		entry(CODE, refused[i]);
		if (row_at(CODE)->found)
			fail_msg("0x%x", refused[i]);
	}
	static const uint32_t longer[] = {0x81ffb0b0, 0};
	begin();
	extab = FILE_SIZE - EXTAB - 8; /* more words than there are */
	entry_elsewhere(CODE, longer, 2);
	assert_false(row_at(CODE)->found);
	begin();
	entry(CODE, 0x20000000); /* leads to unmapped memory */
	assert_false(row_at(CODE)->found);
	/* instructions that would continue forever: there is an implied finish at the end */
	static const uint32_t ends[] = {0x8101b2ff, 0xffffffff};
	begin();
	entry_elsewhere(CODE, ends, 2);
	(void)row_at(CODE);
}

static void every_word_ends_without_reading_beside_the_file(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 1 << 16; i++) {
		begin();
		entry(CODE, 0x80000000 | i << 8 | (i & 0xff));
		(void)row_at(CODE);
	}
}

static void files_without_a_table_are_empty(void **state)
{
	(void)state;
	struct xc_exidx x;
	struct xc_cfi_row row = {.found = false};
	xc_exidx_open(&x, "not ELF", 7);
	assert_null(x.entries);
	assert_false(xc_exidx_row(&x, arm(), CODE, 48, &row));
	begin();
	x = opened();
	assert_false(xc_exidx_row(&x, arm(), CODE, 48, &row));
	/* a table that is not in the file */
	entries = FILE_SIZE;
	x = opened();
	assert_null(x.entries);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(compact_entries_pop_from_the_stack),
		cmocka_unit_test(longer_ones_stand_in_the_other_table),
		cmocka_unit_test(a_popped_pc_is_the_return_address),
		cmocka_unit_test(what_cannot_be_unwound_loses_its_return_address),
		cmocka_unit_test(damaged_tables_give_no_row),
		cmocka_unit_test(every_word_ends_without_reading_beside_the_file),
		cmocka_unit_test(files_without_a_table_are_empty),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
