#include "profile/profile_finish.h"

#include <stdlib.h>
#include <time.h>

#include "core/facts/facts.h"
#include "profile/frame_names.h"
#include "profile/profile_account.h"
#include "profile/threads/wait_targets.h"

static bool is_kept(const struct xc_profile_data *d, const struct xc_profile *p, uint32_t frame)
{
	const uint32_t kind = d->frames[frame].kind;
	return !p->options.guests_only || kind == XC_PROFILE_INTERPRETED || kind == XC_PROFILE_JIT ||
	       kind == XC_PROFILE_REMARK;
}

static uint32_t add_remark(struct xc_profile_data *d, const char *text)
{
	const uint32_t function = xc_profile_data_add_function(d, text, NULL, NULL);
	return xc_profile_data_add_node(d, 0, xc_profile_data_add_frame(d, function, NULL, 0, XC_PROFILE_REMARK));
}

/* The text of the value by which each stack of the store is told apart; 0: none. Malloc'ed. */
static uint32_t *add_values(struct xc_profile_data *d, const struct xc_profile *p)
{
	uint32_t *values = xc_alloc(p->store.node_count * sizeof *values);
	for (size_t i = 1; i < p->store.node_count; i++) {
		const struct xc_stack_node *node = &p->store.nodes[i];
		const struct xc_sample_frame *place = &p->store.places[node->place];
		const bool tells = place->kind == XC_SAMPLE_VALUE && place->at != XC_SAMPLED_NONE;
		values[i] = values[node->parent];
		if (tells)
			values[i] = xc_profile_data_add_text(d, xc_sample_values_text(p->values, (uint32_t)place->at));
	}
	return values;
}

/* The innermost node of the data for each node of the store, whose callers precede it. Malloc'ed. */
static uint32_t *add_stacks(struct xc_profile_data *d, const struct xc_profile *p)
{
	struct xc_frame_names names;
	uint32_t *nodes = xc_alloc(p->store.node_count * sizeof *nodes);
	xc_frame_names_find(&names, d, p->process, &p->store);
	for (size_t i = 1; i < p->store.node_count; i++) {
		const struct xc_stack_node *node = &p->store.nodes[i];
		nodes[i] = nodes[node->parent];
		for (uint32_t k = names.starts[node->place + 1]; k > names.starts[node->place]; k--)
			if (is_kept(d, p, names.frames[k - 1]))
				nodes[i] = xc_profile_data_add_node(d, nodes[i], names.frames[k - 1]);
	}
	xc_frame_names_fini(&names);
	return nodes;
}

/* The node of a count. Without perf events, what runs has no stack. */
static uint32_t node_of(struct xc_profile_data *d, const struct xc_profile *p, const uint32_t *nodes,
			const struct xc_profile_count *count)
{
	if (p->options.guests_only && count->stack && !nodes[count->stack])
		return add_remark(d, "[native]");
	if (count->stack || count->what || p->sampler)
		return nodes[count->stack];
	return add_remark(d, "[runs]");
}

static uint32_t add_wait(struct xc_profile_data *d, const struct xc_profile *p, uint32_t what)
{
	return what ? xc_profile_data_add_wait(d, xc_wait_targets_text(p->targets, what),
					       xc_wait_targets_is_event_loop(p->targets, what))
		    : 0;
}

static uint32_t add_thread(struct xc_profile_data *d, struct xc_profile *p, pid_t tid)
{
	const char *name = tid ? xc_thread_names_find(&p->names, p->process, tid) : "other threads";
	return xc_profile_data_add_thread(d, p->process->pid, tid, name);
}

static void add_sums(struct xc_profile_data *d, struct xc_profile *p)
{
	xc_auto(xc_freep) uint32_t *nodes = add_stacks(d, p), *values = add_values(d, p);
	xc_auto(xc_freep) uint32_t *sums = xc_alloc((p->count + 1) * sizeof *sums);
	for (size_t i = 0; i < p->count; i++) {
		const struct xc_profile_count *count = &p->counts[i];
		if (!count->samples)
			continue;
		const struct xc_profile_sum sum = {.stack = node_of(d, p, nodes, count),
						   .wait = add_wait(d, p, count->what),
						   .thread = add_thread(d, p, count->tid),
						   .value = values[count->stack],
						   .samples = count->samples,
						   .squares = count->squares};
		sums[i] = xc_profile_data_add_sum(d, &sum);
	}
	for (size_t i = 0; i < p->slices.entry_count; i++) {
		const struct xc_slice_entry *entry = &p->slices.entries[i];
		const struct xc_profile_part part = {sums[entry->count], entry->slice, entry->samples};
		xc_profile_data_add_part(d, &part);
	}
	xc_profile_data_sort(d);
}

/* Of an instant of CLOCK_MONOTONIC, in nanoseconds since 1970. */
static uint64_t date_of(uint64_t ns)
{
	struct timespec date;
	clock_gettime(CLOCK_REALTIME, &date);
	return (uint64_t)date.tv_sec * 1000000000 + (uint64_t)date.tv_nsec - (xc_now_ns() - ns);
}

static void add_head(struct xc_profile_data *d, const struct xc_profile *p)
{
	static const char *const titles[] = {"CPU time", "Waiting time", "Time"}; /* enum xc_profile_clock */
	const struct xc_perf_counter *counter = p->options.sampler.counter;
	xc_auto(xc_freep) char *title =
		xc_asprintf("%s of %s", counter ? counter->unit : titles[p->options.clock], p->process->target);
	xc_auto(xc_freep) char *line = xc_profile_account_line(p);
	const uint64_t length = p->ended_ns - p->started_ns;
	*d->head = (struct xc_profile_head){
		.title = xc_profile_data_add_text(d, title),
		.account = xc_profile_data_add_text(d, line),
		.unit = counter ? XC_PROFILE_EVENTS : XC_PROFILE_NS,
		.events = xc_profile_data_add_text(d, counter ? counter->unit : NULL),
		.runs = p->options.clock != XC_CLOCK_OFF,
		.waits = p->options.clock != XC_CLOCK_CPU,
		.by = p->values ? xc_profile_data_add_text(d, p->options.by) : 0,
		.period = counter ? 1 : p->period_ns,
		.slice_ns = p->slices.length_ns,
		.length_ns = length,
		.begun_ns = date_of(p->started_ns),
	};
	for (size_t i = 0; i < d->part_count; i++)
		if (d->parts[i].slice >= d->head->slices)
			d->head->slices = d->parts[i].slice + 1;
}

static void add_facts(struct xc_profile_data *d, const struct xc_profile *p)
{
	struct xc_report *report = xc_report_new("profile");
	struct xc_section *account = xc_report_section(report, "profile", "Profile");
	xc_facts_target(report, p->process);
	xc_profile_account(account, p);
	xc_profile_facts_keep(&d->target, &d->texts, report->target);
	xc_profile_facts_keep(&d->account, &d->texts, account);
	d->head->target = xc_profile_data_add_text(d, report->target->headline);
	xc_report_free(report);
}

struct xc_profile_data *xc_profile_finish(struct xc_profile *p)
{
	struct xc_profile_data *d = xc_profile_data_new();
	add_sums(d, p);
	add_head(d, p);
	add_facts(d, p);
	return d;
}
