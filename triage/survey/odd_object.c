/* odd_object: each is a fact about one object; that it led to the death is a guess, and is told as one. */
#include "triage/survey/odd_object.h"

#include <inttypes.h>
#include <string.h>

#include "dwarf/types/field.h"
#include "dwarf/view/view.h"
#include "dwarf/view/view_part.h"
#include "heap/query/whatis.h"
#include "triage/memory/stale_pointer.h"
#include "triage/survey/survey.h"
#include "triage/util/names.h"
#include "triage/util/same_type.h"

enum { BLOCKS = 3, PATHS = 3, ARGUMENTS = 3, COUNTS = 3, MEMBERS = 64, SMALLEST = 2, NEAR_ZERO = 1000 };

static const char VARIABLE[] = ".-[,"; /* what the path of a variable itself has not */

struct stale {
	uint32_t block;
	xc_addr addr; /* where the first leads */
	const char *paths[PATHS];
	xc_addr at[PATHS]; /* where the pointers are; 0: not in memory */
	size_t count;      /* of all that lead there */
	bool text;
};

struct odd {
	const struct xc_crash_context *crash;
	struct stale stale[BLOCKS];
	size_t stale_count;
	size_t stale_all;           /* pointers, to whatever block */
	const char *counts[COUNTS]; /* sentences */
	size_t count_count;
	bool uses;           /* one of them is a wrong use count */
	const char *empty;   /* a container, in words, of which an element below 0 was used; NULL: none */
	const char *expired; /* a std::weak_ptr whose object is gone, in words; NULL: none */
	struct argument {
		const char *name;
		const struct xc_type *type; /* a pointer or reference to a record */
		xc_addr led;
	} arguments[ARGUMENTS]; /* of the innermost functions */
	size_t argument_count;
};

/* Classes that tell no more than that something was not as the program expects. */
static bool is_symptom(const struct xc_crash_context *crash)
{
	static const char *const names[] = {"abort",     "assertion",  "trap-instruction", "uncaught-exception",
					    "null-read", "null-write", "null-access",      "call-null",
					    "wild-read", "wild-write", "wild-access",      NULL};
	return xc_names_find(names, crash->verdict->class_name);
}

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

/* The same pointer by two names: one reaches it by reference. The longer tells where it is. */
static bool is_again(const struct odd *o, struct stale *stale, xc_addr at, const char *path)
{
	size_t told = stale->count < PATHS ? stale->count : PATHS;
	for (size_t i = 0; i < told && at; i++)
		if (stale->at[i] == at) {
			if (strpbrk(path, VARIABLE) && !strpbrk(stale->paths[i], VARIABLE))
				stale->paths[i] = words_of(o, path);
			return true;
		}
	return false;
}

static void take_stale(struct odd *o, uint32_t block, xc_addr addr, const struct xc_value *from, const char *path,
		       bool text)
{
	xc_addr from_at = from->kind == XC_VALUE_MEMORY ? from->addr : 0;
	size_t i = 0;
	while (i < o->stale_count && o->stale[i].block != block)
		i++;
	if (i < o->stale_count && is_again(o, &o->stale[i], from_at, path))
		return;
	o->stale_all++;
	if (i == BLOCKS)
		return;
	struct stale *stale = &o->stale[i];
	if (i == o->stale_count) {
		*stale = (struct stale){.block = block, .addr = addr, .text = text};
		o->stale_count++;
	}
	size_t at = stale->count < PATHS ? stale->count : longest(stale);
	if (at == stale->count || strlen(path) < strlen(stale->paths[at])) {
		stale->paths[at] = words_of(o, path);
		stale->at[at] = from_at;
	}
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
	bool pointer = xc_type_is_pointer(it->value->type), variable = !strpbrk(it->path, VARIABLE);
	xc_addr addr;
	if (pointer && variable && !is_symptom(o->crash)) /* the diagnosis of the bad pointer has told it */
		return;
	if (pointer ? !xc_value_load(it->value, &addr) : !text_at(it->view, &addr))
		return;
	uint32_t block = xc_blocks_find(blocks, addr);
	enum xc_block_state state = block == XC_NO_BLOCK ? XC_BLOCK_LIVE : xc_block_state(blocks, block);
	if (xc_block_is_freed(state))
		take_stale(o, block, addr, it->value, it->path, !pointer);
}

/* ---- shared pointers ---- */

/* An object with a virtual table, as control blocks are: what was never set leads anywhere. */
static bool has_table(const struct odd *o, xc_addr at)
{
	const struct xc_process *p = o->crash->process;
	uint64_t table;
	const struct xc_mapping *m =
		xc_space_peek_uint(p->space, at, p->arch->word, &table) ? xc_process_mapping(p, table) : NULL;
	return m && !m->writable && xc_process_module(p, table);
}

static void take_uses(struct odd *o, const struct xc_surveyed *it, int64_t uses)
{
	o->uses = true;
	if (o->count_count < COUNTS)
		o->counts[o->count_count++] = xc_arena_printf(
			&o->crash->report->arena,
			"%s is a std::shared_ptr whose use count is %" PRId64
			": its object was released while it is still used, more often than it was taken",
			words_of(o, it->path), uses);
}

/* A pointer led there: it was constructed. */
static void take_control(struct odd *o, const struct xc_surveyed *it, xc_addr at)
{
	o->uses = true;
	if (o->count_count < COUNTS)
		o->counts[o->count_count++] = xc_arena_printf(
			&o->crash->report->arena,
			"%s is a std::shared_ptr whose counts, at 0x%" PRIx64
			", are no counts any more: they were overwritten, or its object was released while it is still "
			"used, and the memory is used again",
			words_of(o, it->path), at);
}

/* libstdc++ 12, bits/shared_ptr_base.h; libc++ counts from -1 (memory). */
static void look_for_shared(struct odd *o, const struct xc_surveyed *it)
{
	static const char *const controls[] = {"_M_refcount._M_pi", "__cntrl_", NULL};
	static const char name[] = "std::shared_ptr<", weak[] = "std::weak_ptr<";
	const struct xc_blocks *blocks = &o->crash->heap->blocks;
	const struct xc_type *type = xc_type_strip(it->value->type);
	struct xc_value control;
	uint64_t at, uses;
	bool is_weak = type->name && strncmp(type->name, weak, sizeof weak - 1) == 0;
	if (!type->name || (!is_weak && strncmp(type->name, name, sizeof name - 1) != 0) ||
	    !xc_view_part_of(it->value, &control, controls) || !xc_value_load(&control, &at) || !at)
		return;
	uint32_t block = xc_blocks_find(blocks, at);
	enum xc_block_state state = block == XC_NO_BLOCK ? XC_BLOCK_LIVE : xc_block_state(blocks, block);
	if (xc_block_is_freed(state))
		take_stale(o, block, at, &control, it->path, false);
	else if (is_weak && block != XC_NO_BLOCK && has_table(o, at) && !o->expired && strstr(it->path, "->") &&
		 xc_view_number(&control, "_M_use_count", &uses) && !(int32_t)uses)
		o->expired = words_of(o, it->path);
	else if (is_weak)
		return;
	else if (block != XC_NO_BLOCK && !has_table(o, at) && strstr(it->path, "->"))
		take_control(o, it, at);
	else if (block != XC_NO_BLOCK && has_table(o, at) && xc_view_number(&control, "_M_use_count", &uses) &&
		 (int32_t)uses <= 0)
		take_uses(o, it, (int32_t)uses);
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

/* "length", or "nmembers" beside "members". */
static bool is_count(const struct xc_member *members, size_t count, size_t index)
{
	const char *name = members[index].name;
	if (!members[index].type || xc_type_strip(members[index].type)->kind != XC_TYPE_INT || !name)
		return false;
	for (size_t i = 0; *name == 'n' && i < count; i++)
		if (members[i].name && strcmp(members[i].name, name + 1) == 0)
			return true;
	return xc_survey_is_count(name);
}

static size_t count_counts(const struct xc_member *members, size_t count)
{
	size_t counts = 0;
	for (size_t i = 0; i < count; i++)
		counts += is_count(members, count, i);
	return counts;
}

/* Of several counts, as of several arrays, that beside the room is the one that it limits. */
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
	const bool several = room && count_counts(members, count) > 1;
	for (size_t i = 0; room && i < count; i++)
		if ((!several || &members[i] + 1 == room || &members[i] == room + 1) && is_count(members, count, i) &&
		    number(it->value, &members[i], &n) && n > most)
			take_count(o, it, &members[i], n, room, most);
}

/* ---- empty containers ---- */

/* back() of an empty vector, whose elements would begin at NULL, is one element below that. */
static void look_for_empty(struct odd *o, const struct xc_surveyed *it)
{
	enum { BELOW = 4 };
	const struct xc_fault *f = &o->crash->fault;
	unsigned word = o->crash->process->arch->word;
	uint64_t base, begin, size;
	if (o->empty || !it->view || it->view->kind != XC_VIEW_LIST || !it->view->contiguous || it->view->count ||
	    it->value->kind != XC_VALUE_MEMORY || !f->frame_known || !f->operand_known || f->operand.base < 0 ||
	    word != sizeof base || !xc_regs_get(&f->frame.regs, f->operand.base, &base) || base < UINT64_MAX / 2 ||
	    !it->view->shape->element || !xc_type_size(it->view->shape->element, &size) || size < word ||
	    !xc_space_peek_uint(o->crash->process->space, it->value->addr, word, &begin) || begin)
		return;
	uint64_t below = 0 - base;
	if (below % size || below / size > BELOW)
		return;
	o->empty =
		xc_arena_printf(&o->crash->report->arena, "likely element -%" PRIu64 " of %s was used, which is empty",
				below / size, words_of(o, it->path));
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

static bool is_own_end(const struct xc_crash_context *crash)
{
	static const char *const names[] = {"abort",     "assertion", "trap-instruction", "uncaught-exception",
					    "terminate", NULL};
	return xc_names_find(names, crash->verdict->class_name);
}

/* Did the blamed function throw the exception itself? Then it has found what it throws it for. */
static bool is_thrown(const struct xc_crash_context *crash)
{
	const char *name =
		crash->blamed ? xc_place_function(xc_crash_context_place(crash, crash->blamed - 1), 0) : NULL;
	return xc_crash_context_is(crash, "uncaught-exception") && name && strcmp(name, "__cxa_throw") == 0;
}

/* The program ended itself, likely because an object was no longer what it should be. That may be exploitable. */
static void raise_own_end(struct xc_crash_context *crash)
{
	struct xc_verdict *v = crash->verdict;
	if (is_own_end(crash) && !is_thrown(crash) && v->severity && strcmp(v->severity, "low") == 0)
		v->severity = "medium";
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

static void take_argument(struct odd *o, const struct xc_surveyed *it)
{
	struct argument *argument = &o->arguments[o->argument_count];
	if (o->argument_count == ARGUMENTS || strpbrk(it->path, VARIABLE) ||
	    !xc_same_type_is_record(xc_same_type_pointed(it->value->type)) || !xc_value_load(it->value, &argument->led))
		return;
	argument->name = xc_arena_strdup(&o->crash->report->arena, it->path);
	argument->type = it->value->type;
	o->argument_count++;
}

/* The offset of the record's first pointer; UINT64_MAX when it has none. */
static uint64_t first_pointer(const struct xc_crash_context *crash, const struct xc_type *record)
{
	uint64_t size, rest, word = crash->process->arch->word;
	if (!xc_type_size(record, &size))
		return UINT64_MAX;
	for (uint64_t offset = 0; offset + word <= size && offset < MEMBERS * word; offset += word)
		if (xc_type_is_pointer(xc_field_path(NULL, record, offset, &rest)) && !rest)
			return offset;
	return UINT64_MAX;
}

/* A block that an argument leads to, and that others use as something else. */
static bool explain_reused(struct xc_crash_context *crash, const struct argument *argument)
{
	struct xc_arena *arena = &crash->report->arena;
	struct xc_deref *deref = xc_arena_alloc(arena, sizeof *deref);
	uint64_t pointer = first_pointer(crash, xc_type_complete(xc_same_type_pointed(argument->type)));
	*deref = (struct xc_deref){.frame = crash->blamed,
				   .at_known = pointer != UINT64_MAX,
				   .at = argument->led + pointer,
				   .holder = crash->blamed,
				   .pointer = argument->name,
				   .pointer_type = argument->type,
				   .led_known = true,
				   .led = argument->led};
	const struct xc_stale stale = xc_stale_pointer_at(crash, deref);
	if (stale.kind != XC_STALE_REUSED)
		return false;
	xc_verdict_evidence(crash->report, "`%s` = 0x%" PRIx64 ": %s", argument->name, argument->led, stale.why);
	if (stale.redact && stale.redact != stale.why)
		xc_verdict_redact(crash->report, stale.redact);
	if (stale.moved)
		xc_verdict_evidence(crash->report, "%s, and not in that block", stale.moved);
	explain(crash,
		xc_arena_printf(arena,
				"perhaps because `%s` is stale: the memory that it points to has another owner now",
				argument->name));
	return true;
}

static void look(void *user, const struct xc_surveyed *it)
{
	struct odd *o = user;
	if (xc_type_is_pointer(it->value->type))
		take_argument(o, it);
	look_for_stale(o, it);
	if (xc_type_is_pointer(it->value->type))
		return;
	look_for_shared(o, it);
	look_for_counts(o, it);
	look_for_empty(o, it);
}

static void report(struct odd *o)
{
	size_t told = 0;
	for (size_t i = 0; i < o->count_count; i++)
		xc_verdict_evidence(o->crash->report, "%s", o->counts[i]);
	if (o->expired && is_own_end(o->crash))
		xc_verdict_evidence(o->crash->report, "%s is a std::weak_ptr whose object is gone", o->expired);
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
	bool reused = false;
	for (size_t i = 0; i < o.argument_count && is_own_end(crash) && !o.count_count && !o.stale_count && !reused;
	     i++)
		reused = explain_reused(crash, &o.arguments[i]);
	if (reused || o.uses || (o.stale_count && is_symptom(crash)))
		raise_own_end(crash);
	if (o.empty && is_symptom(crash))
		explain(crash, o.empty);
	else if (o.count_count)
		explain(crash, o.counts[0]);
	else if (o.stale_count && is_symptom(crash) && !crash->unset)
		explain_stale(crash, &o.stale[0]);
}
