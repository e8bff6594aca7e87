#include "core/perf/perf_event.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "core/perf/perf_regs.h"

/* Later than Debian 12's headers, or only in their newer versions. */
#ifndef PERF_FORMAT_LOST
#define PERF_FORMAT_LOST (1U << 4)
#endif

/* A switch happens in the kernel, so who may not see the kernel has no samples of switches: the dummy event has their
 * records. */
static uint64_t config_of(const struct xc_perf_setup *s, enum xc_perf_event event)
{
	if (event != XC_PERF_SWITCHES)
		return s->counter ? s->counter->config : PERF_COUNT_SW_TASK_CLOCK;
	return s->kernel ? PERF_COUNT_SW_CONTEXT_SWITCHES : PERF_COUNT_SW_DUMMY;
}

/* Of an event that the kernel counts, and whose samples have their period, it samples each, whatever the period
 * (perf_swevent_event, kernel/events/core.c of Linux 6.1). */
bool xc_perf_has_period(const struct xc_perf_setup *s)
{
	return !s->counter || s->counter->type != PERF_TYPE_SOFTWARE;
}

/* The records of one kind of samples are those of the other: they differ in the period, which is 1 for switches. Only
 * one of the events of a thread reports its tasks and mappings. A reader may want each sample of CPU time at once, but
 * not each switch: those wake it when the ring has so many bytes. */
static struct perf_event_attr attributes_of(const struct xc_perf_setup *s, enum xc_perf_event event)
{
	const bool switches = event == XC_PERF_SWITCHES, reports = !switches || !s->events[XC_PERF_CPU_TIME];
	const bool counts = s->counter && !switches, has_period = xc_perf_has_period(s);
	struct perf_event_attr attr = {
		.type = counts ? s->counter->type : PERF_TYPE_SOFTWARE,
		.size = sizeof attr,
		.config = config_of(s, event),
		.sample_period = switches               ? 1
				 : counts && has_period ? s->hz /* of `freq`: in a second */
				 : counts               ? s->every
							: s->period_ns,
		.freq = counts && has_period,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |
			       (has_period ? PERF_SAMPLE_PERIOD : 0) | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER |
			       PERF_SAMPLE_STACK_USER,
		.read_format = s->own_lost ? PERF_FORMAT_LOST : 0,
		.exclude_callchain_user = 1,
		.sample_regs_user = xc_perf_regs_mask(),
		.sample_stack_user = s->stack,
		.exclude_kernel = !s->kernel,
		.exclude_callchain_kernel = !s->kernel,
		.exclude_hv = 1,
		.inherit = 1,
		.inherit_thread = s->own_threads && !s->children,
		.mmap = reports,
		.mmap2 = reports,
		.comm = reports,
		.comm_exec = reports,
		.task = reports,
		.context_switch = switches,
		.sample_id_all = 1,
		.watermark = switches,
		.wakeup_events = switches ? s->wakeup : 1, /* of the other, wakeup_watermark: bytes */
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};
	return attr;
}

int xc_perf_open(const struct xc_perf_setup *setup, enum xc_perf_event event, pid_t tid, int cpu)
{
	struct perf_event_attr attr = attributes_of(setup, event);
	long fd = syscall(SYS_perf_event_open, &attr, tid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	return fd >= 0 ? (int)fd : -errno;
}

int xc_perf_paranoid(void)
{
	FILE *file = fopen("/proc/sys/kernel/perf_event_paranoid", "re");
	int value;
	if (!file || fscanf(file, "%d", &value) != 1)
		value = 2;
	if (file)
		fclose(file);
	return value;
}

static struct xc_error *refusal(int error, const struct xc_perf_counter *counter)
{
	const int paranoid = xc_perf_paranoid();
	switch (error) {
	case ESRCH:
		return xc_error_new(XC_ERR_NOT_FOUND, "the thread has ended");
	case EPERM:
		return xc_error_hint(xc_error_new(XC_ERR_PERMISSION,
						  "perf_event_open is refused by a filter of system calls, as "
						  "containers install it"),
				     "allow perf_event_open in the container's seccomp profile, or add CAP_PERFMON");
	case EACCES:
		return xc_error_hint(
			xc_error_new(XC_ERR_PERMISSION,
				     "the kernel refuses perf_event_open: kernel.perf_event_paranoid is %d", paranoid),
			"`sysctl kernel.perf_event_paranoid=2`, CAP_PERFMON, or run as the user of the process");
	case ENOSYS:
		return xc_error_new(XC_ERR_UNSUPPORTED, "this kernel has no perf_event_open");
	case ENOENT:
	case ENODEV:
	case EOPNOTSUPP:
		if (counter)
			return xc_error_hint(
				xc_error_new(XC_ERR_UNSUPPORTED, "this host does not count %s", counter->unit),
				"virtual machines often have no counters of the processor; without "
				"--event, CPU time is sampled, by the kernel's clock");
		return xc_error_errno(error, "perf_event_open");
	default:
		return xc_error_errno(error, "perf_event_open");
	}
}

/* Opens and closes an event on the first processor that there is. Returns 0 or an errno. */
static int try_setup(const struct xc_perf_setup *setup, pid_t tid)
{
	const long cpus = sysconf(_SC_NPROCESSORS_CONF);
	int fd = -ENODEV;
	for (int cpu = 0; cpu < cpus && fd == -ENODEV; cpu++)
		fd = xc_perf_open(setup, setup->events[XC_PERF_SWITCHES] ? XC_PERF_SWITCHES : XC_PERF_CPU_TIME, tid,
				  cpu);
	if (fd < 0)
		return -fd;
	close(fd);
	return 0;
}

struct xc_error *xc_perf_choose(pid_t tid, const struct xc_perf_setup *wanted, struct xc_perf_setup *setup_out)
{
	struct xc_perf_setup setup = *wanted;
	if (!xc_perf_regs_mask())
		return xc_error_new(XC_ERR_UNSUPPORTED, "samples of this machine are not supported");
	setup.own_lost = setup.own_threads = true;
	int error = try_setup(&setup, tid);
	if (error == EINVAL) { /* an older kernel */
		setup.own_lost = false;
		error = try_setup(&setup, tid);
	}
	if (error == EINVAL) {
		setup.own_threads = false;
		error = try_setup(&setup, tid);
	}
	if ((error == EACCES || error == EPERM) && setup.kernel) {
		setup.kernel = false;
		return xc_perf_choose(tid, &setup, setup_out);
	}
	if (error)
		return refusal(error, setup.counter);
	if (setup.counter && setup.counter->in_kernel && !setup.kernel)
		return xc_error_hint(
			xc_error_new(XC_ERR_PERMISSION, "%s happen in the kernel, which does not show itself",
				     setup.counter->unit),
			"CAP_PERFMON, or `sysctl kernel.perf_event_paranoid=1`, allows it; --no-kernel forbids it");
	*setup_out = setup;
	return NULL;
}
