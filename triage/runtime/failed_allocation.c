/* failed_allocation: back from the call that gave up, over all paths that lead to it.
 *
 *	call malloc ─ test rax, rax ─ jne ──► the function continues
 *	                              │
 *	                              └─ call fprintf ─ call abort
 *
 * Each path back has to cross such a branch before it reaches the function's entry. */
#include "triage/runtime/failed_allocation.h"

#include <inttypes.h>
#include <string.h>

#include "core/base/text.h"
#include "triage/dataflow/origin.h"
#include "triage/util/odd_number.h"
#include "triage/runtime/cause_abort.h"

enum { RSI = 4, RDI = 5, OUTWARD = 3, WAYS = 32, BACK = 400, COPIES = 4 };

static const struct allocator {
	const char *name;
	int size, count; /* registers of the size and of the count; -1: none */
} allocators[] = {
	{"malloc", RDI, -1},      {"calloc", RSI, RDI},  {"realloc", RSI, -1},      {"valloc", RDI, -1},
	{"pvalloc", RDI, -1},     {"memalign", RSI, -1}, {"strdup", -1, -1},        {"aligned_alloc", RSI, -1},
	{"reallocarray", -1, -1}, {"strndup", -1, -1},   {"operator new", RDI, -1}, {"operator new[]", RDI, -1},
};

static const struct allocator *allocator_of(const char *callee)
{
	static const char *const prefixes[] = {"__GI_", "__libc_"}; /* glibc's internal names */
	for (size_t i = 0; callee && i < XC_COUNT(prefixes); i++)
		if (strncmp(callee, prefixes[i], strlen(prefixes[i])) == 0)
			callee += strlen(prefixes[i]);
	for (size_t i = 0; callee && i < XC_COUNT(allocators); i++) {
		size_t len = strlen(allocators[i].name);
		if (strncmp(callee, allocators[i].name, len) == 0 && strchr("(@", callee[len]))
			return &allocators[i];
	}
	return NULL;
}

/* ---- what a branch tests ---- */

static long allocation_in(const struct xc_frame_code *s, const struct xc_slice *slice, unsigned depth);

static long allocation_of(const struct xc_frame_code *s, size_t at, int reg, unsigned depth)
{
	struct xc_slice slice;
	if (depth == COPIES || !xc_frame_code_spend(s))
		return XC_BODY_NONE;
	xc_slice_register(s->body, at, reg, &slice);
	return allocation_in(s, &slice, depth + 1);
}

/* The call of an allocator that is the only definition of the value. */
static long allocation_in(const struct xc_frame_code *s, const struct xc_slice *slice, unsigned depth)
{
	if (slice->count != 1)
		return XC_BODY_NONE;
	const struct xc_slice_definition *d = &slice->items[0];
	const struct xc_insn *insn = &s->body->insns[d->insn];
	if (d->kind == XC_DEFINITION_RESULT)
		return allocator_of(xc_body_callee(s->body, insn, NULL)) ? (long)d->insn : XC_BODY_NONE;
	if (d->kind == XC_DEFINITION_INSN && (insn->kind == XC_INSN_MOVE || insn->kind == XC_INSN_STORE) &&
	    insn->from >= 0)
		return allocation_of(s, d->insn, insn->from, depth);
	return XC_BODY_NONE;
}

/* The operand compared with zero: the register of `test r, r` or `cmp $0, r`, or memory (`cmp $0, m`); -1 otherwise
 * (Intel SDM, volume 2: 85 /r TEST, 83 /7 ib CMP). */
static int compared_with_zero(const struct xc_frame_code *s, const struct xc_insn *test, bool *memory)
{
	static const int8_t numbers[] = {0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15}; /* DWARF's */
	uint8_t code[16];
	size_t at = 0, got = xc_space_peek(s->crash->process->space, test->addr, code, sizeof code);
	unsigned rex = 0;
	if (got < test->length || test->length < 2)
		return -1;
	if ((code[0] & 0xf0) == 0x40)
		rex = code[at++];
	unsigned mod = code[at + 1] >> 6, reg = (code[at + 1] >> 3 & 7) | (rex & 4) << 1,
		 rm = (code[at + 1] & 7) | (rex & 1) << 3;
	bool zero = code[at] == 0x83 && (reg & 7) == 7 && !code[test->length - 1];
	*memory = zero && mod != 3;
	bool same = code[at] == 0x85 && mod == 3 && reg == rm;
	return mod == 3 && (zero || same) ? numbers[rm] : -1;
}

/* The call of an allocator whose result the branch compares with NULL. */
static long allocation_tested(const struct xc_frame_code *s, size_t branch)
{
	const struct xc_insn *test = branch > 0 ? &s->body->insns[branch - 1] : NULL;
	struct xc_slice slice;
	bool memory = false;
	int reg = test ? compared_with_zero(s, test, &memory) : -1;
	if (reg >= 0)
		return allocation_of(s, branch - 1, reg, 0);
	if (!memory || !test->has_memory || !xc_frame_code_is_slot(s, &test->memory) || !xc_frame_code_spend(s))
		return XC_BODY_NONE;
	xc_slice_slot(s->body, branch - 1, test->memory.base, test->memory.displacement, test->memory.size, &slice);
	return allocation_in(s, &slice, 0);
}

/* ---- the ways back ---- */

struct back {
	size_t todo[WAYS], seen[WAYS];
	size_t count, seen_count;
	long found;
	bool lost;
};

static void push(struct back *b, size_t at)
{
	for (size_t i = 0; i < b->seen_count; i++)
		if (b->seen[i] == at)
			return;
	if (b->seen_count == WAYS) {
		b->lost = true;
		return;
	}
	b->seen[b->seen_count++] = b->todo[b->count++] = at;
}

/* Does the branch go this way when the tested value is zero? je: 74 or 0f 84; jne: 75 or 0f 85 (Intel SDM, volume 2,
 * Jcc). */
static bool goes_with_zero(const struct xc_frame_code *s, size_t branch, bool jumped)
{
	uint8_t code[2];
	if (xc_space_peek(s->crash->process->space, s->body->insns[branch].addr, code, sizeof code) != sizeof code)
		return false;
	uint8_t condition = code[0] == 0x0f ? code[1] - 0x10 : code[0];
	return condition == (jumped ? 0x74 : 0x75);
}

/* Reached from `from`: a branch taken on an allocation's failure ends this path, any other continues it. */
static void come(struct back *b, const struct xc_frame_code *s, size_t from, bool jumped)
{
	bool zero = s->body->insns[from].kind == XC_INSN_BRANCH && goes_with_zero(s, from, jumped);
	long call = zero ? allocation_tested(s, from) : XC_BODY_NONE;
	if (call == XC_BODY_NONE)
		push(b, from);
	else if (b->found == XC_BODY_NONE || b->found == call)
		b->found = call;
	else
		b->lost = true;
}

/* Back to the start of the straight-line code, and to all its predecessors. */
static void piece(struct back *b, const struct xc_frame_code *s, size_t at)
{
	for (size_t steps = 0; steps < BACK; steps++) {
		size_t e = xc_body_first_edge(s->body, at);
		bool target = e < s->body->edge_count && s->body->edges[e].to == at,
		     falls = xc_body_falls_into(s->body, at);
		for (; e < s->body->edge_count && s->body->edges[e].to == at; e++)
			come(b, s, s->body->edges[e].from, true);
		if (at == s->body->entry || (!falls && !target)) {
			b->lost = true;
			return;
		}
		if (!falls)
			return;
		if (s->body->insns[--at].kind == XC_INSN_BRANCH) {
			come(b, s, at, false);
			return;
		}
	}
	b->lost = true;
}

/* The allocator call whose failure is necessary to reach the current call; XC_BODY_NONE when there is none. */
static long allocation_before(const struct xc_frame_code *s)
{
	struct back b = {.found = XC_BODY_NONE};
	push(&b, s->at);
	while (b.count && !b.lost)
		piece(&b, s, b.todo[--b.count]);
	return b.lost ? XC_BODY_NONE : b.found;
}

/* ---- words ---- */

static bool operand(const struct xc_frame_code *s, size_t call, int reg, uint64_t *value)
{
	struct xc_linear_expr form = xc_symbolic_value_register(s, call, reg);
	return form.known && form.sure && xc_origin_value(s, &form, value);
}

static bool bytes_asked(const struct xc_frame_code *s, size_t call, const struct allocator *allocator, uint64_t *bytes)
{
	uint64_t times = 1;
	return allocator->size >= 0 && operand(s, call, allocator->size, bytes) &&
	       (allocator->count < 0 || operand(s, call, allocator->count, &times)) &&
	       !__builtin_mul_overflow(*bytes, times, bytes);
}

static void report_mapped(const struct xc_crash_context *crash)
{
	struct xc_text text = {0};
	uint64_t mapped = 0;
	for (size_t i = 0; i < crash->process->mapping_count; i++)
		mapped += crash->process->mappings[i].hi - crash->process->mappings[i].lo + 1;
	xc_text_add(&text, "the process has ");
	xc_text_size(&text, mapped);
	xc_text_add(&text, " mapped");
	if (crash->heap && !xc_heap_why_empty(crash->heap)) {
		xc_text_add(&text, ", of which the heap manages ");
		xc_text_size(&text, xc_heap_totals(crash->heap).managed);
	}
	xc_verdict_evidence(crash->report, "%s", xc_text_string(&text));
	xc_text_fini(&text);
}

static void classify(struct xc_crash_context *crash, const struct xc_frame_code *s, size_t call)
{
	const struct allocator *allocator = allocator_of(xc_body_callee(s->body, &s->body->insns[call], NULL));
	struct xc_text cause = {0}, why = {0};
	uint64_t bytes;
	xc_crash_context_blame(crash, s->frame);
	if (bytes_asked(s, call, allocator, &bytes)) {
		xc_text_printf(&cause, "%s() was asked for %" PRIu64 " bytes (", allocator->name, bytes);
		xc_text_size(&cause, bytes);
		xc_text_add(&cause, xc_odd_number_size(bytes, &why) ? "; " : "");
		xc_text_printf(&cause, "%s)", xc_text_string(&why));
	} else {
		xc_text_printf(&cause, "%s() was asked for memory", allocator->name);
	}
	xc_text_printf(&cause, " and failed, and %s gave up", xc_crash_context_culprit(crash));
	xc_crash_context_classify(crash, "out-of-memory", NULL, "low", "likely", xc_text_string(&cause));
	xc_verdict_evidence(crash->report, "the call that gave up is reached only after a test of the result of %s()",
			    allocator->name);
	report_mapped(crash);
	xc_text_fini(&why);
	xc_text_fini(&cause);
}

bool xc_failed_allocation_classify(struct xc_crash_context *crash)
{
	unsigned budget = XC_SYMBOLIC_BUDGET;
	if (!xc_cause_abort_called(crash))
		return false;
	for (size_t i = crash->blamed; crash->blame.place && i < crash->frame_count && i < crash->blamed + OUTWARD;
	     i++) {
		struct xc_frame_code frame_code;
		long call = xc_frame_code_init(crash, i, &budget, &frame_code) ? allocation_before(&frame_code)
									       : XC_BODY_NONE;
		if (call != XC_BODY_NONE) {
			classify(crash, &frame_code, (size_t)call);
			return true;
		}
	}
	return false;
}
