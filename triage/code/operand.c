/* operand: Zydis lists the operands, including implied ones; their addresses are computed here.
 *
 * Intel SDM volume 2: push, call and enter write below the stack pointer (Zydis gives rsp itself). pop with an
 * rsp-based destination computes the address after the increment. Repeated string instructions advance rsi and rdi:
 * at a fault these point at the faulting element, and rcx is the number of elements left. bt and similar with a
 * register address a bit string of any length. A general protection fault has no address (si_code SI_KERNEL): it is
 * recomputed, from a non-canonical address, or from an operand that an SSE instruction requires to be aligned. */
#include "triage/code/operand.h"

#include <Zydis/Zydis.h>
#include <elf.h>
#include <string.h>

#include "dwarf/decode/zydis_register.h"

enum {
	LONGEST = ZYDIS_MAX_INSTRUCTION_LENGTH,
	FS_BASE = 58, /* x86-64; i386 does not show it */
	GS_BASE = 59, /* both */
	RFLAGS_64 = 49,
	EFLAGS_32 = 9,
	DIRECTION = 1 << 10
};

struct decoding {
	const struct xc_process *process;
	const struct xc_regs *regs;
	ZydisMachineMode mode;
	bool wide; /* x86-64 and x32 */
	ZydisDecodedInstruction instruction;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	xc_addr pc;
};

bool xc_operand_canonical(xc_addr addr)
{
	return addr <= UINT64_C(0x00007fffffffffff) || addr >= UINT64_C(0xffff800000000000);
}

static int dwarf_number(const struct decoding *d, ZydisRegister reg)
{
	if (reg == ZYDIS_REGISTER_RIP || reg == ZYDIS_REGISTER_EIP) /* Zydis 4.0: in no other category */
		return d->process->arch->pc;
	return xc_zydis_register(d->mode, reg);
}

static bool is_stack_pointer(const struct decoding *d, ZydisRegister reg)
{
	return dwarf_number(d, reg) == d->process->arch->sp;
}

/* The value of a register, or its low bits for a part of one. Instructions see pc as the address of the next
 * instruction. */
static bool read_register(const struct decoding *d, ZydisRegister reg, uint64_t *value)
{
	ZydisRegisterWidth width = ZydisRegisterGetWidth(d->mode, reg);
	int number = dwarf_number(d, reg);
	if (number == d->process->arch->pc)
		*value = d->pc + d->instruction.length;
	else if (!xc_regs_get(d->regs, number, value))
		return false;
	if (width && width < 64)
		*value &= (UINT64_C(1) << width) - 1;
	return true;
}

static int64_t sign_extend(uint64_t value, unsigned bits)
{
	return (int64_t)(bits && bits < 64 ? xc_sign_extend(value, bits) : value);
}

static bool segment_base(const struct decoding *d, ZydisRegister segment, uint64_t *base)
{
	*base = 0;
	if (segment != ZYDIS_REGISTER_FS && segment != ZYDIS_REGISTER_GS)
		return true;
	return (d->wide || segment == ZYDIS_REGISTER_GS) &&
	       xc_regs_get(d->regs, segment == ZYDIS_REGISTER_FS ? FS_BASE : GS_BASE, base);
}

/* The bit of bt, bts, btr or btc with a register may be anywhere around the operand. */
static bool add_bit_offset(const struct decoding *d, const ZydisDecodedOperand *operand, uint64_t *addr)
{
	const ZydisDecodedOperand *bit = &d->operands[1];
	uint64_t value;
	switch (d->instruction.mnemonic) {
	case ZYDIS_MNEMONIC_BT:
	case ZYDIS_MNEMONIC_BTS:
	case ZYDIS_MNEMONIC_BTR:
	case ZYDIS_MNEMONIC_BTC:
		break;
	default:
		return true;
	}
	if (operand->id != 0 || bit->type != ZYDIS_OPERAND_TYPE_REGISTER)
		return true;
	if (!read_register(d, bit->reg.value, &value))
		return false;
	int64_t index = sign_extend(value, bit->size) >> 3;
	*addr += (uint64_t)(index & -(int64_t)(operand->size / 8));
	return true;
}

static bool is_stack(const struct decoding *d, const ZydisDecodedOperand *operand)
{
	return operand->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN && is_stack_pointer(d, operand->mem.base) &&
	       d->instruction.mnemonic != ZYDIS_MNEMONIC_LEAVE;
}

static bool operand_address(const struct decoding *d, const ZydisDecodedOperand *operand, uint64_t *addr)
{
	uint64_t base = 0, index = 0, segment;
	const ZydisDecodedOperandMem *mem = &operand->mem;
	if (mem->type != ZYDIS_MEMOP_TYPE_MEM || /* gathers address many places */
	    (mem->base != ZYDIS_REGISTER_NONE && !read_register(d, mem->base, &base)) ||
	    (mem->index != ZYDIS_REGISTER_NONE && !read_register(d, mem->index, &index)) ||
	    !segment_base(d, mem->segment, &segment))
		return false;
	*addr = base + index * (mem->scale ? mem->scale : 1);
	if (mem->disp.has_displacement)
		*addr += (uint64_t)mem->disp.value;
	if (is_stack(d, operand) && operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
		*addr -= operand->size / 8;
	else if (d->instruction.mnemonic == ZYDIS_MNEMONIC_POP && !is_stack(d, operand) &&
		 is_stack_pointer(d, mem->base))
		*addr += operand->size / 8;
	if (!add_bit_offset(d, operand, addr))
		return false;
	if (d->instruction.address_width == 32)
		*addr &= UINT32_MAX;
	*addr = d->wide ? *addr + segment : (uint32_t)(*addr + segment);
	return true;
}

/* The part that a repeated string instruction has still to do, from its current element on. */
static void set_range(const struct decoding *d, const ZydisDecodedOperand *operand, struct xc_memory_operand *out)
{
	uint64_t count, flags, left;
	uint64_t size = out->size ? out->size : 1;
	const uint64_t repeats = ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE;
	out->lo = out->addr;
	out->hi = size - 1 <= UINT64_MAX - out->addr ? out->addr + (size - 1) : UINT64_MAX;
	if (!(d->instruction.attributes & repeats) || operand->visibility == ZYDIS_OPERAND_VISIBILITY_EXPLICIT ||
	    !xc_regs_get(d->regs, dwarf_number(d, ZYDIS_REGISTER_ECX), &count))
		return;
	out->count = count;
	if (!xc_regs_get(d->regs, d->wide ? RFLAGS_64 : EFLAGS_32, &flags) || count < 2)
		return;
	left = count - 1 > UINT64_MAX / size ? UINT64_MAX : (count - 1) * size;
	if (flags & DIRECTION)
		out->lo = left <= out->lo ? out->lo - left : 0;
	else
		out->hi = left <= UINT64_MAX - out->hi ? out->hi + left : UINT64_MAX;
}

static struct xc_memory_operand *next(struct xc_instruction *out)
{
	return out->operand_count < XC_OPERANDS ? &out->operands[out->operand_count++] : NULL;
}

static void add_memory(const struct decoding *d, const ZydisDecodedOperand *operand, struct xc_instruction *out)
{
	bool writes = operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;
	bool reads = operand->actions & ZYDIS_OPERAND_ACTION_MASK_READ;
	struct xc_memory_operand *to;
	ZydisInstructionCategory category = d->instruction.meta.category;
	bool looks = operand->mem.type == ZYDIS_MEMOP_TYPE_AGEN || category == ZYDIS_CATEGORY_NOP ||
		     category == ZYDIS_CATEGORY_WIDENOP || category == ZYDIS_CATEGORY_PREFETCH;
	if (looks || (!reads && !writes))
		return; /* lea and nop only compute the address; a prefetch never faults */
	out->unlisted |= operand->mem.type != ZYDIS_MEMOP_TYPE_MEM;
	if (!(to = next(out))) {
		out->unlisted = true;
		return;
	}
	*to = (struct xc_memory_operand){
		.access = writes ? XC_ACCESS_WRITE : XC_ACCESS_READ,
		.stack = is_stack(d, operand),
		.size = (uint32_t)operand->size / 8,
		.base = operand->mem.base == ZYDIS_REGISTER_NONE ? -1 : dwarf_number(d, operand->mem.base),
		.index = operand->mem.index == ZYDIS_REGISTER_NONE ? -1 : dwarf_number(d, operand->mem.index),
	};
	to->addr_known = operand_address(d, operand, &to->addr);
	if (to->addr_known)
		set_range(d, operand, to);
}

/* The target of a call or jump through a register or memory, or of a return. */
static void add_target(const struct decoding *d, struct xc_instruction *out)
{
	ZydisInstructionCategory category = d->instruction.meta.category;
	const ZydisDecodedOperand *first = &d->operands[0];
	struct xc_memory_operand target = {.access = XC_ACCESS_EXECUTE, .base = -1, .index = -1}, *to;
	bool returns = category == ZYDIS_CATEGORY_RET;
	uint32_t size = d->process->arch->reg_size;
	if (!returns && category != ZYDIS_CATEGORY_CALL && category != ZYDIS_CATEGORY_UNCOND_BR)
		return;
	if (!returns && first->type == ZYDIS_OPERAND_TYPE_REGISTER) {
		target.base = dwarf_number(d, first->reg.value);
		target.addr_known = read_register(d, first->reg.value, &target.addr);
	}
	for (size_t i = 0; i < out->operand_count && !target.addr_known; i++) {
		const struct xc_memory_operand *from = &out->operands[i];
		if (from->access == XC_ACCESS_READ && from->addr_known && from->stack == returns && from->size == size)
			target.addr_known = xc_space_peek_uint(d->process->space, from->addr, size, &target.addr);
	}
	target.lo = target.hi = target.addr;
	if (target.addr_known && (to = next(out)))
		*to = target;
}

/* As `xcore disas` writes it. */
static void write_text(const struct decoding *d, const uint8_t *code, size_t len, char text[XC_CODE_TEXT])
{
	struct xc_disas *disas;
	struct xc_code one;
	text[0] = '\0';
	struct xc_error *error = xc_disas_open(d->process->arch, XC_SYNTAX_ATT, &disas);
	if (error) {
		xc_error_free(error);
		return;
	}
	xc_disas_decode(disas, code, len, d->pc, &one);
	if (one.valid)
		memcpy(text, one.text, sizeof one.text);
	xc_disas_close(disas);
}

/* in, out, cli and sti are forbidden without iopl; Zydis calls only ring 0 instructions privileged. */
static bool privileged(const ZydisDecodedInstruction *instruction)
{
	return instruction->attributes & ZYDIS_ATTRIB_IS_PRIVILEGED ||
	       instruction->meta.category == ZYDIS_CATEGORY_IO ||
	       instruction->meta.category == ZYDIS_CATEGORY_IOSTRINGOP || instruction->mnemonic == ZYDIS_MNEMONIC_CLI ||
	       instruction->mnemonic == ZYDIS_MNEMONIC_STI;
}

static bool is_baseline(const ZydisDecodedInstruction *instruction)
{
	switch (instruction->mnemonic) {
	case ZYDIS_MNEMONIC_UD0:
	case ZYDIS_MNEMONIC_UD1:
	case ZYDIS_MNEMONIC_UD2:
		return false;
	default:
		return instruction->meta.isa_ext == ZYDIS_ISA_EXT_BASE ||
		       instruction->meta.isa_ext == ZYDIS_ISA_EXT_LONGMODE;
	}
}

/* Vector instructions of all kinds are taken for floating point. */
static bool calculates(const ZydisDecodedInstruction *instruction)
{
	switch (instruction->mnemonic) {
	case ZYDIS_MNEMONIC_DIV:
	case ZYDIS_MNEMONIC_IDIV:
	case ZYDIS_MNEMONIC_AAM:
		return true;
	default:
		return instruction->meta.isa_ext != ZYDIS_ISA_EXT_BASE &&
		       instruction->meta.isa_ext != ZYDIS_ISA_EXT_LONGMODE;
	}
}

/* SDM volume 2, 2.4: exception types 1 (explicitly aligned), and 2 and 4 in their legacy SSE forms. */
static bool wants_alignment(const ZydisDecodedInstruction *instruction)
{
	switch (instruction->meta.exception_class) {
	case ZYDIS_EXCEPTION_CLASS_SSE1:
	case ZYDIS_EXCEPTION_CLASS_SSE2:
	case ZYDIS_EXCEPTION_CLASS_SSE4:
	case ZYDIS_EXCEPTION_CLASS_AVX1:
	case ZYDIS_EXCEPTION_CLASS_E1:
	case ZYDIS_EXCEPTION_CLASS_E1NF:
		return true;
	default:
		return instruction->mnemonic == ZYDIS_MNEMONIC_CMPXCHG16B;
	}
}

bool xc_operand_decode(const struct xc_process *process, const struct xc_regs *regs, struct xc_instruction *out)
{
	uint8_t code[LONGEST];
	ZydisDecoder decoder;
	bool wide = xc_arch_is_x86_64(process->arch);
	struct decoding d = {.process = process, .regs = regs, .wide = wide};
	d.mode = wide ? ZYDIS_MACHINE_MODE_LONG_64 : ZYDIS_MACHINE_MODE_LEGACY_32;
	*out = (struct xc_instruction){.operand_count = 0};
	if ((!wide && process->arch->machine != EM_386) || !xc_regs_get(regs, process->arch->pc, &d.pc))
		return false;
	size_t got = xc_space_peek(process->space, d.pc, code, sizeof code);
	if (!got ||
	    !ZYAN_SUCCESS(ZydisDecoderInit(&decoder, d.mode, wide ? ZYDIS_STACK_WIDTH_64 : ZYDIS_STACK_WIDTH_32)) ||
	    !ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code, got, &d.instruction, d.operands)))
		return false;
	out->length = d.instruction.length;
	out->privileged = privileged(&d.instruction);
	out->halts = d.instruction.mnemonic == ZYDIS_MNEMONIC_HLT;
	out->aligned = wants_alignment(&d.instruction);
	out->baseline = is_baseline(&d.instruction);
	out->calculates = calculates(&d.instruction);
	write_text(&d, code, got, out->text);
	for (size_t i = 0; i < d.instruction.operand_count; i++)
		if (d.operands[i].type == ZYDIS_OPERAND_TYPE_MEMORY)
			add_memory(&d, &d.operands[i], out);
	add_target(&d, out);
	return true;
}

const struct xc_memory_operand *xc_operand_at(const struct xc_instruction *instruction, xc_addr addr,
					      enum xc_access access)
{
	const struct xc_memory_operand *found = NULL;
	for (size_t i = 0; i < instruction->operand_count; i++) {
		const struct xc_memory_operand *operand = &instruction->operands[i];
		bool better = !found || (operand->access == access && found->access != access);
		if (operand->addr_known && operand->access != XC_ACCESS_EXECUTE && addr >= operand->lo &&
		    addr <= operand->hi && better)
			found = operand;
	}
	return found;
}

static const struct xc_memory_operand *misaligned(const struct xc_instruction *instruction)
{
	for (size_t i = 0; instruction->aligned && i < instruction->operand_count; i++) {
		const struct xc_memory_operand *operand = &instruction->operands[i];
		if (operand->addr_known && operand->size >= 16 && operand->addr % operand->size)
			return operand;
	}
	return NULL;
}

const struct xc_memory_operand *xc_operand_invalid(const struct xc_instruction *instruction, bool *misaligned_out)
{
	*misaligned_out = false;
	for (size_t i = 0; i < instruction->operand_count; i++) {
		const struct xc_memory_operand *operand = &instruction->operands[i];
		if (operand->addr_known && !xc_operand_canonical(operand->addr))
			return operand;
	}
	const struct xc_memory_operand *found = misaligned(instruction);
	*misaligned_out = found != NULL;
	return found;
}
