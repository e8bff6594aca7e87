/* division: the quotient is computed again. A divisor in memory that is not 0, and whose quotient fits, was 0 when the
 * processor read it. */
#include "triage/code/division.h"

#include "core/process/process.h"
#include "triage/code/insn.h"

enum { RAX = 0, RDX_WIDE = 1, RDX_386 = 2 };

static bool find_instruction(const struct xc_process *p, const struct xc_regs *regs, struct xc_insn *insn)
{
	uint8_t code[16];
	uint64_t pc;
	if (!xc_insn_decodes(p) || !xc_regs_get(regs, p->arch->pc, &pc))
		return false;
	size_t got = xc_space_peek(p->space, pc, code, sizeof code);
	return got && xc_insn_decode(p, code, got, pc, insn) && insn->divides && insn->divisor_size &&
	       insn->divisor_size <= 8;
}

/* The low bytes, extended as the division takes them. */
static int64_t extend(const struct xc_insn *insn, uint64_t bits)
{
	return (int64_t)xc_extend(bits, 8 * insn->divisor_size, insn->divides_signed);
}

static bool memory_divisor(const struct xc_process *p, const struct xc_regs *regs, const struct xc_insn *insn,
			   uint64_t *bits)
{
	const struct xc_insn_memory *m = &insn->memory;
	uint64_t base = 0, index = 0;
	return insn->has_memory && !m->complex && m->segment < 0 &&
	       (m->base < 0 || xc_regs_get(regs, m->base, &base)) &&
	       (m->index < 0 || xc_regs_get(regs, m->index, &index)) &&
	       xc_space_peek_uint(p->space, base + index * m->scale + (uint64_t)m->displacement, insn->divisor_size,
				  bits);
}

/* The dividend is in two registers; in ax where the divisor is a byte. */
static bool find_dividend(const struct xc_process *p, const struct xc_regs *regs, const struct xc_insn *insn,
			  unsigned __int128 *out)
{
	unsigned bits = 8 * insn->divisor_size;
	uint64_t low, high;
	if (!xc_regs_get(regs, RAX, &low) || !xc_regs_get(regs, p->arch->word == 8 ? RDX_WIDE : RDX_386, &high))
		return false;
	if (bits == 8)
		high = low >> 8;
	uint64_t mask = bits < 64 ? (UINT64_C(1) << bits) - 1 : UINT64_MAX;
	*out = (unsigned __int128)(high & mask) << bits | (low & mask);
	if (insn->divides_signed && high >> (bits - 1) & 1 && bits < 64)
		*out |= ~(unsigned __int128)0 << 2 * bits;
	return true;
}

static bool overflows(const struct xc_insn *insn, unsigned __int128 dividend, int64_t divisor)
{
	unsigned bits = 8 * insn->divisor_size;
	bool negative = insn->divides_signed && dividend >> 127, below = insn->divides_signed && divisor < 0;
	unsigned __int128 size = negative ? -dividend : dividend;
	uint64_t by = below ? -(uint64_t)divisor : (uint64_t)divisor;
	unsigned __int128 most = ((unsigned __int128)1 << (insn->divides_signed ? bits - 1 : bits)) - 1;
	return size / by > most + (negative != below);
}

struct xc_division xc_division_find(const struct xc_process *process, const struct xc_regs *regs)
{
	struct xc_division found = {.error = XC_DIVISION_UNKNOWN};
	struct xc_insn insn;
	unsigned __int128 dividend;
	uint64_t bits;
	if (!find_instruction(process, regs, &insn))
		return found;
	bool known = insn.divisor >= 0 ? xc_regs_get(regs, insn.divisor, &bits)
				       : memory_divisor(process, regs, &insn, &bits);
	if (!known)
		return found;
	found.size = insn.divisor_size;
	found.is_signed = insn.divides_signed;
	found.divisor = extend(&insn, bits);
	if (!found.divisor)
		found.error = XC_DIVISION_ZERO;
	else if (find_dividend(process, regs, &insn, &dividend))
		found.error = overflows(&insn, dividend, found.divisor) ? XC_DIVISION_OVERFLOW : XC_DIVISION_ZERO;
	return found;
}
