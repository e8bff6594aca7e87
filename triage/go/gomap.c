/* gomap: the map of the error is the argument `h` of the runtime's function that found it (Go 1.19, runtime/map.go;
 * `m` since 1.24), or the only map that the source line of the caller names, or that its code loads from a global
 * variable. Another goroutine that writes has it likewise; the runtime does not record who does, and it may be done. */
#include "triage/go/gomap.h"

#include <inttypes.h>

#include "dwarf/line/source_lines.h"
#include "dwarf/stack/variable.h"
#include "triage/code/body_cache.h"
#include "triage/goroutine/gotype.h"
#include "triage/goroutine/gopackage.h"
#include "triage/goroutine/goroutine.h"
#include "triage/waits/frame_words.h"
#include "triage/util/names.h"
#include "triage/util/sourceline.h"

enum { GOROUTINES = 2000, FRAMES = 32, OTHERS = 3, CALLERS = 3, MAPS = 16, BACK = 16, WORDS = 64, MEMBERS = 4 };

/* The maps that a frame has. */
struct maps {
	const struct xc_godeath *d;
	struct {
		xc_addr addr;
		const char *path; /* NULL: of a global variable */
	} items[MAPS];
	size_t count;
};

/* A goroutine that is looked at. */
struct user {
	struct xc_crash_context crash; /* with its frames */
	uint64_t id;
	size_t at;          /* the frame that has the map */
	const char *has;    /* what the map is for it; NULL: not known */
	bool inside;        /* in a function of the runtime that has the map */
	bool reaches;       /* what has the address of a structure with the map counts, too */
	uint64_t low, high; /* its stack */
	bool writes;
};

/* ---- the runtime's functions ---- */

static bool is_of_maps(const char *function)
{
	return xc_gopackage_begins(function, "runtime.map") || xc_gopackage_begins(function, "internal/runtime/maps.");
}

static bool is_writer(const char *function)
{
	static const char *const names[] = {"runtime.mapassign", "runtime.mapdelete", "runtime.mapclear", NULL};
	return function && xc_names_begin(names, function);
}

/* Is the frame one of them? *map_out: which map it has; 0: not known. */
static bool is_inside(const struct xc_crash_context *crash, size_t index, xc_addr *map_out, bool *writes_out)
{
	const struct xc_frame_context in = xc_crash_context_frame(crash, index);
	size_t levels = in.place->level_count ? in.place->level_count : 1;
	bool found = false;
	*map_out = 0;
	for (size_t l = 0; l < levels; l++) {
		const char *name = xc_place_function(in.place, l);
		struct xc_value map;
		uint64_t at;
		if (!is_of_maps(name))
			continue;
		found = true;
		*writes_out |= is_writer(name);
		bool known = in.place->level_count &&
			     (xc_variable_find(&in, l, "h", &crash->report->arena, &map) ||
			      xc_variable_find(&in, l, "m", &crash->report->arena, &map)) &&
			     xc_type_is_pointer(xc_gotype_plain(map.type)) && xc_value_load(&map, &at);
		if (known)
			*map_out = at;
	}
	return found;
}

/* ---- the maps of a frame ---- */

static void add_map(struct maps *m, xc_addr addr, const char *path)
{
	if (!addr || m->count == MAPS)
		return;
	for (size_t i = 0; i < m->count; i++)
		if (m->items[i].addr == addr && (m->items[i].path || !path))
			return;
	m->items[m->count].addr = addr;
	m->items[m->count++].path = path ? xc_arena_strdup(&m->d->crash->report->arena, path) : NULL;
}

static bool add_value(void *user, const char *path, const struct xc_value *value)
{
	uint64_t at;
	if (xc_gotype_is_map(value->type) && xc_value_load(value, &at))
		add_map(user, at, path);
	return true;
}

/* False: not all of what the variables lead to was looked at. */
static bool add_variables(struct maps *m, const struct xc_frame_context *in)
{
	struct xc_gowalk walk = {.each = add_value, .user = m};
	for (size_t level = 0; !in->place->line_only && level < in->place->level_count; level++)
		for (int locals = 0; locals < 2; locals++) {
			struct xc_named_value *values;
			size_t count = xc_variable_values(in, level, locals, &m->d->crash->report->arena, &values);
			for (size_t i = 0; i < count; i++)
				xc_gowalk_variable(&walk, &values[i]);
		}
	return walk.members < XC_GOWALK_MEMBERS;
}

/* What is loaded from a fixed address before a call for maps. `pc`: only before the call that returns there; 0: before
 * any. */
static void add_globals(struct maps *m, const struct xc_body *body, xc_addr pc)
{
	uint64_t at;
	for (size_t i = 0; i < body->count; i++) {
		const struct xc_insn *call = &body->insns[i];
		if (call->kind != XC_INSN_CALL || (pc && call->addr + call->length != pc) ||
		    !is_of_maps(xc_body_callee(body, call, NULL)))
			continue;
		for (size_t k = i; k-- > 0 && i - k <= BACK && body->insns[k].kind != XC_INSN_CALL;)
			if (body->insns[k].kind == XC_INSN_LOAD && body->insns[k].memory.base == -1 &&
			    body->insns[k].memory.index == -1 && body->insns[k].memory.segment == -1 &&
			    xc_space_peek_uint(body->process->space, (xc_addr)body->insns[k].memory.displacement, 8,
					       &at))
				add_map(m, at, NULL);
	}
}

/* ---- which map it was ---- */

/* The only one of them; 0: there are several, or none. */
static xc_addr sole(const struct maps *m, const char *line)
{
	xc_addr found = 0;
	for (size_t i = 0; i < m->count; i++) {
		if (line && m->items[i].path && !xc_gowalk_is_in_line(m->items[i].path, line))
			continue;
		if (found && found != m->items[i].addr)
			return 0;
		found = m->items[i].addr;
	}
	return found;
}

static xc_addr callers_map(const struct xc_godeath *d, size_t index)
{
	struct xc_crash_context *crash = d->crash;
	struct maps m = {.d = d};
	const struct xc_frame_context in = xc_crash_context_frame(crash, index);
	const struct xc_body *body = crash->bodies ? xc_body_cache_get(crash->bodies, xc_frame_lookup(in.frame)) : NULL;
	const struct xc_level *at = in.place->level_count ? &in.place->levels[0] : NULL;
	const char *line = at && at->file ? xc_source_reader_line(crash->source, at->file, at->line) : NULL;
	if (body)
		add_globals(&m, body, in.frame->pc);
	bool whole = add_variables(&m, &in);
	return whole || line ? sole(&m, line) : 0;
}

/* 0: not known. */
static xc_addr find_map(const struct xc_godeath *d, bool *guess_out)
{
	bool writes = false, inside = false;
	xc_addr map = 0, one;
	*guess_out = false;
	for (size_t i = d->at; i < d->crash->frame_count && i - d->at < FRAMES; i++) {
		if (is_inside(d->crash, i, &one, &writes)) {
			map = map ? map : one;
			inside = true;
		} else if (inside) {
			*guess_out = !map;
			return map ? map : callers_map(d, i);
		}
	}
	return map;
}

/* ---- the others ---- */

static bool calls_writer(const struct xc_body *body)
{
	for (size_t i = 0; body && i < body->count; i++)
		if (body->insns[i].kind == XC_INSN_CALL && is_writer(xc_body_callee(body, &body->insns[i], NULL)))
			return true;
	return false;
}

/* Is it the address of a structure that has the map? */
static bool leads_to(const struct xc_process *process, xc_addr at, xc_addr map)
{
	uint64_t word;
	for (size_t i = 0; at % 8 == 0 && i < MEMBERS; i++)
		if (!xc_space_peek_uint(process->space, at + 8 * i, 8, &word))
			return false;
		else if (word == map)
			return true;
	return false;
}

/* Has the frame the map; or, where that counts, the address of a structure with it? */
static bool has_word(const struct user *u, size_t index, xc_addr map)
{
	const struct xc_crash_context *crash = &u->crash;
	if (index + 1 >= crash->frame_count)
		return false;
	struct xc_frame_words words =
		xc_frame_words(crash->process, &crash->frames[index], 0, &crash->frames[index + 1], WORDS);
	uint64_t value;
	while (xc_frame_words_next(&words, &value)) {
		bool own =
			value >= u->low && value < u->high; /* as a saved frame pointer, which leads to others' maps */
		if (value == map || (u->reaches && !own && leads_to(crash->process, value, map)))
			return true;
	}
	return false;
}

/* Does the frame write to maps, and has it this one? */
static bool may_write(const struct xc_godeath *d, struct user *u, size_t index, xc_addr map)
{
	struct maps m = {.d = d};
	const struct xc_frame_context in = xc_crash_context_frame(&u->crash, index);
	const struct xc_body *body =
		d->crash->bodies ? xc_body_cache_get(d->crash->bodies, xc_frame_lookup(in.frame)) : NULL;
	if (xc_gopackage_is_runtime(xc_place_function(in.place, 0)) || !calls_writer(body))
		return false;
	(void)add_variables(&m, &in);
	add_globals(&m, body, 0);
	for (size_t i = 0; i < m.count; i++)
		if (m.items[i].addr == map) {
			u->has = m.items[i].path;
			return true;
		}
	return has_word(u, index, map);
}

/* Fills in what it does with the map; false: nothing that its stack shows. */
static bool uses(const struct xc_godeath *d, struct user *u, xc_addr map)
{
	xc_addr one;
	for (size_t i = 0; i < u->crash.frame_count && i < FRAMES; i++) {
		bool writes = false;
		if (is_inside(&u->crash, i, &one, &writes)) {
			u->inside |= !map || one == map;
			u->writes |= (!map || one == map) && writes;
		}
		if (map && may_write(d, u, i, map)) {
			u->at = i;
			return true;
		}
	}
	return u->inside;
}

static void add_frame(const struct xc_crash_context *crash, size_t index, struct xc_text *text)
{
	const struct xc_place *place = xc_crash_context_place(crash, index);
	xc_text_printf(text, " ← %s", xc_place_function(place, 0));
	xc_sourceline(place, 0, ", ", text);
}

static void add_callers(struct user *u, struct xc_text *text)
{
	size_t told = 0;
	for (size_t i = u->crash.blamed + 1; i < u->crash.frame_count && told < CALLERS; i++) {
		const char *name = xc_place_function(xc_crash_context_place(&u->crash, i), 0);
		if (!name || xc_gopackage_is_standard(name))
			continue;
		add_frame(&u->crash, i, text);
		told++;
	}
}

static void report_user(const struct xc_godeath *d, struct user *u, xc_addr map)
{
	struct xc_text text = {0};
	xc_text_printf(&text, "%sgoroutine %" PRIu64, !map ? "" : u->reaches ? "perhaps " : "likely ", u->id);
	if (!map)
		xc_text_add(&text, " uses a map at this moment");
	else if (u->inside)
		xc_text_printf(&text, " %s the same map at this moment", u->writes ? "writes to" : "uses");
	else
		xc_text_printf(&text, " wrote to it: it %s that map", u->reaches ? "leads to" : "has");
	if (u->has)
		xc_text_printf(&text, ", `%s`,", u->has);
	if (map && !u->inside)
		xc_text_add(&text, " and writes to maps");
	if (xc_goroutine_blame(&u->crash, u->at)) {
		xc_text_printf(&text, " in %s", xc_crash_context_culprit(&u->crash));
		xc_sourceline(u->crash.blame.place, u->crash.blame.level, ", ", &text);
		add_callers(u, &text);
	}
	xc_verdict_evidence(d->crash->report, "%s", xc_text_string(&text));
	xc_text_fini(&text);
}

/* Is it another one, which waits or does not? */
static bool is_other(const struct xc_godeath *d, xc_addr g, bool waits)
{
	uint64_t status;
	return (!d->g_known || g != d->g) && xc_goroutine_status(&d->go, g, &status) && status &&
	       status != XC_GOROUTINE_ENDED && (status == XC_GOROUTINE_WAITS) == waits;
}

/* How many of those that wait, or of the others, were told. */
static size_t report_users(const struct xc_godeath *d, const struct xc_goroutine_list *list, xc_addr map, bool waits,
			   bool reaches)
{
	size_t told = 0;
	xc_addr g;
	for (uint64_t i = 0; told < OTHERS && i < GOROUTINES && xc_goroutine_at(&d->go, list, i, &g); i++) {
		struct user u = {.crash = *d->crash, .reaches = reaches};
		if (!is_other(d, g, waits) || !xc_goruntime_read(&d->go, "runtime.g", g, "goid", &u.id) ||
		    !xc_goruntime_read(&d->go, "runtime.g", g, "stack.lo", &u.low) ||
		    !xc_goruntime_read(&d->go, "runtime.g", g, "stack.hi", &u.high))
			continue;
		u.crash.frame_count = xc_goroutine_frames(d->crash, &d->go, g, &u.crash.frames);
		u.crash.blame = (struct xc_blame){.place = NULL};
		if (!uses(d, &u, map))
			continue;
		report_user(d, &u, map);
		told++;
	}
	return told;
}

/* By which name the goroutine that died has it. */
static void report_path(const struct xc_godeath *d, xc_addr map, bool guess)
{
	for (size_t i = d->at; i < d->crash->frame_count && i - d->at < FRAMES; i++) {
		struct maps m = {.d = d};
		const struct xc_frame_context in = xc_crash_context_frame(d->crash, i);
		if (!xc_gopackage_is_runtime(xc_place_function(in.place, 0)))
			(void)add_variables(&m, &in);
		for (size_t k = 0; k < m.count; k++)
			if (m.items[k].addr == map && m.items[k].path) {
				xc_verdict_evidence(d->crash->report, "%sthe map is `%s` of %s (0x%" PRIx64 ")",
						    guess ? "likely " : "", m.items[k].path,
						    xc_place_function(in.place, 0), map);
				return;
			}
	}
}

void xc_gomap_report(const struct xc_godeath *d)
{
	struct xc_goroutine_list list;
	bool guess;
	xc_addr map = find_map(d, &guess);
	if (map)
		report_path(d, map, guess);
	if (!xc_goroutine_list(&d->go, &list))
		return;
	for (int way = 0; way < (map ? 4 : 2);
	     way++) /* who has the map, then who leads to it; who runs, then who waits */
		if (report_users(d, &list, map, way & 1, way & 2))
			return;
	if (map && list.count < GOROUTINES)
		xc_verdict_evidence(
			d->crash->report,
			"missing: the goroutine that wrote to the map: of none is it known that it has this map in a "
			"function that writes to maps");
}
