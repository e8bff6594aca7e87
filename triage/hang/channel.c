/* channel: std::sync::mpmc of Rust 1.67 and later, below mpsc (library/std/src/sync/mpmc/counter.rs):
 *
 *	mpsc::Sender ─→ mpmc::Sender { flavor: List(counter::Sender {
 *		counter ─→ Counter { senders, receivers, chan } }) }
 *
 * recv() has a reference to its counter::Receiver in a variable `chan`. Before that (checked with 1.63), the ends share
 * a packet in an Arc, and its recv() has a reference to it as `self` (library/std/src/sync/mpsc/mod.rs, shared.rs):
 *
 *	mpsc::Sender { inner: Flavor::Shared ─→ ArcInner { strong, weak, shared::Packet { …, channels, … } } }
 *
 * `channels` counts the senders; a stream or oneshot packet has one. */
#include "triage/hang/channel.h"

#include <inttypes.h>
#include <string.h>

#include "dwarf/stack/frame_walk.h"
#include "dwarf/stack/variable.h"
#include "triage/waits/waits.h"
#include "triage/locks/wait_report.h"
#include "triage/util/names.h"
#include "triage/util/user_code.h"

enum {
	FRAMES = 48,
	THREADS = 256,
	LEVELS = 4,
	FAR = 12, /* levels where pointers are followed: an Arc<Mutex<T>> has eight */
	MEMBERS = 2000,
	ALL_MEMBERS = 200000,
	OWNERS = 4,
	PATHS = 4,
	PATH_MOST = 200,
	VALUE_MOST = 4096
};

struct search {
	struct xc_crash_context *crash;
	struct xc_unwinder *unwinder;
	const char *ends; /* "::Sender<": the type of the other end */
	xc_addr counter;
	uint64_t left;      /* of the other ends */
	size_t members;     /* that were looked at; of one variable, where pointers are followed */
	size_t all_members; /* of the variables before, likewise */
	bool follows;       /* pointers */
	struct owner {
		const struct xc_wait *wait;
		const char *paths[PATHS];
		size_t path_count;
	} owners[OWNERS + 1]; /* the last one is the thread that is looked at */
	size_t owner_count;
};

static const struct xc_type *plain(const struct xc_type *type)
{
	return xc_type_complete(xc_type_strip(type));
}

static bool deref(const struct xc_value *value, struct xc_value *out)
{
	struct xc_error *error = xc_value_deref(value, out);
	bool good = !error;
	xc_error_free(error);
	return good;
}

static bool member(const struct xc_value *value, const char *name, struct xc_value *out)
{
	struct xc_error *error = xc_value_member(value, name, out);
	bool good = !error;
	xc_error_free(error);
	return good;
}

/* ---- the channel ---- */

static bool wants_counter(void *user, const struct xc_type *type)
{
	const struct xc_type *target =
		xc_type_is_pointer(type) && xc_type_strip(type)->target ? plain(xc_type_strip(type)->target) : NULL;
	(void)user;
	return target && target->name && strncmp(target->name, "std::sync::mpmc::counter::", 26) == 0;
}

static bool wants_packet(void *user, const struct xc_type *type)
{
	static const char *const names[] = {"std::sync::mpsc::shared::Packet<", "std::sync::mpsc::stream::Packet<",
					    "std::sync::mpsc::sync::Packet<", "std::sync::mpsc::oneshot::Packet<",
					    NULL};
	const struct xc_type *target =
		xc_type_is_pointer(type) && xc_type_strip(type)->target ? plain(xc_type_strip(type)->target) : NULL;
	(void)user;
	return target && xc_names_begin(names, target->name);
}

/* The packet of a receiver that waits; *left_out gets the number of its senders. s->counter becomes the address of what
 * the Arc of each end points to: two counters, and the packet as it is aligned. */
static bool packet_at(struct search *s, const struct xc_frame_context *context, uint64_t *left_out)
{
	enum { COUNTERS = 16 };
	for (size_t level = 0; level < context->place->level_count; level++) {
		struct xc_named_value *values;
		const char *function = xc_place_function(context->place, level);
		size_t length = function ? strlen(function) : 0;
		if (length < 6 || strcmp(function + length - 6, "::recv") != 0)
			continue;
		size_t count = xc_variable_values_of(context, level, false, wants_packet, s, &s->crash->report->arena,
						     &values);
		for (size_t i = 0; i < count; i++) {
			struct xc_value packet, channels;
			if (!deref(&values[i].value, &packet))
				continue;
			uint64_t aligned = xc_type_alignment(plain(packet.type));
			s->counter = packet.addr - (aligned > COUNTERS ? aligned : COUNTERS);
			*left_out = 1;
			return !member(&packet, "channels", &channels) || xc_value_peek(&channels, 0, left_out, 8);
		}
	}
	return false;
}

static bool counter_at(struct search *s, const struct xc_frame_context *context, bool *sends_out, uint64_t *left_out)
{
	for (size_t level = 0; level < context->place->level_count; level++) {
		struct xc_named_value *values;
		size_t count = xc_variable_values_of(context, level, true, wants_counter, s, &s->crash->report->arena,
						     &values);
		for (size_t i = 0; i < count; i++) {
			struct xc_value end, pointer, counter, ends;
			if (!deref(&values[i].value, &end) || !member(&end, "counter", &pointer) ||
			    !xc_value_load(&pointer, &s->counter) || !deref(&pointer, &counter))
				continue;
			*sends_out = strstr(plain(end.type)->name, "counter::Sender<") != NULL;
			return member(&counter, *sends_out ? "receivers" : "senders", &ends) &&
			       xc_value_peek(&ends, 0, left_out, 8);
		}
	}
	return false;
}

/* From the innermost frame of the thread to that of the program. */
static bool find_counter(struct search *s, const struct xc_wait *wait, bool *sends_out)
{
	struct xc_frame_walk walk;
	xc_frame_walk_begin(&walk, s->crash->process, s->unwinder, wait->thread, FRAMES);
	while (xc_frame_walk_next(&walk)) {
		if (counter_at(s, &walk.context, sends_out, &s->left) || packet_at(s, &walk.context, &s->left))
			return true;
		if (walk.frame.pc == wait->frame.pc)
			return false;
	}
	return false;
}

/* ---- who has the other end ---- */

static bool has_counter(const struct search *s, const struct xc_value *value)
{
	uint64_t size = xc_value_size(value), word;
	for (uint64_t at = 0; at + 8 <= size && at < VALUE_MOST; at += 8)
		if (xc_value_peek(value, at, &word, 8) && word == s->counter)
			return true;
	return false;
}

/* A sender, or an Option of one. */
static bool is_end(const struct search *s, const struct xc_type *type)
{
	static const char option[] = "core::option::Option<";
	const char *name = type->name ? type->name : "";
	if (strncmp(name, option, strlen(option)) == 0)
		name += strlen(option);
	return strncmp(name, "std::sync::mpsc::", 17) == 0 && strncmp(name + 15, s->ends, strlen(s->ends)) == 0;
}

/* A variable that is seen from two frames is told once. */
static void take(struct search *s, const char *path)
{
	struct owner *owner = &s->owners[s->owner_count];
	for (size_t i = 0; i < owner->path_count; i++)
		if (strcmp(owner->paths[i], path) == 0)
			return;
	if (owner->path_count < PATHS)
		owner->paths[owner->path_count++] = xc_arena_strdup(&s->crash->report->arena, path);
}

/* What Rust has moved elsewhere leaves its bytes behind, so that no variable has it for certain. */
static void tell(const struct search *s, const struct owner *owner)
{
	struct xc_text text = {0};
	bool open = s->owner_count > s->left;
	xc_text_printf(&text, "%s thread %d has %s: as ", open ? "perhaps" : "likely", (int)owner->wait->thread->tid,
		       s->left == 1 ? "it" : "one of them");
	for (size_t i = 0; i < owner->path_count; i++)
		xc_text_printf(&text, "%s`%s`", i ? " or " : "", owner->paths[i]);
	if (owner->wait->kind != XC_WAIT_NONE) {
		xc_text_add(&text, "; it is ");
		xc_wait_report_describe(s->crash->process, owner->wait, false, &text);
		xc_text_add(&text, " in ");
		xc_wait_where(owner->wait, &text);
	}
	xc_verdict_evidence(s->crash->report, "%s", xc_text_string(&text));
	xc_text_fini(&text);
}

/* The insides of Arc, Mutex and the like have no names in the source: `c.reporter.out` of an Arc<Mutex<Reporter>>. */
static bool is_library(const struct xc_type *type)
{
	static const char *const names[] = {"alloc::", "core::", "std::", NULL};
	return xc_names_begin(names, type->name);
}

static void search_value(struct search *s, const char *path, const struct xc_value *value, unsigned level);

static void search_members(struct search *s, const char *path, const struct xc_value *value, unsigned level)
{
	const struct xc_type *type = plain(value->type);
	size_t count;
	const struct xc_member *members = xc_type_members(type, &count);
	for (size_t i = 0; i < count && s->members < MEMBERS; i++) {
		char inner[PATH_MOST];
		struct xc_value field;
		int len = is_library(type) && level ? snprintf(inner, sizeof inner, "%s", path)
			  : members[i].name         ? snprintf(inner, sizeof inner, "%s.%s", path, members[i].name)
						    : -1;
		s->members++;
		if (len < 0 || (size_t)len >= sizeof inner)
			continue;
		xc_value_field(value, &members[i], &field);
		search_value(s, inner, &field, level + 1);
	}
}

static void search_value(struct search *s, const char *path, const struct xc_value *value, unsigned level)
{
	const struct xc_type *type = plain(value->type);
	struct xc_value target;
	if (level > (s->follows ? FAR : LEVELS))
		return;
	if (s->follows && xc_type_is_pointer(type) && type->target && xc_type_is_record(plain(type->target))) {
		if (deref(value, &target))
			search_value(s, path, &target, level + 1);
		return;
	}
	if (!xc_type_is_record(type) || (!s->follows && !has_counter(s, value)))
		return;
	if (!is_end(s, type))
		search_members(s, path, value, level);
	else if (has_counter(s, value))
		take(s, path);
}

static bool search_variable(void *user, const struct xc_named_value *variable)
{
	struct search *s = user;
	s->all_members += s->follows ? s->members : 0;
	if (s->follows && s->all_members < ALL_MEMBERS)
		s->members = 0;
	search_value(s, variable->name, &variable->value, 0);
	return false;
}

/* What the variables hold; if that is none, what they lead to. */
static void search_threads(struct search *s)
{
	const struct xc_waits *waits = xc_waits_of(s->crash->process);
	for (size_t i = 0; i < waits->count && i < THREADS && s->owner_count < OWNERS; i++) {
		struct xc_frame_walk walk;
		s->owners[s->owner_count] = (struct owner){.wait = &waits->items[i]};
		xc_frame_walk_begin(&walk, s->crash->process, s->unwinder, waits->items[i].thread, FRAMES);
		while (xc_frame_walk_next(&walk))
			xc_user_code_variables(&walk.context, &s->crash->report->arena, search_variable, s);
		s->owner_count += s->owners[s->owner_count].path_count != 0;
	}
	for (size_t i = 0; i < s->owner_count; i++)
		tell(s, &s->owners[i]);
	if (s->owner_count || s->follows)
		return;
	s->follows = true;
	search_threads(s);
}

void xc_channel_report(struct xc_crash_context *crash, const struct xc_wait *wait)
{
	struct search s = {.crash = crash};
	bool sends = false;
	if (wait->kind != XC_WAIT_CHANNEL || !crash->process->arch->unwinds)
		return;
	s.unwinder = xc_unwinder_new(crash->process);
	if (find_counter(&s, wait, &sends)) {
		const char *what = sends ? "receiver" : "sender";
		s.ends = sends ? "::Receiver<" : "::Sender<";
		xc_verdict_evidence(crash->report,
				    "the channel that thread %d waits at is not closed: it has %" PRIu64 " %s%s left",
				    (int)wait->thread->tid, s.left, what, s.left == 1 ? "" : "s");
		if (s.left)
			search_threads(&s);
	}
	xc_unwinder_free(s.unwinder);
}
