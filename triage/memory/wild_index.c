/* wild_index: see wild_index.h. Considers numbers that are not pointers, but larger than a program counts by chance,
 * and element sizes that types have. Some thousand sums are tried, and the valid places are a few thousand pages of
 * 2^47 addresses: a match is no accident, but of two matches the right one is not known. A loop has its index in one
 * register and the next one in another: then the one that leads to the start of a block wins. */
#include "triage/memory/wild_index.h"

#include "triage/memory/bit_flip.h"

enum { LARGEST = 256, NEAR = 4096 };
#define LEAST (UINT64_C(1) << 24)
#define MOST  (UINT64_C(1) << 40) /* where pointers begin */

/* Matches that are valid for one reason. */
struct matches {
	struct xc_wild_index best; /* .what NULL: there is none */
	xc_addr lo, hi;            /* the lowest and the highest place */
};

struct search {
	const struct xc_crash_context *crash;
	uint64_t value;
	int reg;
	struct matches begins, nears; /* where a block begins; near what a register points to */
};

/* The same place by another number and size is often the product of the index: the larger element is reported. */
static void add(struct matches *m, const struct xc_wild_index *one)
{
	bool first = !m->best.what;
	if (first || one->good < m->lo)
		m->lo = one->good;
	if (first || one->good > m->hi)
		m->hi = one->good;
	bool several = !first && (m->best.several || (one->good == m->best.good && one->size != m->best.size));
	if (first || (one->good == m->best.good && one->size > m->best.size))
		m->best = *one;
	m->best.several = several;
}

static bool is_close(const struct matches *m, xc_addr good)
{
	return !m->best.what || ((m->lo >= good || good - m->lo <= NEAR) && (m->hi <= good || m->hi - good <= NEAR));
}

/* The only place of all matches; NULL when there are several. */
static const struct xc_wild_index *decide(const struct search *s)
{
	const struct matches *m = s->begins.best.what ? &s->begins : &s->nears;
	bool one = m->best.what && m->lo == m->hi && is_close(&s->nears, m->lo);
	return one ? &m->best : NULL;
}

/* 1, 2, 4, 8, 16, 24, … */
static uint64_t next_size(uint64_t size)
{
	return size < 8 ? size * 2 : size + 8;
}

static void try_number(struct search *s, int64_t number, int from)
{
	uint64_t count = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
	if (count < LEAST || count > MOST)
		return;
	for (uint64_t size = 1; size <= LARGEST; size = next_size(size))
		for (int below = 0; below < 2; below++) {
			struct xc_wild_index one = {.good = below ? s->value + count * size : s->value - count * size,
						    .reg = from,
						    .number = number,
						    .size = size,
						    .below = below};
			bool begins;
			one.what = xc_bit_flip_goodness(s->crash, one.good, s->reg, &begins);
			if (one.what)
				add(begins ? &s->begins : &s->nears, &one);
		}
}

bool xc_wild_index_find(const struct xc_crash_context *crash, uint64_t value, int reg, struct xc_wild_index *out)
{
	const struct xc_arch *arch = crash->process->arch;
	struct search s = {.crash = crash, .value = value, .reg = reg};
	if (xc_process_mapping(crash->process, value))
		return false;
	for (int number = 0; number < arch->frame_regs; number++) {
		uint64_t held;
		if (number == reg || number == arch->pc || number == arch->sp ||
		    !xc_regs_get(&crash->fault.frame.regs, number, &held))
			continue;
		if (held <= UINT32_MAX)
			try_number(&s, (int32_t)(uint32_t)held, number);
		try_number(&s, (int64_t)held, number);
	}
	const struct xc_wild_index *found = decide(&s);
	if (found)
		*out = *found;
	return found != NULL;
}
