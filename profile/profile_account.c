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
	return samples * xc_sampler_setup(p->sampler)->period_ns;
}

static uint64_t all_samples(const struct xc_profile *p)
{
	return p->samples + p->wait_samples;
}

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
	add_count(s, "guests", "stacks with frames of interpreted languages", p->guests);
	add_count(s, "torn", "of them torn: what was read too late is left out", p->torn);
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

void xc_profile_account(struct xc_section *s, const struct xc_profile *p)
{
	add_how(s, p);
	add_times(s, p);
	add_losses(s, p);
	add_notes(s, p);
}

char *xc_profile_account_line(const struct xc_profile *p)
{
	const struct xc_sampler_counts counts = xc_sampler_counts(p->sampler);
	return xc_asprintf("%llu samples in %.1f s; %llu lost, %llu cut, %llu broken off%s",
			   (unsigned long long)all_samples(p), seconds(p->ended_ns - p->started_ns),
			   (unsigned long long)counts.lost, (unsigned long long)p->ends[XC_SAMPLE_CUT],
			   (unsigned long long)p->ends[XC_SAMPLE_BROKEN],
			   xc_sampler_setup(p->sampler)->kernel ? "" : "; time in the kernel is not seen");
}
