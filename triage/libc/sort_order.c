/* sort_order: the inner loops of introsort do not look at the range's end: an element there ends them, as it is not
 * smaller than the one that is moved (libstdc++ 12, bits/stl_algo.h: __unguarded_linear_insert, __unguarded_partition;
 * libc++ 14, __algorithm/sort.h: __insertion_sort_unguarded). With a comparison that is true for equal elements none
 * does. */
#include "triage/libc/sort_order.h"

#include <inttypes.h>
#include <signal.h>
#include <string.h>

#include "dwarf/value/value.h"
#include "triage/util/names.h"
#include "triage/util/user_code.h"

enum { FRAMES = 16, LEVELS = 16, PLACES = 3 };

struct sort {
	const struct xc_crash_context *crash;
	bool unguarded;      /* such a loop runs */
	const char *compare; /* the comparison of the program; NULL: not known */
	uint64_t at[PLACES]; /* elements that the loop is at */
	bool behind[PLACES]; /* this is the one before that address */
	size_t at_count;
	bool range_known;
	bool sorts, over;     /* frames of the sort were seen, and the program's that called it */
	uint64_t first, last; /* of the outermost function */
	uint64_t element;     /* size; 0: not known */
};

static bool is_loop(const char *name)
{
	static const char *const loops[] = {"std::__unguarded_linear_insert<", "std::__unguarded_partition<",
					    "std::__insertion_sort_unguarded<", "std::__1::__insertion_sort_unguarded<",
					    NULL};
	return xc_names_begin(loops, name) != NULL;
}

static bool is_sort(const char *name)
{
	static const char *const sorts[] = {"std::__introsort_loop<",
					    "std::__final_insertion_sort<",
					    "std::__sort<",
					    "std::sort<",
					    "std::__1::__sort<",
					    "std::__1::sort<",
					    NULL};
	return xc_names_begin(sorts, name) != NULL;
}

/* The pointer, or the iterator that is no more than one. */
static bool read_iterator(const struct xc_frame_context *in, size_t level, const char *name, struct xc_arena *arena,
			  uint64_t *out)
{
	const unsigned word = in->process->arch->word;
	struct xc_value value; /* perhaps in registers, by its member */
	*out = 0;
	return xc_variable_find(in, level, name, arena, &value) && xc_value_size(&value) == word &&
	       xc_value_peek(&value, 0, out, word);
}

/* The size of what a pointer, or an iterator that is no more than one, points to; 0: not known. */
static uint64_t size_of_element(const struct xc_frame_context *in, size_t level, struct xc_arena *arena)
{
	struct xc_value value;
	uint64_t size;
	size_t count;
	if (!xc_variable_find(in, level, "__first", arena, &value))
		return 0;
	const struct xc_type *type = xc_type_strip(value.type);
	const struct xc_member *members = xc_type_members(type, &count);
	if (count == 1)
		type = xc_type_strip(members->type);
	return xc_type_is_pointer(type) && type->target && xc_type_size(type->target, &size) ? size : 0;
}

static void look_at_loop(struct sort *s, const struct xc_frame_context *in, size_t level)
{
	static const char *const places[PLACES] = {"__next", "__first", "__last"};
	s->unguarded = true;
	for (size_t i = 0; i < PLACES && s->at_count < PLACES; i++) {
		s->behind[s->at_count] = strcmp(places[i], "__last") == 0;
		s->at_count += read_iterator(in, level, places[i], &s->crash->report->arena, &s->at[s->at_count]);
	}
}

static void look_at(struct sort *s, const struct xc_frame_context *in, size_t level, const char *name)
{
	struct xc_arena *arena = &s->crash->report->arena;
	uint64_t first, last;
	s->sorts |= is_loop(name) || is_sort(name);
	if (s->over)
		return; /* a comparison may sort, too: the outer one is another range */
	if (is_loop(name)) {
		look_at_loop(s, in, level);
	} else if (is_sort(name) && s->unguarded && read_iterator(in, level, "__first", arena, &first) &&
		   read_iterator(in, level, "__last", arena, &last) && first <= last) {
		s->first = first;
		s->last = last;
		s->range_known = true;
		s->element = size_of_element(in, level, arena);
	} else if (xc_user_code_is(in->place, level)) {
		s->over = s->sorts;
		s->compare = s->sorts ? s->compare : name;
	}
}

/* From the innermost frame outward. */
static void look(struct sort *s)
{
	for (size_t i = 0; i < s->crash->frame_count && i < FRAMES; i++) {
		const struct xc_frame_context in = xc_crash_context_frame(s->crash, i);
		for (size_t l = 0; !in.place->line_only && l < in.place->level_count && l < LEVELS; l++) {
			const char *name = xc_place_function(in.place, l);
			if (name)
				look_at(s, &in, l, name);
		}
	}
}

enum place { NOT_KNOWN, INSIDE, BEFORE, BEHIND };

/* Where the loop is; inside, it is an element that is bad. at_out: an element that is outside. */
static enum place find_place(const struct sort *s, uint64_t *at_out)
{
	if (!s->at_count || !s->range_known)
		return NOT_KNOWN;
	for (size_t i = 0; i < s->at_count; i++) {
		const uint64_t at = s->at[i] - s->behind[i];
		*at_out = s->at[i];
		if (at < s->first || at >= s->last)
			return at < s->first ? BEFORE : BEHIND;
	}
	return INSIDE;
}

/* "likely std::sort() ran out of its range of 64 elements, which ends at 0x2000: it is at 0x2008" */
static void write_place(const struct sort *s, enum place place, uint64_t at, struct xc_text *text)
{
	if (place == NOT_KNOWN) {
		xc_text_add(text, "perhaps std::sort() ran out of its range");
		return;
	}
	xc_text_add(text, "likely std::sort() ran out of its range");
	if (s->element && s->last > s->first)
		xc_text_printf(text, " of %" PRIu64 " elements", (s->last - s->first) / s->element);
	xc_text_printf(text, ", which %s at 0x%" PRIx64 ": it is at 0x%" PRIx64, place == BEFORE ? "begins" : "ends",
		       place == BEFORE ? s->first : s->last, at);
}

void xc_sort_order_report(struct xc_crash_context *crash)
{
	struct sort s = {.crash = crash};
	struct xc_verdict *v = crash->verdict;
	const bool memory = crash->fault.signal == SIGSEGV || crash->fault.signal == SIGBUS;
	uint64_t at = 0;
	if (!memory || crash->fault.sent || !v->class_name || xc_crash_context_is(crash, "stack-overflow"))
		return;
	look(&s);
	const enum place place = s.unguarded ? find_place(&s, &at) : INSIDE;
	if (place == INSIDE)
		return;
	xc_auto(xc_text_fini) struct xc_text text = {0};
	if (v->cause && place == NOT_KNOWN)
		xc_text_printf(&text, "%s; ", v->cause);
	write_place(&s, place, at, &text);
	xc_text_printf(&text,
		       "; such a loop ends only when the comparison%s%s%s says so, which must be false for equal "
		       "elements, and the same however often it is asked",
		       s.compare ? ", " : "", s.compare ? s.compare : "", s.compare ? "," : "");
	v->cause = xc_arena_strdup(&crash->report->arena, xc_text_string(&text));
	if (place != NOT_KNOWN) {
		v->kind = "invalid comparison";
		v->severity = strcmp(v->severity, "low") == 0 ? "medium" : v->severity; /* it also moves elements */
	}
	if (v->confidence && strcmp(v->confidence, "certain") == 0)
		v->confidence = "likely";
}
