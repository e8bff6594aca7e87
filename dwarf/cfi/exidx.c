/* exidx: "Exception Handling ABI for the Arm Architecture" (IHI 0038, 2022Q3), 6 and 10.3.
 *
 *     PT_ARM_EXIDX   pairs of words, sorted:  function (31-bit relative)   1: cannot be unwound
 *                                                                          1 000 0000 and three bytes of instructions
 *                                                                          0 and where in .ARM.extab (31-bit relative)
 *     .ARM.extab     1 000 0000 and three bytes                            a compact entry of personality routine 0
 *                    1 000 00nn, a count of words, two bytes, the words    … of 1 and 2
 *                    0 and a personality routine, then a count of words, three bytes, the words   (C++: generic)
 *
 * Bytes are taken from the high end of each word. The instructions move a virtual stack pointer up and pop registers
 * from it; here they are run once, not on a stack but to find out where each register stands: sp (or another register)
 * + offset. In the end the virtual stack pointer is the frame address. */
#include "dwarf/cfi/exidx.h"

#include <string.h>

#include "core/base/cursor.h"

enum {
	EXIDX_SEGMENT = 0x70000001, /* PT_ARM_EXIDX */
	PAIR = 8,
	CANNOT_UNWIND = 1,
	SP = 13,
	LR = 14,
	PC = 15,
	REGS = 16,
	DOUBLES = 8,
	FINISH = 0xb0,
	MAX_MOVE = 1 << 28, /* bytes of one frame */
};

/* ---- the tables ---- */

/* The bytes at a file address, at least `size` of them; NULL when they are not in the file. */
static const uint8_t *bytes_at(const struct xc_elf *elf, uint64_t addr, uint64_t size, uint64_t *left_out)
{
	for (uint32_t i = 0; i < elf->phdrs_readable; i++) {
		struct xc_phdr p = xc_elf_phdr(elf, i);
		if (p.type != 1 || addr < p.vaddr || addr - p.vaddr >= p.filesz || p.filesz > elf->size ||
		    p.offset > elf->size - p.filesz)
			continue;
		uint64_t in = addr - p.vaddr;
		*left_out = p.filesz - in;
		return *left_out >= size ? elf->bytes + p.offset + in : NULL;
	}
	return NULL;
}

void xc_exidx_open(struct xc_exidx *x, const void *bytes, size_t size)
{
	uint64_t left;
	*x = (struct xc_exidx){.entries = NULL};
	struct xc_error *err = xc_elf_parse(bytes, size, &x->elf);
	for (uint32_t i = 0; !err && i < x->elf.phdrs_readable; i++) {
		struct xc_phdr p = xc_elf_phdr(&x->elf, i);
		if (p.type != EXIDX_SEGMENT)
			continue;
		x->addr = p.vaddr;
		x->entries = bytes_at(&x->elf, p.vaddr, p.memsz, &left);
		x->count = x->entries ? (size_t)(p.memsz / PAIR) : 0;
		break;
	}
	xc_error_free(err);
}

/* A 31-bit offset, relative to its own address. */
static uint64_t relative(uint64_t place, uint64_t word)
{
	return (uint32_t)(place + xc_sign_extend(word, 31));
}

static uint64_t function_of(const struct xc_exidx *x, size_t index)
{
	return relative(x->addr + PAIR * index, xc_load_uint(x->entries + PAIR * index, 4, false));
}

/* The entry of the last function at or below addr. */
static bool find(const struct xc_exidx *x, uint64_t addr, size_t *index_out)
{
	size_t lo = XC_LOWER_BOUND(x->count, i, function_of(x, i) <= addr);
	*index_out = lo - 1;
	return lo > 0;
}

/* ---- instructions ---- */

struct run {
	uint8_t code[4 * 256 + 4];
	size_t size, at;
	int base; /* the virtual stack pointer is this register + offset */
	int64_t offset;
	bool popped[REGS];
	int64_t place[REGS]; /* of popped registers, from base */
	bool double_popped[DOUBLES];
	int64_t double_place[DOUBLES]; /* of d8 to d15 */
};

static void add_bytes(struct run *r, uint64_t word, unsigned bytes)
{
	while (bytes-- > 0)
		r->code[r->size++] = (uint8_t)(word >> 8 * bytes);
}

/* Instructions of an entry of .ARM.extab. */
static bool gather(const struct xc_exidx *x, uint64_t addr, struct run *r)
{
	uint64_t left = 0, words;
	const uint8_t *at = bytes_at(&x->elf, addr, 4, &left);
	if (!at)
		return false;
	uint64_t first = xc_load_uint(at, 4, false);
	if (!(first & 0x80000000)) { /* a language's personality routine: its data begins with the instructions */
		if (left < 8)
			return false;
		at += 4;
		left -= 4;
		first = xc_load_uint(at, 4, false);
		words = first >> 24;
		add_bytes(r, first, 3);
	} else if ((first >> 24 & 15) == 0) {
		words = 0;
		add_bytes(r, first, 3);
	} else if ((first >> 24 & 15) <= 2) {
		words = first >> 16 & 0xff;
		add_bytes(r, first, 2);
	} else {
		return false;
	}
	if (words > (left - 4) / 4)
		return false;
	for (uint64_t i = 1; i <= words; i++)
		add_bytes(r, xc_load_uint(at + 4 * i, 4, false), 4);
	return true;
}

static uint8_t next(struct run *r)
{
	return r->at < r->size ? r->code[r->at++] : FINISH;
}

static bool move(struct run *r, int64_t bytes)
{
	r->offset += bytes;
	return r->offset > -MAX_MOVE && r->offset < MAX_MOVE;
}

/* Pop the registers of a mask, the lowest number from the lowest address. */
static bool pop(struct run *r, uint32_t mask)
{
	for (int i = 0; i < REGS; i++) {
		if (!(mask >> i & 1))
			continue;
		r->popped[i] = true;
		r->place[i] = r->offset;
		r->offset += 4;
	}
	return mask && !(mask >> SP & 1) && move(r, 0);
}

static bool take_base(struct run *r, int reg)
{
	for (int i = 0; i < REGS; i++)
		if (r->popped[i] || r->double_popped[i % DOUBLES])
			return false; /* their places would count from another register */
	r->base = reg;
	r->offset = 0;
	return reg != SP && reg != PC;
}

static bool move_far(struct run *r)
{
	uint64_t value = 0;
	unsigned shift = 0;
	uint8_t byte;
	do {
		byte = next(r);
		value |= (uint64_t)(byte & 127) << shift;
		shift += 7;
	} while ((byte & 128) && shift < 28);
	return move(r, 0x204 + (int64_t)(value << 2));
}

/* Pop doublewords of the floating-point unit; the places of d8 to d15 are kept. `extra` bytes follow them. */
static bool pop_doubles(struct run *r, unsigned first, unsigned count, unsigned extra)
{
	for (unsigned i = first; i < first + count; i++) {
		if (i >= 8 && i < 16) {
			r->double_popped[i - 8] = true;
			r->double_place[i - 8] = r->offset + 8 * (int64_t)(i - first);
		}
	}
	return move(r, 8 * (int64_t)count + extra);
}

/* Instructions 1011 xxxx and 1100 xxxx, 1101 0xxx. */
static bool step_high(struct run *r, uint8_t op)
{
	uint8_t operand;
	switch (op) {
	case 0xb1:
		operand = next(r);
		return operand < 16 && pop(r, operand);
	case 0xb2:
		return move_far(r);
	case 0xb3:
		operand = next(r);
		return pop_doubles(r, operand >> 4, (operand & 15u) + 1, 4);
	case 0xb4: /* an authentication code of the return address */
		return move(r, 4);
	case 0xc9:
		operand = next(r);
		return pop_doubles(r, operand >> 4, (operand & 15u) + 1, 0);
	case 0xc6: /* registers of other coprocessors, and d16 and up */
	case 0xc8:
		return move(r, 8 * ((next(r) & 15) + 1));
	case 0xc7:
		return move(r, 4 * __builtin_popcount(next(r) & 15u));
	default:
		break;
	}
	if ((op & 0xf8) == 0xb8)
		return pop_doubles(r, 8, (op & 7u) + 1, 4);
	if ((op & 0xf8) == 0xd0)
		return pop_doubles(r, 8, (op & 7u) + 1, 0);
	return (op & 0xf8) == 0xc0 && move(r, 8 * ((op & 7) + 1));
}

static bool step(struct run *r, uint8_t op)
{
	switch (op >> 4) {
	case 0x0:
	case 0x1:
	case 0x2:
	case 0x3:
		return move(r, ((op & 63) << 2) + 4);
	case 0x4:
	case 0x5:
	case 0x6:
	case 0x7:
		return move(r, -(((op & 63) << 2) + 4));
	case 0x8:
		return pop(r, (uint32_t)((op & 15) << 8 | next(r)) << 4); /* none: refuse to unwind */
	case 0x9:
		return take_base(r, op & 15);
	case 0xa:
		return pop(r, (0xffu >> (7 - (op & 7))) << 4 | (op & 8 ? 1u << LR : 0));
	default:
		return step_high(r, op);
	}
}

/* ---- rows ---- */

static void set_rules(const struct xc_arch *arch, const struct run *r, uint16_t count, struct xc_cfi_row *row)
{
	for (int i = 0; i < count; i++) {
		struct xc_cfi_rule *rule = &row->rules[i];
		bool keeps = xc_arch_has(arch->preserved, i) || i == LR;
		*rule = (struct xc_cfi_rule){.kind = keeps ? XC_CFI_SAME : XC_CFI_LOST};
		if (i < REGS && r->popped[i])
			*rule = (struct xc_cfi_rule){.kind = XC_CFI_AT_CFA, .offset = r->place[i] - r->offset};
	}
	for (int i = 0; i < DOUBLES && arch->high_at + i < count; i++)
		if (r->double_popped[i])
			row->rules[arch->high_at + i] =
				(struct xc_cfi_rule){.kind = XC_CFI_AT_CFA, .offset = r->double_place[i] - r->offset};
	row->rules[SP] = (struct xc_cfi_rule){.kind = XC_CFI_CFA_PLUS};
	if (r->popped[PC])
		row->rules[LR] = row->rules[PC];
	row->rules[PC] = (struct xc_cfi_rule){.kind = XC_CFI_LOST};
	row->found = row->at_calls = true;
	row->cfa_reg = r->base;
	row->cfa_offset = r->offset;
	row->return_reg = LR;
	row->rule_count = count;
}

bool xc_exidx_row(const struct xc_exidx *x, const struct xc_arch *arch, uint64_t file_addr, uint16_t count,
		  struct xc_cfi_row *row)
{
	struct run r = {.base = SP};
	size_t index;
	if (!x->entries || count < REGS || !find(x, file_addr, &index))
		return false;
	uint64_t place = x->addr + PAIR * index + 4, word = xc_load_uint(x->entries + PAIR * index + 4, 4, false);
	if (word == CANNOT_UNWIND) {
		set_rules(arch, &r, count, row);
		row->rules[LR].kind = XC_CFI_LOST;
		return true;
	}
	if (!(word & 0x80000000) ? !gather(x, relative(place, word), &r) : word >> 24 != 0x80)
		return false;
	if (word & 0x80000000)
		add_bytes(&r, word, 3);
	for (uint8_t op; (op = next(&r)) != FINISH;)
		if (!step(&r, op))
			return false;
	set_rules(arch, &r, count, row);
	return true;
}
