/* emulator_float: instructions on single floating-point numbers in vector registers (Intel's manual, volume 2), without
 * AVX, rounded to nearest. The bytes above the low 8 are not kept: where they are stored, they are unknown. */
#include "triage/emulator/emulator_impl.h"

#include <math.h>
#include <string.h>

enum operation { NO_OPERATION, ADD, SUBTRACT, MULTIPLY, DIVIDE, LESSER, GREATER };

/* What is computed other than by sums of integers does not count. */
static uint8_t mixed(uint8_t marks)
{
	uint8_t others = marks & XC_EMULATOR_OUTSIDE;
	return (marks & XC_EMULATOR_CHANGES) ? others | XC_EMULATOR_DATA : others;
}

static double number_of(uint64_t bits, uint32_t size)
{
	double wide;
	float narrow;
	uint32_t low = (uint32_t)bits;
	memcpy(&narrow, &low, sizeof narrow);
	memcpy(&wide, &bits, sizeof wide);
	return size == 4 ? (double)narrow : wide;
}

static uint64_t bits_of(double number, uint32_t size)
{
	uint64_t wide;
	uint32_t low;
	float narrow = (float)number;
	memcpy(&low, &narrow, sizeof low);
	memcpy(&wide, &number, sizeof wide);
	return size == 4 ? low : wide;
}

/* An operand of so many bytes: of a vector or general register, or in memory. */
static bool get(struct xc_emulator *e, const struct xc_emulated_insn *d, unsigned operand, uint32_t size,
		struct xc_emulated *out)
{
	const ZydisDecodedOperand *o = &d->operands[operand];
	const struct xc_emulated *vector = xc_emulator_vector(e, o);
	xc_addr addr;
	uint8_t marks;
	if (vector) {
		*out = (struct xc_emulated){vector->bits & xc_emulator_mask(size), vector->marks};
		return true;
	}
	if (o->type != ZYDIS_OPERAND_TYPE_MEMORY)
		return xc_emulator_get(e, d, operand, out);
	return xc_emulator_address(e, d, o, &addr, &marks) && !(marks & XC_EMULATOR_CHANGES) &&
	       xc_emulator_read(e, addr, size, out);
}

/* Into the low bytes of the first operand; the rest stays. */
static bool put_low(struct xc_emulator *e, const struct xc_emulated_insn *d, uint32_t size, struct xc_emulated value)
{
	struct xc_emulated *to = xc_emulator_vector(e, &d->operands[0]);
	uint64_t mask = xc_emulator_mask(size);
	if (!to)
		return xc_emulator_put(e, d, 0, value);
	to->bits = (to->bits & ~mask) | (value.bits & mask);
	to->marks = size < 8 ? to->marks | value.marks : value.marks;
	return true;
}

/* ---- what is computed ---- */

static enum operation operation_of(ZydisMnemonic mnemonic, uint32_t *size)
{
	static const struct {
		ZydisMnemonic single, wide;
		enum operation operation;
	} all[] = {
		{ZYDIS_MNEMONIC_ADDSS, ZYDIS_MNEMONIC_ADDSD, ADD},
		{ZYDIS_MNEMONIC_SUBSS, ZYDIS_MNEMONIC_SUBSD, SUBTRACT},
		{ZYDIS_MNEMONIC_MULSS, ZYDIS_MNEMONIC_MULSD, MULTIPLY},
		{ZYDIS_MNEMONIC_DIVSS, ZYDIS_MNEMONIC_DIVSD, DIVIDE},
		{ZYDIS_MNEMONIC_MINSS, ZYDIS_MNEMONIC_MINSD, LESSER},
		{ZYDIS_MNEMONIC_MAXSS, ZYDIS_MNEMONIC_MAXSD, GREATER},
	};
	for (size_t i = 0; i < XC_COUNT(all); i++) {
		*size = mnemonic == all[i].single ? 4 : 8;
		if (mnemonic == all[i].single || mnemonic == all[i].wide)
			return all[i].operation;
	}
	return NO_OPERATION;
}

static double compute(enum operation operation, double a, double b)
{
	switch (operation) {
	case ADD:
		return a + b;
	case SUBTRACT:
		return a - b;
	case MULTIPLY:
		return a * b;
	case DIVIDE:
		return a / b;
	case LESSER:
		return a < b ? a : b;
	default:
		return a > b ? a : b;
	}
}

static bool calculate(struct xc_emulator *e, const struct xc_emulated_insn *d, enum operation operation, uint32_t size)
{
	struct xc_emulated a, b;
	if (!get(e, d, 0, size, &a) || !get(e, d, 1, size, &b))
		return false;
	double x = number_of(a.bits, size), y = number_of(b.bits, size);
	uint64_t bits = bits_of(compute(operation, x, y), size);
	uint8_t marks = mixed(a.marks | b.marks);
	bool known = !(marks & XC_EMULATOR_CHANGES) && x != 0 && y != 0 && isfinite(x) && isfinite(y);
	if (known && operation == ADD && bits == b.bits)
		e->lost = (struct xc_emulated_sum){true, size, y, x};
	else if (known && (operation == ADD || operation == SUBTRACT) && bits == a.bits)
		e->lost = (struct xc_emulated_sum){true, size, x, operation == ADD ? y : -y};
	return put_low(e, d, size, (struct xc_emulated){bits, marks});
}

/* ucomiss and its like: parity is set where one is not a number. */
static bool compare(struct xc_emulator *e, const struct xc_emulated_insn *d, uint32_t size)
{
	struct xc_emulated a, b;
	if (!get(e, d, 0, size, &a) || !get(e, d, 1, size, &b))
		return false;
	double x = number_of(a.bits, size), y = number_of(b.bits, size);
	bool unordered = isnan(x) || isnan(y);
	e->state.flags = (struct xc_emulated_flags){.carry = unordered || x < y,
						    .zero = unordered || (!(x < y) && !(x > y)),
						    .parity = unordered,
						    .marks = mixed(a.marks | b.marks),
						    .left = a.bits,
						    .right = b.bits,
						    .size = size};
	return true;
}

/* cmpss and cmpsd: all bits set, or none. */
static bool mask_of(struct xc_emulator *e, const struct xc_emulated_insn *d, uint32_t size)
{
	enum { EQUAL, LESS, LESS_EQUAL, UNORDERED, PREDICATES = 3, NOT = 4 };
	struct xc_emulated a, b;
	unsigned predicate = (unsigned)d->operands[2].imm.value.u;
	if (d->operands[2].type != ZYDIS_OPERAND_TYPE_IMMEDIATE || !get(e, d, 0, size, &a) || !get(e, d, 1, size, &b))
		return false;
	double x = number_of(a.bits, size), y = number_of(b.bits, size);
	bool holds = (predicate & PREDICATES) == EQUAL        ? !(x < y) && !(x > y) && !isnan(x) && !isnan(y)
		     : (predicate & PREDICATES) == LESS       ? x < y
		     : (predicate & PREDICATES) == LESS_EQUAL ? x <= y
							      : isnan(x) || isnan(y);
	struct xc_emulated value = {holds != (bool)(predicate & NOT) ? UINT64_MAX : 0, mixed(a.marks | b.marks)};
	struct xc_emulated *to = xc_emulator_vector(e, &d->operands[0]);
	uint64_t mask = xc_emulator_mask(size);
	if (!to)
		return false;
	to->bits = (to->bits & ~mask) | (value.bits & mask);
	to->marks |= value.marks;
	return true;
}

static bool round_to_integer(struct xc_emulator *e, const struct xc_emulated_insn *d, uint32_t size)
{
	struct xc_emulated a;
	if (!get(e, d, 1, size, &a))
		return false;
	bool wide = d->operands[0].size == 64;
	double x = number_of(a.bits, size), limit = wide ? 0x1p63 : 0x1p31;
	bool fits = x > -limit - (wide ? 0 : 1) && x < limit;
	uint64_t bits = fits ? (uint64_t)(int64_t)x : wide ? UINT64_C(1) << 63 : UINT64_C(1) << 31;
	return xc_emulator_put(e, d, 0, (struct xc_emulated){bits & xc_emulator_mask(wide ? 8 : 4), mixed(a.marks)});
}

static bool from_integer(struct xc_emulator *e, const struct xc_emulated_insn *d, uint32_t size)
{
	struct xc_emulated a;
	uint32_t from = d->operands[1].size / 8;
	if (!get(e, d, 1, from, &a))
		return false;
	int64_t number = (int64_t)xc_extend(a.bits, 8 * from, true);
	uint64_t bits;
	float narrow = (float)number;
	uint32_t low;
	memcpy(&low, &narrow, sizeof low);
	bits = size == 4 ? low : bits_of((double)number, 8);
	return put_low(e, d, size, (struct xc_emulated){bits, mixed(a.marks)});
}

static bool convert(struct xc_emulator *e, const struct xc_emulated_insn *d, uint32_t from)
{
	const uint32_t to = from == 4 ? 8 : 4;
	struct xc_emulated a;
	if (!get(e, d, 1, from, &a))
		return false;
	return put_low(e, d, to, (struct xc_emulated){bits_of(number_of(a.bits, from), to), mixed(a.marks)});
}

/* ---- what is moved ---- */

/* movss, movsd: from memory, the rest is cleared; between registers it stays. */
static bool move(struct xc_emulator *e, const struct xc_emulated_insn *d, uint32_t size)
{
	struct xc_emulated value;
	struct xc_emulated *to = xc_emulator_vector(e, &d->operands[0]);
	if (!get(e, d, 1, size, &value))
		return false;
	if (to && d->operands[1].type == ZYDIS_OPERAND_TYPE_MEMORY) {
		*to = value;
		return true;
	}
	return put_low(e, d, size, value);
}

/* Moves of whole registers, and of general ones. */
static bool move_whole(struct xc_emulator *e, const struct xc_emulated_insn *d, uint32_t size)
{
	struct xc_emulated value;
	xc_addr addr;
	uint8_t marks;
	if (!get(e, d, 1, size, &value))
		return false;
	if (d->operands[0].type != ZYDIS_OPERAND_TYPE_MEMORY)
		return xc_emulator_put(e, d, 0, value);
	if (!xc_emulator_address(e, d, &d->operands[0], &addr, &marks) || (marks & XC_EMULATOR_CHANGES) ||
	    !xc_emulator_write(e, addr, size, value))
		return false;
	for (uint32_t at = size; at < d->operands[0].size / 8u; at++)
		if (!xc_emulator_write(e, addr + at, 1, (struct xc_emulated){0, XC_EMULATOR_DATA}))
			return false;
	return true;
}

static bool logic(struct xc_emulator *e, const struct xc_emulated_insn *d, uint32_t size)
{
	(void)size; /* of elements: all the same */
	struct xc_emulated a, b;
	if (!get(e, d, 0, 8, &a) || !get(e, d, 1, 8, &b))
		return false;
	bool same = d->operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER &&
		    d->operands[0].reg.value == d->operands[1].reg.value;
	struct xc_emulated value = {0, mixed(a.marks | b.marks)};
	switch (d->insn.mnemonic) {
	case ZYDIS_MNEMONIC_ANDPS:
	case ZYDIS_MNEMONIC_ANDPD:
	case ZYDIS_MNEMONIC_PAND:
		value.bits = a.bits & b.bits;
		break;
	case ZYDIS_MNEMONIC_ANDNPS:
	case ZYDIS_MNEMONIC_ANDNPD:
	case ZYDIS_MNEMONIC_PANDN:
		value.bits = ~a.bits & b.bits;
		break;
	case ZYDIS_MNEMONIC_ORPS:
	case ZYDIS_MNEMONIC_ORPD:
	case ZYDIS_MNEMONIC_POR:
		value.bits = a.bits | b.bits;
		break;
	default:
		value.bits = a.bits ^ b.bits;
		value.marks = same ? 0 : value.marks;
	}
	return xc_emulator_put(e, d, 0, value);
}

static bool forget_all(struct xc_emulator *e)
{
	for (size_t i = 0; i < XC_COUNT(e->state.vectors); i++)
		e->state.vectors[i].marks = XC_EMULATOR_DATA;
	return true;
}

/* Of the whole numbers of 4 bytes, or the one of 8, in the low 8 bytes. */
static bool whole(struct xc_emulator *e, const struct xc_emulated_insn *d, uint32_t size)
{
	struct xc_emulated a, b, value = {0, 0};
	if (!get(e, d, 0, 8, &a) || !get(e, d, 1, 8, &b))
		return false;
	for (uint32_t at = 0; at < 8; at += size) {
		uint64_t mask = xc_emulator_mask(size), x = a.bits >> (8 * at) & mask, y = b.bits >> (8 * at) & mask;
		uint64_t by = b.bits < 8 * size ? b.bits : 0;
		switch (d->insn.mnemonic) {
		case ZYDIS_MNEMONIC_PSLLD:
			x = by == b.bits ? x << by : 0;
			break;
		case ZYDIS_MNEMONIC_PSRLD:
			x = by == b.bits ? x >> by : 0;
			break;
		case ZYDIS_MNEMONIC_PSUBD:
		case ZYDIS_MNEMONIC_PSUBQ:
			x -= y;
			break;
		default:
			x += y;
		}
		value.bits |= (x & mask) << (8 * at);
	}
	value.marks = mixed(a.marks | b.marks);
	return xc_emulator_put(e, d, 0, value);
}

typedef bool run_fn(struct xc_emulator *e, const struct xc_emulated_insn *d, uint32_t size);

/* What an instruction that calculates nothing does, and with numbers of which size. NULL: it is none of these. */
static run_fn *run_of(ZydisMnemonic mnemonic, uint32_t *size_out)
{
	static const struct {
		ZydisMnemonic mnemonic;
		run_fn *run;
		uint32_t size;
	} rows[] = {
		{ZYDIS_MNEMONIC_UCOMISS, compare, 4},
		{ZYDIS_MNEMONIC_COMISS, compare, 4},
		{ZYDIS_MNEMONIC_UCOMISD, compare, 8},
		{ZYDIS_MNEMONIC_COMISD, compare, 8},
		{ZYDIS_MNEMONIC_CVTTSS2SI, round_to_integer, 4},
		{ZYDIS_MNEMONIC_CVTTSD2SI, round_to_integer, 8},
		{ZYDIS_MNEMONIC_CVTSI2SS, from_integer, 4},
		{ZYDIS_MNEMONIC_CVTSI2SD, from_integer, 8},
		{ZYDIS_MNEMONIC_CVTSS2SD, convert, 4},
		{ZYDIS_MNEMONIC_CVTSD2SS, convert, 8},
		{ZYDIS_MNEMONIC_MOVSS, move, 4},
		{ZYDIS_MNEMONIC_MOVSD, move, 8},
		{ZYDIS_MNEMONIC_MOVD, move_whole, 4},
		{ZYDIS_MNEMONIC_MOVQ, move_whole, 8},
		{ZYDIS_MNEMONIC_MOVAPS, move_whole, 8},
		{ZYDIS_MNEMONIC_MOVAPD, move_whole, 8},
		{ZYDIS_MNEMONIC_MOVUPS, move_whole, 8},
		{ZYDIS_MNEMONIC_MOVUPD, move_whole, 8},
		{ZYDIS_MNEMONIC_MOVDQA, move_whole, 8},
		{ZYDIS_MNEMONIC_MOVDQU, move_whole, 8},
		{ZYDIS_MNEMONIC_CMPSS, mask_of, 4},
		{ZYDIS_MNEMONIC_CMPSD, mask_of, 8},
		{ZYDIS_MNEMONIC_PADDD, whole, 4},
		{ZYDIS_MNEMONIC_PSUBD, whole, 4},
		{ZYDIS_MNEMONIC_PSLLD, whole, 4},
		{ZYDIS_MNEMONIC_PSRLD, whole, 4},
		{ZYDIS_MNEMONIC_PADDQ, whole, 8},
		{ZYDIS_MNEMONIC_PSUBQ, whole, 8},
		{ZYDIS_MNEMONIC_PXOR, logic, 8},
		{ZYDIS_MNEMONIC_XORPS, logic, 4},
		{ZYDIS_MNEMONIC_XORPD, logic, 8},
		{ZYDIS_MNEMONIC_ANDPS, logic, 4},
		{ZYDIS_MNEMONIC_ANDPD, logic, 8},
		{ZYDIS_MNEMONIC_PAND, logic, 8},
		{ZYDIS_MNEMONIC_ANDNPS, logic, 4},
		{ZYDIS_MNEMONIC_ANDNPD, logic, 8},
		{ZYDIS_MNEMONIC_PANDN, logic, 8},
		{ZYDIS_MNEMONIC_ORPS, logic, 4},
		{ZYDIS_MNEMONIC_ORPD, logic, 8},
		{ZYDIS_MNEMONIC_POR, logic, 8},
	};
	for (size_t i = 0; i < XC_COUNT(rows); i++)
		if (rows[i].mnemonic == mnemonic) {
			*size_out = rows[i].size;
			return rows[i].run;
		}
	return NULL;
}

bool xc_emulator_run_float(struct xc_emulator *e, const struct xc_emulated_insn *d, bool *good)
{
	uint32_t size;
	if (d->insn.mnemonic == ZYDIS_MNEMONIC_VZEROALL) {
		*good = forget_all(e);
		return true;
	}
	if (d->insn.meta.category == ZYDIS_CATEGORY_STRINGOP) /* movsd and cmpsd are names of these, too */
		return false;
	const enum operation operation = operation_of(d->insn.mnemonic, &size);
	run_fn *run = operation == NO_OPERATION ? run_of(d->insn.mnemonic, &size) : NULL;
	if (operation != NO_OPERATION)
		*good = calculate(e, d, operation, size);
	else if (run)
		*good = run(e, d, size);
	return operation != NO_OPERATION || run;
}
