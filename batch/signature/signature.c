/* signature: combines the names and fates of frames (signature_classify.c), the folding of repetitions
 * (signature_fold.c) and the keys (signature_keys.c). Here: what represents a stack of which little is left, and the
 * text for people. */
#include "batch/signature/signature.h"

#include <stdio.h>
#include <string.h>

#include "core/report/scrub.h"
#include "core/report/report.h"
#include "core/base/text.h"
#include "batch/signature/classgroup.h"
#include "batch/record/normalise.h"
#include "batch/util/program_name.h"
#include "batch/signature/signature_impl.h"

enum {
	SURE = 3,      /* kept frames that suffice for an incomplete stack */
	MAX_TEXT = 255 /* bytes of the text for people */
};

/* ---- what represents a stack of which nothing is kept ---- */

/* Start-up code represents nothing, unless it crashed itself; nor does the end of a program whose cause is unknown. */
static bool may_stand(const struct xc_signing *g, size_t i)
{
	enum xc_frame_fate fate = g->s->frames[i].fate;
	return (fate != XC_FRAME_BELOW || i == g->record->fault_at) && (fate != XC_FRAME_ABOVE || g->s->complete);
}

static bool is_named(const struct xc_signing *g, size_t i)
{
	return may_stand(g, i) && g->s->frames[i].name;
}

static bool is_mapped(const struct xc_signing *g, size_t i)
{
	return may_stand(g, i) && g->record->frames[i].module;
}

static bool is_main(const struct xc_signing *g, size_t i)
{
	const struct xc_signature_frame *f = &g->s->frames[i];
	return f->fate == XC_FRAME_BELOW && f->name && !strcmp(f->name, "main");
}

static bool is_helper(const struct xc_signing *g, size_t i)
{
	return g->s->frames[i].fate == XC_FRAME_LEAF && is_named(g, i);
}

static bool keep_first(struct xc_signing *g, bool (*is)(const struct xc_signing *g, size_t i), const char *why)
{
	for (size_t i = g->record->fault_at; i < g->record->frame_count; i++)
		if (is(g, i)) {
			g->s->frames[i].fate = XC_FRAME_KEPT;
			g->s->frames[i].rule = why;
			g->s->kept[g->s->kept_count++] = i;
			return true;
		}
	return false;
}

/* Start-up code is never to blame, unless it crashed itself; main belongs to the program. */
static bool is_start_up(const struct xc_signing *g, size_t i)
{
	return g->s->frames[i].fate == XC_FRAME_BELOW && i != g->record->fault_at && !is_main(g, i);
}

static bool is_of(const struct xc_record_frame *frame, const char *function)
{
	return frame->function && !strcmp(frame->function, function);
}

/* The language of the frame with this name. For a function on no frame: Go if any frame is Go's, because other code in
 * such a program is seldom to blame. */
static enum xc_language language_of(const struct xc_signing *g, const char *function)
{
	enum xc_language language = XC_LANGUAGE_UNKNOWN;
	for (size_t i = 0; i < g->record->frame_count; i++) {
		if (is_of(&g->record->frames[i], function))
			return g->languages[i];
		if (g->languages[i] == XC_LANGUAGE_GO)
			language = XC_LANGUAGE_GO;
	}
	return language;
}

/* The verdict may know the culprit better: the function that a damaged stack returned from, a goroutine's. Its function
 * is not used if it only names a remaining frame, a scanned frame, or start-up code. */
static const char *culprit(const struct xc_signing *g)
{
	const char *function = g->record->function;
	if (!function)
		return NULL;
	for (size_t i = 0; i < g->record->frame_count; i++)
		if (is_of(&g->record->frames[i], function) && (!g->s->complete || is_start_up(g, i)))
			return NULL;
	return xc_signature_name(g, function, language_of(g, function));
}

static void keep_something(struct xc_signing *g)
{
	g->s->weak = g->nothing_counts = true;
	g->s->culprit = culprit(g);
	g->s->frameless = !keep_first(g, is_main, "nothing else is left") &&
			  !keep_first(g, is_helper, "nothing else is left") &&
			  !keep_first(g, is_named, "nothing else is left: the first with a name") &&
			  !keep_first(g, is_mapped, "nothing else is left: the first in a module");
	g->s->lost = !g->s->complete && !g->s->culprit;
}

/* The number of kept frames before the first scanned one. */
static size_t count_sure(const struct xc_signing *g)
{
	size_t sure = 0;
	for (size_t i = 0; i < g->s->kept_count; i++)
		sure += !g->guessed[g->s->kept[i]];
	return sure;
}

/* What identifies a program without a name: its build, else the module where it crashed. NULL: nothing is known. */
static const char *stand_in(const struct xc_signing *g)
{
	const struct xc_record *r = g->record;
	const struct xc_record_frame *first = g->s->kept_count ? &r->frames[g->s->kept[0]] : NULL;
	if (r->build_id || !first)
		return r->build_id;
	return first->build_id ? first->build_id : first->module;
}

static size_t count_sure_between(const struct xc_signing *g, size_t from, size_t end)
{
	size_t sure = 0;
	for (size_t i = from; i < end; i++)
		sure += g->s->frames[i].fate == XC_FRAME_KEPT && !g->guessed[i];
	return sure;
}

/* One or two frames of an incomplete stack may be anybody's, in each of several stacks. But an overflow's frames are
 * its cycle. */
static bool tells_little(const struct xc_signing *g)
{
	const size_t count = g->record->frame_count;
	if (g->s->complete || (g->s->round && g->s->sure))
		return false;
	for (size_t i = 0, end; i < count; i = end) {
		end = xc_record_stack_end(g->record, i);
		if (!g->whole[i] && count_sure_between(g, i, end) < SURE)
			return true;
	}
	return !count;
}

/* ---- text for people ---- */

static void list_shown(struct xc_signing *g)
{
	struct xc_signature *s = g->s;
	const size_t count = g->record->frame_count;
	s->shown = s->kept;
	s->shown_count = s->kept_count;
	if (xc_record_stack_end(g->record, 0) == count)
		return;
	s->shown = xc_arena_alloc(g->arena, (count + 1) * sizeof *s->shown);
	s->shown_count = 0;
	for (size_t i = 0; i < count; i++)
		if (s->frames[i].fate == XC_FRAME_KEPT)
			s->shown[s->shown_count++] = i;
}

static void add_part(struct xc_text *text, const char *part)
{
	xc_text_add(text, " | ");
	xc_text_add(text, part);
}

static const char *shortened(const char *said, struct xc_arena *arena)
{
	const size_t len = strlen(said);
	return len <= XC_NORMALISE_MESSAGE ? said : xc_arena_printf(arena, "%.*s...", XC_NORMALISE_MESSAGE - 3, said);
}

/* The message of a runtime, or the failed assertion. */
static const char *words(const struct xc_signing *g)
{
	const struct xc_record *r = g->record;
	const bool asserted = !strcmp(r->class_name, "assertion") && r->expression;
	const char *said = asserted ? r->expression : r->message;
	if (!xc_classgroup_speaks(g->s->class_group) || !said || !strcmp(said, XC_REDACTED))
		return NULL;
	return asserted ? shortened(xc_normalise_expression(said, g->arena), g->arena)
			: xc_normalise_message(said, g->arena);
}

/* The helper called by the first kept frame, which says what that frame was doing. */
static const char *helper(const struct xc_signing *g)
{
	const struct xc_signature *s = g->s;
	size_t first = s->kept_count ? s->kept[0] : 0;
	for (size_t i = first; i > 0 && !g->record->frames[i].thread && i--;)
		if (s->frames[i].fate == XC_FRAME_LEAF && s->frames[i].name)
			return s->frames[i].name;
	return NULL;
}

static void write_text(struct xc_signing *g)
{
	struct xc_signature *s = g->s;
	struct xc_text text = {0};
	const char *said = words(g), *leaf = helper(g);
	xc_text_add(&text, s->class_name);
	if (said && *said)
		add_part(&text, said);
	if (leaf)
		add_part(&text, leaf);
	if (s->culprit)
		add_part(&text, s->culprit);
	for (size_t i = 0; !s->culprit && i < s->kept_count && i < (size_t)XC_SIGNATURE_TOP - (leaf != NULL); i++)
		add_part(&text, s->frames[s->kept[i]].shown);
	if (s->frameless && !s->culprit)
		add_part(&text, g->record->program ? g->record->program : "?");
	s->text = xc_arena_strndup(g->arena, xc_text_string(&text), xc_normalise_cut(text.bytes, text.len, MAX_TEXT));
	s->told =
		xc_signature_doubt(s) ? xc_arena_printf(g->arena, "%s (%s)", s->text, xc_signature_doubt(s)) : s->text;
	xc_text_fini(&text);
}

/* ---- the whole signature ---- */

static double share(const struct xc_record_known *known)
{
	return known->all ? (double)(known->named < known->all ? known->named : known->all) / known->all : 0;
}

/* The fraction of the stack that is present. An incomplete stack is assumed to lack three frames. */
static double whole(const struct xc_signature *s)
{
	return s->complete || s->round ? 1 : (double)s->sure / (double)(s->sure + SURE);
}

/* The fraction of the core that is present. */
static double present(const struct xc_record *r)
{
	double there = (double)(r->size ? r->size : r->stored), all = there + (double)r->missing;
	return all > 0 ? there / all : 1;
}

static double quality(const struct xc_record *r, const struct xc_signature *s)
{
	double named = 0.25 * share(&r->every) + 0.35 * share(&r->crashed) + 0.4 * share(&r->top);
	return s->lost ? 0 : named * whole(s) * (0.75 + 0.25 * present(r));
}

static void classify(struct xc_signing *g)
{
	struct xc_signature *s = g->s;
	const char *class_name = NULL, *severity = NULL;
	if (g->policy && g->policy->classify)
		g->policy->classify(g->policy->user, g->record, g->arena, &class_name, &severity);
	s->class_name = class_name ? class_name : g->record->class_name;
	s->severity = severity ? severity : g->record->severity;
	s->class_group = xc_classgroup(g->record, s->class_name, g->arena);
	s->program = xc_program_name(g->record->program, g->arena);
}

struct xc_signature *xc_signature(const struct xc_record *record, const struct xc_framerules *rules,
				  const struct xc_policy *policy, struct xc_arena *arena)
{
	struct xc_signature *s = xc_arena_alloc(arena, sizeof *s);
	struct xc_signing g = {.record = record, .rules = rules, .policy = policy, .arena = arena, .s = s};
	s->frames = xc_arena_alloc(arena, (record->frame_count + 1) * sizeof *s->frames);
	classify(&g);
	xc_signature_classify(&g);
	xc_signature_fold(&g);
	s->sure = count_sure(&g);
	s->weak = tells_little(&g);
	if (!s->kept_count)
		keep_something(&g);
	s->sure = count_sure(&g);
	s->program = s->program ? s->program : stand_in(&g);
	s->weak |= !s->program;
	xc_signature_keys(&g);
	list_shown(&g);
	write_text(&g);
	s->quality = quality(record, s);
	return s;
}

bool xc_signature_is_weak(const struct xc_signature *signature)
{
	return signature->frameless || signature->weak;
}

const char *xc_signature_doubt(const struct xc_signature *signature)
{
	if (signature->lost)
		return "stack lost: maybe several problems";
	if (!xc_signature_is_weak(signature) || signature->culprit)
		return NULL;
	return signature->complete ? "no frame tells where it was: maybe several problems"
				   : "stack cut short: maybe several problems";
}

/* ---- where to look ---- */

static bool is_place(const struct xc_record_frame *frame, const struct xc_signature_frame *judged)
{
	return frame->file && frame->line && !judged->foreign;
}

static bool is_culprit(const struct xc_record *record, const struct xc_record_frame *frame)
{
	return record->function && is_of(frame, record->function) && frame->line == record->line;
}

size_t xc_signature_place(const struct xc_record *record, const struct xc_signature *signature)
{
	for (size_t i = 0; i < signature->kept_count; i++)
		if (is_place(&record->frames[signature->kept[i]], &signature->frames[signature->kept[i]]))
			return signature->kept[i];
	for (size_t i = record->fault_at; i < record->frame_count; i++)
		if (is_culprit(record, &record->frames[i]))
			return i;
	return record->frame_count;
}
