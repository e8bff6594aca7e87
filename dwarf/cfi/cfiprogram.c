/* cfiprogram: DWARF 5, 6.4.2 and 7.24, and the GNU additions of the Linux Standard Base.
 *
 * Rules of registers beyond those that are kept are read and dropped, so no number in a program makes anything large.
 */
#include "dwarf/cfi/cfiprogram.h"

#include <dwarf.h>
#include <elf.h>
#include <stddef.h>
#include <string.h>

#include "dwarf/elf/take.h"

enum {
	MAX_RULES = XC_REG_MAX,
	MAX_REMEMBERED = 16,
	SIGN_STATE_WITH_PC =
		0x2c,      /* DW_CFA_AARCH64_negate_ra_state_with_pc, _negate_ra_state: "DWARF for the Arm 64-bit */
	SIGN_STATE = 0x2d, /* Architecture" 2024Q3, 4.4.1; the latter is SPARC's DW_CFA_GNU_window_save elsewhere */
};

struct state {
	int cfa_reg;
	int64_t cfa_offset;
	const uint8_t *cfa_expr;
	size_t cfa_expr_size;
	struct xc_cfi_rule rules[MAX_RULES];
};

struct run {
	const struct xc_arch *arch;
	const struct xc_cfientry *entry;
	uint16_t count; /* of rules that are kept */
	struct xc_cursor code;
	struct state now, initial, remembered[MAX_REMEMBERED];
	size_t depth;
	uint64_t at;
	bool broken;
};

/* ---- operands: 0 and `broken` at the end of the program ---- */

static uint64_t fixed(struct run *r, size_t size)
{
	uint64_t value = 0;
	r->broken |= !xc_take_uint(&r->code, size, &value);
	return value;
}

static uint64_t uleb(struct run *r)
{
	uint64_t value = 0;
	r->broken |= !xc_take_uleb(&r->code, &value);
	return value;
}

static int64_t sleb(struct run *r)
{
	int64_t value = 0;
	r->broken |= !xc_take_sleb(&r->code, &value);
	return value;
}

static const uint8_t *block(struct run *r, size_t *size)
{
	struct xc_cursor part;
	*size = 0;
	if (!xc_take_part(&r->code, uleb(r), &part)) {
		r->broken = true;
		return NULL;
	}
	*size = xc_cursor_left(&part);
	return part.at;
}

/* ---- instructions ---- */

/* States are large, and most machines use few of their rules. */
static void copy(const struct run *r, struct state *to, const struct state *from)
{
	size_t used = offsetof(struct state, rules) + r->count * sizeof from->rules[0];
	memcpy(to, from, used);
}

static void set_rule(struct run *r, uint64_t reg, struct xc_cfi_rule rule)
{
	reg = xc_arch_number(r->arch, reg);
	if (reg < r->count)
		r->now.rules[reg] = rule;
}

static void at_offset(struct run *r, enum xc_cfi_kind kind, uint64_t reg, uint64_t factored)
{
	set_rule(r, reg,
		 (struct xc_cfi_rule){.kind = kind, .offset = (int64_t)(factored * (uint64_t)r->entry->data_align)});
}

static void restore(struct run *r, uint64_t reg)
{
	reg = xc_arch_number(r->arch, reg);
	if (reg < r->count)
		r->now.rules[reg] = r->initial.rules[reg];
}

static void expression(struct run *r, uint64_t reg, bool value)
{
	struct xc_cfi_rule rule = {.kind = XC_CFI_EXPRESSION, .expr_is_value = value};
	rule.expr = block(r, &rule.expr_size);
	set_rule(r, reg, rule);
}

static void define_cfa(struct run *r, uint64_t reg, uint64_t offset)
{
	r->now.cfa_reg = reg < XC_REG_MAX ? (int)reg : XC_REG_MAX;
	r->now.cfa_offset = (int64_t)offset;
	r->now.cfa_expr = NULL;
	r->now.cfa_expr_size = 0;
}

static void remember(struct run *r)
{
	if (r->depth == MAX_REMEMBERED)
		r->broken = true;
	else
		copy(r, &r->remembered[r->depth++], &r->now);
}

static void recall(struct run *r)
{
	if (r->depth == 0)
		r->broken = true;
	else
		copy(r, &r->now, &r->remembered[--r->depth]);
}

static void advance(struct run *r, uint64_t units)
{
	r->at += units * r->entry->code_align;
}

static void define(struct run *r, uint8_t opcode)
{
	uint64_t reg;
	switch (opcode) {
	case DW_CFA_def_cfa:
		reg = uleb(r);
		define_cfa(r, reg, uleb(r));
		break;
	case DW_CFA_def_cfa_sf:
		reg = uleb(r);
		define_cfa(r, reg, (uint64_t)sleb(r) * (uint64_t)r->entry->data_align);
		break;
	case DW_CFA_def_cfa_register:
		define_cfa(r, uleb(r), (uint64_t)r->now.cfa_offset);
		break;
	case DW_CFA_def_cfa_offset:
		r->now.cfa_offset = (int64_t)uleb(r);
		break;
	case DW_CFA_def_cfa_offset_sf:
		r->now.cfa_offset = (int64_t)((uint64_t)sleb(r) * (uint64_t)r->entry->data_align);
		break;
	default:
		r->now.cfa_reg = -1;
		r->now.cfa_expr = block(r, &r->now.cfa_expr_size);
		break;
	}
}

static void rule_of_register(struct run *r, uint8_t opcode)
{
	uint64_t reg = uleb(r);
	switch (opcode) {
	case DW_CFA_offset_extended:
		at_offset(r, XC_CFI_AT_CFA, reg, uleb(r));
		break;
	case DW_CFA_offset_extended_sf:
		at_offset(r, XC_CFI_AT_CFA, reg, (uint64_t)sleb(r));
		break;
	case DW_CFA_GNU_negative_offset_extended:
		at_offset(r, XC_CFI_AT_CFA, reg, -uleb(r));
		break;
	case DW_CFA_val_offset:
		at_offset(r, XC_CFI_CFA_PLUS, reg, uleb(r));
		break;
	case DW_CFA_val_offset_sf:
		at_offset(r, XC_CFI_CFA_PLUS, reg, (uint64_t)sleb(r));
		break;
	case DW_CFA_restore_extended:
		restore(r, reg);
		break;
	case DW_CFA_undefined:
		set_rule(r, reg, (struct xc_cfi_rule){.kind = XC_CFI_LOST});
		break;
	case DW_CFA_same_value:
		set_rule(r, reg, (struct xc_cfi_rule){.kind = XC_CFI_SAME});
		break;
	case DW_CFA_register: {
		uint64_t in = uleb(r);
		set_rule(r, reg,
			 (struct xc_cfi_rule){.kind = XC_CFI_REGISTER, .reg = in < XC_REG_MAX ? (int32_t)in : -1});
		break;
	}
	default:
		expression(r, reg, opcode == DW_CFA_val_expression);
		break;
	}
}

/* A signed return address shows in its bits, so the state is not tracked. Operands of unknown instructions are
 * unknown, too. */
static void other(struct run *r, uint8_t opcode)
{
	bool sign = opcode == SIGN_STATE || opcode == SIGN_STATE_WITH_PC;
	r->broken |= !sign || r->arch->machine != EM_AARCH64;
}

static void step(struct run *r, uint8_t opcode)
{
	switch (opcode & 0xc0) {
	case DW_CFA_advance_loc:
		advance(r, opcode & 0x3f);
		return;
	case DW_CFA_offset:
		at_offset(r, XC_CFI_AT_CFA, opcode & 0x3f, uleb(r));
		return;
	case DW_CFA_restore:
		restore(r, opcode & 0x3f);
		return;
	default:
		break;
	}
	switch (opcode) {
	case DW_CFA_nop:
		break;
	case DW_CFA_advance_loc1:
	case DW_CFA_advance_loc2:
	case DW_CFA_advance_loc4: /* in this order */
		advance(r, fixed(r, (size_t)1 << (opcode - DW_CFA_advance_loc1)));
		break;
	case DW_CFA_MIPS_advance_loc8:
		advance(r, fixed(r, 8));
		break;
	case DW_CFA_remember_state:
		remember(r);
		break;
	case DW_CFA_restore_state:
		recall(r);
		break;
	case DW_CFA_GNU_args_size:
		uleb(r);
		break;
	case DW_CFA_def_cfa:
	case DW_CFA_def_cfa_sf:
	case DW_CFA_def_cfa_register:
	case DW_CFA_def_cfa_offset:
	case DW_CFA_def_cfa_offset_sf:
	case DW_CFA_def_cfa_expression:
		define(r, opcode);
		break;
	case DW_CFA_offset_extended:
	case DW_CFA_offset_extended_sf:
	case DW_CFA_GNU_negative_offset_extended:
	case DW_CFA_val_offset:
	case DW_CFA_val_offset_sf:
	case DW_CFA_restore_extended:
	case DW_CFA_undefined:
	case DW_CFA_same_value:
	case DW_CFA_register:
	case DW_CFA_expression:
	case DW_CFA_val_expression:
		rule_of_register(r, opcode);
		break;
	default:
		other(r, opcode);
		break;
	}
}

/* Run to the end, or to a location past addr. */
static bool execute(struct run *r, struct xc_cursor code, uint64_t addr)
{
	r->code = code;
	r->at = r->entry->lo;
	while (!r->broken && xc_cursor_left(&r->code) && r->at <= addr)
		step(r, *r->code.at++);
	return !r->broken;
}

/* A register without a rule has its caller's value if calls preserve it, and so has the link register until it is
 * saved; the caller's stack pointer is the CFA. */
static void defaults(struct run *r, struct state *s)
{
	const struct xc_arch *arch = r->arch;
	for (int i = 0; i < r->count; i++)
		s->rules[i] = (struct xc_cfi_rule){
			.kind = xc_arch_has(arch->preserved, i) || i == arch->lr ? XC_CFI_SAME : XC_CFI_LOST};
	if (arch->sp >= 0 && arch->sp < r->count)
		s->rules[arch->sp].kind = XC_CFI_CFA_PLUS;
}

bool xc_cfiprogram_run(const struct xc_arch *arch, const struct xc_cfientry *entry, uint64_t file_addr, uint16_t count,
		       struct xc_cfi_row *row)
{
	struct run r; /* large: not cleared */
	if (entry->return_reg >= count || count > MAX_RULES)
		return false;
	r.arch = arch;
	r.entry = entry;
	r.count = count;
	r.depth = 0;
	r.broken = false;
	r.now.cfa_reg = XC_REG_MAX; /* a register that is never known */
	r.now.cfa_offset = 0;
	r.now.cfa_expr = NULL;
	r.now.cfa_expr_size = 0;
	defaults(&r, &r.now);
	copy(&r, &r.initial, &r.now); /* for DW_CFA_restore in the common entry itself */
	if (!execute(&r, entry->initial, UINT64_MAX))
		return false;
	copy(&r, &r.initial, &r.now);
	if (!execute(&r, entry->program, file_addr))
		return false;
	row->found = true;
	row->signal = entry->signal;
	row->return_reg = (int)entry->return_reg;
	row->cfa_reg = r.now.cfa_reg;
	row->cfa_offset = r.now.cfa_offset;
	row->cfa_expr = r.now.cfa_expr;
	row->cfa_expr_size = r.now.cfa_expr_size;
	row->rule_count = count;
	memcpy(row->rules, r.now.rules, count * sizeof row->rules[0]);
	return true;
}
