/* live_facts: facts from /proc/PID other than memory: identity, threads, the reason for a refusal. */
#ifndef XC_LIVE_FACTS_H
#define XC_LIVE_FACTS_H

#include "core/process/process.h"

/* From /proc/PID/status. */
struct xc_live_identity {
	pid_t pid, tgid, ppid;
	uid_t uids[3]; /* real, effective, saved */
	gid_t gids[3];
	char state;
	uint64_t caps;   /* permitted */
	bool has_memory; /* false for kernel threads and zombies */
	bool kernel_thread;
	char name[64];
};

/* Errors: XC_ERR_NOT_FOUND when the process is gone, XC_ERR_PERMISSION when /proc hides it. */
XC_MUST_CHECK struct xc_error *xc_live_facts_identity(int proc_dir, pid_t pid, struct xc_live_identity *identity_out);

/* An error that names the kernel's rule that forbids reading this process, with a remedy. */
struct xc_error *xc_live_facts_refusal(int proc_dir, const struct xc_live_identity *identity);

/* Fill process->threads from /proc/PID/task: leader first, then as the kernel lists them. */
void xc_live_facts_threads(struct xc_process *process, int proc_dir);

/* Set the system call and the registers of a thread from the text of /proc/PID/task/TID/syscall. False: it has none,
 * because the thread runs, or the text is not understood. */
bool xc_live_facts_call(const struct xc_process *process, struct xc_thread *thread, const char *text);

/* What the scheduler counts of a thread, since it began; times are 0 where the kernel does not count. A thread that has
 * not run between two readings has the same `runs` in both. */
struct xc_live_schedule {
	uint64_t ran_ns;    /* CPU time; of a running thread as of a tick of the kernel ago at most */
	uint64_t queued_ns; /* how long it could have run, but waited for a CPU */
	uint64_t runs;      /* how often it was put on a CPU, or left one */
};

/* False: the thread has ended. Needs no rights. Cost: 5 us. */
bool xc_live_facts_schedule(int task_dir, pid_t tid, struct xc_live_schedule *schedule_out);

/* CPU time of a thread in nanoseconds; 0 when the kernel does not report it. *waited_out (may be NULL): how long it
 * could have run, but waited for a CPU. task_dir is that of the process. */
uint64_t xc_live_facts_ran(int task_dir, pid_t tid, uint64_t *waited_out);

/* The other end of a pipe: `fd` below the directory `fds` (/proc/PID/fd) is one end, and `pipe` the name that both
 * have; is there a descriptor for the other in `other_fds`? Looks at as many as MAX_FDS of live_facts.c. */
bool xc_live_facts_other_end(int fds, int fd, const char *pipe, int other_fds, int *other_out);

/* Command line, executable, auxiliary vector, from the /proc directory of a living thread. */
void xc_live_facts_read(struct xc_process *process, int thread_dir);

/* A living thread of a process whose leader has exited; 0 when there is none. */
pid_t xc_live_facts_living_thread(int proc_dir);

#endif
