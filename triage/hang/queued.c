/* queued: see queued.h. A lambda points to what it captured, so the members of an object are followed, too. */
#include "triage/hang/queued.h"

#include <inttypes.h>
#include <string.h>

#include "dwarf/stack/frame_walk.h"
#include "dwarf/view/view.h"
#include "triage/waits/waits.h"
#include "triage/util/names.h"
#include "triage/util/user_code.h"

enum { FRAMES = 48, MEMBERS = 16 };

struct search {
	struct xc_crash_context *crash;
	size_t left, told;
	const char *member, *owner; /* of the last queue that has elements, told before or not */
};

static bool is_queue(const struct xc_type *type)
{
	static const char *const names[] = {"std::deque<", "std::queue<",      "std::__cxx11::list<",
					    "std::list<",  "std::__1::deque<", "std::__1::list<",
					    NULL};
	return type->name && xc_names_begin(names, type->name);
}

/* Several threads may lead to one queue. */
static void report_queue(struct search *s, const char *member, const char *owner, uint64_t count)
{
	struct xc_report *report = s->crash->report;
	const struct xc_verdict *v = s->crash->verdict;
	const char *words = xc_arena_printf(&report->arena, "`%s` of %s still holds %" PRIu64 " element%s", member,
					    owner, count, count == 1 ? "" : "s");
	s->member = member;
	s->owner = owner;
	for (size_t i = 0; i < v->evidence_count; i++)
		if (strcmp(v->evidence[i], words) == 0)
			return;
	if (s->told < s->left)
		xc_verdict_evidence(report, "%s", words);
	s->told++;
}

/* Members of an object that still hold work. */
static void report_members(struct search *s, const struct xc_value *object)
{
	size_t count = 0;
	const struct xc_type *type = xc_type_complete(xc_type_strip(object->type));
	const struct xc_member *members = xc_type_is_record(type) ? xc_type_members(type, &count) : NULL;
	for (size_t i = 0; i < count && s->told <= s->left; i++) {
		struct xc_value member;
		struct xc_view view;
		if (!members[i].name || members[i].base || !is_queue(xc_type_complete(xc_type_strip(members[i].type))))
			continue;
		xc_value_field(object, &members[i], &member);
		if (xc_view_open(&member, &view) == XC_VIEW_FOUND && view.count_known && view.count)
			report_queue(s, members[i].name, xc_type_name(type), view.count);
	}
}

/* In an object, and in those that its members point to. Returns whether one has a queue. */
static bool report_object(void *user, const struct xc_value *object)
{
	struct search *s = user;
	size_t count = 0;
	report_members(s, object);
	const struct xc_type *type = xc_type_complete(xc_type_strip(object->type));
	const struct xc_member *members = xc_type_is_record(type) ? xc_type_members(type, &count) : NULL;
	for (size_t i = 0; i < count && i < MEMBERS && !s->member; i++) {
		struct xc_value member, target;
		if (members[i].base || !xc_type_is_pointer(members[i].type))
			continue;
		xc_value_field(object, &members[i], &member);
		struct xc_error *error = xc_value_deref(&member, &target);
		if (!error)
			report_members(s, &target);
		xc_error_free(error);
	}
	return s->member;
}

/* ---- a pool whose workers wait for what is queued ---- */

static bool is_for_result(const struct xc_wait *wait)
{
	return wait->kind == XC_WAIT_FUTURE || wait->kind == XC_WAIT_ATOMIC || wait->kind == XC_WAIT_CONDITION ||
	       wait->kind == XC_WAIT_SEMAPHORE;
}

/* The threads that the program started, and that wait so in the same function. */
static size_t count_alike(const struct xc_crash_context *crash, const struct xc_wait *wait)
{
	const struct xc_waits *waits = xc_waits_of(crash->process);
	const char *function = xc_wait_function(wait);
	size_t count = 0;
	for (size_t i = 1; i < waits->count; i++) {
		const char *other = xc_wait_function(&waits->items[i]);
		count += waits->items[i].kind == wait->kind && function && other && strcmp(function, other) == 0;
	}
	return count;
}

static void report_pool(const struct search *s, const struct xc_wait *wait, struct xc_queued *queued)
{
	size_t count = count_alike(s->crash, wait);
	struct xc_text text = {0};
	if (queued->pool || !count)
		return;
	queued->pool = true;
	xc_text_name(&text, xc_wait_function(wait));
	xc_verdict_evidence(s->crash->report,
			    count == 1 ? "%zu thread that takes from `%s` of %s waits itself, in %s: perhaps for a "
					 "queued element, which no thread is left to process"
				       : "%zu threads that take from `%s` of %s wait themselves, in %s: perhaps for a "
					 "queued element, which no thread is left to process",
			    count, s->member, s->owner, xc_text_string(&text));
	xc_text_fini(&text);
}

/* Who waits for a result may have a way to the pool in its task, and the pool again in a function outside. Others wait
 * at their own queue. */
static bool may_be_task(const struct xc_wait *wait)
{
	return wait->kind == XC_WAIT_FUTURE || wait->kind == XC_WAIT_ATOMIC;
}

/* Look on the stack of a thread that waits, from the innermost frame outward. Returns whether a function outside of the
 * one that waits has a queue. */
static bool look(struct search *s, const struct xc_wait *wait)
{
	struct xc_unwinder *u = xc_unwinder_new(s->crash->process);
	struct xc_frame_walk walk;
	bool outside = false;
	xc_frame_walk_begin(&walk, s->crash->process, u, wait->thread, FRAMES);
	while (!outside && (!s->member || may_be_task(wait)) && xc_frame_walk_next(&walk)) {
		struct search here = *s;
		here.member = NULL;
		xc_user_code_passed(&walk.context, &s->crash->report->arena, report_object, &here);
		if (!here.member)
			continue;
		*s = here;
		outside = walk.frame.index > wait->frame.index;
	}
	xc_unwinder_free(u);
	return outside;
}

/* ---- */

void xc_queued_report(struct xc_crash_context *crash, const struct xc_wait *wait, struct xc_queued *queued)
{
	struct search s = {.crash = crash, .left = queued->left};
	bool outside = look(&s, wait);
	queued->left -= s.told < queued->left ? s.told : queued->left;
	if (outside && wait->has_place && is_for_result(wait) && wait->thread != &crash->process->threads[0])
		report_pool(&s, wait, queued);
}
