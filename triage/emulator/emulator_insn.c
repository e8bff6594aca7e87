/* emulator_insn: instructions by what they do to general registers, memory and flags (Intel's manual, volume 2). Those
 * that are not listed make what they write unknown. */
#include "triage/emulator/emulator_impl.h"

enum { RAX = 0, RDX = 2, BP = 5 };

/* What is computed other than by sums does not count. */
static uint8_t mixed(uint8_t marks)
{
	uint8_t others = marks & XC_EMULATOR_OUTSIDE;
	return (marks & XC_EMULATOR_CHANGES) ? others | XC_EMULATOR_DATA : others;
}

static uint32_t size_of(const struct xc_emulated_insn *d)
{
	return d->operands[0].size / 8;
}

static bool top_bit(uint64_t value, uint32_t size)
{
	return value >> (8 * size - 1) & 1;
}

/* ---- flags ---- */

static void set_result(struct xc_emulated_flags *f, uint64_t value, uint32_t size)
{
	uint64_t result = value & xc_emulator_mask(size);
	f->zero = !result;
	f->sign = top_bit(result, size);
	f->parity = !__builtin_parity((unsigned)(result & 0xff));
	f->left = result;
	f->right = 0;
	f->size = size;
	f->result = true;
}

/* Of a logical operation. */
static void set_logic(struct xc_emulated_flags *f, struct xc_emulated value, uint32_t size)
{
	*f = (struct xc_emulated_flags){.marks = value.marks};
	set_result(f, value.bits, size);
}

static struct xc_emulated add(struct xc_emulated_flags *f, struct xc_emulated a, struct xc_emulated b, uint32_t size)
{
	uint64_t mask = xc_emulator_mask(size), x = a.bits & mask, y = b.bits & mask, sum = (x + y) & mask;
	uint8_t marks = a.marks | b.marks;
	*f = (struct xc_emulated_flags){.marks = marks, .carry = sum < x};
	set_result(f, sum, size);
	f->overflow = top_bit((x ^ sum) & (y ^ sum), size);
	return (struct xc_emulated){sum, marks};
}

static struct xc_emulated subtract(struct xc_emulated_flags *f, struct xc_emulated a, struct xc_emulated b,
				   uint32_t size)
{
	uint64_t mask = xc_emulator_mask(size), x = a.bits & mask, y = b.bits & mask, rest = (x - y) & mask;
	uint8_t marks = a.marks | b.marks;
	*f = (struct xc_emulated_flags){.marks = marks, .carry = x < y};
	set_result(f, rest, size);
	f->overflow = top_bit((x ^ y) & (x ^ rest), size);
	f->left = x;
	f->right = y;
	f->result = false;
	return (struct xc_emulated){rest, marks};
}

/* ---- instructions ---- */

static bool same_register(const struct xc_emulated_insn *d)
{
	const ZydisDecodedOperand *a = &d->operands[0], *b = &d->operands[1];
	return a->type == ZYDIS_OPERAND_TYPE_REGISTER && b->type == ZYDIS_OPERAND_TYPE_REGISTER &&
	       a->reg.value == b->reg.value;
}

/* A short counter that is widened goes round. */
static bool extend(struct xc_emulator *e, const struct xc_emulated_insn *d, bool sign)
{
	struct xc_emulated value;
	uint32_t size = d->operands[1].size / 8;
	if (!xc_emulator_get(e, d, 1, &value))
		return false;
	if (sign)
		value.bits = xc_extend(value.bits, 8 * size, true);
	value.marks = mixed(value.marks);
	return xc_emulator_put(e, d, 0, value);
}

static bool address(struct xc_emulator *e, const struct xc_emulated_insn *d)
{
	struct xc_emulated value = {0, 0};
	return xc_emulator_address(e, d, &d->operands[1], &value.bits, &value.marks) && xc_emulator_put(e, d, 0, value);
}

/* A sum of which one part is 0. What is added to memory by one locked instruction is a count of others, too. */
static void note_idle(struct xc_emulator *e, const struct xc_emulated_insn *d, struct xc_emulated a,
		      struct xc_emulated b)
{
	bool first = !a.bits && !(a.marks & XC_EMULATOR_CHANGES), second = !b.bits && !(b.marks & XC_EMULATOR_CHANGES);
	if (d->insn.mnemonic == ZYDIS_MNEMONIC_ADD && first != second &&
	    d->operands[1].type != ZYDIS_OPERAND_TYPE_IMMEDIATE && !(d->insn.attributes & ZYDIS_ATTRIB_HAS_LOCK))
		e->idle[e->idle_count++ % XC_EMULATED_IDLE] = e->state.pc;
}

static void nudge(struct xc_emulated_nudge *n, uint64_t a, uint64_t b, uint64_t *result)
{
	n->carried |= n->seen && (a == n->last || b == n->last);
	n->last = ++*result;
	n->seen = true;
}

static bool sum(struct xc_emulator *e, const struct xc_emulated_insn *d)
{
	struct xc_emulated a, b, result;
	struct xc_emulated_flags f;
	if (!xc_emulator_get(e, d, 0, &a) || !xc_emulator_get(e, d, 1, &b))
		return false;
	if (d->insn.mnemonic == ZYDIS_MNEMONIC_ADD || d->insn.mnemonic == ZYDIS_MNEMONIC_XADD)
		result = add(&f, a, b, size_of(d));
	else
		result = subtract(&f, a, b, size_of(d));
	note_idle(e, d, a, b);
	if (e->nudge.pc && e->nudge.pc == e->state.pc)
		nudge(&e->nudge, a.bits, b.bits, &result.bits);
	if (d->insn.mnemonic == ZYDIS_MNEMONIC_SUB && same_register(d))
		result.marks = f.marks = 0;
	if (d->insn.mnemonic == ZYDIS_MNEMONIC_XADD && !xc_emulator_put(e, d, 1, a))
		return false;
	if (d->insn.mnemonic != ZYDIS_MNEMONIC_CMP && !xc_emulator_put(e, d, 0, result))
		return false;
	e->state.flags = f;
	return true;
}

/* adc and sbb: a sum of three numbers, the last of which is the carry. */
static bool sum_with_carry(struct xc_emulator *e, const struct xc_emulated_insn *d)
{
	struct xc_emulated a, b, result;
	struct xc_emulated_flags f, last, before = e->state.flags;
	struct xc_emulated carry = {before.carry, 0};
	bool adds = d->insn.mnemonic == ZYDIS_MNEMONIC_ADC;
	if (!xc_emulator_get(e, d, 0, &a) || !xc_emulator_get(e, d, 1, &b))
		return false;
	result = adds ? add(&f, a, b, size_of(d)) : subtract(&f, a, b, size_of(d));
	result = adds ? add(&last, result, carry, size_of(d)) : subtract(&last, result, carry, size_of(d));
	result.marks = mixed((uint8_t)((!adds && same_register(d) ? 0 : a.marks | b.marks) | before.marks));
	last.carry |= f.carry;
	last.overflow ^= f.overflow;
	last.marks = result.marks;
	set_result(&last, result.bits, size_of(d));
	if (!xc_emulator_put(e, d, 0, result))
		return false;
	e->state.flags = last;
	return true;
}

/* inc and dec keep the carry. */
static bool step(struct xc_emulator *e, const struct xc_emulated_insn *d, bool up)
{
	struct xc_emulated a, one = {1, 0}, result;
	struct xc_emulated_flags f, before = e->state.flags;
	if (!xc_emulator_get(e, d, 0, &a))
		return false;
	result = up ? add(&f, a, one, size_of(d)) : subtract(&f, a, one, size_of(d));
	set_result(&f, result.bits, size_of(d));
	f.carry = before.carry;
	if (!xc_emulator_put(e, d, 0, result))
		return false;
	e->state.flags = f;
	return true;
}

static bool logic(struct xc_emulator *e, const struct xc_emulated_insn *d)
{
	struct xc_emulated a, b, result;
	if (!xc_emulator_get(e, d, 0, &a) || !xc_emulator_get(e, d, 1, &b))
		return false;
	bool tests = d->insn.mnemonic == ZYDIS_MNEMONIC_TEST;
	result.marks = tests && same_register(d) ? a.marks : mixed(a.marks | b.marks);
	switch (d->insn.mnemonic) {
	case ZYDIS_MNEMONIC_OR:
		result.bits = a.bits | b.bits;
		break;
	case ZYDIS_MNEMONIC_XOR:
		result.bits = a.bits ^ b.bits;
		result.marks = same_register(d) ? 0 : result.marks;
		break;
	default:
		result.bits = a.bits & b.bits;
	}
	if (!tests && !xc_emulator_put(e, d, 0, result))
		return false;
	set_logic(&e->state.flags, result, size_of(d));
	return true;
}

static bool negate(struct xc_emulator *e, const struct xc_emulated_insn *d)
{
	struct xc_emulated a, zero = {0, 0};
	struct xc_emulated_flags f;
	if (!xc_emulator_get(e, d, 0, &a))
		return false;
	if (d->insn.mnemonic == ZYDIS_MNEMONIC_NOT)
		return xc_emulator_put(e, d, 0, (struct xc_emulated){~a.bits, a.marks});
	if (!xc_emulator_put(e, d, 0, subtract(&f, zero, a, size_of(d))))
		return false;
	e->state.flags = f;
	return true;
}

static bool shift(struct xc_emulator *e, const struct xc_emulated_insn *d)
{
	struct xc_emulated a, by, result;
	uint32_t size = size_of(d);
	if (!xc_emulator_get(e, d, 0, &a) || !xc_emulator_get(e, d, 1, &by))
		return false;
	unsigned count = (unsigned)by.bits & (size == 8 ? 63 : 31);
	result.marks = mixed(a.marks | by.marks);
	if (!count)
		return !(by.marks & XC_EMULATOR_CHANGES);
	if (d->insn.mnemonic == ZYDIS_MNEMONIC_SHL)
		result.bits = a.bits << count;
	else if (d->insn.mnemonic == ZYDIS_MNEMONIC_SHR)
		result.bits = a.bits >> count;
	else
		result.bits = (uint64_t)((int64_t)xc_extend(a.bits, 8 * size, true) >> count);
	bool carry = d->insn.mnemonic == ZYDIS_MNEMONIC_SHL ? count <= 8 * size && (a.bits >> (8 * size - count) & 1)
							    : a.bits >> (count - 1) & 1;
	if (!xc_emulator_put(e, d, 0, result))
		return false;
	set_logic(&e->state.flags, result, size);
	e->state.flags.carry = carry;
	return true;
}

static void forget_flags(struct xc_emulator *e)
{
	e->state.flags = (struct xc_emulated_flags){.marks = XC_EMULATOR_DATA};
}

/* imul of two or three operands: the low half, which is the same with and without signs. */
static bool multiply(struct xc_emulator *e, const struct xc_emulated_insn *d)
{
	struct xc_emulated a, b;
	unsigned count = d->insn.operand_count_visible;
	if (count < 2 || !xc_emulator_get(e, d, count - 2, &a) || !xc_emulator_get(e, d, count - 1, &b))
		return false;
	forget_flags(e);
	return xc_emulator_put(e, d, 0, (struct xc_emulated){a.bits * b.bits, mixed(a.marks | b.marks)});
}

/* Of the pair rdx:rax of which rdx only has the sign, or is 0. */
static bool divide(struct xc_emulator *e, const struct xc_emulated_insn *d)
{
	struct xc_emulated *rax = &e->state.regs[RAX], *rdx = &e->state.regs[RDX], by;
	uint32_t size = size_of(d);
	bool sign = d->insn.mnemonic == ZYDIS_MNEMONIC_IDIV;
	uint64_t mask = xc_emulator_mask(size), low = rax->bits & mask, high = rdx->bits & mask, quotient, rest;
	if (size < 4 || !xc_emulator_get(e, d, 0, &by) || !(by.bits & mask))
		return false;
	if (high != (sign && top_bit(low, size) ? mask : 0))
		return false;
	if (sign) {
		int64_t x = (int64_t)xc_extend(low, 8 * size, true), y = (int64_t)xc_extend(by.bits, 8 * size, true);
		if (y == -1)
			return false;
		quotient = (uint64_t)(x / y);
		rest = (uint64_t)(x % y);
	} else {
		quotient = low / (by.bits & mask);
		rest = low % (by.bits & mask);
	}
	uint8_t marks = mixed(rax->marks | rdx->marks | by.marks);
	*rax = (struct xc_emulated){quotient & mask, marks};
	*rdx = (struct xc_emulated){rest & mask, marks};
	forget_flags(e);
	return true;
}

/* cdqe and its like: within rax. cdq, cqo: into rdx. */
static bool widen(struct xc_emulator *e, const struct xc_emulated_insn *d)
{
	struct xc_emulated *rax = &e->state.regs[RAX], *rdx = &e->state.regs[RDX];
	uint8_t marks = mixed(rax->marks);
	switch (d->insn.mnemonic) {
	case ZYDIS_MNEMONIC_CDQE:
		*rax = (struct xc_emulated){xc_extend(rax->bits, 32, true), marks};
		return true;
	case ZYDIS_MNEMONIC_CWDE:
		*rax = (struct xc_emulated){xc_extend(rax->bits, 16, true) & UINT32_MAX, marks};
		return true;
	case ZYDIS_MNEMONIC_CDQ:
		*rdx = (struct xc_emulated){top_bit(rax->bits, 4) ? UINT32_MAX : 0, marks};
		return true;
	default:
		*rdx = (struct xc_emulated){top_bit(rax->bits, 8) ? UINT64_MAX : 0, marks};
		return true;
	}
}

/* setcc, cmovcc. */
static bool by_condition(struct xc_emulator *e, const struct xc_emulated_insn *d)
{
	struct xc_emulated value, old;
	uint8_t marks = mixed(e->state.flags.marks);
	bool holds = xc_emulator_holds(&e->state.flags, d->insn.opcode & 15);
	if (d->insn.meta.category == ZYDIS_CATEGORY_SETCC)
		return xc_emulator_put(e, d, 0, (struct xc_emulated){holds, marks});
	if (!xc_emulator_get(e, d, 1, &value) || !xc_emulator_get(e, d, 0, &old))
		return false;
	value = holds ? value : old; /* of 4 bytes the rest is cleared in any case */
	value.marks |= marks;
	return xc_emulator_put(e, d, 0, value);
}

static bool exchange(struct xc_emulator *e, const struct xc_emulated_insn *d)
{
	struct xc_emulated a, b;
	return xc_emulator_get(e, d, 0, &a) && xc_emulator_get(e, d, 1, &b) && xc_emulator_put(e, d, 0, b) &&
	       xc_emulator_put(e, d, 1, a);
}

static bool compare_exchange(struct xc_emulator *e, const struct xc_emulated_insn *d)
{
	struct xc_emulated *rax = &e->state.regs[RAX], there, value;
	uint32_t size = size_of(d);
	struct xc_emulated_flags f;
	if (!xc_emulator_get(e, d, 0, &there) || !xc_emulator_get(e, d, 1, &value))
		return false;
	subtract(&f, *rax, there, size);
	if (f.marks & XC_EMULATOR_DATA)
		return false;
	if (f.zero && !xc_emulator_put(e, d, 0, value))
		return false;
	if (!f.zero && size >= 4)
		*rax = (struct xc_emulated){there.bits, there.marks};
	else if (!f.zero)
		*rax = (struct xc_emulated){(rax->bits & ~xc_emulator_mask(size)) | there.bits,
					    rax->marks | there.marks};
	e->state.flags = f;
	return true;
}

static bool leave(struct xc_emulator *e)
{
	e->state.regs[XC_EMULATOR_SP] = e->state.regs[BP];
	return xc_emulator_pop(e, &e->state.regs[BP]);
}

/* What it writes is not known from now on. */
static bool forget(struct xc_emulator *e, const struct xc_emulated_insn *d)
{
	static const struct xc_emulated unknown = {0, XC_EMULATOR_DATA};
	xc_addr addr;
	uint8_t marks;
	if (d->insn.meta.category == ZYDIS_CATEGORY_STRINGOP || d->insn.meta.category == ZYDIS_CATEGORY_SYSTEM ||
	    d->insn.meta.category == ZYDIS_CATEGORY_INTERRUPT || d->insn.meta.category == ZYDIS_CATEGORY_XSAVE)
		return false;
	for (unsigned i = 0; i < d->insn.operand_count; i++) {
		const ZydisDecodedOperand *o = &d->operands[i];
		if (!(o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
			continue;
		if (o->type == ZYDIS_OPERAND_TYPE_REGISTER) {
			xc_emulator_put(e, d, i, unknown); /* false: no general one, no vector */
			continue;
		}
		if (o->type != ZYDIS_OPERAND_TYPE_MEMORY || !xc_emulator_address(e, d, o, &addr, &marks) ||
		    (marks & XC_EMULATOR_CHANGES) || o->size % 8 || o->size > 512)
			return false;
		for (uint32_t at = 0; at < o->size / 8; at++)
			if (!xc_emulator_write(e, addr + at, 1, unknown))
				return false;
	}
	if (d->insn.cpu_flags && (d->insn.cpu_flags->modified || d->insn.cpu_flags->undefined))
		forget_flags(e);
	return true;
}

static bool compute(struct xc_emulator *e, const struct xc_emulated_insn *d)
{
	switch (d->insn.mnemonic) {
	case ZYDIS_MNEMONIC_INC:
		return step(e, d, true);
	case ZYDIS_MNEMONIC_DEC:
		return step(e, d, false);
	case ZYDIS_MNEMONIC_AND:
	case ZYDIS_MNEMONIC_OR:
	case ZYDIS_MNEMONIC_XOR:
	case ZYDIS_MNEMONIC_TEST:
		return logic(e, d);
	case ZYDIS_MNEMONIC_NEG:
	case ZYDIS_MNEMONIC_NOT:
		return negate(e, d);
	case ZYDIS_MNEMONIC_SHL:
	case ZYDIS_MNEMONIC_SHR:
	case ZYDIS_MNEMONIC_SAR:
		return shift(e, d);
	case ZYDIS_MNEMONIC_IMUL:
		return d->insn.operand_count_visible > 1 ? multiply(e, d) : forget(e, d);
	case ZYDIS_MNEMONIC_DIV:
	case ZYDIS_MNEMONIC_IDIV:
		return divide(e, d);
	default:
		return forget(e, d);
	}
}

bool xc_emulator_run(struct xc_emulator *e, const struct xc_emulated_insn *d)
{
	struct xc_emulated value;
	bool good;
	if (d->insn.meta.isa_ext != ZYDIS_ISA_EXT_BASE && xc_emulator_run_float(e, d, &good))
		return good;
	switch (d->insn.meta.category) {
	case ZYDIS_CATEGORY_SETCC:
	case ZYDIS_CATEGORY_CMOV:
		return by_condition(e, d);
	case ZYDIS_CATEGORY_NOP:
	case ZYDIS_CATEGORY_WIDENOP:
		return true;
	default:
		break;
	}
	switch (d->insn.mnemonic) {
	case ZYDIS_MNEMONIC_MOV:
		return xc_emulator_get(e, d, 1, &value) ? xc_emulator_put(e, d, 0, value) : false;
	case ZYDIS_MNEMONIC_MOVZX:
		return extend(e, d, false);
	case ZYDIS_MNEMONIC_MOVSX:
	case ZYDIS_MNEMONIC_MOVSXD:
		return extend(e, d, true);
	case ZYDIS_MNEMONIC_LEA:
		return address(e, d);
	case ZYDIS_MNEMONIC_ADC:
	case ZYDIS_MNEMONIC_SBB:
		return sum_with_carry(e, d);
	case ZYDIS_MNEMONIC_ADD:
	case ZYDIS_MNEMONIC_SUB:
	case ZYDIS_MNEMONIC_CMP:
	case ZYDIS_MNEMONIC_XADD:
		return sum(e, d);
	case ZYDIS_MNEMONIC_CDQE:
	case ZYDIS_MNEMONIC_CWDE:
	case ZYDIS_MNEMONIC_CDQ:
	case ZYDIS_MNEMONIC_CQO:
		return widen(e, d);
	case ZYDIS_MNEMONIC_XCHG:
		return exchange(e, d);
	case ZYDIS_MNEMONIC_CMPXCHG:
		return compare_exchange(e, d);
	case ZYDIS_MNEMONIC_PUSH:
		return xc_emulator_get(e, d, 0, &value) && d->operands[0].size == 64 && xc_emulator_push(e, value);
	case ZYDIS_MNEMONIC_POP:
		return d->operands[0].size == 64 && xc_emulator_pop(e, &value) && xc_emulator_put(e, d, 0, value);
	case ZYDIS_MNEMONIC_LEAVE:
		return leave(e);
	case ZYDIS_MNEMONIC_ENDBR64:
	case ZYDIS_MNEMONIC_PAUSE:
		return true;
	default:
		return compute(e, d);
	}
}
