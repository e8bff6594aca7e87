#include "profile/profile_account.h"

#include <inttypes.h>

#include "core/base/text.h"

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
	return samples * p->period_ns;
}

static uint64_t all_samples(const struct xc_profile *p)
{
	return p->samples + p->wait_samples;
}

static void add_count(struct xc_section *s, const char *key, const char *label, uint64_t count)
{
	xc_section_count(s, key, label, count)->quiet = !count;
}

static char *how_polled(const struct xc_profile *p)
{
	const double length = seconds(p->ended_ns - p->started_ns);
	return xc_asprintf("looks at /proc, %.0f per second and thread: what waits, with its stack; what runs, without",
			   length > 0 ? (double)p->polling.ticks / length : 0);
}

static char *how_sampled(const struct xc_profile *p)
{
	const struct xc_perf_setup *setup = xc_sampler_setup(p->sampler);
	static const char *const times[] = {"CPU time", "waiting, at each switch", "CPU time and of waiting"};
	static const char *const looked[] = {"CPU time", "waiting, by looks at those that wait",
					     "CPU time and of waiting, by looks at those that wait"};
	return xc_asprintf("perf events of the kernel: %u samples per second of %s, with registers and %u KiB of "
			   "stack%s",
			   p->options.sampler.hz, (p->blocked ? looked : times)[p->options.clock], setup->stack >> 10,
			   p->sees_kernel ? ", in the kernel too" : ", not while in the kernel");
}

static char *how_counted(const struct xc_profile *p)
{
	return xc_asprintf("perf events of the kernel: %s, about %u samples per second, weighted, with "
			   "registers and %u KiB of stack%s",
			   p->options.sampler.counter->unit, p->options.sampler.hz,
			   xc_sampler_setup(p->sampler)->stack >> 10,
			   p->sees_kernel ? ", in the kernel too" : ", not while in the kernel");
}

static void add_how(struct xc_section *s, const struct xc_profile *p)
{
	const bool counts = p->options.sampler.counter != NULL;
	xc_auto(xc_freep) char *how = counts ? how_counted(p) : p->sampler ? how_sampled(p) : how_polled(p);
	xc_section_text(s, "how", "sampled by", how);
	xc_section_seconds(s, "seconds", "for", seconds(p->ended_ns - p->started_ns));
}

static void add_waits(struct xc_section *s, const struct xc_profile *p)
{
	const struct xc_waiting *w = &p->waiting;
	const uint64_t unseen = w->spent_ns[XC_WAIT_UNSEEN], preempted = w->spent_ns[XC_WAIT_PREEMPTED];
	xc_section_seconds(s, "waited", "waited", seconds(w->spent_ns[XC_WAITED] + unseen));
	if (p->sampler)
		xc_section_count(s, "waits", "in how many waits", w->counts[XC_WAITED] + w->counts[XC_WAIT_UNSEEN]);
	xc_section_seconds(s, "short_waits", "of it too short to be looked at", seconds(unseen))->quiet = !unseen;
	add_count(s, "short_wait_count", "in how many waits", w->counts[XC_WAIT_UNSEEN]);
	xc_section_seconds(s, "preempted", p->sampler ? "preempted" : "could run, but had no CPU", seconds(preempted))
		->quiet = !preempted;
}

static void add_times(struct xc_section *s, const struct xc_profile *p)
{
	if (p->targets && p->options.clock != XC_CLOCK_CPU)
		add_waits(s, p);
	if (p->options.sampler.counter)
		xc_section_count(s, "events", "counted", p->sampled.events);
	else if (p->options.clock != XC_CLOCK_OFF)
		xc_section_seconds(s, "sampled_cpu", p->sampler ? "CPU time by samples" : "CPU time by the scheduler",
				   seconds(p->sampler ? ns_of(p, p->samples) : p->polling.spent_ns[XC_POLL_RUNS]));
	if (!p->times_known) {
		xc_section_unknown(s, "cpu", "CPU time by /proc",
				   p->gone ? "the process had ended" : "the kernel does not report it");
		return;
	}
	xc_section_seconds(s, "cpu", "CPU time by /proc", seconds(p->user_ns + p->system_ns));
	if (!p->sees_kernel && p->sampler)
		xc_section_seconds(s, "kernel_unseen", "of it in the kernel, not seen", seconds(p->system_ns));
}

static void add_delays(struct xc_section *s, const struct xc_profile *p)
{
	if (!p->delays.count)
		return;
	xc_section_seconds(s, "guest_delay", "delay of reading interpreted callers (median)",
			   seconds(xc_read_delays_median(&p->delays)));
	xc_section_seconds(s, "guest_delay_most", "at most", seconds(p->delays.most_ns));
	xc_section_text(s, "guest_priority", "at the priority of",
			p->real_time ? "real time: before other work of the host" : "an ordinary process");
}

static void add_losses(struct xc_section *s, const struct xc_profile *p)
{
	const struct xc_sampler_counts counts = p->sampled;
	if (p->options.sampler.counter)
		xc_section_count(s, "taken", "samples", p->unwound);
	xc_section_count(s, "samples", p->options.sampler.counter ? "which stand for" : "samples", all_samples(p));
	add_count(s, "wait_samples", "of them waiting", p->wait_samples);
	add_count(s, "in_kernel", "of them in the kernel", p->in_kernel);
	add_count(s, "lost", "lost", counts.lost);
	add_count(s, "throttled", "times throttled by the kernel", counts.throttled);
	add_count(s, "unpaired", "waits with a lost part", p->waiting.unpaired);
	add_count(s, "cut", "stacks cut", p->ends[XC_SAMPLE_CUT]);
	add_count(s, "broken", "stacks whose unwinding broke off", p->ends[XC_SAMPLE_BROKEN]);
	add_count(s, "deep", "stacks too deep to be kept whole", p->ends[XC_SAMPLE_DEEP]);
	add_count(s, "guests", "stacks with frames of interpreted languages", p->guests);
	add_count(s, "torn", "of them torn: parts that were read too late are left out", p->torn);
	add_count(s, "torn_whole", "of these without their innermost interpreted function", p->torn_whole);
	add_delays(s, p);
	add_count(s, "unkept", "stacks truncated: too many different ones", p->unkept);
	add_count(s, "unread", "samples not unwound, because the time was over", p->unread);
	add_count(s, "no_stack", "without a user stack", p->ends[XC_SAMPLE_NONE]);
	add_count(s, "moved", "looks at threads that ran meanwhile", p->blocked ? p->blocked->moved : 0);
	add_count(s, "read_later", "stacks whose outer part was read later", p->late);
	add_count(s, "forks", "processes that it forked", p->forks);
	add_count(s, "threads_missing", "threads not sampled, for lack of file descriptors", counts.threads_missing);
	xc_section_seconds(s, "unwinding", "our CPU time for a stack",
			   all_samples(p) ? seconds(p->unwind_ns / all_samples(p)) : 0)
		->quiet = true;
}

/* CPU time by /proc that samples can be of. */
static uint64_t seen_cpu(const struct xc_profile *p)
{
	return p->user_ns + (p->sees_kernel || !p->sampler ? p->system_ns : 0);
}

/* By more than chance, and the kernel's ticks of 10 ms? */
static bool is_undersampled(const struct xc_profile *p)
{
	enum { SLACK_NS = 100000000 };
	return p->times_known && p->options.clock != XC_CLOCK_OFF && !p->options.sampler.counter &&
	       ns_of(p, p->samples) + seen_cpu(p) / 10 + SLACK_NS < seen_cpu(p);
}

/* What would read the stacks of interpreted languages sooner. */
static const char *sooner(const struct xc_profile *p)
{
	return p->real_time ? "an idle CPU"
			    : "an idle CPU, or CAP_SYS_NICE and no raised nice: then it is in real time";
}

/* Which shares are affected, and by how much. */
static void add_torn_note(struct xc_section *s, const struct xc_profile *p)
{
	enum { TOLD = 20 }; /* of so many stacks one */
	if (p->torn <= p->guests / TOLD)
		return;
	xc_section_message(s, XC_WARNING, sooner(p),
			   "totals of interpreted functions may be too low, together by up to %.0f %% of the samples: "
			   "their stacks were read when they had changed, those in short functions most often; "
			   "self shares lack %.1f %% at most",
			   100 * share(p->torn, all_samples(p)), 100 * share(p->torn_whole, all_samples(p)));
}

static void add_notes(struct xc_section *s, const struct xc_profile *p)
{
	enum { LATE_NS = 1000000 };
	const struct xc_sampler_counts counts = p->sampled;
	if (!p->sampler)
		xc_section_message(s, XC_INFO, p->refused->hint,
				   "the functions in which threads use the CPU are not seen: %s", p->refused->message);
	else if (!p->sees_kernel && !p->options.sampler.no_kernel)
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
	if (p->blocked && p->blocked->blind)
		xc_section_message(s, XC_WARNING, NULL,
				   "the helper process that reads system calls has ended: from then on, what threads "
				   "wait for was not seen");
	if (is_undersampled(p))
		xc_section_message(
			s, XC_WARNING, "a higher --hz: 999",
			"%.0f %% of the CPU time has no samples: of threads that live or run for less than a "
			"period, few or none are taken",
			100 * (1 - share(ns_of(p, p->samples), seen_cpu(p))));
	if (xc_read_delays_median(&p->delays) > LATE_NS)
		xc_section_message(s, XC_WARNING, sooner(p),
				   "callers of interpreted functions, not the innermost functions and their shares, "
				   "may be those of a later call: they were read %.1f ms after the sample (median)",
				   seconds(xc_read_delays_median(&p->delays)) * 1e3);
	add_torn_note(s, p);
	if (!all_samples(p) && !p->gone)
		xc_section_message(s, XC_INFO, "--clock off, or `xcore bt`, shows where its threads wait",
				   p->options.sampler.counter ? "there was no such event"
							      : "no thread used the CPU for long enough to be sampled");
}

void xc_profile_account(struct xc_section *s, const struct xc_profile *p)
{
	add_how(s, p);
	add_times(s, p);
	add_losses(s, p);
	add_notes(s, p);
}

char *xc_profile_account_line(const struct xc_profile *p)
{
	const struct xc_sampler_counts counts = p->sampled;
	return xc_asprintf("%llu %s in %.1f s; %llu lost, %llu cut, %llu broken off%s",
			   (unsigned long long)all_samples(p),
			   p->options.sampler.counter ? p->options.sampler.counter->unit : "samples",
			   seconds(p->ended_ns - p->started_ns), (unsigned long long)counts.lost,
			   (unsigned long long)p->ends[XC_SAMPLE_CUT], (unsigned long long)p->ends[XC_SAMPLE_BROKEN],
			   !p->sampler      ? "; running threads have no stack"
			   : p->sees_kernel ? ""
					    : "; time in the kernel is not seen");
}
