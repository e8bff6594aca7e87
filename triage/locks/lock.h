/* lock: one lock, a circle of threads, the list of all of them, and words about them. */
#ifndef XC_LOCK_H
#define XC_LOCK_H

#include "triage/locks/wait.h"

enum xc_lock_kind {
	XC_LOCK_MUTEX,
	XC_LOCK_RWLOCK,
	XC_LOCK_ONCE,    /* what one thread does while others wait for it: its owner runs it */
	XC_LOCK_STREAM,  /* of stdio */
	XC_LOCK_ARENA,   /* of malloc */
	XC_LOCK_LIBRARY, /* another one of the C library */
};

struct xc_lock {
	xc_addr addr;
	enum xc_lock_kind kind;
	bool ownerless; /* of a kind that has no record of who has it, but for the writer of a reader-writer lock of glibc */
	bool known;     /* its words could be read: */
	bool held;      /* somebody has it */
	bool robust;    /* whoever waits is told when the owner ends */
	bool shared;    /* between processes: its owner may be of another one */
	bool reentrant; /* recursive, or checked: its owner may ask again without waiting */
	pid_t owner; /* of a mutex, the writer of a reader-writer lock, as the process itself knows it (namespace_tid.h); 0: none, or not known */
	size_t holder; /* index of the thread that has it; XC_LOCK_NOBODY: none of the process, or it is not known which (ids_are of waits.h) */
	const char *why;  /* the holder is not recorded, but likely, because …; else NULL */
	bool inherited;   /* robust: its owner got it from one that had ended, and has not said that all is well */
	bool died;        /* robust: its owner ended, and nobody has it yet */
	uint32_t readers; /* that have it, who is not recorded */
	bool in_cycle;    /* a member of a cycle waits for it */
	size_t waiters;   /* threads that wait for it, */
	size_t first;     /* the first of which is this one */
	const char *
		name; /* "first.lock", "crash->lock", "libx.so+0x40a0", "0x55d0…"; as the source writes it when `is_expression` */
	bool is_expression;
	bool is_local; /* the name is that of a variable of the first waiter: others may have other names for it */
};

struct xc_cycle {
	size_t *members; /* indexes of threads: each waits for the next, the last one for the first */
	size_t count;
	bool timed;   /* one of them gives up by itself */
	bool guessed; /* that one of them waits for a lock is told by the words in memory only */
	bool likely;  /* that one of them has a lock is not recorded, or whose ids are recorded is not sure */
};

struct xc_locks {
	const struct xc_waits *waits;
	struct xc_lock *locks; /* by address */
	size_t lock_count;
	size_t *lock_of; /* index of the lock that a thread waits for, by thread; XC_LOCK_NOBODY: none */
	size_t *next;    /* index of the thread that a thread waits for, by thread: who holds that lock, or shall end */
	struct xc_cycle *cycles;
	size_t cycle_count;
	const char *
		limits; /* "in the innermost 48 frames of each stack": of the search for holders; NULL: none was reached */
};

#define XC_LOCK_NOBODY SIZE_MAX

/* The lock that a thread waits for; NULL: none. */
const struct xc_lock *xc_lock_awaited(const struct xc_locks *locks, size_t thread);

/* Has the owner ended, or been left behind by fork(), for all that is known: it is none of the threads, though all of them are there, with the ids that they have for the process
 * itself? */
bool xc_lock_is_orphan(const struct xc_process *process, const struct xc_locks *locks, const struct xc_lock *lock);

/* "mutex", "reader-writer lock", "stdio stream", … */
const char *xc_lock_kind_text(const struct xc_lock *lock);

/* Append, of an owner that is no thread of the list, or none that could be told, "thread 17", "thread 17 of another process", "the thread that calls
 * itself 17". */
void xc_lock_describe_owner(const struct xc_locks *locks, const struct xc_lock *lock, struct xc_text *text);

/* Append "mutex `first.lock`", "reader-writer lock 0x…, a block". */
void xc_lock_describe(const struct xc_lock *lock, struct xc_text *text);

#endif
