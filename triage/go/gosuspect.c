/* gosuspect: see gosuspect.h. */
#include "triage/go/gosuspect.h"

#include <inttypes.h>
#include <string.h>

#include "dwarf/format/format.h"
#include "dwarf/line/source_lines.h"
#include "triage/go/goclosed.h"
#include "triage/go/gomap.h"
#include "triage/goroutine/gotype.h"
#include "triage/go/gorelease.h"
#include "triage/go/gotypednil.h"
#include "triage/goroutine/gopackage.h"
#include "triage/goroutine/goroutine.h"
#include "triage/goroutine/govalue.h"
#include "triage/util/sourceline.h"

enum { SUSPECTS = 16, OBJECTS = 2, OBJECT_MOST = 240, OTHERS = 3 };

/* What makes a variable a suspect; a closed channel is one as well as a nil one. */
enum suspect_kind { SUSPECT_NIL, SUSPECT_NIL_MAP, SUSPECT_CHANNEL };

struct suspect {
	const char *path, *state; /* "is nil" */
};

struct search {
	const struct xc_godeath *d;
	enum suspect_kind kind;
	const char *line; /* of the source; NULL: not known */
	struct xc_gowalk walk;
	size_t count;
	struct suspect items[SUSPECTS];
};

/* ---- suspects ---- */

static const char *state_of(const struct search *s, const struct xc_value *value)
{
	uint64_t bits, closed;
	bool map = xc_gotype_is_map(value->type), channel = xc_gotype_is_channel(value->type);
	if (xc_gotype_is_interface(value->type)) {
		bool nil = s->kind == SUSPECT_NIL && xc_value_peek(value, 0, &bits, sizeof bits) && !bits;
		return nil ? "is a nil interface" : NULL;
	}
	if (xc_gotype_plain(value->type)->kind != XC_TYPE_POINTER || !xc_value_load(value, &bits))
		return NULL;
	if (!bits) {
		bool wanted = s->kind == SUSPECT_NIL_MAP   ? map
			      : s->kind == SUSPECT_CHANNEL ? channel
							   : !map && !channel;
		return wanted ? "is nil" : NULL;
	}
	return s->kind == SUSPECT_CHANNEL && channel &&
			       xc_goruntime_read(&s->d->go, "runtime.hchan", bits, "closed", &closed) && closed
		       ? "is closed"
		       : NULL;
}

static bool suspect(void *user, const char *path, const struct xc_value *value)
{
	struct search *s = user;
	const char *state = state_of(s, value);
	if (state && s->count < SUSPECTS && (!s->line || xc_gowalk_is_in_line(path, s->line)))
		s->items[s->count++] = (struct suspect){xc_arena_strdup(&s->d->crash->report->arena, path), state};
	return true;
}

static void report_suspects(const struct search *s)
{
	struct xc_text text = {0};
	if (!s->count || s->count == SUSPECTS || (!s->line && (s->count > 1 || s->walk.members == XC_GOWALK_MEMBERS)))
		return;
	for (size_t i = 0; i < s->count; i++) {
		bool told = false;
		for (size_t k = 0; k < i; k++)
			told |= strcmp(s->items[k].path, s->items[i].path) == 0;
		if (!told)
			xc_text_printf(&text, "%s`%s` %s", text.len ? ", " : "", s->items[i].path, s->items[i].state);
	}
	xc_verdict_evidence(s->d->crash->report, "%s%s", s->line ? "" : "of what its variables lead to, only ",
			    xc_text_string(&text));
	xc_text_fini(&text);
}

/* ---- what it was passed ---- */

static bool report_object(const struct xc_godeath *d, const struct xc_named_value *argument)
{
	struct xc_format_options options = xc_format_defaults();
	struct xc_report *report = d->crash->report;
	struct xc_value object;
	struct xc_text text = {0};
	if (!argument->name || xc_gotype_plain(argument->value.type)->kind != XC_TYPE_POINTER ||
	    !xc_gotype_object(&argument->value, &object))
		return false;
	const char *type = xc_type_name(object.type);
	options.depth = 1;
	options.length = OBJECT_MOST;
	bool known = xc_format_whole(&text, &object, &options);
	if (known) {
		xc_verdict_evidence(report, "`%s` leads to a %s: %s", argument->name, type, xc_text_string(&text));
		xc_verdict_redact(report, xc_arena_printf(&report->arena, "`%s` leads to a %s", argument->name, type));
	}
	xc_text_fini(&text);
	return known;
}

/* Is it the variable that a suspect is in: "c" of "c.quotes"? */
static bool owns_suspect(const struct search *s, const char *name)
{
	size_t len = name ? strlen(name) : 0;
	for (size_t i = 0; s && len && i < s->count; i++)
		if (strncmp(s->items[i].path, name, len) == 0 && s->items[i].path[len] == '.')
			return true;
	return false;
}

/* The objects that hold suspects, then those that were passed. */
static void report_objects(const struct xc_godeath *d, const struct search *s, const struct xc_named_value *values,
			   size_t count, bool of_suspects, size_t *told)
{
	for (size_t i = 0; i < count && *told < OBJECTS; i++)
		if (owns_suspect(s, values[i].name) == of_suspects)
			*told += report_object(d, &values[i]);
}

static void report_passed(const struct xc_godeath *d, struct search *s)
{
	struct xc_crash_context *crash = d->crash;
	struct xc_named_value *arguments, *locals = NULL;
	size_t level = crash->blame.level, told = 0;
	if (crash->blamed >= crash->frame_count)
		return;
	const struct xc_frame_context context = xc_crash_context_frame(crash, crash->blamed);
	if (context.place != crash->blame.place || context.place->line_only)
		return;
	size_t count = xc_variable_values(&context, level, false, &crash->report->arena, &arguments);
	for (size_t i = 0; s && i < count; i++)
		xc_gowalk_variable(&s->walk, &arguments[i]);
	size_t local_count = s ? xc_variable_values(&context, level, true, &crash->report->arena, &locals) : 0;
	for (size_t i = 0; i < local_count; i++)
		xc_gowalk_variable(&s->walk, &locals[i]);
	if (s)
		report_suspects(s);
	if (s && (s->line || s->count == 1)) {
		report_objects(d, s, locals, local_count, true, &told);
		report_objects(d, s, arguments, count, true, &told);
	}
	report_objects(d, told ? s : NULL, arguments, count, false, &told);
}

/* ---- the others ---- */

static void report_other(const struct xc_godeath *d, xc_addr g, const char *does)
{
	struct xc_crash_context one = *d->crash;
	struct xc_text text = {0};
	uint64_t id;
	if (!xc_goruntime_read(&d->go, "runtime.g", g, "goid", &id))
		return;
	xc_text_printf(&text, "goroutine %" PRIu64 " %s", id, does);
	one.frame_count = xc_goroutine_frames(d->crash, &d->go, g, &one.frames);
	one.blame = (struct xc_blame){.place = NULL};
	if (xc_goroutine_blame(&one, 0)) {
		xc_text_printf(&text, " in %s", xc_crash_context_culprit(&one));
		xc_sourceline(one.blame.place, one.blame.level, ", ", &text);
	}
	xc_verdict_evidence(d->crash->report, "%s", xc_text_string(&text));
	xc_text_fini(&text);
}

/* A goroutine that panics while another one ends the program. */
static void report_panics(const struct xc_godeath *d)
{
	struct xc_goroutine_list list;
	xc_addr g;
	uint64_t panic, status, told = 0;
	if (!d->g_known || !xc_goroutine_list(&d->go, &list))
		return;
	for (uint64_t i = 0; told < OTHERS && xc_goroutine_at(&d->go, &list, i, &g); i++)
		if (g != d->g && xc_goroutine_status(&d->go, g, &status) && status && status != XC_GOROUTINE_ENDED &&
		    xc_goruntime_read(&d->go, "runtime.g", g, "_panic", &panic) && panic) {
			report_other(d, g, "panics, too,");
			told++;
		}
}

static bool find_suspect_kind(const char *verdict_kind, enum suspect_kind *out)
{
	static const struct {
		const char *of_verdict;
		enum suspect_kind kind;
	} kinds[] = {{"nil", SUSPECT_NIL}, {"nil map", SUSPECT_NIL_MAP}, {"channel", SUSPECT_CHANNEL}};
	for (size_t i = 0; i < XC_COUNT(kinds); i++)
		if (verdict_kind && strcmp(verdict_kind, kinds[i].of_verdict) == 0) {
			*out = kinds[i].kind;
			return true;
		}
	return false;
}

void xc_gosuspect_report(struct xc_godeath *d)
{
	struct xc_crash_context *crash = d->crash;
	const struct xc_blame *blame = &crash->blame;
	struct search s = {.d = d, .walk = {.each = suspect, .user = &s}};
	if (!xc_crash_context_is(crash, "panic"))
		return;
	bool seeks = find_suspect_kind(crash->verdict->kind, &s.kind);
	const char *function = blame->place ? xc_place_function(blame->place, blame->level) : NULL;
	if (function && blame->place->level_count && !xc_gopackage_is_standard(function)) {
		const struct xc_level *at = &blame->place->levels[blame->level];
		s.line = at->file ? xc_source_reader_line(crash->source, at->file, at->line) : NULL;
		report_passed(d, seeks ? &s : NULL);
	}
	if (seeks && s.kind == SUSPECT_CHANNEL)
		xc_goclosed_report(d, s.line, s.line && s.count > 0);
	if (crash->verdict->kind && strcmp(crash->verdict->kind, "nil") == 0)
		xc_gotypednil_report(d);
	if (crash->verdict->kind && strcmp(crash->verdict->kind, "concurrent map") == 0)
		xc_gomap_report(d);
	xc_gorelease_report(d);
	report_panics(d);
}
