#include "profile/data/profile_merge.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/text.h"

/* ---- tables ---- */

static uint32_t add_function(struct xc_profile_data *to, const struct xc_profile_data *from, uint32_t number)
{
	const struct xc_profile_function *f = &from->functions[number];
	return xc_profile_data_add_function(to, xc_profile_data_text(from, f->name),
					    xc_profile_data_text(from, f->module),
					    xc_profile_data_text(from, f->language));
}

static uint32_t add_frame(struct xc_profile_data *to, const struct xc_profile_data *from, uint32_t number)
{
	const struct xc_profile_frame *f = &from->frames[number];
	return xc_profile_data_add_frame(to, add_function(to, from, f->function), xc_profile_data_text(from, f->file),
					 f->line, f->kind);
}

/* The number in `to` of each node of `from`. Malloc'ed. */
static uint32_t *add_nodes(struct xc_profile_data *to, const struct xc_profile_data *from)
{
	xc_auto(xc_freep) uint32_t *frames = xc_alloc((from->frame_count + 1) * sizeof *frames);
	uint32_t *nodes = xc_alloc(from->node_count * sizeof *nodes);
	for (size_t i = 0; i < from->frame_count; i++)
		frames[i] = add_frame(to, from, (uint32_t)i);
	for (size_t i = 1; i < from->node_count; i++) /* callers precede callees */
		nodes[i] = xc_profile_data_add_node(to, nodes[from->nodes[i].parent], frames[from->nodes[i].frame]);
	return nodes;
}

static uint32_t add_text(struct xc_profile_data *to, const struct xc_profile_data *from, uint32_t number)
{
	return xc_profile_data_add_text(to, xc_profile_data_text(from, number));
}

static void add_threads(struct xc_profile_data *to, const struct xc_profile_data *from)
{
	for (size_t i = 0; i < from->thread_count; i++) {
		to->threads = xc_grow(to->threads, to->thread_count, &to->thread_room, sizeof *to->threads);
		to->threads[to->thread_count] = from->threads[i];
		to->threads[to->thread_count++].name = add_text(to, from, from->threads[i].name);
	}
}

void xc_profile_add_all(struct xc_profile_data *to, const struct xc_profile_data *from)
{
	const uint32_t threads = (uint32_t)to->thread_count;
	xc_auto(xc_freep) uint32_t *nodes = add_nodes(to, from);
	add_threads(to, from);
	for (size_t i = 0; i < from->sum_count; i++) {
		struct xc_profile_sum sum = from->sums[i];
		const struct xc_profile_wait *wait = &from->waits[sum.wait];
		sum.stack = nodes[sum.stack];
		sum.thread += threads;
		sum.value = add_text(to, from, sum.value);
		sum.wait = sum.wait ? xc_profile_data_add_wait(to, xc_profile_data_text(from, wait->text),
							       wait->event_loop)
				    : 0;
		to->sums = xc_grow(to->sums, to->sum_count, &to->sum_room, sizeof *to->sums);
		to->sums[to->sum_count++] = sum;
	}
}

/* ---- time ---- */

struct clock {
	uint64_t begun_ns, ended_ns, slice_ns;
};

/* That of all: slices as long as the longest, and no more than there may be. */
static struct clock clock_of(struct xc_profile_data *const *profiles, size_t count)
{
	struct clock clock = {UINT64_MAX, 0, 1};
	for (size_t i = 0; i < count; i++) {
		const struct xc_profile_head *head = profiles[i]->head;
		const uint64_t end = head->begun_ns + head->length_ns;
		clock.begun_ns = head->begun_ns < clock.begun_ns ? head->begun_ns : clock.begun_ns;
		clock.ended_ns = end > clock.ended_ns ? end : clock.ended_ns;
		clock.slice_ns = head->slice_ns > clock.slice_ns ? head->slice_ns : clock.slice_ns;
	}
	while ((clock.ended_ns - clock.begun_ns) / clock.slice_ns >= XC_PROFILE_SLICES)
		clock.slice_ns *= 2;
	return clock;
}

static void add_parts(struct xc_profile_data *to, const struct xc_profile_data *from, uint32_t first_sum,
		      const struct clock *clock)
{
	const uint64_t later = from->head->begun_ns - clock->begun_ns;
	for (size_t i = 0; i < from->part_count; i++) {
		struct xc_profile_part part = from->parts[i];
		const uint64_t slice = (later + part.slice * from->head->slice_ns) / clock->slice_ns;
		part.sum += first_sum;
		part.slice = slice < XC_PROFILE_SLICES ? (uint32_t)slice : XC_PROFILE_SLICES - 1;
		xc_profile_data_add_part(to, &part);
		if (part.slice >= to->head->slices)
			to->head->slices = part.slice + 1;
	}
}

/* ---- accounts ---- */

static struct xc_profile_fact *add_fact(struct xc_profile_facts *facts, const struct xc_profile_fact *fact)
{
	facts->rows = xc_grow(facts->rows, facts->count, &facts->room, sizeof *facts->rows);
	facts->rows[facts->count] = *fact;
	return &facts->rows[facts->count++];
}

static struct xc_profile_fact copy_fact(struct xc_profile_data *to, const struct xc_profile_data *from,
					const struct xc_profile_fact *fact)
{
	struct xc_profile_fact copy = *fact;
	copy.key = add_text(to, from, fact->key);
	copy.label = add_text(to, from, fact->label);
	copy.text = add_text(to, from, fact->text);
	copy.hint = add_text(to, from, fact->hint);
	return copy;
}

/* Of facts that are no sums, the greatest. */
static bool is_sum(const char *key)
{
	static const char *const others[] = {"seconds", "guest_delay", "guest_delay_most", "unwinding"};
	for (size_t i = 0; i < XC_COUNT(others); i++)
		if (strcmp(key, others[i]) == 0)
			return false;
	return true;
}

static void add_up(struct xc_profile_fact *to, const struct xc_profile_fact *more, bool sum)
{
	if (to->kind != more->kind && to->kind != XC_FIELD_NULL)
		*to = *more; /* unknown of one: unknown of all */
	to->quiet &= more->quiet;
	to->number = sum ? to->number + more->number : more->number > to->number ? more->number : to->number;
	to->real = sum ? to->real + more->real : more->real > to->real ? more->real : to->real;
}

static struct xc_profile_fact *field_of(struct xc_profile_facts *facts, uint32_t key)
{
	for (size_t i = 0; i < facts->count; i++)
		if (!facts->rows[i].note && facts->rows[i].key == key)
			return &facts->rows[i];
	return NULL;
}

static void add_fields(struct xc_profile_data *to, const struct xc_profile_data *from)
{
	for (size_t i = 0; i < from->account.count; i++) {
		const struct xc_profile_fact fact = copy_fact(to, from, &from->account.rows[i]);
		struct xc_profile_fact *known = fact.note ? NULL : field_of(&to->account, fact.key);
		if (known)
			add_up(known, &fact, fact.key && is_sum(xc_profile_data_text(to, fact.key)));
		else if (!fact.note)
			add_fact(&to->account, &fact);
	}
}

/* "nginx 4711": by its first thread. Malloc'ed. */
static char *name_of(const struct xc_profile_data *d)
{
	const struct xc_profile_thread *first = NULL;
	for (size_t i = 0; i < d->thread_count && !(first && first->tid == first->pid); i++)
		first = !first || d->threads[i].tid == d->threads[i].pid ? &d->threads[i] : first;
	const char *target = xc_profile_data_text(d, d->head->target);
	const char *name = first ? xc_profile_data_text(d, first->name) : NULL;
	return first ? xc_asprintf("%s %" PRIu64, name ? name : "pid", first->pid) : xc_strdup(target ? target : "?");
}

/* What became of one process. */
static void add_line(struct xc_profile_data *to, const struct xc_profile_data *from)
{
	xc_auto(xc_freep) char *name = name_of(from);
	const struct xc_profile_fact fact = {.kind = XC_FIELD_TEXT,
					     .key = xc_profile_data_add_text(to, "process"),
					     .label = xc_profile_data_add_text(to, name),
					     .text = add_text(to, from, from->head->account)};
	add_fact(&to->account, &fact);
}

static bool has_note(const struct xc_profile_facts *facts, uint32_t text)
{
	for (size_t i = 0; i < facts->count; i++)
		if (facts->rows[i].note && facts->rows[i].text == text)
			return true;
	return false;
}

/* One that is true of all is said once, without a name. */
static bool all_note(struct xc_profile_data *const *profiles, size_t count, const char *text)
{
	for (size_t i = 0; i < count; i++) {
		const struct xc_profile_facts *facts = &profiles[i]->account;
		size_t k = 0;
		while (k < facts->count &&
		       !(facts->rows[k].note && strcmp(profiles[i]->texts.texts[facts->rows[k].text], text) == 0))
			k++;
		if (k == facts->count)
			return false;
	}
	return true;
}

static void add_notes(struct xc_profile_data *to, struct xc_profile_data *const *profiles, size_t count, size_t which)
{
	const struct xc_profile_data *from = profiles[which];
	xc_auto(xc_freep) char *name = name_of(from);
	for (size_t i = 0; i < from->account.count; i++) {
		struct xc_profile_fact fact = copy_fact(to, from, &from->account.rows[i]);
		const char *text = xc_profile_data_text(to, fact.text);
		if (!fact.note || !text)
			continue;
		xc_auto(xc_freep) char *named = xc_asprintf("%s: %s", name, text);
		if (!all_note(profiles, count, text))
			fact.text = xc_profile_data_add_text(to, named);
		if (!has_note(&to->account, fact.text))
			add_fact(&to->account, &fact);
	}
}

/* ---- the head ---- */

static void add_target(struct xc_profile_data *d, struct xc_profile_data *const *profiles, size_t count)
{
	struct xc_report *report = xc_report_new("profile");
	struct xc_section *s = xc_report_target(report);
	struct xc_text names = {0};
	for (size_t i = 0; i < count; i++) {
		xc_auto(xc_freep) char *name = name_of(profiles[i]);
		xc_text_printf(&names, "%s%s", i ? ", " : "", name);
	}
	xc_auto(xc_freep) char *line = xc_asprintf("%zu processes   %s", count, xc_text_string(&names));
	xc_section_text(s, "kind", "kind", "live")->quiet = true;
	xc_section_unknown(s, "core_id", "core", NULL)->quiet = true;
	xc_section_count(s, "processes", "processes", count);
	xc_section_text(s, "names", "they are", xc_text_string(&names));
	xc_profile_facts_keep(&d->target, &d->texts, s);
	d->head->target = xc_profile_data_add_text(d, line);
	xc_text_fini(&names);
	xc_report_free(report);
}

/* "CPU time of pid:17" ─→ "CPU time of 3 processes" */
static uint32_t title_of(struct xc_profile_data *d, const struct xc_profile_data *first, size_t count)
{
	const char *title = xc_profile_data_text(first, first->head->title);
	const char *end = title ? strstr(title, " of ") : NULL;
	xc_auto(xc_freep) char *text =
		xc_asprintf("%.*s of %zu processes", (int)(end ? end - title : 0), title ? title : "", count);
	return xc_profile_data_add_text(d, text);
}

static void add_head(struct xc_profile_data *d, struct xc_profile_data *const *profiles, size_t count,
		     const struct clock *clock)
{
	const struct xc_profile_data *first = profiles[0];
	const double length = (double)(clock->ended_ns - clock->begun_ns) / 1e9;
	*d->head = *first->head;
	d->head->title = title_of(d, first, count);
	d->head->events = add_text(d, first, first->head->events);
	d->head->by = add_text(d, first, first->head->by);
	d->head->slices = 0;
	d->head->slice_ns = clock->slice_ns;
	d->head->begun_ns = clock->begun_ns;
	d->head->length_ns = clock->ended_ns - clock->begun_ns;
	for (size_t i = 1; i < count; i++) {
		d->head->runs |= profiles[i]->head->runs;
		d->head->waits |= profiles[i]->head->waits;
	}
	xc_auto(xc_freep) char *account = xc_asprintf("%" PRIu64 " samples of %zu processes in %.1f s",
						      xc_profile_data_samples(d), count, length);
	d->head->account = xc_profile_data_add_text(d, account);
	add_target(d, profiles, count);
}

static struct xc_error *check(struct xc_profile_data *const *profiles, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		const struct xc_profile_head *one = profiles[0]->head, *other = profiles[i]->head;
		if (one->unit != other->unit || one->period != other->period)
			return xc_error_new(XC_ERR_UNSUPPORTED, "the processes were sampled in different ways");
	}
	return NULL;
}

struct xc_error *xc_profile_merge(struct xc_profile_data *const *profiles, size_t count,
				  struct xc_profile_data **data_out)
{
	struct xc_error *err = check(profiles, count);
	if (err)
		return err;
	struct xc_profile_data *d = xc_profile_data_new();
	const struct clock clock = clock_of(profiles, count);
	for (size_t i = 0; i < count; i++) {
		const uint32_t first_sum = (uint32_t)d->sum_count;
		xc_profile_add_all(d, profiles[i]);
		add_parts(d, profiles[i], first_sum, &clock);
		add_fields(d, profiles[i]);
	}
	const uint32_t slices = d->head->slices;
	for (size_t i = 0; i < count; i++)
		add_line(d, profiles[i]);
	for (size_t i = 0; i < count; i++)
		add_notes(d, profiles, count, i);
	xc_profile_data_sort(d);
	add_head(d, profiles, count, &clock);
	d->head->slices = slices;
	*data_out = d;
	return NULL;
}
