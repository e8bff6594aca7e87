/* doctor_facts: what the kernel, systemd and the container say about core dumps here: /proc, /etc and /run, read and not judged. */
#ifndef XC_DOCTOR_FACTS_H
#define XC_DOCTOR_FACTS_H

#include "core/base/error.h"
#include "batch/doctor/coredumpconf.h"

#define XC_DOCTOR_UNLIMITED UINT64_MAX

struct xc_doctor_number {
	bool known;
	uint64_t value;
};

struct xc_doctor_facts {
	struct xc_arena arena;
	int pid;             /* whose limits these are; 0: our own */
	const char *pattern; /* NULL: not readable */
	struct xc_doctor_number uses_pid, pipe_limit, suid_dumpable;
	struct xc_doctor_number soft, hard; /* bytes of RLIMIT_CORE, or XC_DOCTOR_UNLIMITED */
	struct xc_doctor_number filter;     /* bits of core(5) */
	const char *directory;              /* where files go, or what the handler stores in; NULL: not known */
	bool directory_there;
	bool directory_writable;        /* by us: tells nothing of another process */
	struct xc_doctor_number room;   /* free bytes there */
	const char *handler;            /* last component of the program behind a pipe; else NULL */
	bool handler_there;             /* it is a program in this file system */
	bool undumpable;                /* its /proc belongs to root, it does not */
	const char *container;          /* "docker", "kubernetes", …; NULL: none was seen */
	bool own_pids, own_users;       /* pid and user name spaces that are not the host's */
	bool settings_read_only;        /* /proc/sys */
	bool systemd;                   /* it runs */
	struct xc_coredumpconf storage; /* of systemd-coredump */
};

/* Read below root (NULL: "/"), of a process or of our own. Errors: no such process. */
XC_MUST_CHECK struct xc_error *xc_doctor_facts_read(const char *root, int pid, struct xc_doctor_facts *facts);
void xc_doctor_facts_fini(struct xc_doctor_facts *facts);

#endif
