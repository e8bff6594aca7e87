/* call_cycle: see call_cycle.h. */
#include "triage/stack/call_cycle.h"

#include <inttypes.h>
#include <string.h>

#include "core/base/text.h"
#include "core/facts/facts.h"

enum {
	NAME = 300, /* bytes of one */
	NAMES = 6,  /* of a cycle, to describe */
};

/* ---- names ---- */

/* "std::sort<…>": the arguments of library templates do not matter here. */
static void add_library_name(const char *name, struct xc_text *text)
{
	size_t depth = 0;
	for (size_t i = 0; i < NAME && name[i]; i++) {
		if (name[i] == '<' && !depth++)
			xc_text_add(text, "<…");
		if (!depth)
			xc_text_char(text, name[i]);
		if (name[i] == '>' && depth && !--depth)
			xc_text_char(text, '>');
	}
}

void xc_call_cycle_name(const struct xc_crash_context *crash, const struct xc_stack_user *user, struct xc_text *text)
{
	char place[256];
	bool compares = user->name && (strstr(user->name, "operator<") || strstr(user->name, "operator>") ||
				       strstr(user->name, "operator-"));
	bool drops = user->name && xc_begins_with(user->name, "core::ptr::drop_in_place<"); /* what, is all it says */
	if (user->name && !user->own && !compares && !drops)
		add_library_name(user->name, text);
	else if (user->name)
		xc_text_addn(text, user->name, strnlen(user->name, NAME));
	else if (xc_facts_place(crash->process, user->lookup, place, sizeof place))
		xc_text_add(text, place);
	else
		xc_text_printf(text, "0x%" PRIx64, user->lookup);
}

static int compare_names(const struct xc_stack_user *a, const struct xc_stack_user *b)
{
	if (a->name && b->name)
		return strcmp(a->name, b->name);
	return a->name ? -1 : b->name ? 1 : (a->lookup > b->lookup) - (a->lookup < b->lookup);
}

/* ---- the round ---- */

/* Functions of the program, callers first; not rotated to the start. */
static const struct xc_stack_user *in_round(const struct xc_call_cycle *c, size_t position)
{
	size_t period = c->use->period;
	return &c->use->users[c->use->user_of[c->use->cycle_at + period - 1 - position % period]];
}

const struct xc_stack_user *xc_call_cycle_user(const struct xc_call_cycle *cycle, size_t position)
{
	return in_round(cycle, cycle->start + position);
}

uint64_t xc_call_cycle_rounds(const struct xc_call_cycle *cycle)
{
	return cycle->use->cycle_frames / cycle->use->period;
}

static int compare_rounds(const struct xc_call_cycle *c, size_t a, size_t b)
{
	int order = in_round(c, b)->own - in_round(c, a)->own;
	for (size_t i = 0; i < c->use->period && !order; i++)
		order = compare_names(in_round(c, a + i), in_round(c, b + i));
	return order;
}

void xc_call_cycle_rotate(struct xc_call_cycle *cycle)
{
	for (size_t i = 1; i < cycle->use->period; i++)
		if (compare_rounds(cycle, i, cycle->start) < 0)
			cycle->start = i;
}

bool xc_call_cycle_has(const struct xc_call_cycle *cycle, const struct xc_stack_user *user)
{
	for (size_t i = 0; i < cycle->use->period; i++)
		if (in_round(cycle, i) == user || compare_names(in_round(cycle, i), user) == 0)
			return true;
	return false;
}

bool xc_call_cycle_is_own(const struct xc_call_cycle *cycle)
{
	for (size_t i = 0; i < cycle->use->period; i++)
		if (in_round(cycle, i)->own)
			return true;
	return false;
}

/* ---- words ---- */

void xc_call_cycle_describe(const struct xc_call_cycle *cycle, struct xc_text *text)
{
	size_t period = cycle->use->period, shown = period <= NAMES + 1 ? period : NAMES;
	for (size_t i = 0; i < shown; i++) {
		xc_text_add(text, i ? " → " : "");
		xc_call_cycle_name(cycle->crash, xc_call_cycle_user(cycle, i), text);
	}
	if (shown < period)
		xc_text_printf(text, " → … (%zu more)", period - shown);
}

/* Where a frame of the user called another function: the innermost frame may be in code that is not inlined. */
static xc_addr call_of(const struct xc_call_cycle *cycle, const struct xc_stack_user *user)
{
	const struct xc_crash_context *crash = cycle->crash;
	for (uint64_t i = 1; i < crash->frame_count && i < cycle->use->frame_count; i++)
		if (&cycle->use->users[cycle->use->user_of[i]] == user)
			return xc_frame_lookup(&crash->frames[i]);
	return user->lookup;
}

size_t xc_call_cycle_calls(const struct xc_call_cycle *cycle)
{
	size_t calls = 0;
	for (size_t i = 0; i < cycle->use->period; i++) {
		const struct xc_stack_user *user = xc_call_cycle_user(cycle, i);
		const struct xc_place *place = xc_debuginfo_place(cycle->crash->process, call_of(cycle, user));
		for (size_t l = 0; user->own && user->name && l < place->level_count; l++) {
			const char *function = place->levels[l].function;
			calls += function && strcmp(function, user->name) == 0;
		}
	}
	return calls;
}

size_t xc_call_cycle_describe_own(const struct xc_call_cycle *cycle, struct xc_text *text,
				  const struct xc_stack_user **through_out)
{
	size_t count = 0;
	*through_out = NULL;
	for (size_t i = 0; i < cycle->use->period; i++) {
		const struct xc_stack_user *user = xc_call_cycle_user(cycle, i);
		if (!user->own) {
			*through_out = *through_out ? *through_out : user;
			continue;
		}
		if (count < NAMES)
			xc_text_add(text, count ? " → " : "");
		if (count < NAMES)
			xc_call_cycle_name(cycle->crash, user, text);
		count++;
	}
	if (count > NAMES)
		xc_text_printf(text, " → … (%zu more)", count - NAMES);
	return count;
}
