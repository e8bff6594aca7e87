/* stackop: the few instructions that move the stack pointer or load registers from the stack; of others only the
 * registers that they write. Encodings: Intel SDM volume 2; Arm ARM DDI 0487 C6.2. */
#include "dwarf/decode/stackop.h"

#include <Zydis/Zydis.h>
#include <elf.h>

#include "core/base/cursor.h"
#include "dwarf/decode/zydis_register.h"

enum { LONGEST = 15 };

struct x86 {
	ZydisMachineMode mode;
	int sp, fp, word;
	ZydisDecodedInstruction instruction;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
};

static bool is_x86(const struct xc_arch *arch)
{
	return arch->machine == EM_X86_64 || arch->machine == EM_386;
}

bool xc_stackop_decodes(const struct xc_process *p)
{
	return is_x86(p->arch) || p->arch->machine == EM_AARCH64;
}

static void add_load(struct xc_stackop *out, int reg, bool by_fp, int64_t at)
{
	if (out->load_count == XC_COUNT(out->loads))
		return;
	out->loads[out->load_count].reg = reg;
	out->loads[out->load_count].by_fp = by_fp;
	out->loads[out->load_count++].at = at;
}

/* ---- x86 ---- */

static int whole_register(const struct x86 *x, const ZydisDecodedOperand *operand)
{
	return operand->type == ZYDIS_OPERAND_TYPE_REGISTER && operand->size / 8 == x->word
		       ? xc_zydis_register(x->mode, operand->reg.value)
		       : -1;
}

/* base + displacement of sp or the frame pointer: which of them, or -1. */
static int on_stack(const struct x86 *x, const ZydisDecodedOperand *operand, int64_t *displacement)
{
	if (operand->type != ZYDIS_OPERAND_TYPE_MEMORY || operand->mem.index != ZYDIS_REGISTER_NONE ||
	    operand->mem.base == ZYDIS_REGISTER_NONE)
		return -1;
	int base = xc_zydis_register(x->mode, operand->mem.base);
	*displacement = operand->mem.disp.has_displacement ? operand->mem.disp.value : 0;
	return base == x->sp || base == x->fp ? base : -1;
}

static void x86_flow(const struct x86 *x, xc_addr addr, struct xc_stackop *out)
{
	const ZydisDecodedInstruction *i = &x->instruction;
	switch (i->meta.category) {
	case ZYDIS_CATEGORY_CALL:
		out->flow = XC_STACKOP_CALL;
		break;
	case ZYDIS_CATEGORY_RET:
		out->flow = XC_STACKOP_RETURN;
		break;
	case ZYDIS_CATEGORY_COND_BR:
		out->flow = XC_STACKOP_BRANCH;
		break;
	case ZYDIS_CATEGORY_UNCOND_BR:
		out->flow = XC_STACKOP_JUMP;
		break;
	default:
		if (i->mnemonic == ZYDIS_MNEMONIC_HLT || i->mnemonic == ZYDIS_MNEMONIC_UD0 ||
		    i->mnemonic == ZYDIS_MNEMONIC_UD1 || i->mnemonic == ZYDIS_MNEMONIC_UD2 ||
		    i->mnemonic == ZYDIS_MNEMONIC_INT3)
			out->flow = XC_STACKOP_END;
		return;
	}
	const ZydisDecodedOperand *to = &x->operands[0];
	ZyanU64 target;
	if (i->operand_count_visible && to->type == ZYDIS_OPERAND_TYPE_IMMEDIATE && to->imm.is_relative &&
	    ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(i, to, addr, &target)))
		out->target = target;
}

static void x86_writes(const struct x86 *x, struct xc_stackop *out)
{
	for (size_t i = 0; i < x->instruction.operand_count; i++) {
		const ZydisDecodedOperand *o = &x->operands[i];
		int64_t at;
		if (!(o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
			continue;
		if (o->type == ZYDIS_OPERAND_TYPE_MEMORY)
			out->stores_return |= o->visibility != ZYDIS_OPERAND_VISIBILITY_HIDDEN &&
					      on_stack(x, o, &at) == x->sp && at == 0;
		int reg = o->type == ZYDIS_OPERAND_TYPE_REGISTER ? xc_zydis_register(x->mode, o->reg.value) : -1;
		if (reg == x->sp)
			out->sp_lost = true;
		else if (reg >= 0 && reg < 64)
			out->writes |= UINT64_C(1) << reg;
	}
}

static void move_to(const struct x86 *x, int base, int64_t by, struct xc_stackop *out)
{
	out->sp_lost = false;
	if (base == x->sp) {
		out->moves = by;
	} else {
		out->sets_sp = true;
		out->from_fp = by;
	}
}

/* Instructions that write sp explicitly. */
static void x86_moves_sp(const struct x86 *x, struct xc_stackop *out)
{
	const ZydisDecodedOperand *from = &x->operands[1];
	int64_t by;
	int base;
	switch (x->instruction.mnemonic) {
	case ZYDIS_MNEMONIC_ADD:
	case ZYDIS_MNEMONIC_SUB:
		if (from->type != ZYDIS_OPERAND_TYPE_IMMEDIATE)
			return;
		move_to(x, x->sp,
			x->instruction.mnemonic == ZYDIS_MNEMONIC_ADD ? from->imm.value.s : -from->imm.value.s, out);
		return;
	case ZYDIS_MNEMONIC_LEA:
		base = on_stack(x, from, &by);
		if (base >= 0)
			move_to(x, base, by, out);
		return;
	case ZYDIS_MNEMONIC_MOV:
		if (whole_register(x, from) == x->fp)
			move_to(x, x->fp, 0, out);
		return;
	default:
		return;
	}
}

static void x86_loads(const struct x86 *x, struct xc_stackop *out)
{
	int64_t at;
	int to = whole_register(x, &x->operands[0]), base;
	if (to < 0 || to == x->sp)
		return;
	if (x->instruction.mnemonic == ZYDIS_MNEMONIC_MOV && (base = on_stack(x, &x->operands[1], &at)) >= 0)
		add_load(out, to, base == x->fp, at);
	if (to != x->fp)
		return;
	out->fp_from_sp = x->instruction.mnemonic == ZYDIS_MNEMONIC_MOV && whole_register(x, &x->operands[1]) == x->sp;
	if (x->instruction.mnemonic == ZYDIS_MNEMONIC_LEA && on_stack(x, &x->operands[1], &at) == x->sp) {
		out->fp_from_sp = true;
		out->fp_add = at;
	}
}

static void x86_effects(const struct x86 *x, struct xc_stackop *out)
{
	int word = x->word;
	switch (x->instruction.mnemonic) {
	case ZYDIS_MNEMONIC_PUSH:
	case ZYDIS_MNEMONIC_PUSHF:
	case ZYDIS_MNEMONIC_PUSHFD:
	case ZYDIS_MNEMONIC_PUSHFQ:
		out->moves = -(x->instruction.operand_width / 8);
		return;
	case ZYDIS_MNEMONIC_POPF:
	case ZYDIS_MNEMONIC_POPFD:
	case ZYDIS_MNEMONIC_POPFQ:
		out->moves = x->instruction.operand_width / 8;
		return;
	case ZYDIS_MNEMONIC_POP:
		x86_writes(x, out);
		out->moves = x->instruction.operand_width / 8;
		out->sp_lost = whole_register(x, &x->operands[0]) == x->sp;
		if (!out->sp_lost && whole_register(x, &x->operands[0]) >= 0)
			add_load(out, whole_register(x, &x->operands[0]), false, 0);
		return;
	case ZYDIS_MNEMONIC_LEAVE:
		out->sets_sp = true;
		add_load(out, x->fp, false, 0);
		out->moves = word;
		return;
	case ZYDIS_MNEMONIC_CALL:
	case ZYDIS_MNEMONIC_RET:
		return;
	default:
		x86_writes(x, out);
		x86_loads(x, out);
		if (out->sp_lost && whole_register(x, &x->operands[0]) == x->sp)
			x86_moves_sp(x, out);
	}
}

/* jmp *%reg after add reg,%reg; jmp *table(,%reg,8); jmps that CET does not track. */
static bool through_table(const struct x86 *x, const struct xc_stackop *before)
{
	const ZydisDecodedOperand *to = &x->operands[0];
	if (x->instruction.attributes & ZYDIS_ATTRIB_HAS_NOTRACK)
		return true;
	if (to->type == ZYDIS_OPERAND_TYPE_MEMORY)
		return to->mem.index != ZYDIS_REGISTER_NONE && to->mem.scale > 1;
	return before && before->sum >= 0 && before->sum == whole_register(x, to);
}

static bool x86_decode(const struct xc_process *p, xc_addr addr, const struct xc_stackop *before,
		       struct xc_stackop *out)
{
	ZydisDecoder decoder;
	uint8_t bytes[LONGEST];
	bool wide = p->arch->machine == EM_X86_64;
	struct x86 x = {.mode = wide ? ZYDIS_MACHINE_MODE_LONG_64 : ZYDIS_MACHINE_MODE_LONG_COMPAT_32,
			.sp = p->arch->sp,
			.fp = p->arch->fp,
			.word = wide ? 8 : 4};
	size_t got = xc_space_peek(p->space, addr, bytes, sizeof bytes);
	if (!got ||
	    !ZYAN_SUCCESS(ZydisDecoderInit(&decoder, x.mode, wide ? ZYDIS_STACK_WIDTH_64 : ZYDIS_STACK_WIDTH_32)) ||
	    !ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, bytes, got, &x.instruction, x.operands)))
		return false;
	out->length = x.instruction.length;
	x86_flow(&x, addr, out);
	x86_effects(&x, out);
	if (out->flow == XC_STACKOP_JUMP && !out->target)
		out->through_table = through_table(&x, before);
	if (x.instruction.mnemonic == ZYDIS_MNEMONIC_ADD && whole_register(&x, &x.operands[1]) >= 0)
		out->sum = whole_register(&x, &x.operands[0]);
	return true;
}

/* ---- AArch64 ---- */

enum { FP = 29, LR = 30, SP = 31 };

static bool aarch64_flow(uint32_t w, xc_addr addr, struct xc_stackop *out)
{
	if ((w & 0x7c000000) == 0x14000000) { /* b, bl */
		out->flow = w >> 31 ? XC_STACKOP_CALL : XC_STACKOP_JUMP;
		out->target = addr + xc_sign_extend((uint64_t)(w & 0x3ffffff) << 2, 28);
	} else if ((w & 0xff000010) == 0x54000000 || (w & 0x7e000000) == 0x34000000) { /* b.cond, cbz, cbnz */
		out->flow = XC_STACKOP_BRANCH;
		out->target = addr + xc_sign_extend((uint64_t)(w >> 5 & 0x7ffff) << 2, 21);
	} else if ((w & 0x7e000000) == 0x36000000) { /* tbz, tbnz */
		out->flow = XC_STACKOP_BRANCH;
		out->target = addr + xc_sign_extend((uint64_t)(w >> 5 & 0x3fff) << 2, 16);
	} else if ((w & 0xfe000000) == 0xd6000000) { /* br, blr, ret and their authenticating forms */
		uint32_t op = w >> 21 & 3;
		out->flow = op == 0 ? XC_STACKOP_JUMP : op == 1 ? XC_STACKOP_CALL : XC_STACKOP_RETURN;
	} else if ((w & 0xffe0001f) == 0xd4200000 || w >> 16 == 0) { /* brk, udf */
		out->flow = XC_STACKOP_END;
	} else {
		return false;
	}
	if (out->flow == XC_STACKOP_CALL)
		out->writes |= UINT64_C(1) << LR;
	return true;
}

/* ldp, ldr of general registers from the stack: pre-indexed, post-indexed, or with an offset. */
static bool aarch64_loads(uint32_t w, struct xc_stackop *out)
{
	uint32_t base = w >> 5 & 31, first = w & 31, second = w >> 10 & 31;
	bool by_fp = base == FP;
	if (base != SP && base != FP)
		return false;
	if ((w & 0xfe400000) == 0xa8400000) { /* ldp x, x */
		uint32_t how = w >> 23 & 3;
		int64_t offset = (int64_t)xc_sign_extend(w >> 15 & 127, 7) * 8, at = how == 1   ? 0
										     : how == 3 ? 0
												: offset;
		if (how == 3 || (how == 1 && by_fp))
			return false; /* pre-indexed: not part of an epilogue */
		add_load(out, (int)first, by_fp, at);
		add_load(out, (int)second, by_fp, at + 8);
		out->writes |= UINT64_C(1) << first | UINT64_C(1) << second;
		out->moves = how == 1 ? offset : 0;
		return true;
	}
	if ((w & 0xffc00000) == 0xf9400000) { /* ldr x, [base, #imm] */
		add_load(out, (int)first, by_fp, (int64_t)(w >> 10 & 0xfff) * 8);
		out->writes |= UINT64_C(1) << first;
		return true;
	}
	if ((w & 0xffe00c00) == 0xf8400400 && !by_fp) { /* ldr x, [sp], #imm */
		add_load(out, (int)first, false, 0);
		out->writes |= UINT64_C(1) << first;
		out->moves = (int64_t)xc_sign_extend(w >> 12 & 511, 9);
		return true;
	}
	return false;
}

/* Instructions that write sp. */
static bool aarch64_moves_sp(uint32_t w, struct xc_stackop *out)
{
	uint32_t base = w >> 5 & 31;
	int64_t by = (int64_t)(w >> 10 & 0xfff) << (w & 0x400000 ? 12 : 0);
	if ((w & 0xbf80001f) == 0x9100001f) { /* add, sub sp, reg, #imm */
		by = w & 0x40000000 ? -by : by;
		out->sets_sp = base == FP;
		out->from_fp = base == FP ? by : 0;
		out->moves = base == SP ? by : 0;
		out->sp_lost = base != FP && base != SP;
		return true;
	}
	if ((w & 0xffe0001f) == 0x8b20001f || (w & 0xffe0001f) == 0xcb20001f) { /* add, sub sp, reg, reg */
		out->sp_lost = true;
		return true;
	}
	bool pair = (w & 0x3a000000) == 0x28000000 && (w & 0x00800000), /* with write-back */
		one = (w & 0x3b200400) == 0x38000400;
	if ((pair || one) && base == SP) {
		bool wide_pair = w >> 31 && !(w & 0x04000000);
		out->moves = pair ? (int64_t)xc_sign_extend(w >> 15 & 127, 7) * (wide_pair ? 8 : 4)
				  : (int64_t)xc_sign_extend(w >> 12 & 511, 9);
		out->sp_lost = pair && !wide_pair;
		return true;
	}
	if ((w & 0xffc003ff) == 0x910003fd) { /* mov x29, sp; add x29, sp, #imm */
		out->fp_from_sp = true;
		out->fp_add = by;
		return true;
	}
	return false;
}

static bool aarch64_decode(const struct xc_process *p, xc_addr addr, const struct xc_stackop *before,
			   struct xc_stackop *out)
{
	uint8_t bytes[4];
	if (addr % 4 || xc_space_peek(p->space, addr, bytes, sizeof bytes) != sizeof bytes)
		return false;
	uint32_t w = (uint32_t)xc_load_uint(bytes, 4, false);
	bool store = (w & 0x0a400000) == 0x08000000 || (w & 0x3b000000) == 0x39000000; /* of many kinds */
	out->length = 4;
	if ((w & 0xff200000) == 0x8b200000 || (w & 0xff200000) == 0x8b000000) /* add x, x, register */
		out->sum = (int)(w & 31);
	if (aarch64_flow(w, addr, out)) {
		out->through_table =
			out->flow == XC_STACKOP_JUMP && !out->target && before && before->sum == (int)(w >> 5 & 31);
		return true;
	}
	if (!aarch64_loads(w, out) && !aarch64_moves_sp(w, out) && !store)
		out->writes |= UINT64_C(1) << (w & 31); /* most others; stores and comparisons name a source there */
	out->writes &= ~(UINT64_C(1) << SP);
	return true;
}

/* ---- either ---- */

bool xc_stackop_decode(const struct xc_process *p, xc_addr addr, const struct xc_stackop *before,
		       struct xc_stackop *out)
{
	*out = (struct xc_stackop){.sum = -1};
	if (p->arch->machine == EM_AARCH64)
		return aarch64_decode(p, addr, before, out);
	if (!is_x86(p->arch) || !x86_decode(p, addr, before, out))
		return false;
	out->target = xc_arch_wrap(p->arch, out->target);
	return true;
}
