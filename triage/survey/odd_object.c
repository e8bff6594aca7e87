/* odd_object: each is a fact about one object; that it led to the death is a guess, and is told as one. */
#include "triage/survey/odd_object.h"

#include <inttypes.h>
#include <string.h>

#include "dwarf/view/view.h"
#include "heap/query/whatis.h"
#include "triage/survey/survey.h"
#include "triage/util/names.h"
#include "triage/util/same_type.h"

enum { BLOCKS = 3, PATHS = 3, COUNTS = 3, MEMBERS = 64, SMALLEST = 2, NEAR_ZERO = 1000 };

struct stale {
	uint32_t block;
	xc_addr addr; /* where the first leads */
	const char *paths[PATHS];
	size_t count; /* of all that lead there */
	bool text;
};

struct odd {
	const struct xc_crash_context *crash;
	struct stale stale[BLOCKS];
	size_t stale_count;
	size_t stale_all;           /* pointers, to whatever block */
	const char *counts[COUNTS]; /* sentences */
	size_t count_count;
};

/* ---- freed memory ---- */

static size_t longest(const struct stale *stale)
{
	size_t at = 0;
	for (size_t i = 1; i < PATHS; i++)
		at = strlen(stale->paths[i]) > strlen(stale->paths[at]) ? i : at;
	return at;
}

/* "`t->heap[2]`"; "key 3 of `index`"; "value 3 of `by_number` (`_M_node`)" */
static const char *words_of(const struct odd *o, const char *path)
{
	struct xc_arena *arena = &o->crash->report->arena;
	const char *comma = strrchr(path, ',');
	if (!comma)
		return xc_arena_printf(arena, "`%s`", path);
	const char *child = comma + 2;
	int len = (int)strcspn(child, ".[-");
	const char *rest = child + len + strspn(child + len, ".->");
	return xc_arena_printf(arena, *rest ? "%.*s of `%.*s` (`%s`)" : "%.*s of `%.*s`", len, child,
			       (int)(comma - path), path, rest);
}

static void take_stale(struct odd *o, uint32_t block, xc_addr addr, const char *path, bool text)
{
	size_t i = 0;
	while (i < o->stale_count && o->stale[i].block != block)
		i++;
	o->stale_all++;
	if (i == BLOCKS)
		return;
	struct stale *stale = &o->stale[i];
	if (i == o->stale_count) {
		*stale = (struct stale){.block = block, .addr = addr, .text = text};
		o->stale_count++;
	}
	size_t at = stale->count < PATHS ? stale->count : longest(stale);
	if (at == stale->count || strlen(path) < strlen(stale->paths[at]))
		stale->paths[at] = words_of(o, path);
	stale->count++;
}

/* Elements of a text view that owns nothing, or whose owner was destroyed. */
static bool text_at(const struct xc_view *view, xc_addr *addr)
{
	if (!view || view->kind != XC_VIEW_TEXT || !view->count || view->elements.kind != XC_VALUE_MEMORY)
		return false;
	*addr = view->elements.addr;
	return true;
}

static void look_for_stale(struct odd *o, const struct xc_surveyed *it)
{
	const struct xc_blocks *blocks = &o->crash->heap->blocks;
	bool pointer = xc_type_is_pointer(it->value->type);
	xc_addr addr;
	if (pointer ? !xc_value_load(it->value, &addr) : !text_at(it->view, &addr))
		return;
	uint32_t block = xc_blocks_find(blocks, addr);
	enum xc_block_state state = block == XC_NO_BLOCK ? XC_BLOCK_LIVE : xc_block_state(blocks, block);
	if (xc_block_is_free(state) && state != XC_BLOCK_TOP)
		take_stale(o, block, addr, it->path, !pointer);
}

/* ---- counts ---- */

static bool number(const struct xc_value *record, const struct xc_member *member, uint64_t *out)
{
	struct xc_value value;
	if (!member->name || member->base || member->dynamic || xc_type_strip(member->type)->kind != XC_TYPE_INT)
		return false;
	xc_value_field(record, member, &value);
	return xc_value_load(&value, out) && *out <= INT64_MAX;
}

static void take_count(struct odd *o, const struct xc_surveyed *it, const struct xc_member *count, uint64_t n,
		       const struct xc_member *room, uint64_t most)
{
	bool array = xc_type_strip(room->type)->kind == XC_TYPE_ARRAY;
	struct xc_text text = {0};
	if (o->count_count == COUNTS)
		return;
	xc_text_printf(&text, "`%s%s%s` is %" PRIu64, it->path, it->joint, count->name, n);
	if (n > UINT32_MAX - NEAR_ZERO && n <= UINT32_MAX)
		xc_text_printf(&text, ", that is (unsigned)-%" PRIu64 ": below 0", UINT32_MAX - n + 1);
	else
		xc_text_printf(&text, array ? ", but `%s` has room for %" PRIu64 : ", more than `%s`, %" PRIu64,
			       room->name, most);
	o->counts[o->count_count++] = xc_arena_strdup(&o->crash->report->arena, xc_text_string(&text));
	xc_text_fini(&text);
}

/* What counts the elements of an array: the only array, and the only number that may. */
static const struct xc_member *only_array(const struct xc_member *members, size_t count, uint64_t *room)
{
	const struct xc_member *found = NULL;
	size_t counts = 0;
	for (size_t i = 0; i < count; i++) {
		const struct xc_type *type = members[i].type ? xc_type_strip(members[i].type) : NULL;
		counts += type && type->kind == XC_TYPE_INT;
		if (!type || type->kind != XC_TYPE_ARRAY)
			continue;
		if (found || !type->count_known || type->count < SMALLEST || !type->target ||
		    xc_same_type_is_bytes(type->target))
			return NULL;
		found = &members[i];
		*room = type->count;
	}
	return counts <= SMALLEST ? found : NULL;
}

static void look_for_counts(struct odd *o, const struct xc_surveyed *it)
{
	const struct xc_type *type = xc_type_complete(xc_type_strip(it->value->type));
	size_t count;
	if (!xc_same_type_is_record(type) || it->view)
		return;
	const struct xc_member *members = xc_type_members(type, &count), *room = NULL;
	uint64_t most = 0, n;
	count = count < MEMBERS ? count : MEMBERS;
	for (size_t i = 0; i < count && !room; i++)
		if (xc_survey_is_room(members[i].name) && number(it->value, &members[i], &most) && most)
			room = &members[i];
	room = room ? room : only_array(members, count, &most);
	for (size_t i = 0; room && i < count; i++)
		if (xc_survey_is_count(members[i].name) && number(it->value, &members[i], &n) && n > most)
			take_count(o, it, &members[i], n, room, most);
}

/* ---- in words ---- */

static void add_paths(const struct stale *stale, struct xc_text *text)
{
	size_t told = stale->count < PATHS ? stale->count : PATHS;
	for (size_t i = 0; i < told; i++)
		xc_text_printf(text, "%s%s", !i ? "" : i + 1 == stale->count ? " and " : ", ", stale->paths[i]);
	if (stale->count > told)
		xc_text_printf(text, " and %zu more", stale->count - told);
	xc_text_add(text, stale->count == 2  ? " both lead into"
			  : stale->count > 2 ? " lead into"
			  : stale->text      ? " has its text in"
					     : " leads into");
}

static void report_stale(struct odd *o, const struct stale *stale)
{
	const struct xc_crash_context *crash = o->crash;
	struct xc_text text = {0};
	struct xc_what what = xc_what(crash->process, crash->heap, stale->addr);
	add_paths(stale, &text);
	xc_text_printf(&text, " freed memory, 0x%" PRIx64 ": ", stale->addr);
	xc_what_text(crash->process, crash->heap, &what, &text);
	xc_verdict_evidence(crash->report, "%s", xc_text_string(&text));
	xc_text_fini(&text);
}

/* Classes that tell no more than that something was not as the program expects. */
static bool is_symptom(const struct xc_crash_context *crash)
{
	static const char *const names[] = {"abort",     "assertion",  "trap-instruction", "uncaught-exception",
					    "null-read", "null-write", "null-access",      "call-null",
					    "wild-read", "wild-write", "wild-access",      NULL};
	return xc_names_find(names, crash->verdict->class_name);
}

static bool is_damage(const struct xc_crash_context *crash)
{
	static const char *const names[] = {"heap-corruption", "exec-data", "pc-control", "heap-overrun", NULL};
	return is_symptom(crash) || xc_names_find(names, crash->verdict->class_name);
}

static void explain(struct xc_crash_context *crash, const char *why)
{
	struct xc_verdict *v = crash->verdict;
	v->cause =
		xc_arena_printf(&crash->report->arena, "%s%s%s", v->cause ? v->cause : "", v->cause ? "; " : "", why);
}

static void explain_stale(struct xc_crash_context *crash, const struct stale *stale)
{
	struct xc_text text = {0};
	xc_text_add(&text, "perhaps because ");
	add_paths(stale, &text);
	xc_text_add(&text, " freed memory");
	explain(crash, xc_text_string(&text));
	xc_text_fini(&text);
}

static void look(void *user, const struct xc_surveyed *it)
{
	struct odd *o = user;
	look_for_stale(o, it);
	if (!xc_type_is_pointer(it->value->type))
		look_for_counts(o, it);
}

static void report(struct odd *o)
{
	size_t told = 0;
	for (size_t i = 0; i < o->count_count; i++)
		xc_verdict_evidence(o->crash->report, "%s", o->counts[i]);
	for (size_t i = 0; i < o->stale_count; i++) {
		report_stale(o, &o->stale[i]);
		told += o->stale[i].count;
	}
	if (o->stale_all > told)
		xc_verdict_evidence(o->crash->report, "%zu more pointers of the same objects lead into freed memory",
				    o->stale_all - told);
}

/* A use after free is told; which of the program's objects still lead there may not be. */
static bool is_nameless(const struct xc_crash_context *crash)
{
	return xc_crash_context_is(crash, "use-after-free") && !strchr(crash->verdict->cause, '`');
}

void xc_odd_object_report(struct xc_crash_context *crash)
{
	struct odd o = {.crash = crash};
	if (!crash->heap || !crash->heap->blocks.count || !crash->verdict->class_name || !crash->verdict->cause ||
	    (!is_damage(crash) && !is_nameless(crash)))
		return;
	xc_survey_walk(crash, look, &o);
	report(&o);
	if (o.count_count)
		explain(crash, o.counts[0]);
	else if (o.stale_count && is_symptom(crash))
		explain_stale(crash, &o.stale[0]);
}
