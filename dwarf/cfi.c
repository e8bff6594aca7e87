/* cfi: rows from libdw, kept by address in an open-addressing table.
 *
 * Expressions in call frame information (DWARF 5, 6.4.2) are few and simple: the PLT's, the signal
 * trampoline's, stack realignment. They get a small evaluator of their own, without the frame and unit context that
 * the location expressions of variables need (expr.c). */
#include "cfi.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "debugfile.h"

enum { STACK_MAX = 32, STEPS_MAX = 1000, NOT_A_REGISTER = -1 };

/* The call frame information of one module. */
struct module_cfi {
	const struct xc_module *module;
	Dwarf_CFI *eh;    /* .eh_frame; owned here */
	Dwarf_CFI *debug; /* .debug_frame; owned by the Dwarf */
	bool debug_tried;
};

struct slot {
	xc_addr addr;
	struct xc_cfi_row *row;
};

struct xc_cfi {
	const struct xc_process *process;
	struct module_cfi *modules;
	size_t module_count, module_capacity;
	struct slot *slots; /* size is a power of two */
	size_t slot_count, used;
	struct xc_arena rows;
};

struct xc_cfi *xc_cfi_new(const struct xc_process *process)
{
	struct xc_cfi *cfi = xc_alloc(sizeof *cfi);
	cfi->process = process;
	cfi->slot_count = 1024;
	cfi->slots = xc_alloc(cfi->slot_count * sizeof *cfi->slots);
	return cfi;
}

void xc_cfi_free(struct xc_cfi *cfi)
{
	if (!cfi)
		return;
	for (size_t i = 0; i < cfi->module_count; i++)
		if (cfi->modules[i].eh)
			dwarf_cfi_end(cfi->modules[i].eh);
	free(cfi->modules);
	free(cfi->slots);
	xc_arena_fini(&cfi->rows);
	free(cfi);
}

/* ---- from libdw ---- */

static struct module_cfi *module_cfi(struct xc_cfi *cfi, struct xc_module *module)
{
	for (size_t i = 0; i < cfi->module_count; i++)
		if (cfi->modules[i].module == module)
			return &cfi->modules[i];
	cfi->modules = xc_grow(cfi->modules, cfi->module_count, &cfi->module_capacity, sizeof *cfi->modules);
	struct module_cfi *m = &cfi->modules[cfi->module_count++];
	Elf *elf = xc_debugfile_elf(xc_debugfile_of(cfi->process, module));
	*m = (struct module_cfi){.module = module, .eh = elf ? dwarf_getcfi_elf(elf) : NULL};
	return m;
}

static Dwarf_Frame *find_frame(struct xc_cfi *cfi, struct xc_module *module, uint64_t file_addr)
{
	struct module_cfi *m = module_cfi(cfi, module);
	Dwarf_Frame *frame = NULL;
	if (m->eh && dwarf_cfi_addrframe(m->eh, file_addr, &frame) == 0)
		return frame;
	if (!m->debug_tried) { /* opening the DWARF costs: only when .eh_frame does not know */
		Dwarf *dwarf = xc_debugfile_dwarf(xc_debugfile_of(cfi->process, module));
		m->debug = dwarf ? dwarf_getcfi(dwarf) : NULL;
		m->debug_tried = true;
	}
	return m->debug && dwarf_cfi_addrframe(m->debug, file_addr, &frame) == 0 ? frame : NULL;
}

/* libdw spells simple rules as expressions: [call_frame_cfa, plus_uconst n (, stack_value)], or [regx n]. */
static struct xc_cfi_rule rule_of(const Dwarf_Op *ops, size_t count)
{
	struct xc_cfi_rule rule = {.kind = XC_CFI_EXPRESSION, .ops = ops, .op_count = count};
	bool from_cfa = count >= 1 && ops[0].atom == DW_OP_call_frame_cfa;
	size_t at = 1;
	if (count == 1 && ops[0].atom == DW_OP_regx)
		return (struct xc_cfi_rule){.kind = XC_CFI_REGISTER, .reg = (int32_t)ops[0].number};
	if (!from_cfa)
		return rule;
	int64_t offset = 0;
	if (at < count && ops[at].atom == DW_OP_plus_uconst)
		offset = (int64_t)ops[at++].number;
	bool value = at < count && ops[at].atom == DW_OP_stack_value;
	if (at + value != count)
		return rule;
	return (struct xc_cfi_rule){.kind = value ? XC_CFI_CFA_PLUS : XC_CFI_AT_CFA, .offset = offset};
}

static struct xc_cfi_rule read_rule(Dwarf_Frame *frame, int number)
{
	Dwarf_Op memory[3], *ops = memory;
	size_t count = 0;
	if (dwarf_frame_register(frame, number, memory, &ops, &count) != 0)
		return (struct xc_cfi_rule){.kind = XC_CFI_LOST};
	if (count == 0)
		return (struct xc_cfi_rule){.kind = ops ? XC_CFI_LOST : XC_CFI_SAME};
	struct xc_cfi_rule rule = rule_of(ops, count);
	if (rule.kind == XC_CFI_EXPRESSION && ops == memory)
		rule.kind = XC_CFI_LOST; /* a form of libdw's that we do not know: not kept beyond this call */
	return rule;
}

/* What a function does not speak of is as its caller left it, for the registers that calls preserve. libdw knows
 * which these are, but takes rax for rbx on x86-64 (elfutils 0.188, backends/x86_64_cfi.c). */
static void mend_defaults(const struct xc_arch *arch, struct xc_cfi_row *row)
{
	enum { RAX = 0, RBX = 3 };
	if (arch->machine != EM_X86_64 || row->rule_count <= RBX)
		return;
	if (row->rules[RAX].kind == XC_CFI_SAME)
		row->rules[RAX].kind = XC_CFI_LOST;
	if (row->rules[RBX].kind == XC_CFI_LOST)
		row->rules[RBX].kind = XC_CFI_SAME;
}

static bool read_cfa(Dwarf_Frame *frame, struct xc_cfi_row *row)
{
	Dwarf_Op *ops;
	size_t count;
	if (dwarf_frame_cfa(frame, &ops, &count) != 0 || count == 0)
		return false;
	row->cfa_reg = NOT_A_REGISTER;
	if (count == 1 && ops[0].atom == DW_OP_bregx) {
		row->cfa_reg = (int)ops[0].number;
		row->cfa_offset = (int64_t)ops[0].number2;
	} else {
		row->cfa_ops = ops;
		row->cfa_op_count = count;
	}
	return true;
}

static struct xc_cfi_row *make_row(struct xc_cfi *cfi, xc_addr addr)
{
	uint16_t regs = cfi->process->arch->frame_regs;
	struct xc_module *module = xc_process_module(cfi->process, addr);
	struct xc_cfi_row *row = xc_arena_alloc(&cfi->rows, sizeof *row + regs * sizeof row->rules[0]);
	Dwarf_Frame *frame = module ? find_frame(cfi, module, addr - module->bias) : NULL;
	if (!frame)
		return row;
	Dwarf_Addr start, end;
	bool signal = false;
	row->return_reg = dwarf_frame_info(frame, &start, &end, &signal);
	row->signal = signal;
	row->found = row->return_reg >= 0 && row->return_reg < regs && read_cfa(frame, row);
	row->rule_count = regs;
	for (int i = 0; row->found && i < regs; i++)
		row->rules[i] = read_rule(frame, i);
	mend_defaults(cfi->process->arch, row);
	free(frame);
	return row;
}

/* ---- the table ---- */

static size_t slot_of(const struct xc_cfi *cfi, xc_addr addr)
{
	size_t at = (size_t)(addr * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (cfi->slot_count - 1);
	while (cfi->slots[at].row && cfi->slots[at].addr != addr)
		at = (at + 1) & (cfi->slot_count - 1);
	return at;
}

static void grow(struct xc_cfi *cfi)
{
	struct slot *old = cfi->slots;
	size_t old_count = cfi->slot_count;
	cfi->slot_count *= 2;
	cfi->slots = xc_alloc(cfi->slot_count * sizeof *cfi->slots);
	for (size_t i = 0; i < old_count; i++)
		if (old[i].row)
			cfi->slots[slot_of(cfi, old[i].addr)] = old[i];
	free(old);
}

const struct xc_cfi_row *xc_cfi_row(struct xc_cfi *cfi, xc_addr addr)
{
	size_t at = slot_of(cfi, addr);
	if (cfi->slots[at].row)
		return cfi->slots[at].row;
	if (++cfi->used * 2 > cfi->slot_count) {
		grow(cfi);
		at = slot_of(cfi, addr);
	}
	cfi->slots[at] = (struct slot){.addr = addr, .row = make_row(cfi, addr)};
	return cfi->slots[at].row;
}

/* ---- applying a row ---- */

struct machine {
	const struct xc_process *process;
	const struct xc_regs *regs;
	xc_addr cfa, missing;
	bool cfa_known; /* not while the CFA itself is computed */
	bool is_value;  /* ended in DW_OP_stack_value */
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

static bool push_reg(struct machine *m, int number, uint64_t offset)
{
	uint64_t value;
	return xc_regs_get(m->regs, number, &value) && push(m, value + offset);
}

static bool deref(struct machine *m, size_t size)
{
	uint64_t *top = &m->stack[m->depth - 1];
	xc_addr addr = *top;
	if (size < 1 || size > 8)
		return false;
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
		*a = (uint64_t)((int64_t)*a >> (b < 64 ? b : 63));
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

static bool execute(struct machine *m, const Dwarf_Op *op)
{
	if (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31)
		return push(m, (uint64_t)(op->atom - DW_OP_lit0));
	if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31)
		return push_reg(m, op->atom - DW_OP_breg0, op->number);
	switch (op->atom) {
	case DW_OP_addr:
	case DW_OP_const1u:
	case DW_OP_const1s:
	case DW_OP_const2u:
	case DW_OP_const2s:
	case DW_OP_const4u:
	case DW_OP_const4s:
	case DW_OP_const8u:
	case DW_OP_const8s:
	case DW_OP_constu:
	case DW_OP_consts:
		return push(m, op->number);
	case DW_OP_bregx:
		return op->number < XC_REG_MAX && push_reg(m, (int)op->number, op->number2);
	case DW_OP_call_frame_cfa:
		return m->cfa_known && push(m, m->cfa);
	case DW_OP_dup:
		return m->depth && push(m, m->stack[m->depth - 1]);
	case DW_OP_over:
		return m->depth > 1 && push(m, m->stack[m->depth - 2]);
	case DW_OP_drop:
		return m->depth && m->depth--;
	case DW_OP_plus_uconst:
		return m->depth && (m->stack[m->depth - 1] += op->number, true);
	case DW_OP_deref:
		return m->depth && deref(m, m->process->arch->word);
	case DW_OP_deref_size:
		return m->depth && deref(m, (size_t)op->number);
	case DW_OP_nop:
		return true;
	case DW_OP_stack_value:
		m->is_value = true;
		return true;
	default:
		return m->depth > 1 && binary(m, op->atom);
	}
}

static bool evaluate(struct machine *m, const Dwarf_Op *ops, size_t count, uint64_t *result)
{
	m->missing = UINT64_MAX;
	if (count > STEPS_MAX)
		return false;
	for (size_t i = 0; i < count; i++)
		if (!execute(m, &ops[i]))
			return false;
	if (!m->depth)
		return false;
	*result = m->stack[m->depth - 1];
	return true;
}

bool xc_cfi_cfa(const struct xc_process *process, const struct xc_cfi_row *row, const struct xc_regs *regs, xc_addr *cfa_out,
		xc_addr *missing_out)
{
	if (row->cfa_reg != NOT_A_REGISTER) {
		uint64_t base;
		*missing_out = UINT64_MAX;
		if (!xc_regs_get(regs, row->cfa_reg, &base))
			return false;
		*cfa_out = base + (uint64_t)row->cfa_offset;
		return true;
	}
	struct machine m = {.process = process, .regs = regs};
	bool good = evaluate(&m, row->cfa_ops, row->cfa_op_count, cfa_out);
	*missing_out = m.missing;
	return good;
}

static bool load(const struct xc_process *process, xc_addr addr, uint64_t *value_out, xc_addr *missing_out)
{
	*missing_out = addr;
	return xc_space_peek_uint(process->space, addr, process->arch->word, value_out);
}

bool xc_cfi_register(const struct xc_process *process, const struct xc_cfi_row *row, int number, const struct xc_regs *regs,
		     xc_addr cfa, uint64_t *value_out, xc_addr *missing_out)
{
	const struct xc_cfi_rule *rule = &row->rules[number];
	*missing_out = UINT64_MAX;
	switch (rule->kind) {
	case XC_CFI_SAME:
		return xc_regs_get(regs, number, value_out);
	case XC_CFI_REGISTER:
		return xc_regs_get(regs, rule->reg, value_out);
	case XC_CFI_CFA_PLUS:
		*value_out = cfa + (uint64_t)rule->offset;
		return true;
	case XC_CFI_AT_CFA:
		return load(process, cfa + (uint64_t)rule->offset, value_out, missing_out);
	case XC_CFI_EXPRESSION: {
		struct machine m = {.process = process, .regs = regs, .cfa = cfa, .cfa_known = true};
		uint64_t result;
		bool good = evaluate(&m, rule->ops, rule->op_count, &result);
		*missing_out = m.missing;
		if (good && !m.is_value)
			return load(process, result, value_out, missing_out);
		if (good)
			*value_out = result;
		return good;
	}
	case XC_CFI_LOST:
		break;
	}
	return false;
}
