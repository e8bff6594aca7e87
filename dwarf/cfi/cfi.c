/* cfi: rows, kept by address.
 *
 * Expressions in call frame information (DWARF 5, 6.4.2) are few and simple: the PLT's, the signal trampoline's,
 * stack realignment. They have a small evaluator here, without the frame and unit context that the location
 * expressions of variables need (dwarf/value/expr.c). */
#include "dwarf/cfi/cfi.h"

#include <dwarf.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/hashtable.h"
#include "dwarf/elf/take.h"
#include "dwarf/module/cfimodule.h"
#include "dwarf/cfi/cfiprogram.h"
#include "dwarf/cfi/exidx.h"
#include "dwarf/cfi/foreign_frame.h"

enum { STACK_MAX = 32, STEPS_MAX = 1000, NOT_A_REGISTER = -1 };

/* Unwinding tables that only arm's modules have. */
struct module_cfi {
	const struct xc_module *module;
	struct xc_exidx exidx;
};

struct xc_cfi {
	const struct xc_process *process;
	struct module_cfi *modules;
	size_t module_count, module_capacity;
	struct xc_hashtable by_addr;
	struct xc_arena rows;
};

struct xc_cfi *xc_cfi_new(const struct xc_process *process)
{
	struct xc_cfi *cfi = xc_alloc(sizeof *cfi);
	cfi->process = process;
	return cfi;
}

void xc_cfi_free(struct xc_cfi *cfi)
{
	if (!cfi)
		return;
	free(cfi->modules);
	xc_hashtable_fini(&cfi->by_addr);
	xc_arena_fini(&cfi->rows);
	free(cfi);
}

/* ---- from the module ---- */

static struct module_cfi *module_cfi(struct xc_cfi *cfi, struct xc_module *module)
{
	for (size_t i = 0; i < cfi->module_count; i++)
		if (cfi->modules[i].module == module)
			return &cfi->modules[i];
	cfi->modules = xc_grow(cfi->modules, cfi->module_count, &cfi->module_capacity, sizeof *cfi->modules);
	struct module_cfi *m = &cfi->modules[cfi->module_count++];
	*m = (struct module_cfi){.module = module};
	Elf *elf = xc_debugfile_elf(xc_debugfile_of(cfi->process, module));
	size_t size;
	const void *bytes = elf && cfi->process->arch->machine == EM_ARM ? elf_rawfile(elf, &size) : NULL;
	if (bytes)
		xc_exidx_open(&m->exidx, bytes, size);
	return m;
}

static struct xc_cfi_row *make_row(struct xc_cfi *cfi, xc_addr addr)
{
	uint16_t regs = cfi->process->arch->frame_regs;
	struct xc_module *module = xc_process_module(cfi->process, addr);
	struct xc_cfi_row *row = xc_arena_alloc(&cfi->rows, sizeof *row + regs * sizeof row->rules[0]);
	struct xc_cfientry entry;
	if (!module)
		return row;
	uint64_t file_addr = xc_arch_wrap(cfi->process->arch, addr - module->bias);
	if (xc_cfimodule_find(xc_debugfile_of(cfi->process, module), file_addr, &entry))
		xc_cfiprogram_run(cfi->process->arch, &entry, file_addr, regs, row);
	if (!row->found)
		xc_exidx_row(&module_cfi(cfi, module)->exidx, cfi->process->arch, file_addr, regs, row);
	return row;
}

/* ---- the table ---- */

static const struct xc_cfi_row *row_of_module(struct xc_cfi *cfi, xc_addr addr)
{
	union xc_hashtable_value *row = xc_hashtable_at(&cfi->by_addr, NULL, addr, 0);
	if (!row->pointer)
		row->pointer = make_row(cfi, addr);
	return row->pointer;
}

/* Rows of foreign code are not kept in the table: more may be added at any time. */
const struct xc_cfi_row *xc_cfi_row(struct xc_cfi *cfi, xc_addr addr)
{
	const struct xc_cfi_row *told = xc_foreign_row(cfi->process, addr, true);
	if (told)
		return told;
	const struct xc_cfi_row *row = row_of_module(cfi, addr);
	if (!row->found && (told = xc_foreign_row(cfi->process, addr, false)))
		return told;
	return row;
}

/* ---- applying a row ---- */

struct machine {
	const struct xc_process *process;
	const struct xc_regs *regs;
	xc_addr cfa, missing;
	bool cfa_known; /* not while the CFA itself is computed */
	struct xc_cursor code;
	uint64_t stack[STACK_MAX];
	size_t depth;
};

static bool push(struct machine *m, uint64_t value)
{
	if (m->depth == STACK_MAX)
		return false;
	m->stack[m->depth++] = value;
	return true;
}

static bool push_reg(struct machine *m, uint64_t number, uint64_t offset)
{
	uint64_t value;
	return number < XC_REG_MAX && xc_regs_get(m->regs, (int)number, &value) && push(m, value + offset);
}

static bool deref(struct machine *m, size_t size)
{
	uint64_t *top = &m->stack[m->depth - 1];
	xc_addr addr = *top;
	if (size < 1 || size > 8)
		return false;
	addr = xc_arch_wrap(m->process->arch, addr);
	if (xc_space_peek_uint(m->process->space, addr, size, top))
		return true;
	m->missing = addr;
	return false;
}

static bool binary(struct machine *m, uint8_t atom)
{
	uint64_t b = m->stack[--m->depth], *a = &m->stack[m->depth - 1];
	switch (atom) {
	case DW_OP_plus:
		*a += b;
		return true;
	case DW_OP_minus:
		*a -= b;
		return true;
	case DW_OP_mul:
		*a *= b;
		return true;
	case DW_OP_and:
		*a &= b;
		return true;
	case DW_OP_or:
		*a |= b;
		return true;
	case DW_OP_xor:
		*a ^= b;
		return true;
	case DW_OP_shl:
		*a = b < 64 ? *a << b : 0;
		return true;
	case DW_OP_shr:
		*a = b < 64 ? *a >> b : 0;
		return true;
	case DW_OP_shra:
		*a = b < 63 ? (uint64_t)((int64_t)*a >> b) : (int64_t)*a < 0 ? UINT64_MAX : 0;
		return true;
	case DW_OP_eq:
		*a = *a == b;
		return true;
	case DW_OP_ne:
		*a = *a != b;
		return true;
	case DW_OP_lt:
		*a = (int64_t)*a < (int64_t)b;
		return true;
	case DW_OP_le:
		*a = (int64_t)*a <= (int64_t)b;
		return true;
	case DW_OP_gt:
		*a = (int64_t)*a > (int64_t)b;
		return true;
	case DW_OP_ge:
		*a = (int64_t)*a >= (int64_t)b;
		return true;
	default:
		return false;
	}
}

/* A constant of `size` bytes, sign-extended when is_signed. */
static bool push_constant(struct machine *m, size_t size, bool is_signed)
{
	uint64_t value;
	if (!xc_take_uint(&m->code, size, &value))
		return false;
	return push(m, is_signed ? xc_sign_extend(value, 8 * (unsigned)size) : value);
}

static bool execute(struct machine *m, uint8_t op)
{
	uint64_t value, number;
	int64_t offset;
	if (op >= DW_OP_lit0 && op <= DW_OP_lit31)
		return push(m, (uint64_t)(op - DW_OP_lit0));
	if (op >= DW_OP_breg0 && op <= DW_OP_breg31)
		return xc_take_sleb(&m->code, &offset) && push_reg(m, op - DW_OP_breg0, (uint64_t)offset);
	switch (op) {
	case DW_OP_addr:
		return push_constant(m, m->process->arch->word, false);
	case DW_OP_const8u:
	case DW_OP_const8s:
		return push_constant(m, 8, false);
	case DW_OP_const1u:
	case DW_OP_const1s:
		return push_constant(m, 1, op == DW_OP_const1s);
	case DW_OP_const2u:
	case DW_OP_const2s:
		return push_constant(m, 2, op == DW_OP_const2s);
	case DW_OP_const4u:
	case DW_OP_const4s:
		return push_constant(m, 4, op == DW_OP_const4s);
	case DW_OP_constu:
		return xc_take_uleb(&m->code, &value) && push(m, value);
	case DW_OP_consts:
		return xc_take_sleb(&m->code, &offset) && push(m, (uint64_t)offset);
	case DW_OP_bregx:
		return xc_take_uleb(&m->code, &number) && xc_take_sleb(&m->code, &offset) &&
		       push_reg(m, number, (uint64_t)offset);
	case DW_OP_call_frame_cfa:
		return m->cfa_known && push(m, m->cfa);
	case DW_OP_dup:
		return m->depth && push(m, m->stack[m->depth - 1]);
	case DW_OP_over:
		return m->depth > 1 && push(m, m->stack[m->depth - 2]);
	case DW_OP_drop:
		return m->depth && m->depth--;
	case DW_OP_plus_uconst:
		return m->depth && xc_take_uleb(&m->code, &value) && (m->stack[m->depth - 1] += value, true);
	case DW_OP_deref:
		return m->depth && deref(m, m->process->arch->word);
	case DW_OP_deref_size:
		return m->depth && xc_cursor_left(&m->code) && deref(m, *m->code.at++);
	case DW_OP_nop:
		return true;
	default:
		return m->depth > 1 && binary(m, op);
	}
}

static bool evaluate(struct machine *m, const uint8_t *expr, size_t size, uint64_t *result)
{
	m->missing = UINT64_MAX;
	m->code = xc_cursor(expr, size, "call frame information");
	for (size_t steps = 0; xc_cursor_left(&m->code); steps++)
		if (steps == STEPS_MAX || !execute(m, *m->code.at++))
			return false;
	if (!m->depth)
		return false;
	*result = xc_arch_wrap(m->process->arch, m->stack[m->depth - 1]);
	return true;
}

bool xc_cfi_cfa(const struct xc_process *process, const struct xc_cfi_row *row, const struct xc_regs *regs,
		xc_addr *cfa_out, xc_addr *missing_out)
{
	if (row->cfa_reg != NOT_A_REGISTER) {
		uint64_t base;
		*missing_out = UINT64_MAX;
		if (!xc_regs_get(regs, row->cfa_reg, &base))
			return false;
		*cfa_out = xc_arch_wrap(process->arch, base + (uint64_t)row->cfa_offset);
		return true;
	}
	struct machine m = {.process = process, .regs = regs};
	bool good = evaluate(&m, row->cfa_expr, row->cfa_expr_size, cfa_out);
	*missing_out = m.missing;
	return good;
}

static bool load(const struct xc_process *process, xc_addr addr, size_t size, uint64_t *value_out, xc_addr *missing_out)
{
	*missing_out = addr;
	return xc_space_peek_uint(process->space, addr, size, value_out);
}

bool xc_cfi_register(const struct xc_process *process, const struct xc_cfi_row *row, int number,
		     const struct xc_regs *regs, xc_addr cfa, uint64_t *value_out, xc_addr *missing_out)
{
	const struct xc_cfi_rule *rule = &row->rules[number];
	*missing_out = UINT64_MAX;
	switch (rule->kind) {
	case XC_CFI_SAME:
		return xc_regs_get(regs, number, value_out);
	case XC_CFI_REGISTER:
		return xc_regs_get(regs, rule->reg, value_out);
	case XC_CFI_CFA_PLUS:
		*value_out = xc_arch_wrap(process->arch, cfa + (uint64_t)rule->offset);
		return true;
	case XC_CFI_AT_CFA:
		return load(process, xc_arch_wrap(process->arch, cfa + (uint64_t)rule->offset),
			    xc_arch_saved_size(process->arch, number), value_out, missing_out);
	case XC_CFI_EXPRESSION: {
		struct machine m = {.process = process, .regs = regs, .cfa = cfa, .cfa_known = true};
		uint64_t result;
		push(&m, cfa); /* such expressions start with the CFA on the stack */
		bool good = evaluate(&m, rule->expr, rule->expr_size, &result);
		*missing_out = m.missing;
		if (good && !rule->expr_is_value)
			return load(process, result, xc_arch_saved_size(process->arch, number), value_out, missing_out);
		if (good)
			*value_out = result;
		return good;
	}
	case XC_CFI_LOST:
		break;
	}
	return false;
}
