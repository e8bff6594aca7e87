/* meeting: an equality is one of the difference, modulo a power of two. An order holds for an interval that begins or
 * ends at the end of the numbers; signed numbers are moved by half of them first. */
#include "triage/loop/meeting.h"

enum { BELOW = 1, EQUAL = 2, NOT_ABOVE = 3, SIGN = 4, LESS = 6, NOT_GREATER = 7 };

static uint64_t mask_of(uint32_t size)
{
	return size >= 8 ? UINT64_MAX : (UINT64_C(1) << (8 * size)) - 1;
}

/* The inverse of an odd number, modulo 2^64: each step doubles the bits that are right. */
static uint64_t inverse(uint64_t odd)
{
	uint64_t x = odd;
	for (unsigned i = 0; i < 6; i++)
		x *= 2 - odd * x;
	return x;
}

/* The first k > 0 for which apart + k * step is 0; apart is not. */
static uint64_t rounds_to_meet(uint64_t apart, uint64_t step, uint32_t size)
{
	unsigned twos = step ? (unsigned)__builtin_ctzll(step) : 64;
	if (!step || (apart & ((UINT64_C(1) << twos) - 1)))
		return UINT64_MAX;
	uint64_t modulus = mask_of(size) >> twos;
	return ((0 - (apart >> twos)) * inverse(step >> twos)) & modulus;
}

/* Is what is compared on the way there, as numbers with or without a sign? */
static bool leads_there(const struct xc_meeting *p, bool up)
{
	uint64_t mask = mask_of(p->size), half = (mask >> 1) + 1, left = p->left & mask, right = p->right & mask;
	uint64_t signed_left = (left + half) & mask, signed_right = (right + half) & mask;
	return up ? left < right || signed_left < signed_right : left > right || signed_left > signed_right;
}

static uint64_t equality(const struct xc_meeting *p, bool *wraps)
{
	uint64_t mask = mask_of(p->size), apart = (p->left - p->right) & mask;
	uint64_t step = (p->left_step - p->right_step) & mask;
	bool up = !(step >> (8 * p->size - 1));
	if (!apart)
		return step ? 1 : UINT64_MAX;
	uint64_t rounds = rounds_to_meet(apart, step, p->size);
	uint64_t way = up ? (0 - apart) & mask : apart, by = up ? step : (0 - step) & mask;
	*wraps = rounds != UINT64_MAX && (rounds > way / by || rounds * by != way || !leads_there(p, up));
	return rounds;
}

/* `value` moves by `step` in an interval that ends at 0 and `last`, or that begins at `first` and has the largest
 * number. */
static uint64_t order(uint64_t value, uint64_t step, uint64_t bound, bool low, uint64_t mask, uint32_t size,
		      bool *wraps)
{
	bool up = !(step >> (8 * size - 1));
	uint64_t by = up ? step : (0 - step) & mask;
	if (!step || (low && bound == mask) || (!low && !bound))
		return UINT64_MAX;
	*wraps = up != low;
	uint64_t way = low && up ? bound - value : low ? value : up ? mask - value : value - bound;
	return way / by + 1;
}

/* Is value < bound, or <= bound; those for which it is, or is not, are all up to a last or from a first one. */
static uint64_t ordered(const struct xc_meeting *p, bool *wraps)
{
	uint64_t mask = mask_of(p->size), half = (p->condition >> 1) >= LESS ? (mask >> 1) + 1 : 0;
	uint64_t left = (p->left + half) & mask, right = (p->right + half) & mask;
	bool or_equal = (p->condition >> 1) == NOT_ABOVE || (p->condition >> 1) == NOT_GREATER;
	bool less = p->holds != (p->condition & 1), right_moves = p->right_step & mask; /* left < right, or <= */
	if ((p->left_step & mask) && right_moves)
		return 0;
	uint64_t value = right_moves ? right : left, step = (right_moves ? p->right_step : p->left_step) & mask;
	bool low = right_moves ? !less : less; /* the numbers as it is now are the low ones */
	/* The last of the low ones: of left < right that is right - 1, of right > left it is left. */
	bool part_of_low = right_moves ? !or_equal : or_equal;
	uint64_t other = right_moves ? left : right;
	if (!part_of_low && !other) /* all are high */
		return UINT64_MAX;
	uint64_t last = part_of_low ? other : other - 1;
	if (!low && last == mask)
		return UINT64_MAX;
	return order(value, step, low ? last : last + 1, low, mask, p->size, wraps);
}

/* Is left negative? */
static uint64_t negative(const struct xc_meeting *p, bool *wraps)
{
	struct xc_meeting less = *p;
	less.condition = 2 * LESS + (p->condition & 1);
	return ordered(&less, wraps);
}

uint64_t xc_meeting_rounds(const struct xc_meeting *p, bool *wraps_out)
{
	bool zero = !(p->right & mask_of(p->size)) && !(p->right_step & mask_of(p->size));
	*wraps_out = false;
	if (!p->size || p->size > 8)
		return 0;
	switch (p->condition >> 1) {
	case EQUAL:
		return equality(p, wraps_out);
	case BELOW:
	case NOT_ABOVE:
	case LESS:
	case NOT_GREATER:
		return ordered(p, wraps_out);
	case SIGN:
		return zero ? negative(p, wraps_out) : 0;
	default:
		return 0;
	}
}
