/* doctor_facts: what the kernel, systemd and the container say about core dumps here, read from /proc, /etc and /run
 * without interpretation. */
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
	int pid;             /* the process that has these limits; 0: our own */
	const char *pattern; /* NULL: unreadable */
	struct xc_doctor_number uses_pid, pipe_limit, suid_dumpable;
	struct xc_doctor_number soft, hard; /* bytes of RLIMIT_CORE, or XC_DOCTOR_UNLIMITED */
	struct xc_doctor_number filter;     /* bits of core(5) */
	const char *directory; /* where files are written, or where the handler stores them; NULL: unknown */
	bool directory_there;
	bool directory_writable;        /* by us, which says nothing about another process */
	struct xc_doctor_number room;   /* free bytes there */
	const char *handler;            /* last component of the piped-to program; else NULL */
	bool handler_there;             /* the program exists in this file system */
	bool undumpable;                /* its /proc belongs to root although it does not */
	const char *container;          /* "docker", "kubernetes", …; NULL: none detected */
	bool own_pids, own_users;       /* pid and user name spaces other than the host's */
	bool settings_read_only;        /* /proc/sys is read-only */
	bool systemd;                   /* it is running */
	struct xc_coredumpconf storage; /* of systemd-coredump */
};

/* Reads below root (NULL: "/"), for a process or our own. Errors: no such process. */
XC_MUST_CHECK struct xc_error *xc_doctor_facts_read(const char *root, int pid, struct xc_doctor_facts *facts);
void xc_doctor_facts_fini(struct xc_doctor_facts *facts);

#endif
