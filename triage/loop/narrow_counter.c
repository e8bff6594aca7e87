/* narrow_counter: how a number was widened, and the condition of a jump, are in the bytes of their instructions
 * (Intel's manual, volume 2): 0f b6 and b7 are movzx, be and bf movsx, from 1 and 2 bytes; 7x and 0f 8x are jumps. */
#include "triage/loop/narrow_counter.h"

#include "triage/loop/loop_value.h"

enum { FLAGS_KEPT = 3, SECOND_PAGE = 0x0f, LARGEST = INT32_MAX };

struct search {
	struct xc_loop_code loop;
	const struct xc_body *body;
	size_t branch, compare;
};

static size_t bytes_of(const struct search *s, size_t at, uint8_t bytes[4])
{
	return xc_space_peek(s->body->process->space, s->body->insns[at].addr, bytes, 4);
}

static bool leaves(const struct search *s, size_t at)
{
	const struct xc_insn *insn = &s->body->insns[at];
	return insn->has_target && (insn->target < s->body->insns[s->loop.loop.first].addr ||
				    insn->target > s->body->insns[s->loop.loop.last].addr);
}

/* The only branch by which the loop ends. */
static bool find_branch(struct search *s)
{
	size_t count = 0;
	for (size_t i = s->loop.loop.first; i <= s->loop.loop.last; i++) {
		const struct xc_insn *insn = &s->body->insns[i];
		bool end = i == s->loop.loop.last;
		if (insn->kind == XC_INSN_RETURN || (insn->kind == XC_INSN_JUMP && (!insn->has_target || leaves(s, i))))
			return false;
		if (insn->kind != XC_INSN_BRANCH || (!end && !leaves(s, i)))
			continue;
		s->branch = i;
		count++;
	}
	return count == 1 && !s->body->incomplete && !s->body->jumps_wild;
}

static bool find_compare(struct search *s)
{
	for (size_t i = 1; i <= FLAGS_KEPT && s->branch >= s->loop.loop.first + i; i++) {
		const struct xc_insn *insn = &s->body->insns[s->branch - i];
		s->compare = s->branch - i;
		if (insn->compares)
			return insn->compare_size >= 4 && !insn->compares_zero;
		if (insn->kind != XC_INSN_MOVE && insn->kind != XC_INSN_LOAD)
			return false;
	}
	return false;
}

/* The instruction of the loop that last wrote the register before the comparison; false: there is none. */
static bool writer(const struct search *s, int reg, size_t *at)
{
	for (size_t i = s->compare; reg >= 0 && reg < 64 && i-- > s->loop.loop.first;)
		if (s->body->insns[i].writes >> reg & 1) {
			*at = i;
			return true;
		}
	return false;
}

/* Is the register widened there? Then the largest number that it may hold. */
static bool widened(const struct search *s, int reg, uint32_t *size, bool *is_signed, uint64_t *most)
{
	uint8_t code[4];
	size_t at, len, i = 0;
	if (!writer(s, reg, &at))
		return false;
	len = bytes_of(s, at, code);
	i = len && (code[0] & 0xf0) == 0x40; /* REX */
	if (len < i + 2 || code[i] != SECOND_PAGE || ((code[i + 1] & 0xf6) != 0xb6))
		return false;
	*size = code[i + 1] & 1 ? 2 : 1;
	*is_signed = code[i + 1] & 8;
	*most = (UINT64_C(1) << (8 * *size - (*is_signed ? 1 : 0))) - 1;
	return true;
}

/* ---- the bound ---- */

static bool is_own_slot(const struct search *s, const struct xc_insn_memory *m)
{
	return xc_frame_code_is_slot(s->loop.code, m);
}

/* Is a write to this memory, or to memory like it, seen in the loop? */
static bool is_written(const struct search *s, const struct xc_insn_memory *m)
{
	for (size_t i = s->loop.loop.first; i <= s->loop.loop.last; i++) {
		const struct xc_insn *insn = &s->body->insns[i];
		if (insn->writes_memory && insn->has_memory && insn->memory.displacement == m->displacement &&
		    is_own_slot(s, &insn->memory) == is_own_slot(s, m))
			return true;
	}
	return false;
}

static bool calls(const struct search *s)
{
	for (size_t i = s->loop.loop.first; i <= s->loop.loop.last; i++)
		if (s->body->insns[i].kind == XC_INSN_CALL)
			return true;
	return false;
}

static bool bound_in_memory(const struct search *s, size_t at, struct xc_narrow_counter *out)
{
	const struct xc_insn_memory *m = &s->body->insns[at].memory;
	xc_addr addr;
	if ((m->size != 4 && m->size != 8) || is_written(s, m) || !xc_loop_value_address(&s->loop, at, &addr))
		return false;
	out->shared = !is_own_slot(s, m);
	out->called = out->shared && calls(s);
	return xc_space_peek_uint(s->body->process->space, addr, m->size, &out->bound);
}

static bool find_bound(const struct search *s, int reg, struct xc_narrow_counter *out)
{
	size_t at;
	if (reg < 0)
		return s->body->insns[s->compare].has_memory && bound_in_memory(s, s->compare, out);
	if (writer(s, reg, &at))
		return s->body->insns[at].kind == XC_INSN_LOAD && !s->body->insns[at].part &&
		       bound_in_memory(s, at, out);
	if (!xc_loop_value_register(&s->loop, s->compare, reg, &out->bound))
		return false;
	out->bound &= s->body->insns[s->compare].compare_size == 4 ? UINT32_MAX : UINT64_MAX;
	return true;
}

/* ---- the outcome ---- */

/* Does the jump's condition hold where the left operand is smaller than the right one, or larger? The answer is the
 * same for all such numbers. False: it asks for something else. */
static bool outcome(unsigned condition, bool left_smaller, bool is_signed, bool *holds)
{
	enum { BELOW = 1, EQUAL = 2, BELOW_EQUAL = 3, LESS = 6, LESS_EQUAL = 7 };
	unsigned pair = condition >> 1;
	if ((pair == BELOW || pair == BELOW_EQUAL) && is_signed) /* of -1, it says that it is large */
		return false;
	if (pair == EQUAL)
		*holds = false;
	else if (pair == BELOW || pair == BELOW_EQUAL || pair == LESS || pair == LESS_EQUAL)
		*holds = left_smaller;
	else
		return false;
	*holds = *holds != (bool)(condition & 1);
	return true;
}

static bool goes_on(const struct search *s, bool left_smaller, bool is_signed)
{
	bool holds;
	const unsigned condition = xc_loop_condition(s->body, s->branch);
	if (!condition || !outcome(condition, left_smaller, is_signed, &holds))
		return false;
	return leaves(s, s->branch) ? !holds : holds;
}

bool xc_narrow_counter_find(const struct xc_frame_code *code, const struct xc_loop *loop, struct xc_narrow_counter *out)
{
	struct search s = {.loop = {code, *loop}, .body = code->body};
	if (!xc_arch_is_x86_64(s.body->process->arch) || !find_branch(&s) || !find_compare(&s))
		return false;
	const struct xc_insn *compare = &s.body->insns[s.compare];
	int sides[] = {compare->left, compare->right};
	for (size_t i = 0; i < XC_COUNT(sides); i++) {
		bool is_signed;
		uint64_t most;
		*out = (struct xc_narrow_counter){.size = 0};
		if (sides[i] >= 0 && widened(&s, sides[i], &out->size, &is_signed, &most) &&
		    find_bound(&s, sides[!i], out) && out->bound > most && out->bound <= LARGEST)
			return goes_on(&s, i == 0, is_signed);
	}
	return false;
}
