/* lock: a lock, a cycle of threads, the list of all of them, and their descriptions. */
#ifndef XC_LOCK_H
#define XC_LOCK_H

#include "triage/waits/wait.h"

enum xc_lock_kind {
	XC_LOCK_MUTEX,
	XC_LOCK_RWLOCK,
	XC_LOCK_ONCE,    /* one-time initialization, which other threads wait for: its owner runs it */
	XC_LOCK_STREAM,  /* of stdio */
	XC_LOCK_ARENA,   /* of malloc */
	XC_LOCK_LIBRARY, /* any other lock of the C library */
};

struct xc_lock {
	xc_addr addr;
	enum xc_lock_kind kind;
	/* This kind of lock does not record its holders, except for the writer of a glibc reader-writer lock. */
	bool ownerless;
	bool known;     /* its words are readable: */
	bool held;      /* a thread holds it */
	bool robust;    /* waiters are notified when the owner ends */
	bool shared;    /* between processes: the owner may be in another one */
	bool reentrant; /* recursive, or error-checking: its owner may lock it again without waiting */
	/* Of a mutex, or the writer of a reader-writer lock, by its own id (namespace_tid.h); 0: none, or not known. */
	pid_t owner;
	/* Index of the thread that holds it; XC_LOCK_NOBODY: none of the process, or not known (ids_are of wait.h). */
	size_t holder;
	const char *why;  /* the evidence for a holder that is likely but not recorded; else NULL */
	bool inherited;   /* robust: its owner inherited it from a dead owner, and has not made it consistent */
	bool died;        /* robust: its owner ended, and nobody has taken it yet */
	uint32_t readers; /* number of readers that hold it, which are not recorded */
	bool in_cycle;    /* a member of a cycle waits for it */
	size_t waiters;   /* number of waiting threads, */
	size_t first;     /* and the index of the first */
	const char *name; /* "first.lock", "libx.so+0x40a0", "0x55d0…"; in source form when `is_expression` */
	bool is_expression;
	bool is_local; /* the name is that of a variable of the first waiter: others may have other names for it */
	const char
		*held_name; /* of a local one that shares its name with another lock: the holder's; NULL: it has none */
	bool is_shared_name; /* it shares its name with another lock */
};

struct xc_cycle {
	size_t *members; /* indexes of threads: each waits for the next, the last one for the first */
	size_t count;
	bool timed;   /* one wait has a timeout */
	bool guessed; /* a wait for a mutex is only guessed, from the words in memory */
	bool likely;  /* a holder is not recorded, or the recorded ids are ambiguous */
};

struct xc_locks {
	const struct xc_waits *waits;
	struct xc_lock *locks; /* by address */
	size_t lock_count;
	size_t *lock_of; /* index of the lock that each thread waits for; XC_LOCK_NOBODY: none */
	size_t *next; /* index of the thread that each thread waits for: its lock's holder, or the one that it joins */
	struct xc_cycle *cycles;
	size_t cycle_count;
	const char
		*limits; /* of the search for holders: "in the innermost 48 frames of each stack"; NULL: none reached */
};

#define XC_LOCK_NOBODY SIZE_MAX

/* The lock that a thread waits for; NULL: none. */
const struct xc_lock *xc_lock_awaited(const struct xc_locks *locks, size_t thread);

/* Is the owner none of the threads: has it ended, or not survived fork()? Only when all threads are listed, with the
 * process's own ids; of a running process only while its first waiter sleeps. */
bool xc_lock_is_orphan(const struct xc_process *process, const struct xc_locks *locks, const struct xc_lock *lock);

/* "mutex", "reader-writer lock", "stdio stream", … */
const char *xc_lock_kind_text(const struct xc_lock *lock);

/* Append a description of an owner that is not in the list of threads: "thread 17", "thread 17 of another process",
 * "the thread with id 17 in its pid namespace". */
void xc_lock_describe_owner(const struct xc_locks *locks, const struct xc_lock *lock, struct xc_text *text);

/* Append "mutex `first.lock`", "reader-writer lock 0x…, a block". */
void xc_lock_describe(const struct xc_lock *lock, struct xc_text *text);

/* The same for the thread that holds it: with its name for the lock, where several locks share the waiters' name. */
void xc_lock_describe_held(const struct xc_lock *lock, struct xc_text *text);

#endif
