/* signature_classify: one walk outward finds the boundary below the end of the program and the boundary of the start-up
 * code; frames in between are classified one by one.
 *
 *	[handler …] trampoline | raise abort __assert_fail | memcpy  parse  std::sort  load | main __libc_start_main
 *	      HANDLER                     ABOVE               LEAF    KEPT    LEAF     KEPT    BELOW */
#include <string.h>

#include "core/report/report.h"
#include "triage/util/names.h"
#include "batch/signature/static_runtime.h"
#include "batch/record/normalise.h"
#include "batch/signature/signature_impl.h"

enum {
	FATE = 1u << XC_FRAMES_ABOVE | 1u << XC_FRAMES_RAISE | 1u << XC_FRAMES_LEAF | 1u << XC_FRAMES_STOP |
	       1u << XC_FRAMES_APP,
	WHOSE = 1u << XC_FRAMES_APP | 1u << XC_FRAMES_NOT_APP,
	UNNAMED = 3, /* unnamed frames allowed between a trampoline and the call that raised its signal */
};

/* ---- names ---- */

const char *xc_signature_name(const struct xc_signing *g, const char *function, enum xc_language language)
{
	return language == XC_LANGUAGE_GO ? xc_normalise_go_name(function, g->arena)
					  : xc_normalise_name(function, g->arena);
}

static void name_frame(struct xc_signing *g, size_t i)
{
	const struct xc_record_frame *from = &g->record->frames[i];
	struct xc_signature_frame *to = &g->s->frames[i];
	to->name = xc_signature_name(g, from->function, g->languages[i]);
	if (g->policy && g->policy->name) {
		const char *other = g->policy->name(g->policy->user, g->record, i, to->name, g->arena);
		to->name = other && *other ? other : to->name;
	}
	if (to->name)
		to->shown = to->name;
	else if (from->module && from->has_offset)
		to->shown = xc_arena_printf(g->arena, "%s+0x%llx", from->module, (unsigned long long)from->offset);
	else
		to->shown = from->module ? from->module : "?";
}

/* ---- rules ---- */

static const struct xc_framerule *rule_of(const struct xc_signing *g, size_t i, unsigned sections)
{
	const struct xc_record_frame *f = &g->record->frames[i];
	struct xc_framerule_frame asked = {g->s->frames[i].name, f->module, f->file, g->languages[i]};
	const struct xc_framerule *rule = xc_framerules_match(g->rules, sections, &asked);
	if (!rule && g->linked_in[i]) {
		asked.module = XC_FRAMES_LINKED_IN;
		rule = xc_framerules_match(g->rules, sections, &asked);
	}
	return rule;
}

static const char *told(const struct xc_signing *g, const struct xc_framerule *rule)
{
	return xc_arena_printf(g->arena, "%s %s (%s)", xc_framerules_section(rule->section), rule->pattern,
			       rule->where);
}

static enum xc_policy_answer asked(const struct xc_signing *g, size_t i)
{
	return g->policy && g->policy->keep ? g->policy->keep(g->policy->user, g->record, i, g->s->frames[i].name)
					    : XC_POLICY_SILENT;
}

static bool is_ending(const struct xc_framerule *rule)
{
	return rule && (rule->section == XC_FRAMES_ABOVE || rule->section == XC_FRAMES_RAISE);
}

/* ---- the walk ---- */

/* Boundaries in one stack. */
struct bounds {
	size_t first, end;  /* its frames, without those of a handler that the fault called */
	size_t start, stop; /* frames that may be kept: start <= i < stop */
	const char *above, *below;
	bool reached; /* start-up code was reached, or the frame where a signal called its handler */
};

/* The first frame that was not called by the fault's handler. The trampoline is not a frame of the fault either. */
static size_t after_handler(const struct xc_record *record)
{
	size_t at = record->fault_at;
	return at + (at && at < record->frame_count && record->frames[at].signal);
}

/* Did the process itself send the signal whose trampoline is before frame i? */
static bool raised(const struct xc_signing *g, const struct xc_framerule *const *rules, size_t i)
{
	for (size_t n = 0; n < UNNAMED && i < g->record->frame_count; n++, i++)
		if (g->s->frames[i].name)
			return rules[i] && rules[i]->section == XC_FRAMES_RAISE;
	return false;
}

/* On x86 the saved context distinguishes faults from other signals; fault_at comes from there. */
static bool tells_faults(const struct xc_record *record)
{
	static const char *const machines[] = {"x86-64", "x32", "i386", NULL};
	return xc_names_find(machines, record->arch) != NULL;
}

/* Did a handler end the program? For a C library without names, the class tells. */
static bool has_ended(const struct xc_record *record, const struct bounds *b)
{
	return b->start > b->first || !strcmp(record->class_name, "abort");
}

/* Is frame i a trampoline between a handler that ended the program and the cause of that end? It is not if the signal
 * merely interrupted the code, or if the handler itself crashed. */
static bool leads_on(const struct xc_signing *g, const struct xc_framerule *const *rules, size_t i, bool ended)
{
	return ended && (raised(g, rules, i + 1) || !tells_faults(g->record));
}

/* Walks the stack that begins at `first`. */
static struct bounds walk(const struct xc_signing *g, const struct xc_framerule *const *rules, size_t first)
{
	const struct xc_record *record = g->record;
	struct bounds b = {.first = first ? first : after_handler(record), .end = xc_record_stack_end(record, first)};
	b.start = b.first;
	b.stop = b.end;
	for (size_t i = b.start; i < b.end; i++) {
		bool signal = record->frames[i].signal;
		if (signal && !leads_on(g, rules, i, has_ended(record, &b))) {
			b.stop = i;
			b.below = "interrupted by a signal";
			b.reached = true;
			break;
		}
		if (signal || is_ending(rules[i])) {
			b.start = i + 1;
			b.above = signal ? "signal handler that ended the program" : told(g, rules[i]);
		} else if (rules[i] && rules[i]->section == XC_FRAMES_STOP) {
			b.stop = i;
			b.below = told(g, rules[i]);
			b.reached = true;
			break;
		}
	}
	return b;
}

static void classify_frame(const struct xc_signing *g, size_t i, const struct xc_framerule *rule,
			   struct xc_signature_frame *f)
{
	f->fate = XC_FRAME_KEPT;
	if (rule && rule->section == XC_FRAMES_LEAF) {
		f->fate = XC_FRAME_LEAF;
		f->rule = told(g, rule);
	} else if (!f->name && !g->record->frames[i].module && !f->app) {
		f->fate = XC_FRAME_LEAF;
		f->rule = "neither name nor module";
	} else if (f->app) {
		f->rule = told(g, rule);
	}
}

static void classify(const struct xc_signing *g, size_t i, const struct xc_framerule *rule, const struct bounds *b)
{
	struct xc_signature_frame *f = &g->s->frames[i];
	enum xc_policy_answer answer = asked(g, i);
	if (i < after_handler(g->record)) {
		f->fate = XC_FRAME_HANDLER;
		f->rule = "signal handler";
	} else if (answer == XC_POLICY_SKIP) {
		f->fate = XC_FRAME_POLICY;
		f->rule = "policy";
	} else if (i >= b->stop) {
		f->fate = XC_FRAME_BELOW;
		f->rule = b->below;
	} else if (answer == XC_POLICY_KEEP) {
		f->fate = XC_FRAME_KEPT;
		f->rule = "policy";
	} else if (i < b->start && !f->app) {
		f->fate = XC_FRAME_ABOVE;
		f->rule = b->above;
	} else {
		classify_frame(g, i, rule, f);
	}
}

/* Does the last frame have no caller, by its call frame information? */
static bool is_outermost(const struct xc_record *record)
{
	return record->frame_count && record->stop && !strcmp(record->stop, XC_STOP_OUTERMOST);
}

/* A call into nowhere left its return address at the top of the stack, where a scan finds it first. */
static bool is_called_into_nowhere(const struct xc_record *record, size_t i)
{
	const char *kind = record->kind ? record->kind : "";
	return i == after_handler(record) + 1 && (!strcmp(record->class_name, "call-null") || !strcmp(kind, "call"));
}

/* Was frame i found by scanning? An inlined frame shares the answer of the frame before it. */
static bool is_guess(const struct xc_record *record, size_t i)
{
	const char *trust = record->frames[i].trust;
	if (!trust || strcmp(trust, "scan") != 0)
		return false;
	while (i && record->frames[i].inlined && record->frames[i - 1].trust &&
	       !strcmp(record->frames[i - 1].trust, "scan"))
		i--;
	return !is_called_into_nowhere(record, i);
}

/* Marks everything from the first guess outwards. The end of a program is no guess, because the rules recognise it.
 * Returns whether there is a guess. */
static bool find_guesses(const struct xc_signing *g, const struct bounds *b)
{
	size_t i = b->start;
	while (i < b->end && i <= b->stop && !is_guess(g->record, i))
		i++;
	bool guessed = i < b->end && i <= b->stop;
	for (; guessed && i < b->end; i++)
		g->guessed[i] = true;
	return guessed;
}

static void classify_stack(const struct xc_signing *g, const struct xc_framerule *const *rules, size_t first)
{
	const struct bounds b = walk(g, rules, first);
	for (size_t i = first; i < b.end; i++)
		classify(g, i, rules[i], &b);
	g->whole[first] = !find_guesses(g, &b) && (b.reached || is_outermost(g->record));
}

void xc_signature_classify(struct xc_signing *g)
{
	size_t count = g->record->frame_count;
	const struct xc_framerule **rules = xc_arena_alloc(g->arena, (count + 1) * sizeof *rules);
	g->languages = xc_arena_alloc(g->arena, (count + 1) * sizeof *g->languages);
	g->linked_in = xc_arena_alloc(g->arena, (count + 1) * sizeof *g->linked_in);
	g->whole = xc_arena_alloc(g->arena, (count + 1) * sizeof *g->whole);
	g->guessed = xc_arena_alloc(g->arena, (count + 1) * sizeof *g->guessed);
	xc_languages(g->record, g->languages);
	for (size_t i = 0; i < count; i++)
		name_frame(g, i);
	xc_static_runtime_find(g->record, g->s->frames, g->linked_in);
	for (size_t i = 0; i < count; i++) {
		const struct xc_framerule *whose = rule_of(g, i, WHOSE);
		rules[i] = rule_of(g, i, FATE);
		g->s->frames[i].app = rules[i] && rules[i]->section == XC_FRAMES_APP;
		g->s->frames[i].foreign = whose && whose->section == XC_FRAMES_NOT_APP;
	}
	g->s->complete = count > 0;
	for (size_t i = 0; i < count; i = xc_record_stack_end(g->record, i)) {
		classify_stack(g, rules, i);
		g->s->complete &= g->whole[i];
	}
}
