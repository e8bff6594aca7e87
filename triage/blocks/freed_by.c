/* freed_by: a function like hash(key) is correct for any valid argument: the one to look at called free() and then
 * passed the pointer on.
 *
 * The call must be on every path to where the pointer is passed on, and its argument must be able to be the block:
 * it points there, as far as it is still known (a variable may have been cleared since); else its type is that of
 * the pointer, and it is not the result of another call, such as a copy that is made and dropped again. That this
 * call freed the block is likely, no more. */
#include "triage/blocks/freed_by.h"

#include <stdlib.h>
#include <string.h>

#include "triage/dataflow/libcall.h"
#include "triage/dataflow/origin.h"

static const int registers[] = {5, 4, 1, 2, 8, 9}; /* rdi rsi rdx rcx r8 r9: psABI x86-64, 3.2.3 */

struct back {
	const struct xc_frame_code *frame_code;
	xc_addr begin; /* of the block; 0: not known */
	uint64_t size;
	size_t *todo, count;
	uint8_t *seen;
};

/* A deallocating call that may free the block, and that leads to the current call. */
struct release {
	long at; /* XC_BODY_NONE: there is none */
	const char *name;
	bool always; /* each path has one */
};

/* ---- what is freed ---- */

/* The target of the pointer's type; NULL: not known, or void. */
static const struct xc_type *target_of(const struct xc_type *type)
{
	type = type ? xc_type_strip(type) : NULL;
	bool pointer = type && type->kind == XC_TYPE_POINTER && type->target;
	type = pointer ? xc_type_strip(type->target) : NULL;
	return type && type->kind != XC_TYPE_VOID && type->kind != XC_TYPE_UNKNOWN ? type : NULL;
}

static bool same_target(const struct xc_type *a, const struct xc_type *b)
{
	a = target_of(a);
	b = target_of(b);
	return a && b && (a == b || (a->kind == b->kind && a->name && b->name && strcmp(a->name, b->name) == 0));
}

/* The only term of an expression; NULL: it is a sum. */
static const struct xc_symbolic_value *only_term(const struct xc_linear_expr *form)
{
	bool one = form->known && form->count == 1 && form->parts[0].times == 1 && !form->constant;
	return one ? &form->parts[0].term : NULL;
}

/* Is it the result of another call, and not of the pointer that is passed on? */
static bool is_other_result(const struct xc_frame_code *s, const struct xc_symbolic_value *term)
{
	long call = xc_origin_result(s, term);
	for (size_t i = 0; call != XC_BODY_NONE && i < XC_COUNT(registers); i++) {
		struct xc_linear_expr passed = xc_symbolic_value_register(s, s->at, registers[i]);
		const struct xc_symbolic_value *one = only_term(&passed);
		if (one && xc_origin_result(s, one) == call)
			return false;
	}
	return call != XC_BODY_NONE;
}

static bool can_be_block(const struct back *b, size_t at)
{
	const struct xc_frame_code *s = b->frame_code;
	struct xc_linear_expr form = xc_symbolic_value_register(s, at, registers[0]);
	const struct xc_symbolic_value *term = only_term(&form);
	uint64_t value;
	if (b->begin && xc_origin_value(s, &form, &value) && value)
		return value - b->begin < b->size;
	return term && same_target(term->type, s->crash->pointer_type) && !is_other_result(s, term);
}

/* ---- where ---- */

static void come(struct back *b, size_t at)
{
	if (b->seen[at])
		return;
	b->seen[at] = 1;
	b->todo[b->count++] = at;
}

static void come_before(struct back *b, size_t at)
{
	const struct xc_body *body = b->frame_code->body;
	if (xc_body_falls_into(body, at))
		come(b, at - 1);
	for (size_t e = xc_body_first_edge(body, at); e < body->edge_count && body->edges[e].to == at; e++)
		come(b, body->edges[e].from);
}

static const char *releases(const struct back *b, size_t at)
{
	const struct xc_body *body = b->frame_code->body;
	const struct xc_insn *insn = &body->insns[at];
	const char *name = insn->kind == XC_INSN_CALL ? xc_libcall_frees(xc_body_callee(body, insn, NULL)) : NULL;
	return name && can_be_block(b, at) ? name : NULL;
}

/* Back over all paths, up to such calls or the function's entry. */
static void walk_back(struct back *b, struct release *found)
{
	const struct xc_body *body = b->frame_code->body;
	*found = (struct release){.at = XC_BODY_NONE, .always = !body->incomplete && !body->jumps_wild};
	if (b->frame_code->at == body->entry)
		found->always = false;
	come_before(b, b->frame_code->at);
	while (b->count) {
		size_t at = b->todo[--b->count];
		const char *name = releases(b, at);
		if (!name) {
			found->always &= at != body->entry;
			come_before(b, at);
		} else if (found->at == XC_BODY_NONE) {
			found->at = (long)at;
			found->name = name;
		}
	}
}

static void find_release(const struct xc_frame_code *s, xc_addr begin, uint64_t size, struct release *found)
{
	struct back b = {.frame_code = s, .begin = begin, .size = size};
	b.todo = xc_alloc(s->body->count * sizeof *b.todo);
	b.seen = xc_alloc(s->body->count);
	walk_back(&b, found);
	free(b.todo);
	free(b.seen);
}

/* ---- words ---- */

static void report_release(struct xc_crash_context *crash, const struct xc_frame_code *s, const struct release *release)
{
	struct xc_text text = {0};
	const char *function = xc_origin_function(s);
	if (release->always) {
		xc_crash_context_blame(crash, s->frame);
		crash->blame.through = NULL; /* was not called from there */
		function = xc_crash_context_culprit(crash);
	}
	xc_text_printf(&text, "%s() %s called %s()", function ? function : "a caller",
		       release->always ? "had" : "may have", release->name);
	xc_origin_line(s, (size_t)release->at, " at ", &text);
	xc_verdict_evidence(crash->report, "%s before it passed the pointer on%s", xc_text_string(&text),
			    release->always ? ": likely it was freed there" : ", and freed it there");
	xc_text_fini(&text);
}

void xc_freed_by_report(struct xc_crash_context *crash, xc_addr begin, uint64_t size)
{
	unsigned budget = XC_SYMBOLIC_BUDGET;
	for (size_t i = crash->blamed; crash->blame.place && i <= crash->passed; i++) {
		struct xc_frame_code frame_code;
		struct release release;
		if (!xc_frame_code_init(crash, i, &budget, &frame_code))
			continue;
		find_release(&frame_code, begin, size, &release);
		if (release.at == XC_BODY_NONE)
			continue;
		if (i > crash->blamed)
			report_release(crash, &frame_code, &release);
		return;
	}
}
