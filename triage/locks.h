/* locks: mutexes and reader-writer locks that threads wait for, who holds them, and who waits for whom in a circle. */
#ifndef XC_LOCKS_H
#define XC_LOCKS_H

#include "waits.h"

struct xc_lock {
	xc_addr addr;
	bool is_rwlock;
	bool known;       /* its words could be read: */
	bool held;        /* somebody has it */
	bool robust;      /* whoever waits is told when the owner ends */
	bool shared;      /* between processes: its owner may be of another one */
	bool reentrant;   /* recursive, or checked: its owner may ask again without waiting */
	pid_t owner;      /* of a mutex, the writer of a reader-writer lock; 0: none, or not known */
	size_t holder;    /* index of that thread; XC_LOCK_NOBODY when it is none of the process */
	uint32_t readers; /* that have it, who is not recorded */
	size_t waiters;   /* threads that wait for it, */
	size_t first;     /* the first of which is this one */
	const char *
		name; /* "first.lock", "q->lock", "libx.so+0x40a0", "0x55d0…"; as the source writes it when `is_expression` */
	bool is_expression;
	bool is_local; /* the name is that of a variable of the first waiter: others may have other names for it */
};

struct xc_cycle {
	size_t *members; /* indexes of threads: each waits for the next, the last one for the first */
	size_t count;
	bool timed;   /* one of them gives up by itself */
	bool guessed; /* that one of them waits for a lock is told by the words in memory only */
};

struct xc_locks {
	const struct xc_waits *waits;
	struct xc_lock *locks; /* by address */
	size_t lock_count;
	size_t *lock_of; /* index of the lock that a thread waits for, by thread; XC_LOCK_NOBODY: none */
	size_t *next;    /* index of the thread that a thread waits for, by thread: who holds that lock, or shall end */
	struct xc_cycle *cycles;
	size_t cycle_count;
};

#define XC_LOCK_NOBODY SIZE_MAX

/* Worked out once; lives as long as the process. A cycle of a live process is one only when none of its threads has run since its
 * call was looked at. */
const struct xc_locks *xc_locks_of(struct xc_process *process);

/* Append "mutex `first.lock`", "a reader-writer lock at 0x…". */
void xc_lock_words(const struct xc_lock *lock, struct xc_text *text);

#endif
