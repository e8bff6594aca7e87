/* stats: figures about xcore itself, separate from the report so that equal targets give equal reports. */
#include "cli/stats.h"

#include <sys/resource.h>
#include <time.h>

#include "core/live/live.h"

static double seconds_since(uint64_t started_ns)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9 - (double)started_ns / 1e9;
}

static double seconds(uint64_t ns)
{
	return (double)ns / 1e9;
}

static void add_live(struct xc_section *s, const struct xc_job *job)
{
	struct xc_live_stats live = xc_live_stats(job->process);
	xc_section_bytes(s, "bytes_read", "read from the process", live.bytes);
	xc_section_count(s, "batches", "in batches", live.batches);
	xc_section_seconds(s, "reading", "spent reading", seconds(live.read_ns));
	xc_section_seconds(s, "paused", "paused by the limits on reading", seconds(live.paused_ns));
	xc_section_count(s, "torn_reads", "torn reads", live.torn);
	xc_section_text(s, "landlock", "restriction on writing", job->landlock);
}

void xc_stats_add(struct xc_job *job)
{
	struct xc_section *s = xc_report_run(job->report);
	struct rusage usage;
	xc_section_seconds(s, "elapsed", "elapsed", seconds_since(job->started_ns));
	if (getrusage(RUSAGE_SELF, &usage) == 0) {
		xc_section_seconds(s, "user", "in user mode",
				   (double)usage.ru_utime.tv_sec + (double)usage.ru_utime.tv_usec / 1e6);
		xc_section_seconds(s, "system", "in the kernel",
				   (double)usage.ru_stime.tv_sec + (double)usage.ru_stime.tv_usec / 1e6);
		xc_section_bytes(s, "peak_memory", "peak memory (resident, with mapped files)",
				 (uint64_t)usage.ru_maxrss * 1024);
		xc_section_count(s, "page_faults", "page faults", (uint64_t)(usage.ru_minflt + usage.ru_majflt));
	}
	if (job->process->live)
		add_live(s, job);
}
