#include "profile/reader_priority.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { BUSY_US = 50000, SLICE_NS = 100000, RESET_ON_FORK = 1, LOOK_NS = 200000000 };

/* linux/sched/types.h, which cannot be included beside sched.h. */
struct attributes {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t slice_ns, deadline, period;
};

static volatile sig_atomic_t is_real_time;
static pid_t reader;
static bool limited, is_busy;
static uint64_t looked_ns;
static cpu_set_t allowed;
static int followed = -1; /* the processor to which we are bound; -1: none */
static struct rlimit busy_before;
static struct sigaction handler_before;

static int policy_of_reader(void)
{
	return sched_getscheduler(0) & ~SCHED_RESET_ON_FORK;
}

/* Who has real time without CAP_SYS_NICE may not take back that it is not inherited. */
static void set_slice(uint64_t ns)
{
	const struct attributes wanted = {.size = sizeof wanted,
					  .policy = SCHED_OTHER,
					  .flags = RESET_ON_FORK,
					  .nice = getpriority(PRIO_PROCESS, 0),
					  .slice_ns = ns};
	(void)syscall(SYS_sched_setattr, 0, &wanted, 0);
}

static void end_real_time(int signal)
{
	const struct sched_param usual = {.sched_priority = 0};
	const int error = errno;
	(void)signal;
	(void)sched_setscheduler(reader, SCHED_OTHER | SCHED_RESET_ON_FORK, &usual);
	is_real_time = 0;
	errno = error;
}

/* The kernel sends SIGXCPU when a real-time thread has run for so long without a wait. */
static bool limit_busy(void)
{
	const struct sigaction handler = {.sa_handler = end_real_time, .sa_flags = SA_RESTART};
	if (getrlimit(RLIMIT_RTTIME, &busy_before))
		return false;
	struct rlimit limit = busy_before;
	limit.rlim_cur = limit.rlim_cur < BUSY_US ? limit.rlim_cur : BUSY_US;
	limited = !setrlimit(RLIMIT_RTTIME, &limit) && !sigaction(SIGXCPU, &handler, &handler_before);
	return limited;
}

static void unlimit_busy(void)
{
	(void)setrlimit(RLIMIT_RTTIME, &busy_before);
	(void)sigaction(SIGXCPU, &handler_before, NULL);
	limited = false;
}

/* ---- the processor ---- */

/* Has no processor time to spare? The kernel counts who runs or could, us too: "0.20 0.18 0.12 1/80 11206". */
static bool is_host_busy(void)
{
	FILE *file = fopen("/proc/loadavg", "re");
	long running;
	if (!file || fscanf(file, "%*s %*s %*s %ld/", &running) != 1)
		running = 0;
	if (file)
		fclose(file);
	return running > sysconf(_SC_NPROCESSORS_ONLN);
}

static void leave_processor(void)
{
	if (followed >= 0)
		(void)sched_setaffinity(0, sizeof allowed, &allowed);
	followed = -1;
}

static bool is_allowed(unsigned cpu)
{
	return cpu < CPU_SETSIZE && CPU_ISSET(cpu, &allowed);
}

void xc_reader_priority_follow(unsigned cpu)
{
	const uint64_t now = xc_now_ns();
	cpu_set_t one;
	if (now - looked_ns > LOOK_NS) {
		is_busy = is_host_busy();
		looked_ns = now;
	}
	if (!is_real_time || !is_busy || !is_allowed(cpu)) {
		leave_processor();
		return;
	}
	if (followed == (int)cpu)
		return;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	if (!sched_setaffinity(0, sizeof one, &one))
		followed = (int)cpu;
}

/* ---- all ---- */

void xc_reader_priority_raise(void)
{
	const struct sched_param lowest = {.sched_priority = sched_get_priority_min(SCHED_RR)};
	if (policy_of_reader() != SCHED_OTHER)
		return;
	set_slice(SLICE_NS);
	if (getpriority(PRIO_PROCESS, 0) > 0 || !limit_busy())
		return;
	reader = (pid_t)syscall(SYS_gettid);
	followed = -1;
	if (sched_getaffinity(0, sizeof allowed, &allowed))
		CPU_ZERO(&allowed);
	is_real_time = 1;
	if (!sched_setscheduler(0, SCHED_RR | SCHED_RESET_ON_FORK, &lowest))
		return;
	is_real_time = 0;
	unlimit_busy();
}

void xc_reader_priority_restore(void)
{
	leave_processor();
	if (is_real_time)
		end_real_time(0);
	if (limited)
		unlimit_busy();
	if (policy_of_reader() == SCHED_OTHER)
		set_slice(0);
}

bool xc_reader_priority_is_real_time(void)
{
	return is_real_time;
}
