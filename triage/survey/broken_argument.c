/* broken_argument: the objects that the survey meets are checked as a backtrace checks them (view.h). That one of them
 * has the very pointer that was used makes it the one. */
#include "triage/survey/broken_argument.h"

#include <inttypes.h>
#include <string.h>

#include "dwarf/view/view.h"
#include "triage/code/cxx_accessor.h"
#include "triage/survey/survey.h"
#include "triage/util/names.h"

enum { WORDS = 8, NEAR = 4096, NULL_PAGES = 64 << 10, GENERAL = 16 };

struct search {
	const struct xc_crash_context *crash;
	const char *path;
	xc_addr at;
	uint64_t pointer;
	const char *title, *why;
};

static bool is_access(const struct xc_crash_context *crash)
{
	static const char *const names[] = {"null-read",  "null-write",  "null-access", "wild-read",
					    "wild-write", "wild-access", NULL};
	return xc_names_find(names, crash->verdict->class_name);
}

/* Was memory used that is at the pointer, or near behind it? */
static bool is_used(const struct xc_crash_context *crash, uint64_t pointer)
{
	const struct xc_fault *f = &crash->fault;
	uint64_t value;
	if (!pointer || xc_process_mapping(crash->process, pointer))
		return false;
	if (f->addr_known && f->addr >= pointer && f->addr - pointer < NEAR)
		return true;
	for (int reg = 0; !f->addr_known && f->frame_known && reg < GENERAL; reg++)
		if (xc_regs_get(&f->frame.regs, reg, &value) && value == pointer)
			return true;
	return false;
}

/* "std::string", "std::vector<Node>". */
static const char *title_of(const struct xc_crash_context *crash, const struct xc_view *view)
{
	struct xc_text text = {0};
	if (!xc_view_brief_name(&text, view->value.type))
		xc_text_add(&text, view->shape->title);
	const char *title = xc_arena_strdup(&crash->report->arena, xc_text_string(&text));
	xc_text_fini(&text);
	return title;
}

static void look(void *user, const struct xc_surveyed *it)
{
	struct search *s = user;
	struct xc_arena *arena = &s->crash->report->arena;
	unsigned word = s->crash->process->arch->word;
	struct xc_view view;
	uint64_t size, pointer = 0;
	if (s->path || it->view || it->value->kind != XC_VALUE_MEMORY || !xc_type_is_record(it->value->type) ||
	    xc_view_open(it->value, &view) != XC_VIEW_INVALID || !xc_type_size(it->value->type, &size))
		return;
	for (uint64_t at = 0; at + word <= size && at < (uint64_t)WORDS * word; at += word) {
		if (!xc_space_peek_uint(s->crash->process->space, it->value->addr + at, word, &pointer) ||
		    !is_used(s->crash, pointer))
			continue;
		s->path = xc_arena_strdup(arena, it->path);
		s->at = it->value->addr;
		s->pointer = pointer;
		s->title = title_of(s->crash, &view);
		s->why = xc_arena_strdup(arena, view.why);
		return;
	}
}

/* ", in std::string::_M_assign()"; "" where the program itself used it. */
static const char *user_of(const struct xc_crash_context *crash)
{
	struct xc_arena *arena = &crash->report->arena;
	return crash->blame.place && crash->blame.through
		       ? xc_arena_printf(arena, ", in %s()", xc_cxx_accessor_short(crash->blame.through, arena))
		       : "";
}

static void explain(struct xc_crash_context *crash, const struct search *s)
{
	const char *verb = crash->fault.access == XC_ACCESS_WRITE  ? "writing"
			   : crash->fault.access == XC_ACCESS_READ ? "reading"
								   : "accessing";
	crash->verdict->expression = s->path;
	crash->verdict->cause =
		xc_arena_printf(&crash->report->arena, "likely %s what `%s` has%s: it is not a valid %s: %s", verb,
				s->path, user_of(crash), s->title, s->why);
}

void xc_broken_argument_report(struct xc_crash_context *crash)
{
	struct search s = {.crash = crash};
	if (!is_access(crash) || crash->fault.sent || crash->no_access)
		return;
	xc_survey_walk(crash, look, &s);
	if (!s.path)
		return;
	crash->broken = s.at;
	if (s.pointer < NULL_PAGES)
		crash->number = true;
	if (crash->verdict->expression)
		xc_verdict_evidence(crash->report, "`%s` is not a valid %s: %s", s.path, s.title, s.why);
	else
		explain(crash, &s);
}
