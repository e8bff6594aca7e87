/* sort_order: the inner loops of introsort do not look at the range's end: an element there ends them, as it is not
 * smaller than the one that is moved (libstdc++ 12, bits/stl_algo.h: __unguarded_linear_insert, __unguarded_partition;
 * libc++ 14, __algorithm/sort.h: __insertion_sort_unguarded). With a comparison that is true for equal elements none
 * does. */
#include "triage/libc/sort_order.h"

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
	size_t at_count;
	bool range_known;
	uint64_t first, last; /* of the outermost function */
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
	struct xc_value value;
	if (!xc_variable_find(in, level, name, arena, &value))
		return false;
	if (xc_type_is_pointer(value.type))
		return xc_value_load(&value, out);
	return value.kind == XC_VALUE_MEMORY && xc_value_size(&value) == in->process->arch->word &&
	       xc_space_peek_uint(in->process->space, value.addr, in->process->arch->word, out);
}

static void look_at(struct sort *s, const struct xc_frame_context *in, size_t level, const char *name)
{
	static const char *const places[PLACES] = {"__next", "__first", "__last"};
	struct xc_arena *arena = &s->crash->report->arena;
	uint64_t first, last;
	if (is_loop(name)) {
		s->unguarded = true;
		for (size_t i = 0; i < PLACES && s->at_count < PLACES; i++) {
			bool found = read_iterator(in, level, places[i], arena, &s->at[s->at_count]);
			s->at[s->at_count] -= found && strcmp(places[i], "__last") == 0; /* it is behind an element */
			s->at_count += found;
		}
	} else if (is_sort(name) && s->unguarded && read_iterator(in, level, "__first", arena, &first) &&
		   read_iterator(in, level, "__last", arena, &last) && first <= last) {
		s->first = first;
		s->last = last;
		s->range_known = true;
	} else if (!s->unguarded && xc_user_code_is(in->place, level)) {
		s->compare = name;
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

/* " (it is before the range's first element)"; "": not known; NULL: it is inside, and an element is bad. */
static const char *place_of(const struct sort *s)
{
	if (!s->at_count || !s->range_known)
		return "";
	for (size_t i = 0; i < s->at_count; i++) {
		if (s->at[i] < s->first)
			return " (it is before the range's first element)";
		if (s->at[i] >= s->last)
			return " (it is behind the range's last element)";
	}
	return NULL;
}

void xc_sort_order_report(struct xc_crash_context *crash)
{
	struct sort s = {.crash = crash};
	struct xc_verdict *v = crash->verdict;
	bool memory = crash->fault.signal == SIGSEGV || crash->fault.signal == SIGBUS;
	if (!memory || crash->fault.sent || !v->class_name || xc_crash_context_is(crash, "stack-overflow"))
		return;
	look(&s);
	const char *place = s.unguarded ? place_of(&s) : NULL;
	if (!place)
		return;
	v->cause = xc_arena_printf(&crash->report->arena,
				   "%s%s%s std::sort() ran out of its range%s: such a loop ends only when the "
				   "comparison%s%s%s says so, which must be false for equal elements, and the same "
				   "however often it is asked",
				   v->cause ? v->cause : "", v->cause ? "; " : "", *place ? "likely" : "perhaps", place,
				   s.compare ? ", " : "", s.compare ? s.compare : "", s.compare ? "," : "");
	if (v->confidence && strcmp(v->confidence, "certain") == 0)
		v->confidence = "likely";
}
