/* emulator_operand: registers, addresses and memory as operands. */
#include "triage/emulator/emulator_impl.h"

/* Zydis has the 16 of each width in a row, in the order of their numbers. */
static bool is_64(ZydisRegister reg)
{
	return reg >= ZYDIS_REGISTER_RAX && reg <= ZYDIS_REGISTER_R15;
}

static bool is_32(ZydisRegister reg)
{
	return reg >= ZYDIS_REGISTER_EAX && reg <= ZYDIS_REGISTER_R15D;
}

static bool is_general(ZydisRegister reg)
{
	if (is_64(reg) || is_32(reg))
		return true;
	switch (ZydisRegisterGetClass(reg)) {
	case ZYDIS_REGCLASS_GPR8:
	case ZYDIS_REGCLASS_GPR16:
	case ZYDIS_REGCLASS_GPR32:
	case ZYDIS_REGCLASS_GPR64:
		return true;
	default:
		return false;
	}
}

static struct xc_emulated *whole(struct xc_emulator *e, ZydisRegister reg)
{
	if (is_64(reg) || is_32(reg))
		return &e->state.regs[is_64(reg) ? reg - ZYDIS_REGISTER_RAX : reg - ZYDIS_REGISTER_EAX];
	ZydisRegister large = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);
	int id = ZydisRegisterGetClass(large) == ZYDIS_REGCLASS_GPR64 ? ZydisRegisterGetId(large) : -1;
	return id >= 0 && id < 16 ? &e->state.regs[id] : NULL;
}

static unsigned shift_of(ZydisRegister reg)
{
	return reg >= ZYDIS_REGISTER_AH && reg <= ZYDIS_REGISTER_BH ? 8 : 0;
}

static bool add_register(const struct xc_emulator *e, ZydisRegister reg, uint64_t times, xc_addr *sum, uint8_t *marks)
{
	const struct xc_emulated *value = whole((struct xc_emulator *)e, reg);
	if (reg == ZYDIS_REGISTER_NONE)
		return true;
	if (!value || !is_64(reg))
		return false;
	*sum += value->bits * times;
	*marks |= value->marks;
	return true;
}

bool xc_emulator_address(const struct xc_emulator *e, const struct xc_emulated_insn *d, const ZydisDecodedOperand *o,
			 xc_addr *out, uint8_t *marks)
{
	const ZydisDecodedOperandMem *m = &o->mem;
	bool fs = m->segment == ZYDIS_REGISTER_FS;
	*marks = 0;
	*out = m->disp.has_displacement ? (uint64_t)m->disp.value : 0;
	if ((m->type != ZYDIS_MEMOP_TYPE_MEM && m->type != ZYDIS_MEMOP_TYPE_AGEN) || m->segment == ZYDIS_REGISTER_GS ||
	    (fs && !e->has_fs_base))
		return false;
	*out += fs ? e->fs_base : 0;
	if (m->base == ZYDIS_REGISTER_RIP) {
		*out += d->pc + d->insn.length;
		return true;
	}
	return add_register(e, m->base, 1, out, marks) && add_register(e, m->index, m->scale, out, marks);
}

struct xc_emulated *xc_emulator_vector(struct xc_emulator *e, const ZydisDecodedOperand *o)
{
	ZydisRegisterClass class =
		o->type == ZYDIS_OPERAND_TYPE_REGISTER ? ZydisRegisterGetClass(o->reg.value) : ZYDIS_REGCLASS_INVALID;
	int id = class == ZYDIS_REGCLASS_XMM || class == ZYDIS_REGCLASS_YMM || class == ZYDIS_REGCLASS_ZMM
			 ? ZydisRegisterGetId(o->reg.value)
			 : -1;
	return id >= 0 && id < 16 ? &e->state.vectors[id] : NULL;
}

bool xc_emulator_get(struct xc_emulator *e, const struct xc_emulated_insn *d, unsigned operand, struct xc_emulated *out)
{
	const ZydisDecodedOperand *o = &d->operands[operand];
	uint32_t size = o->size / 8;
	xc_addr addr;
	uint8_t marks;
	*out = (struct xc_emulated){0, 0};
	switch (o->type) {
	case ZYDIS_OPERAND_TYPE_IMMEDIATE:
		out->bits = o->imm.value.u;
		return true;
	case ZYDIS_OPERAND_TYPE_REGISTER:
		if (!is_general(o->reg.value) || !whole(e, o->reg.value))
			return false;
		*out = *whole(e, o->reg.value);
		out->bits = out->bits >> shift_of(o->reg.value) & xc_emulator_mask(size);
		if (shift_of(o->reg.value) && (out->marks & XC_EMULATOR_HIGH))
			out->marks |= XC_EMULATOR_COUNTS;
		if (size == 1)
			out->marks &= (uint8_t)~XC_EMULATOR_HIGH;
		return true;
	case ZYDIS_OPERAND_TYPE_MEMORY:
		if (!xc_emulator_address(e, d, o, &addr, &marks) || (marks & XC_EMULATOR_CHANGES) ||
		    !xc_emulator_read(e, addr, size, out))
			return false;
		out->marks |= marks;
		return true;
	default:
		return false;
	}
}

/* A write of 4 bytes clears the rest of the register, a shorter one keeps it. */
static bool put_register(struct xc_emulator *e, ZydisRegister reg, uint32_t size, struct xc_emulated value)
{
	struct xc_emulated *to = is_general(reg) ? whole(e, reg) : NULL;
	uint64_t mask = xc_emulator_mask(size) << shift_of(reg);
	if (!to)
		return false;
	if (size >= 4) {
		*to = (struct xc_emulated){value.bits & mask, value.marks};
		return true;
	}
	to->bits = (to->bits & ~mask) | ((value.bits << shift_of(reg)) & mask);
	to->marks |= value.marks;
	return true;
}

bool xc_emulator_put(struct xc_emulator *e, const struct xc_emulated_insn *d, unsigned operand,
		     struct xc_emulated value)
{
	const ZydisDecodedOperand *o = &d->operands[operand];
	uint32_t size = o->size / 8;
	xc_addr addr;
	uint8_t marks;
	struct xc_emulated *vector = xc_emulator_vector(e, o);
	if (vector) {
		*vector = value;
		return true;
	}
	if (o->type == ZYDIS_OPERAND_TYPE_REGISTER)
		return put_register(e, o->reg.value, size, value);
	return o->type == ZYDIS_OPERAND_TYPE_MEMORY && xc_emulator_address(e, d, o, &addr, &marks) &&
	       !(marks & XC_EMULATOR_CHANGES) && xc_emulator_write(e, addr, size, value);
}

bool xc_emulator_push(struct xc_emulator *e, struct xc_emulated value)
{
	struct xc_emulated *sp = &e->state.regs[XC_EMULATOR_SP];
	if ((sp->marks & XC_EMULATOR_CHANGES) || !xc_emulator_write(e, sp->bits - 8, 8, value))
		return false;
	sp->bits -= 8;
	return true;
}

bool xc_emulator_pop(struct xc_emulator *e, struct xc_emulated *out)
{
	struct xc_emulated *sp = &e->state.regs[XC_EMULATOR_SP];
	if ((sp->marks & XC_EMULATOR_CHANGES) || !xc_emulator_read(e, sp->bits, 8, out))
		return false;
	sp->bits += 8;
	return true;
}
