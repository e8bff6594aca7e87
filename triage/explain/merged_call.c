#include "triage/explain/merged_call.h"

#include <string.h>

#include "dwarf/line/source_lines.h"
#include "triage/code/body_cache.h"
#include "triage/util/names.h"
#include "triage/util/user_code.h"

enum { LINES = 8, STEPS = 64, SOURCE_AROUND = 2 };

struct sources {
	const struct xc_body *body;
	const char *file;
	unsigned lines[LINES]; /* distinct, in the order of the source */
	size_t count;
	bool other;   /* one has no line, or one of another file */
	size_t begin; /* of the straight-line code that ends in the call */
};

static void add_line(struct sources *s, unsigned line)
{
	size_t at = 0;
	while (at < s->count && s->lines[at] < line)
		at++;
	if ((at < s->count && s->lines[at] == line) || s->count == LINES)
		return;
	memmove(&s->lines[at + 1], &s->lines[at], (s->count - at) * sizeof *s->lines);
	s->lines[at] = line;
	s->count++;
}

/* The line of an instruction, in the innermost function of the program there; 0: it has none, or one of another
 * file. */
static unsigned line_of(const struct sources *s, size_t insn)
{
	const struct xc_place *place = xc_debuginfo_place(s->body->process, s->body->insns[insn].addr);
	size_t level;
	bool own = xc_user_code_level(place, &level) && level < place->level_count && place->levels[level].file &&
		   strcmp(place->levels[level].file, s->file) == 0;
	return own ? place->levels[level].line : 0;
}

static void add_branch(struct sources *s, size_t insn)
{
	if (s->body->insns[insn].kind != XC_INSN_BRANCH)
		return;
	unsigned line = line_of(s, insn);
	if (line)
		add_line(s, line);
	else
		s->other = true;
}

/* The beginning of the straight-line code that ends in the call. */
static size_t beginning(const struct xc_body *body, size_t at)
{
	for (unsigned i = 0; i < STEPS; i++) {
		size_t edge = xc_body_first_edge(body, at);
		bool joins = edge < body->edge_count && body->edges[edge].to == at;
		if (joins || !xc_body_falls_into(body, at) || body->insns[at - 1].kind == XC_INSN_BRANCH)
			break;
		at--;
	}
	return at;
}

static void collect(struct sources *s, size_t call)
{
	const struct xc_body *body = s->body;
	size_t at = s->begin = beginning(body, call);
	if (xc_body_falls_into(body, at))
		add_branch(s, at - 1);
	for (size_t e = xc_body_first_edge(body, at); e < body->edge_count && body->edges[e].to == at; e++)
		add_branch(s, body->edges[e].from);
}

static bool ends_itself(const struct xc_crash_context *crash)
{
	static const char *const names[] = {"abort", "assertion", "trap-instruction", "uncaught-exception", "terminate",
					    "panic", NULL};
	return xc_names_find(names, crash->verdict->class_name);
}

/* "36, 39 or 42" */
static void add_lines(const struct sources *s, struct xc_text *text)
{
	for (size_t i = 0; i < s->count; i++)
		xc_text_printf(text, "%s%u", !i ? "" : i + 1 == s->count ? " or " : ", ", s->lines[i]);
}

/* clang gives the call that it made of several no line: it seems to have that of the code before it in memory. */
static bool has_no_line(const struct sources *s, unsigned line)
{
	return s->begin && !xc_body_falls_into(s->body, s->begin) && line_of(s, s->begin - 1) == line;
}

static void set_line(struct xc_crash_context *crash, unsigned line)
{
	struct xc_verdict *v = crash->verdict;
	xc_auto(xc_freep) char *source =
		v->source ? xc_source_lines(crash->process, v->file, line, SOURCE_AROUND) : NULL;
	v->line = line;
	v->source = xc_arena_strdup(&crash->report->arena, source);
}

static void report(struct xc_crash_context *crash, const struct sources *s)
{
	struct xc_verdict *v = crash->verdict;
	struct xc_text lines = {0};
	add_lines(s, &lines);
	xc_verdict_evidence(
		crash->report,
		"it is reached from line %s: the compiler merges equal calls into one, and the actual one is not known",
		xc_text_string(&lines));
	v->cause = xc_arena_printf(&crash->report->arena, "%s%sreached from line %s: one call stands for several",
				   v->cause ? v->cause : "", v->cause ? "; " : "", xc_text_string(&lines));
	if (v->confidence && strcmp(v->confidence, "certain") == 0)
		v->confidence = "likely";
	xc_text_fini(&lines);
}

/* A call of its own stands behind the branches that lead to it; one that stands for others, before some of theirs. */
void xc_merged_call_report(struct xc_crash_context *crash)
{
	const struct xc_verdict *v = crash->verdict;
	if (!crash->blame.place || crash->blamed >= crash->frame_count || !v->file || !v->line || crash->stated_file ||
	    !ends_itself(crash))
		return;
	const struct xc_frame *frame = &crash->frames[crash->blamed];
	struct sources s = {.body = xc_body_cache_get(crash->bodies, xc_frame_lookup(frame)), .file = v->file};
	long at = !s.body              ? XC_BODY_NONE
		  : frame->interrupted ? xc_body_at(s.body, frame->pc)
				       : xc_body_before(s.body, frame->pc);
	if (at == XC_BODY_NONE)
		return;
	collect(&s, (size_t)at);
	if (s.count < 2 || s.other)
		return;
	if (has_no_line(&s, v->line))
		set_line(crash, s.lines[0]);
	else if (s.lines[0] > v->line || s.lines[s.count - 1] <= v->line)
		return;
	report(crash, &s);
}
