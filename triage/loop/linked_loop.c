/* linked_loop: the variables of a function that point to nodes give the walks; the code of the loop around the current
 * instruction shows which link it follows, and what ends it. */
#include "triage/loop/linked_loop.h"

#include <inttypes.h>

#include "dwarf/types/field.h"
#include "triage/loop/loop_value.h"
#include "triage/loop/ring.h"
#include "triage/util/names.h"
#include "triage/util/same_type.h"
#include "triage/util/sourceline.h"
#include "triage/util/user_code.h"

enum { LOOPS = 3, LINKS = 16, BUDGET = 64, SHOWN = 200, WORDS = 1024, NEAR = 256 };

/* A walk along a list, in a loop of a function. */
struct walk {
	const char *name; /* of the variable */
	size_t frame, level;
	const struct xc_place *place;
	struct xc_ring ring;
	const struct xc_type *object; /* of the nodes, with what is around the link */
};

/* ---- the code ---- */

/* Does the loop use the offset of the link, as that of a load or in a sum? */
static bool follows(const struct xc_loop_code *l, const struct xc_ring_link *link)
{
	const struct xc_body *body = l->code->body;
	for (size_t i = l->loop.first; i <= l->loop.last; i++) {
		const struct xc_insn *insn = &body->insns[i];
		bool loads = insn->kind == XC_INSN_LOAD || insn->kind == XC_INSN_ADDRESS;
		int64_t by = loads ? insn->memory.displacement : insn->kind == XC_INSN_ADD ? insn->constant : -1;
		if (loads && (insn->memory.base < 0 || xc_frame_code_is_frame_register(l->code, insn->memory.base)))
			continue;
		if (by == (int64_t)link->offset || by == (int64_t)(link->inside + link->offset))
			return true;
	}
	return false;
}

enum verdict { SAYS_NOTHING, IS_AN_END, IS_REACHED };

static bool operand(const struct xc_loop_code *l, size_t at, int reg, uint64_t *value)
{
	return reg >= 0 ? xc_loop_value_register(l, at, reg, value) : xc_loop_value_memory(l, at, value);
}

static bool is_constant(const struct xc_loop_code *l, int reg)
{
	return reg >= 0 && !xc_loop_writes(l->code->body, &l->loop, reg);
}

/* Of a comparison of two nodes: the walk, in the ring, does not come to one before it. */
static enum verdict judge_nodes(const struct xc_loop_code *l, const struct xc_insn *insn, enum xc_ring_place left,
				enum xc_ring_place right)
{
	int inside = left == XC_RING_IN ? insn->left : insn->right,
	    before = left == XC_RING_IN ? insn->right : insn->left;
	bool apart = left != right && is_constant(l, before) && inside >= 0 && !is_constant(l, inside);
	return apart ? IS_AN_END : IS_REACHED;
}

/* A comparison that may end the loop. */
static enum verdict judge(const struct xc_loop_code *l, const struct xc_ring *ring, size_t at)
{
	const struct xc_insn *insn = &l->code->body->insns[at];
	uint64_t value;
	if (xc_loop_value_counts(l, at))
		return IS_REACHED;
	if (insn->compare_size != ring->process->arch->word)
		return SAYS_NOTHING;
	bool left_known = operand(l, at, insn->left, &value);
	enum xc_ring_place left = left_known ? xc_ring_place(ring, value) : XC_RING_NOT_IN;
	if (insn->compares_zero && left != XC_RING_NOT_IN) /* no node is NULL */
		return xc_loop_ends_when(l->code->body, &l->loop, at) == XC_LOOP_END_UNEQUAL ? IS_REACHED : IS_AN_END;
	if (insn->compares_zero)
		return SAYS_NOTHING;
	bool right_known = operand(l, at, insn->right, &value);
	enum xc_ring_place right = right_known ? xc_ring_place(ring, value) : XC_RING_NOT_IN;
	if (left != XC_RING_NOT_IN && right != XC_RING_NOT_IN)
		return judge_nodes(l, insn, left, right);
	bool is_node = left != XC_RING_NOT_IN || right != XC_RING_NOT_IN;
	if (left_known && right_known)
		return is_node ? IS_AN_END : SAYS_NOTHING;
	return is_node || (!left_known && !right_known) ? IS_REACHED : SAYS_NOTHING;
}

static bool never_ends(const struct xc_loop_code *l, const struct xc_ring *ring)
{
	bool expected = false;
	for (size_t i = l->loop.first; i <= l->loop.last; i++) {
		if (!l->code->body->insns[i].compares || !xc_loop_ends_by(l->code->body, &l->loop, i))
			continue;
		enum verdict v = judge(l, ring, i);
		if (v == IS_REACHED)
			return false;
		expected = expected || v == IS_AN_END;
	}
	return expected;
}

/* ---- the variables ---- */

/* The node that a variable points to, or that a pointer does which it points to. */
static const struct xc_type *node_of(const struct xc_process *p, const struct xc_value *value, xc_addr *addr)
{
	const struct xc_type *pointer = value->type ? xc_type_strip(value->type) : NULL;
	uint64_t at;
	if (!pointer || pointer->kind != XC_TYPE_POINTER || !pointer->target || !xc_value_load(value, &at) || !at)
		return NULL;
	const struct xc_type *inner = xc_type_strip(pointer->target);
	if (inner->kind == XC_TYPE_POINTER) {
		if (!xc_space_peek_uint(p->space, at, p->arch->word, &at) || !at)
			return NULL;
		pointer = inner;
	}
	*addr = at;
	const struct xc_type *record = xc_same_type_pointed(pointer);
	return record && xc_same_type_is_record(record) ? record : NULL;
}

static bool goes_round(const struct xc_loop_code *l, const struct xc_named_value *variable, struct walk *out)
{
	struct xc_ring_link links[LINKS];
	xc_addr node;
	const struct xc_process *p = l->code->crash->process;
	const struct xc_type *record = node_of(p, &variable->value, &node);
	size_t count = record ? xc_ring_links(record, links, LINKS) : 0;
	for (size_t i = 0; i < count; i++)
		if (follows(l, &links[i]) && xc_ring_find(p, &links[i], node + links[i].inside, &out->ring) &&
		    never_ends(l, &out->ring)) {
			out->name = variable->name;
			out->object = record;
			return true;
		}
	return false;
}

static bool find_walk(const struct xc_loop_code *l, struct walk *out)
{
	const struct xc_crash_context *crash = l->code->crash;
	struct xc_frame_context context = xc_crash_context_frame(crash, l->code->frame);
	for (size_t level = 0; !context.place->line_only && level < context.place->level_count; level++)
		for (int locals = 1; locals >= 0 && xc_user_code_is(context.place, level); locals--) {
			struct xc_named_value *values;
			size_t count = xc_variable_values(&context, level, locals, &crash->report->arena, &values);
			for (size_t i = 0; i < count; i++)
				if (goes_round(l, &values[i], out)) {
					out->level = level;
					out->place = context.place;
					return true;
				}
		}
	return false;
}

/* In the loops around the current instruction of a frame. */
static bool find_in_frame(const struct xc_crash_context *crash, size_t frame, struct walk *out)
{
	unsigned budget = BUDGET;
	struct xc_frame_code code;
	struct xc_loop_code l = {.code = &code};
	struct xc_loop inner;
	if (!xc_frame_code_init(crash, frame, &budget, &code))
		return false;
	out->frame = frame;
	for (size_t i = 0; i < LOOPS && xc_loop_around(code.body, code.at, i ? &inner : NULL, &l.loop); i++) {
		if (find_walk(&l, out))
			return true;
		inner = l.loop;
	}
	return false;
}

static bool find_of_thread(const struct xc_crash_context *view, struct walk *out)
{
	for (size_t i = 0; i < view->frame_count; i++)
		if (find_in_frame(view, i, out))
			return true;
	return false;
}

/* ---- in words ---- */

static void add_link(const struct xc_ring *ring, struct xc_text *text)
{
	xc_text_printf(text, "`%s%s%s`", ring->link.outer ? ring->link.outer : "", ring->link.outer ? "." : "",
		       ring->link.name);
}

static void add_where(const struct walk *w, struct xc_text *text)
{
	const char *function = xc_place_function(w->place, w->level);
	xc_text_add(text, function ? function : "a function without a name");
	xc_sourceline(w->place, w->level, ", ", text);
}

static void add_cause(const struct walk *w, struct xc_text *text)
{
	const struct xc_ring *r = &w->ring;
	xc_text_add(text, "the thread runs, in no system call, in a loop of ");
	add_where(w, text);
	xc_text_printf(text,
		       " that goes round a list which leads back to itself: `%s` leads to the %s at 0x%" PRIx64
		       ", whose ",
		       w->name, xc_type_name(w->object), r->node - r->link.inside);
	add_link(r, text);
	if (r->length == 1)
		xc_text_add(text, " is itself");
	else
		xc_text_printf(text, " leads back to it after %" PRIu64 " steps", r->length);
}

/* The content of the node, in one line. */
static void report_node(const struct xc_crash_context *crash, const struct walk *w)
{
	struct xc_text text = {0};
	struct xc_format_options format = xc_format_defaults();
	struct xc_value node = xc_value_memory(crash->process, w->object, w->ring.node - w->ring.link.inside);
	format.depth = 1;
	format.length = SHOWN;
	xc_format_value(&text, &node, &format);
	xc_verdict_evidence(crash->report, "that %s is %s", xc_type_name(w->object), xc_text_string(&text));
	xc_verdict_redact(crash->report, "its contents are not shown");
	xc_text_fini(&text);
}

/* "the struct entry at 0x2000 comes behind the one at 0x1000, but its `prev` is NULL: …" */
static void report_seam(const struct xc_crash_context *crash, const struct walk *w)
{
	struct xc_ring_seam seam;
	const uint64_t inside = w->ring.link.inside;
	if (!xc_ring_find_seam(&w->ring, NEAR, &seam))
		return;
	struct xc_text text = {0};
	if (seam.leads_to)
		xc_text_printf(&text, "leads to 0x%" PRIx64,
			       seam.leads_to < inside ? seam.leads_to : seam.leads_to - inside);
	else
		xc_text_add(&text, "is NULL");
	xc_verdict_evidence(crash->report,
			    "the %s at 0x%" PRIx64 " comes behind the one at 0x%" PRIx64
			    ", but its `%s` %s: perhaps it was put into the list again while it was still in it, or "
			    "the list's end was not kept",
			    xc_type_name(w->object), seam.node - inside, seam.before - inside, seam.back,
			    xc_text_string(&text));
	xc_text_fini(&text);
}

/* Of a long list only the node that is told. */
static bool leads_into(const struct xc_ring *ring, uint64_t word)
{
	if (ring->before + ring->length > NEAR)
		return word == ring->node;
	return word && xc_ring_place(ring, word) != XC_RING_NOT_IN;
}

/* How well a name fits a list: 2, its beginning; 1, one word; 0, one of an array, as a bucket that leads to a node in
 * the middle. */
static unsigned fit_of(const char *path)
{
	static const char *const words[] = {"head", "first", "front", "list", "lru", "queue", "top", "begin", NULL};
	const size_t len = strlen(path);
	char word[XC_NAMES_WORD];
	if (len && path[len - 1] == ']')
		return 0;
	while (xc_names_next_word(&path, word))
		if (xc_names_find(words, word))
			return 2;
	return 1;
}

/* The member of an object that a variable points to, or is, which leads to the ring: "c->bucket[3]", "c->lru.head". */
static bool report_holder(const struct xc_crash_context *crash, const struct walk *w, const struct xc_named_value *v)
{
	const struct xc_process *p = crash->process;
	const struct xc_type *type = v->value.type ? xc_same_type_pointed(v->value.type) : NULL;
	xc_addr base;
	uint64_t size, word;
	const char *best = NULL;
	if (!type || !xc_same_type_is_record(type) || !xc_value_load(&v->value, &base) || !xc_type_size(type, &size) ||
	    type == w->object || xc_ring_place(&w->ring, base) != XC_RING_NOT_IN)
		return false;
	for (uint64_t at = 0; at + p->arch->word <= size && at < WORDS * p->arch->word; at += p->arch->word) {
		if (!xc_space_peek_uint(p->space, base + at, p->arch->word, &word) || !leads_into(&w->ring, word))
			continue;
		struct xc_text path = {0};
		xc_field_path(&path, type, at, NULL);
		const char *words = xc_text_string(&path);
		words += *words == '.';
		if (!best || fit_of(words) > fit_of(best))
			best = xc_arena_strdup(&crash->report->arena, words);
		xc_text_fini(&path);
	}
	if (best)
		xc_verdict_evidence(crash->report, "`%s->%s` leads into that list", v->name, best);
	return best != NULL;
}

static void report_holders(const struct xc_crash_context *crash, const struct xc_crash_context *view,
			   const struct walk *w)
{
	for (size_t f = w->frame; f < view->frame_count && f < w->frame + 3; f++) {
		struct xc_frame_context context = xc_crash_context_frame(view, f);
		for (size_t level = 0; !context.place->line_only && level < context.place->level_count; level++)
			for (int locals = 0; locals < 2; locals++) {
				struct xc_named_value *values;
				size_t count =
					xc_variable_values(&context, level, locals, &crash->report->arena, &values);
				for (size_t i = 0; i < count; i++)
					if (report_holder(crash, w, &values[i]))
						return;
			}
	}
}

static void set_class(struct xc_crash_context *crash, const struct xc_crash_context *view, const struct walk *w)
{
	struct xc_text text = {0};
	const char *function = xc_place_function(w->place, w->level);
	crash->verdict = xc_report_verdict(crash->report);
	crash->verdict->headline = xc_arena_printf(&crash->report->arena, "hang: a loop of %s likely never ends",
						   function ? function : "a function");
	add_cause(w, &text);
	xc_crash_context_classify(crash, "hang", "cyclic list", "medium", "likely", xc_text_string(&text));
	xc_text_fini(&text);
	crash->thread = view->thread;
	crash->blame = (struct xc_blame){.place = w->place, .level = w->level, .frame = view->frames[w->frame]};
	xc_verdict_involve(crash->report, view->thread->tid);
	report_holders(crash, view, w);
	report_node(crash, w);
	report_seam(crash, w);
}

bool xc_linked_loop_classify(struct xc_crash_context *crash, const struct xc_crash_context *view)
{
	struct walk w;
	if (!find_of_thread(view, &w))
		return false;
	set_class(crash, view, &w);
	return true;
}
