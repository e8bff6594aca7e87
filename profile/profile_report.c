#include "profile/profile_report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/text.h"
#include "profile/profile_tree.h"
#include "profile/wait_targets.h"

enum { ROWS = 20, PATHS = 10, MOST = 2 * XC_SAMPLE_FRAMES };

static double share(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : 0;
}

static double seconds(uint64_t ns)
{
	return (double)ns / 1e9;
}

static uint64_t ns_of(const struct xc_profile *p, uint64_t samples)
{
	return samples * xc_sampler_setup(p->sampler)->period_ns;
}

static uint64_t all_samples(const struct xc_profile *p)
{
	return p->samples + p->wait_samples;
}

/* ---- how it was taken ---- */

static void add_how(struct xc_section *s, const struct xc_profile *p)
{
	const struct xc_perf_setup *setup = xc_sampler_setup(p->sampler);
	static const char *const times[] = {"CPU time", "waiting, at each switch", "CPU time and of waiting"};
	xc_auto(xc_freep) char *how = xc_asprintf(
		"perf events of the kernel: %u samples per second of %s, with registers and %u KiB of stack%s",
		p->options.sampler.hz, times[p->options.clock], setup->stack >> 10,
		setup->kernel ? ", in the kernel too" : ", not while in the kernel");
	xc_section_text(s, "how", "sampled by", how);
	xc_section_seconds(s, "seconds", "for", seconds(p->ended_ns - p->started_ns));
}

static void add_times(struct xc_section *s, const struct xc_profile *p)
{
	const bool kernel = xc_sampler_setup(p->sampler)->kernel;
	if (p->targets) {
		xc_section_seconds(s, "waited", "waited", seconds(p->waiting.waited_ns));
		xc_section_count(s, "waits", "in how many waits", p->waiting.waits);
		xc_section_seconds(s, "preempted", "preempted", seconds(p->waiting.preempted_ns))->quiet =
			!p->waiting.preempted_ns;
	}
	if (p->options.clock != XC_CLOCK_OFF)
		xc_section_seconds(s, "sampled_cpu", "CPU time by samples", seconds(ns_of(p, p->samples)));
	if (!p->times_known) {
		xc_section_unknown(s, "cpu", "CPU time by /proc",
				   p->gone ? "the process had ended" : "the kernel does not tell it");
		return;
	}
	xc_section_seconds(s, "cpu", "CPU time by /proc", seconds(p->user_ns + p->system_ns));
	if (!kernel)
		xc_section_seconds(s, "kernel_unseen", "of it in the kernel, not seen", seconds(p->system_ns));
}

static void add_count(struct xc_section *s, const char *key, const char *label, uint64_t count)
{
	xc_section_count(s, key, label, count)->quiet = !count;
}

static void add_losses(struct xc_section *s, const struct xc_profile *p)
{
	const struct xc_sampler_counts counts = xc_sampler_counts(p->sampler);
	xc_section_count(s, "samples", "samples", all_samples(p));
	add_count(s, "wait_samples", "of them waiting", p->wait_samples);
	add_count(s, "in_kernel", "of them in the kernel", p->in_kernel);
	add_count(s, "lost", "lost", counts.lost);
	add_count(s, "throttled", "times throttled by the kernel", counts.throttled);
	add_count(s, "unpaired", "waits of which a part was lost", p->waiting.unpaired);
	add_count(s, "cut", "stacks cut", p->ends[XC_SAMPLE_CUT]);
	add_count(s, "broken", "stacks whose unwinding broke off", p->ends[XC_SAMPLE_BROKEN]);
	add_count(s, "deep", "stacks too deep to be kept whole", p->ends[XC_SAMPLE_DEEP]);
	add_count(s, "unkept", "stacks kept without their inner part, of too many different ones", p->unkept);
	add_count(s, "unread", "samples not unwound, because the time was over", p->unread);
	add_count(s, "no_stack", "without a user stack", p->ends[XC_SAMPLE_NONE]);
	add_count(s, "read_later", "stacks whose outer part was read later", p->late);
	add_count(s, "threads_missing", "threads not sampled, for want of file descriptors", counts.threads_missing);
	xc_section_seconds(s, "unwinding", "our CPU time for a stack",
			   all_samples(p) ? seconds(p->unwind_ns / all_samples(p)) : 0)
		->quiet = true;
}

/* CPU time by /proc that samples can be of. */
static uint64_t seen_cpu(const struct xc_profile *p)
{
	return p->user_ns + (xc_sampler_setup(p->sampler)->kernel ? p->system_ns : 0);
}

/* By more than chance, and the kernel's ticks of 10 ms? */
static bool is_undersampled(const struct xc_profile *p)
{
	enum { SLACK_NS = 100000000 };
	return p->times_known && p->options.clock != XC_CLOCK_OFF &&
	       ns_of(p, p->samples) + seen_cpu(p) / 10 + SLACK_NS < seen_cpu(p);
}

static void add_notes(struct xc_section *s, const struct xc_profile *p)
{
	const struct xc_sampler_counts counts = xc_sampler_counts(p->sampler);
	if (!xc_sampler_setup(p->sampler)->kernel)
		xc_section_message(
			s, XC_INFO, "CAP_PERFMON, or `sysctl kernel.perf_event_paranoid=1`, shows it and its frames",
			"time in the kernel is not seen: kernel.perf_event_paranoid is %d", xc_perf_paranoid());
	if (p->gone)
		xc_section_message(s, XC_WARNING, NULL, "%s",
				   counts.execed ? "the process executed another program: the profile ends there"
						 : "the process ended before the time was over");
	if (counts.lost > all_samples(p) / 100)
		xc_section_message(s, XC_WARNING, "a lower --hz, or one --thread",
				   "%" PRIu64
				   " samples came faster than they could be read, and are lost: shares and sums "
				   "are not those of the whole time",
				   counts.lost);
	if (is_undersampled(p))
		xc_section_message(
			s, XC_WARNING, "a higher --hz: 999",
			"%.0f %% of the CPU time has no samples: of threads that live or run for less than a "
			"period, few or none are taken",
			100 * (1 - share(ns_of(p, p->samples), seen_cpu(p))));
	if (!all_samples(p) && !p->gone)
		xc_section_message(s, XC_INFO, "--clock off, or `xcore bt`, shows where its threads wait",
				   "no thread used the CPU for long enough to be sampled");
}

/* ---- functions ---- */

struct line_count {
	uint32_t function;
	const char *file;
	unsigned line;
	uint64_t samples;
};

struct hot {
	uint32_t function;
	uint64_t self, total;
	uint32_t seen;                 /* the last count in which it was: recursion counts once */
	const struct line_count *line; /* that with most samples of its own */
};

static int by_heat(const void *a, const void *b)
{
	const struct hot *x = a, *y = b;
	if (x->self != y->self)
		return x->self < y->self ? 1 : -1;
	if (x->total != y->total)
		return x->total < y->total ? 1 : -1;
	return x->function < y->function ? -1 : x->function > y->function;
}

struct heat {
	struct hot *functions;
	struct line_count *lines;
	size_t line_count, line_capacity;
	struct xc_hashtable by_line;
};

static void count_line(struct heat *h, const struct xc_frame_name *name, uint64_t samples)
{
	union xc_hashtable_value *found = xc_hashtable_at(&h->by_line, NULL, name->function, name->line + UINT64_C(1));
	if (!found->number) {
		h->lines = xc_grow(h->lines, h->line_count, &h->line_capacity, sizeof *h->lines);
		h->lines[h->line_count++] = (struct line_count){name->function, name->file, name->line, 0};
		found->number = h->line_count;
	}
	h->lines[found->number - 1].samples += samples;
}

static void count_functions(struct heat *h, const struct xc_profile *p, const struct xc_frame_names *n)
{
	xc_auto(xc_freep) const struct xc_frame_name **stack = xc_alloc(MOST * sizeof *stack);
	for (size_t i = 0; i < p->count; i++) {
		const uint64_t samples = p->counts[i].samples;
		size_t count = xc_profile_functions(p, n, p->counts[i].stack, stack, MOST);
		count = count < MOST ? count : MOST;
		if (count) {
			h->functions[stack[0]->function].self += samples;
			count_line(h, stack[0], samples);
		}
		for (size_t k = 0; k < count; k++) {
			struct hot *f = &h->functions[stack[k]->function];
			f->total += f->seen == i + 1 ? 0 : samples;
			f->seen = (uint32_t)i + 1;
		}
	}
}

static void find_hot(struct heat *h, const struct xc_profile *p, const struct xc_frame_names *n)
{
	h->functions = xc_alloc((n->function_count + 1) * sizeof *h->functions);
	for (size_t i = 0; i < n->function_count; i++)
		h->functions[i].function = (uint32_t)i;
	count_functions(h, p, n);
	for (size_t i = 0; i < h->line_count; i++) {
		struct hot *f = &h->functions[h->lines[i].function];
		if (h->lines[i].line && (!f->line || h->lines[i].samples > f->line->samples))
			f->line = &h->lines[i];
	}
	qsort(h->functions, n->function_count, sizeof *h->functions, by_heat);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

static void add_functions(struct xc_report *report, const struct xc_profile *p, const struct xc_frame_names *n,
			  size_t rows)
{
	static const struct xc_column columns[] = {
		{.key = "self", .label = "self", .kind = XC_FIELD_RATIO},
		{.key = "total", .label = "total", .kind = XC_FIELD_RATIO},
		{.key = "samples", .label = "samples", .kind = XC_FIELD_COUNT, .verbose = true},
		{.key = "function", .label = "function", .kind = XC_FIELD_TEXT},
		{.key = "line", .label = "hottest line", .kind = XC_FIELD_TEXT},
		{.key = "module", .label = "module", .kind = XC_FIELD_TEXT},
	};
	struct xc_section *s = xc_report_section(report, "functions", "Hottest functions");
	struct xc_table *table = xc_section_table(s, "functions", columns, XC_COUNT(columns));
	struct heat h = {0};
	find_hot(&h, p, n);
	for (size_t i = 0; i < n->function_count && i < rows; i++) {
		const struct hot *f = &h.functions[i];
		const struct xc_frame_function *function = &n->functions[f->function];
		xc_auto(xc_freep) char *line =
			f->line && f->line->file ? xc_asprintf("%s:%u", base_name(f->line->file), f->line->line) : NULL;
		const struct xc_cell cells[] = {
			xc_cell_ratio(share(f->self, all_samples(p))),
			xc_cell_ratio(share(f->total, all_samples(p))),
			xc_cell_count(f->self),
			xc_cell_text(function->name),
			line ? xc_cell_text(line) : xc_cell_null(NULL),
			function->module ? xc_cell_text(function->module) : xc_cell_null(NULL),
		};
		xc_table_row(s, table, cells);
	}
	free(h.functions);
	free(h.lines);
	xc_hashtable_fini(&h.by_line);
}

/* ---- stacks ---- */

static int by_self(const void *a, const void *b)
{
	const struct xc_stacktree_node *const *x = a, *const *y = b;
	if ((*x)->self != (*y)->self)
		return (*x)->self < (*y)->self ? 1 : -1;
	return *x < *y ? -1 : *x > *y;
}

/* The nodes in which stacks end, those with most samples first. Malloc'ed. */
static const struct xc_stacktree_node **hottest_stacks(const struct xc_stacktree *tree, size_t *count_out)
{
	const struct xc_stacktree_node **nodes = xc_alloc((tree->node_count + 1) * sizeof *nodes);
	size_t depth = 0, count = 0;
	for (const struct xc_stacktree_node *node = &tree->root; node; node = xc_stacktree_next(node, &depth))
		if (node->self)
			nodes[count++] = node;
	qsort(nodes, count, sizeof *nodes, by_self);
	*count_out = count;
	return nodes;
}

/* "main → run → visit (50 times) → spin", outermost first. Of a long path the outermost and innermost names. */
static char *path_text(const struct xc_stacktree_node *node)
{
	enum { INNER = 16, OUTER = 8 };
	const struct xc_stacktree_node **path = NULL;
	size_t count = 0, capacity = 0;
	struct xc_text text = {0};
	for (; node->parent; node = node->parent) {
		path = xc_grow(path, count, &capacity, sizeof *path);
		path[count++] = node;
	}
	for (size_t i = count, shown = 0, times; i > 0; i -= times, shown++) {
		for (times = 1; times < i && !strcmp(path[i - 1 - times]->name, path[i - 1]->name); times++)
			;
		if (shown == OUTER && i > INNER) {
			xc_text_printf(&text, " → … %zu more", i - INNER);
			times = i - INNER;
			continue;
		}
		xc_text_printf(&text, "%s%s", shown ? " → " : "", path[i - 1]->name);
		if (times > 1)
			xc_text_printf(&text, " (%zu times)", times);
	}
	free(path);
	return text.bytes;
}

static void add_stacks(struct xc_report *report, const struct xc_profile *p, const struct xc_stacktree *tree)
{
	static const struct xc_column columns[] = {
		{.key = "share", .label = "share", .kind = XC_FIELD_RATIO},
		{.key = "samples", .label = "samples", .kind = XC_FIELD_COUNT, .verbose = true},
		{.key = "stack", .label = "stack, outermost function first", .kind = XC_FIELD_TEXT},
	};
	struct xc_section *s = xc_report_section(report, "stacks", "Hottest stacks");
	struct xc_table *table = xc_section_table(s, "stacks", columns, XC_COUNT(columns));
	size_t count;
	xc_auto(xc_freep) const struct xc_stacktree_node **nodes = hottest_stacks(tree, &count);
	for (size_t i = 0; i < count && i < PATHS; i++) {
		xc_auto(xc_freep) char *path = path_text(nodes[i]);
		const struct xc_cell cells[] = {xc_cell_ratio(share(nodes[i]->self, all_samples(p))),
						xc_cell_count(nodes[i]->self), xc_cell_text(path)};
		xc_table_row(s, table, cells);
	}
}

/* ---- waits ---- */

struct wait_sum {
	uint32_t what;
	uint64_t samples;
};

static int by_length(const void *a, const void *b)
{
	const struct wait_sum *x = a, *y = b;
	if (x->samples != y->samples)
		return x->samples < y->samples ? 1 : -1;
	return x->what < y->what ? -1 : x->what > y->what;
}

static void add_waits(struct xc_report *report, const struct xc_profile *p, size_t rows)
{
	static const struct xc_column columns[] = {
		{.key = "share", .label = "share", .kind = XC_FIELD_RATIO},
		{.key = "time", .label = "time", .kind = XC_FIELD_SECONDS},
		{.key = "what", .label = "what it waits for", .kind = XC_FIELD_TEXT},
		{.key = "event_loop", .label = "event loop", .kind = XC_FIELD_BOOL, .verbose = true},
	};
	const size_t count = xc_wait_targets_count(p->targets);
	xc_auto(xc_freep) struct wait_sum *sums = xc_alloc((count + 1) * sizeof *sums);
	struct xc_section *s = xc_report_section(report, "waits", "What it waits for");
	struct xc_table *table = xc_section_table(s, "waits", columns, XC_COUNT(columns));
	for (size_t i = 0; i < count; i++)
		sums[i].what = (uint32_t)i + 1;
	for (size_t i = 0; i < p->count; i++)
		if (p->counts[i].what)
			sums[p->counts[i].what - 1].samples += p->counts[i].samples;
	qsort(sums, count, sizeof *sums, by_length);
	for (size_t i = 0; i < count && i < rows; i++) {
		const struct xc_cell cells[] = {
			xc_cell_ratio(share(sums[i].samples, p->wait_samples)),
			xc_cell_seconds(seconds(ns_of(p, sums[i].samples))),
			xc_cell_text(xc_wait_targets_text(p->targets, sums[i].what)),
			xc_cell_bool(xc_wait_targets_is_event_loop(p->targets, sums[i].what)),
		};
		xc_table_row(s, table, cells);
	}
}

/* ---- threads ---- */

struct thread_sum {
	pid_t tid;
	uint64_t running, waiting; /* samples */
};

static int by_tid(const void *a, const void *b)
{
	const struct thread_sum *x = a, *y = b;
	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

static int by_samples(const void *a, const void *b)
{
	const struct thread_sum *x = a, *y = b;
	const uint64_t of_x = x->running + x->waiting, of_y = y->running + y->waiting;
	if (x->running != y->running)
		return x->running < y->running ? 1 : -1;
	return of_x != of_y ? (of_x < of_y ? 1 : -1) : by_tid(a, b);
}

/* Those that ran most first. Malloc'ed. */
static struct thread_sum *sum_threads(const struct xc_profile *p, size_t *count_out)
{
	struct thread_sum *threads = xc_alloc((p->count + 1) * sizeof *threads);
	size_t kept = 0;
	for (size_t i = 0; i < p->count; i++) {
		const struct xc_profile_count *c = &p->counts[i];
		threads[i] = (struct thread_sum){c->tid, c->what ? 0 : c->samples, c->what ? c->samples : 0};
	}
	qsort(threads, p->count, sizeof *threads, by_tid);
	for (size_t i = 0; i < p->count; i++) {
		const struct thread_sum one = threads[i];
		if (!kept || threads[kept - 1].tid != one.tid)
			threads[kept++] = (struct thread_sum){.tid = one.tid};
		threads[kept - 1].running += one.running;
		threads[kept - 1].waiting += one.waiting;
	}
	qsort(threads, kept, sizeof *threads, by_samples);
	*count_out = kept;
	return threads;
}

enum { WAIT_COLUMNS = 2 };

static void add_threads(struct xc_report *report, const struct xc_profile *p, size_t rows)
{
	static const struct xc_column columns[] = {
		{.key = "share", .label = "share", .kind = XC_FIELD_RATIO},
		{.key = "samples", .label = "samples", .kind = XC_FIELD_COUNT},
		{.key = "tid", .label = "thread", .kind = XC_FIELD_INTEGER},
		{.key = "name", .label = "name", .kind = XC_FIELD_TEXT},
		{.key = "running", .label = "running", .kind = XC_FIELD_SECONDS},
		{.key = "waiting", .label = "waiting", .kind = XC_FIELD_SECONDS},
	};
	struct xc_section *s = xc_report_section(report, "threads", "Threads");
	const size_t column_count = XC_COUNT(columns) - (p->targets ? 0 : WAIT_COLUMNS);
	struct xc_table *table = xc_section_table(s, "threads", columns, column_count);
	size_t count;
	xc_auto(xc_freep) struct thread_sum *threads = sum_threads(p, &count);
	for (size_t i = 0; i < count && i < rows; i++) {
		const struct xc_thread *thread = xc_process_thread(p->process, threads[i].tid);
		const uint64_t samples = threads[i].running + threads[i].waiting;
		const struct xc_cell cells[] = {
			xc_cell_ratio(share(samples, all_samples(p))),
			xc_cell_count(samples),
			xc_cell_integer(threads[i].tid),
			thread && thread->name ? xc_cell_text(thread->name) : xc_cell_null("it began later"),
			p->options.clock == XC_CLOCK_OFF ? xc_cell_null("only waits are sampled")
							 : xc_cell_seconds(seconds(ns_of(p, threads[i].running))),
			xc_cell_seconds(seconds(ns_of(p, threads[i].waiting))),
		};
		xc_table_row(s, table, cells);
	}
	if (count > rows)
		xc_section_message(s, XC_INFO, NULL, "%zu more threads", count - rows);
}

void xc_profile_report(struct xc_report *report, const struct xc_profile *p, const struct xc_frame_names *n,
		       const struct xc_stacktree *tree, size_t rows)
{
	struct xc_section *s = xc_report_section(report, "profile", "Profile");
	add_how(s, p);
	add_times(s, p);
	add_losses(s, p);
	add_notes(s, p);
	if (!all_samples(p))
		return;
	if (p->targets)
		add_waits(report, p, rows ? rows : ROWS);
	add_functions(report, p, n, rows ? rows : ROWS);
	add_stacks(report, p, tree);
	add_threads(report, p, rows ? rows : ROWS);
}

char *xc_profile_account(const struct xc_profile *p)
{
	const struct xc_sampler_counts counts = xc_sampler_counts(p->sampler);
	return xc_asprintf("%llu samples in %.1f s; %llu lost, %llu cut, %llu broken off%s",
			   (unsigned long long)all_samples(p), seconds(p->ended_ns - p->started_ns),
			   (unsigned long long)counts.lost, (unsigned long long)p->ends[XC_SAMPLE_CUT],
			   (unsigned long long)p->ends[XC_SAMPLE_BROKEN],
			   xc_sampler_setup(p->sampler)->kernel ? "" : "; time in the kernel is not seen");
}
