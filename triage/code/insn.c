/* insn: Zydis lists all operands, including implied ones, so the written registers are known for all instructions.
 * Only the few instructions with which compilers move pointers and indexes have a kind of their own. */
#include "triage/code/insn.h"

#include <Zydis/Zydis.h>
#include <elf.h>

#include "dwarf/decode/zydis_register.h"

enum { FS_BASE = 58, GS_BASE = 59 };

struct decoding {
	bool wide;
	const struct xc_arch *arch;
	ZydisMachineMode mode;
	ZydisDecodedInstruction instruction;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
};

bool xc_insn_decodes(const struct xc_process *process)
{
	return xc_arch_is_x86_64(process->arch) || process->arch->machine == EM_386;
}

static int reg_of(const struct decoding *d, const ZydisDecodedOperand *operand)
{
	return operand->type == ZYDIS_OPERAND_TYPE_REGISTER ? xc_zydis_register(d->mode, operand->reg.value) : -1;
}

static void set_memory(const struct decoding *d, const ZydisDecodedOperand *operand, struct xc_insn *out)
{
	const ZydisDecodedOperandMem *mem = &operand->mem;
	struct xc_insn_memory *to = &out->memory;
	bool fs = mem->segment == ZYDIS_REGISTER_FS, gs = mem->segment == ZYDIS_REGISTER_GS;
	bool relative = mem->base == ZYDIS_REGISTER_RIP || mem->base == ZYDIS_REGISTER_EIP;
	out->has_memory = true;
	*to = (struct xc_insn_memory){.segment = fs   ? FS_BASE
						 : gs ? GS_BASE
						      : -1,
				      .base = relative ? -1 : xc_zydis_register(d->mode, mem->base),
				      .index = xc_zydis_register(d->mode, mem->index),
				      .scale = mem->scale ? mem->scale : 1,
				      .displacement = mem->disp.has_displacement ? mem->disp.value : 0,
				      .size = operand->size / 8};
	if (relative)
		to->displacement = (int64_t)((uint64_t)to->displacement + out->addr + out->length);
	else if (mem->base != ZYDIS_REGISTER_NONE)
		to->complex |= to->base < 0;
	if (mem->index != ZYDIS_REGISTER_NONE)
		to->complex |= to->index < 0;
	to->complex |= mem->type != ZYDIS_MEMOP_TYPE_MEM && mem->type != ZYDIS_MEMOP_TYPE_AGEN;
	to->complex |= fs && !d->wide;
}

static void survey(const struct decoding *d, struct xc_insn *out)
{
	for (size_t i = 0; i < d->instruction.operand_count; i++) {
		const ZydisDecodedOperand *operand = &d->operands[i];
		bool writes = operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;
		int reg = reg_of(d, operand);
		if (writes && reg >= 0 && reg < 64)
			out->writes |= UINT64_C(1) << reg;
		if (operand->type != ZYDIS_OPERAND_TYPE_MEMORY)
			continue;
		if (operand->mem.type == ZYDIS_MEMOP_TYPE_MEM) {
			out->writes_memory |= writes;
			out->reads_memory |= (operand->actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0;
		}
		if (!out->has_memory && operand->visibility != ZYDIS_OPERAND_VISIBILITY_HIDDEN)
			set_memory(d, operand, out);
	}
}

static void set_to(struct xc_insn *out, enum xc_insn_kind kind, int to, int from)
{
	out->kind = kind;
	out->to = to;
	out->from = from;
}

static bool immediate(const ZydisDecodedOperand *operand, int64_t *value)
{
	if (operand->type != ZYDIS_OPERAND_TYPE_IMMEDIATE)
		return false;
	*value = operand->imm.value.s;
	return true;
}

/* A store into all bytes of the operand, from a register of any kind. */
static bool classify_store(const struct decoding *d, struct xc_insn *out)
{
	const ZydisDecodedOperand *into = &d->operands[0], *what = &d->operands[1];
	bool reads = into->actions & ZYDIS_OPERAND_ACTION_MASK_READ;
	if (into->type != ZYDIS_OPERAND_TYPE_MEMORY || !(into->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
		return false;
	if (d->instruction.mnemonic == ZYDIS_MNEMONIC_AND && immediate(what, &out->constant) && out->constant == 0)
		set_to(out, XC_INSN_STORE_CONSTANT, -1, -1);
	else if (reads || d->instruction.operand_count_visible != 2)
		return true;
	else if (immediate(what, &out->constant))
		set_to(out, XC_INSN_STORE_CONSTANT, -1, -1);
	else
		set_to(out, XC_INSN_STORE, -1, reg_of(d, what));
	return true;
}

static void classify_move(const struct decoding *d, struct xc_insn *out)
{
	const ZydisDecodedOperand *a = &d->operands[0], *b = &d->operands[1];
	int to = reg_of(d, a), from = reg_of(d, b);
	if (to < 0)
		return;
	if (a->size < 32)
		out->part = a->size / 8;
	out->extends_signed =
		d->instruction.mnemonic == ZYDIS_MNEMONIC_MOVSX || d->instruction.mnemonic == ZYDIS_MNEMONIC_MOVSXD;
	if (b->type == ZYDIS_OPERAND_TYPE_REGISTER && b->size < (d->wide ? 64 : 32))
		out->taken = b->size / 8;
	if (b->type == ZYDIS_OPERAND_TYPE_MEMORY)
		set_to(out, XC_INSN_LOAD, to, -1);
	else if (immediate(b, &out->constant))
		set_to(out, XC_INSN_CONSTANT, to, -1);
	else if (from >= 0)
		set_to(out, XC_INSN_MOVE, to, from);
}

static void classify_add(const struct decoding *d, bool subtract, struct xc_insn *out)
{
	const ZydisDecodedOperand *a = &d->operands[0], *b = &d->operands[1];
	int to = reg_of(d, a), from = reg_of(d, b);
	if (!subtract && a->type == ZYDIS_OPERAND_TYPE_MEMORY && from >= 0)
		out->added = from;
	if (to < 0 || a->size < 32)
		return;
	if (immediate(b, &out->constant)) {
		out->constant = subtract ? (int64_t) - (uint64_t)out->constant : out->constant;
		set_to(out, XC_INSN_ADD, to, to);
	} else if (subtract && from == to) {
		set_to(out, XC_INSN_CONSTANT, to, -1);
	} else if (subtract && (from >= 0 || b->type == ZYDIS_OPERAND_TYPE_MEMORY)) {
		out->subtracts = true;
		out->reduced = to;
		out->less = from;
	} else if (!subtract && from >= 0) {
		set_to(out, XC_INSN_ADD_REGISTER, to, from);
	} else if (!subtract && b->type == ZYDIS_OPERAND_TYPE_MEMORY) {
		set_to(out, XC_INSN_ADD_MEMORY, to, -1);
	}
}

static void classify_multiply(const struct decoding *d, struct xc_insn *out)
{
	int64_t by;
	int to = reg_of(d, &d->operands[0]), from = reg_of(d, &d->operands[1]);
	bool loads = d->operands[1].type == ZYDIS_OPERAND_TYPE_MEMORY;
	if (d->instruction.operand_count_visible != 3 || to < 0 || (from < 0 && !loads) || d->operands[0].size < 32 ||
	    !immediate(&d->operands[2], &by))
		return;
	out->constant = by;
	set_to(out, XC_INSN_MULTIPLY, to, from);
}

/* ah, ch, dh or bh? */
static bool is_high_byte(const ZydisDecodedOperand *operand)
{
	return operand->type == ZYDIS_OPERAND_TYPE_REGISTER && operand->reg.value >= ZYDIS_REGISTER_AH &&
	       operand->reg.value <= ZYDIS_REGISTER_BH;
}

static void classify_compare(const struct decoding *d, struct xc_insn *out)
{
	const ZydisDecodedOperand *a = &d->operands[0], *b = &d->operands[1];
	int64_t value = 0;
	bool tests = d->instruction.mnemonic == ZYDIS_MNEMONIC_TEST, constant = immediate(b, &value);
	out->left = reg_of(d, a);
	out->right = reg_of(d, b);
	out->compares = !tests || (out->left >= 0 && out->left == out->right);
	out->compares_zero = tests ? out->compares : constant && !value;
	out->compare_size = a->size / 8;
}

static bool compares_floats(ZydisMnemonic mnemonic)
{
	switch (mnemonic) {
	case ZYDIS_MNEMONIC_COMISS:
	case ZYDIS_MNEMONIC_COMISD:
	case ZYDIS_MNEMONIC_UCOMISS:
	case ZYDIS_MNEMONIC_UCOMISD:
	case ZYDIS_MNEMONIC_VCOMISS:
	case ZYDIS_MNEMONIC_VCOMISD:
	case ZYDIS_MNEMONIC_VUCOMISS:
	case ZYDIS_MNEMONIC_VUCOMISD:
		return true;
	default:
		return false;
	}
}

static void classify_register(const struct decoding *d, struct xc_insn *out)
{
	const ZydisDecodedOperand *a = &d->operands[0], *b = &d->operands[1];
	int to = reg_of(d, a), from = reg_of(d, b);
	int64_t value = 0;
	switch (d->instruction.mnemonic) {
	case ZYDIS_MNEMONIC_MOV:
	case ZYDIS_MNEMONIC_MOVZX:
	case ZYDIS_MNEMONIC_MOVSX:
	case ZYDIS_MNEMONIC_MOVSXD:
		classify_move(d, out);
		break;
	case ZYDIS_MNEMONIC_NOP:
		out->kind = XC_INSN_NOP;
		break;
	case ZYDIS_MNEMONIC_CDQE:
		set_to(out, XC_INSN_MOVE, 0, 0);
		out->taken = 4;
		out->extends_signed = true;
		break;
	case ZYDIS_MNEMONIC_LEA:
		if (to >= 0 && a->size >= 32)
			set_to(out, XC_INSN_ADDRESS, to, -1);
		break;
	case ZYDIS_MNEMONIC_XOR:
		if (to >= 0 && to == from && a->size >= 32)
			set_to(out, XC_INSN_CONSTANT, to, -1);
		break;
	case ZYDIS_MNEMONIC_ADD:
	case ZYDIS_MNEMONIC_SUB:
		classify_add(d, d->instruction.mnemonic == ZYDIS_MNEMONIC_SUB, out);
		break;
	case ZYDIS_MNEMONIC_INC:
	case ZYDIS_MNEMONIC_DEC:
		if (to >= 0 && a->size >= 32)
			set_to(out, XC_INSN_ADD, to, to);
		out->constant = d->instruction.mnemonic == ZYDIS_MNEMONIC_INC ? 1 : -1;
		break;
	case ZYDIS_MNEMONIC_SHL:
		if (to >= 0 && a->size >= 32 && immediate(b, &value) && value >= 0 && value < 32)
			set_to(out, XC_INSN_SHIFT, to, to);
		out->constant = out->kind == XC_INSN_SHIFT ? value : 0;
		break;
	case ZYDIS_MNEMONIC_IMUL:
		classify_multiply(d, out);
		break;
	case ZYDIS_MNEMONIC_CMP:
	case ZYDIS_MNEMONIC_TEST:
		classify_compare(d, out);
		break;
	case ZYDIS_MNEMONIC_IDIV:
	case ZYDIS_MNEMONIC_DIV:
		out->divides = true;
		out->divides_signed = d->instruction.mnemonic == ZYDIS_MNEMONIC_IDIV;
		out->divisor_size = a->size / 8;
		out->divisor = is_high_byte(a) ? -1 : to;
		break;
	default:
		if (d->instruction.meta.category == ZYDIS_CATEGORY_CMOV && to >= 0)
			set_to(out, from >= 0 ? XC_INSN_CHOOSE : XC_INSN_CHOOSE_MEMORY, to, from);
	}
}

static void classify_flow(const struct decoding *d, struct xc_insn *out)
{
	const ZydisDecodedOperand *a = &d->operands[0];
	switch (d->instruction.meta.category) {
	case ZYDIS_CATEGORY_CALL:
		out->kind = XC_INSN_CALL;
		break;
	case ZYDIS_CATEGORY_RET:
		out->kind = XC_INSN_RETURN;
		return;
	case ZYDIS_CATEGORY_COND_BR:
		out->kind = XC_INSN_BRANCH;
		break;
	case ZYDIS_CATEGORY_UNCOND_BR:
		out->kind = XC_INSN_JUMP;
		break;
	default:
		return;
	}
	out->from = reg_of(d, a);
	if (a->type == ZYDIS_OPERAND_TYPE_IMMEDIATE && a->imm.is_relative)
		out->has_target = ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(&d->instruction, a, out->addr, &out->target));
}

static void follow_stack(const struct decoding *d, struct xc_insn *out)
{
	int sp = d->arch->sp;
	int64_t word = d->wide ? 8 : 4;
	out->stack_known = !(out->writes >> sp & 1) || out->kind == XC_INSN_CALL || out->kind == XC_INSN_RETURN;
	if (out->stack_known)
		return;
	switch (d->instruction.mnemonic) {
	case ZYDIS_MNEMONIC_PUSH:
		out->stack_moves = -word;
		out->stack_known = true;
		set_to(out, XC_INSN_PUSH, -1, reg_of(d, &d->operands[0]));
		break;
	case ZYDIS_MNEMONIC_POP:
		out->stack_moves = word;
		out->stack_known = reg_of(d, &d->operands[0]) != sp;
		break;
	default:
		if (out->kind == XC_INSN_ADD && out->to == sp) {
			out->stack_moves = out->constant;
			out->stack_known = true;
		}
	}
}

bool xc_insn_decode(const struct xc_process *process, const uint8_t *bytes, size_t len, xc_addr addr,
		    struct xc_insn *out)
{
	ZydisDecoder decoder;
	bool wide = xc_arch_is_x86_64(process->arch);
	struct decoding d = {.wide = wide, .arch = process->arch};
	d.mode = wide ? ZYDIS_MACHINE_MODE_LONG_64 : ZYDIS_MACHINE_MODE_LEGACY_32;
	*out = (struct xc_insn){.addr = addr,
				.to = -1,
				.from = -1,
				.added = -1,
				.divisor = -1,
				.reduced = -1,
				.less = -1,
				.left = -1,
				.right = -1};
	if (!xc_insn_decodes(process) ||
	    !ZYAN_SUCCESS(ZydisDecoderInit(&decoder, d.mode, wide ? ZYDIS_STACK_WIDTH_64 : ZYDIS_STACK_WIDTH_32)) ||
	    !ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, bytes, len, &d.instruction, d.operands)))
		return false;
	out->length = d.instruction.length;
	out->compares_floats = compares_floats(d.instruction.mnemonic);
	survey(&d, out);
	if (!classify_store(&d, out))
		classify_register(&d, out);
	classify_flow(&d, out);
	follow_stack(&d, out);
	return true;
}
