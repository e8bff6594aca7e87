/* loop_value: a few instructions back, in the order of addresses: enough for what a compiler puts before a
 * comparison. */
#include "triage/loop/loop_value.h"

enum { DEPTH = 8 };

static bool value_before(const struct xc_loop_code *l, size_t at, int reg, unsigned depth, uint64_t *value);

static bool address_of(const struct xc_loop_code *l, size_t at, unsigned depth, uint64_t *addr)
{
	const struct xc_insn_memory *m = &l->code->body->insns[at].memory;
	uint64_t base = 0, index = 0;
	if (m->complex || m->segment >= 0 || (m->base >= 0 && !value_before(l, at, m->base, depth, &base)) ||
	    (m->index >= 0 && !value_before(l, at, m->index, depth, &index)))
		return false;
	*addr = base + index * m->scale + (uint64_t)m->displacement;
	return true;
}

static bool load(const struct xc_loop_code *l, size_t at, unsigned depth, uint64_t *value)
{
	const struct xc_process *p = l->code->crash->process;
	uint64_t addr;
	return l->code->body->insns[at].memory.size == p->arch->word && address_of(l, at, depth, &addr) &&
	       xc_space_peek_uint(p->space, addr, p->arch->word, value);
}

static bool now(const struct xc_loop_code *l, int reg, uint64_t *value)
{
	return xc_regs_get(&l->code->crash->frames[l->code->frame].regs, reg, value);
}

static bool value_set(const struct xc_loop_code *l, size_t at, unsigned depth, uint64_t *value)
{
	const struct xc_insn *insn = &l->code->body->insns[at];
	if (insn->part)
		return false;
	switch (insn->kind) {
	case XC_INSN_MOVE:
		return value_before(l, at, insn->from, depth, value);
	case XC_INSN_CONSTANT:
		*value = (uint64_t)insn->constant;
		return true;
	case XC_INSN_LOAD:
		return load(l, at, depth, value);
	case XC_INSN_ADDRESS:
		return address_of(l, at, depth, value);
	case XC_INSN_ADD:
		if (!value_before(l, at, insn->to, depth, value))
			return false;
		*value += (uint64_t)insn->constant;
		return true;
	default:
		return false;
	}
}

/* By the x86 conventions: rax, rdx, rcx, rsi, rdi, r8 to r11 are not; nor are eax, ecx, edx. */
static bool is_kept_by_calls(const struct xc_body *body, int reg)
{
	const uint64_t lost = body->process->arch->word == 8 ? 0xf37 : 0x7;
	return !(lost >> reg & 1);
}

static bool value_before(const struct xc_loop_code *l, size_t at, int reg, unsigned depth, uint64_t *value)
{
	const struct xc_body *body = l->code->body;
	if (reg < 0 || reg >= 64 || !depth)
		return false;
	if (xc_frame_code_is_frame_register(l->code, reg))
		return xc_frame_code_frame_value(l->code, at, reg, value);
	for (size_t i = at; i-- > l->loop.first;) {
		if (body->insns[i].kind == XC_INSN_CALL && !is_kept_by_calls(body, reg))
			return false;
		if (body->insns[i].writes >> reg & 1)
			return value_set(l, i, depth - 1, value);
	}
	return now(l, reg, value);
}

bool xc_loop_value_register(const struct xc_loop_code *l, size_t at, int reg, uint64_t *value)
{
	return value_before(l, at, reg, DEPTH, value);
}

bool xc_loop_value_memory(const struct xc_loop_code *l, size_t at, uint64_t *value)
{
	return l->code->body->insns[at].has_memory && load(l, at, DEPTH, value);
}

bool xc_loop_value_address(const struct xc_loop_code *l, size_t at, xc_addr *addr)
{
	return l->code->body->insns[at].has_memory && address_of(l, at, DEPTH, addr);
}

static bool same_slot(const struct xc_insn_memory *a, const struct xc_insn_memory *b)
{
	return a->base == b->base && a->index == b->index && a->displacement == b->displacement;
}

/* Is each of the loop's writes to the register an addition? */
static bool only_adds(const struct xc_loop_code *l, int reg)
{
	bool adds = false;
	for (size_t i = l->loop.first; reg >= 0 && reg < 64 && i <= l->loop.last; i++) {
		const struct xc_insn *insn = &l->code->body->insns[i];
		if (!(insn->writes >> reg & 1))
			continue;
		if (insn->kind != XC_INSN_ADD && insn->kind != XC_INSN_ADD_REGISTER)
			return false;
		adds = true;
	}
	return adds;
}

/* The last instruction of the loop before `at` that writes the register; NULL: none. */
static const struct xc_insn *writer(const struct xc_loop_code *l, size_t at, int reg)
{
	for (size_t i = at; reg >= 0 && reg < 64 && i-- > l->loop.first;)
		if (l->code->body->insns[i].writes >> reg & 1)
			return &l->code->body->insns[i];
	return NULL;
}

/* Does the instruction add to what it stores there: at once, or as a load, an addition and a store? */
static bool adds_to_slot(const struct xc_loop_code *l, size_t at, const struct xc_insn_memory *memory)
{
	const struct xc_insn *insn = &l->code->body->insns[at];
	if (!insn->has_memory || !insn->writes_memory || !same_slot(&insn->memory, memory))
		return false;
	if (insn->kind != XC_INSN_STORE)
		return insn->reads_memory;
	const struct xc_insn *sum = writer(l, at, insn->from);
	if (!sum || (sum->kind != XC_INSN_ADD && sum->kind != XC_INSN_ADD_REGISTER))
		return false;
	const struct xc_insn *old = writer(l, (size_t)(sum - l->code->body->insns), sum->to);
	return old && old->kind == XC_INSN_LOAD && same_slot(&old->memory, memory);
}

static bool adds_in_memory(const struct xc_loop_code *l, const struct xc_insn_memory *memory)
{
	for (size_t i = l->loop.first; i <= l->loop.last; i++)
		if (adds_to_slot(l, i, memory))
			return true;
	return false;
}

static bool is_counter(const struct xc_loop_code *l, size_t at, int reg)
{
	const struct xc_insn *loads = writer(l, at, reg);
	return only_adds(l, reg) || (loads && loads->kind == XC_INSN_LOAD && adds_in_memory(l, &loads->memory));
}

bool xc_loop_value_counts(const struct xc_loop_code *l, size_t comparison)
{
	const struct xc_insn *insn = &l->code->body->insns[comparison];
	return is_counter(l, comparison, insn->left) || is_counter(l, comparison, insn->right) ||
	       (insn->has_memory && adds_in_memory(l, &insn->memory));
}
