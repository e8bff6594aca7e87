/* wait: what a thread waits for, the list of all such waits, and their descriptions. */
#ifndef XC_WAIT_H
#define XC_WAIT_H

#include "core/process/process.h"
#include "core/base/text.h"
#include "dwarf/symbolize/debuginfo.h"
#include "dwarf/unwind/unwind.h"

enum { XC_WAIT_FRAMES = 256 }; /* frames of a stack to unwind at most */

enum xc_wait_kind {
	XC_WAIT_NONE, /* it runs, or a wait is not known */
	XC_WAIT_MUTEX,
	XC_WAIT_READ_LOCK,
	XC_WAIT_WRITE_LOCK,
	XC_WAIT_CONDITION,
	XC_WAIT_SEMAPHORE,
	XC_WAIT_BARRIER,
	XC_WAIT_ONCE, /* for another thread in pthread_once and the like, or a static variable of C++ */
	XC_WAIT_RUST_MUTEX,
	XC_WAIT_RUST_READ,
	XC_WAIT_RUST_WRITE,
	XC_WAIT_RUST_CONDITION,
	XC_WAIT_CHANNEL,
	XC_WAIT_PARKED, /* of Rust: until another thread unparks it */
	XC_WAIT_FUTURE,
	XC_WAIT_ATOMIC,       /* of C++20: a latch, semaphore, barrier, or an atomic variable itself */
	XC_WAIT_THREAD,       /* for a thread to end */
	XC_WAIT_LIBRARY_LOCK, /* one of the C library's own */
	XC_WAIT_FUTEX,        /* of some other kind */
	XC_WAIT_CALL,         /* in another system call */
};

struct xc_wait {
	const struct xc_thread *thread;
	pid_t namespace_tid; /* its id in the process's own namespace (namespace_tid.h); 0: not known */
	enum xc_wait_kind kind;
	bool timed;          /* it has a timeout */
	bool guessed;        /* the kind is guessed from the words in memory: the stack is not known */
	bool reacquires;     /* MUTEX: the condition was signalled, and the thread waits to reacquire the mutex */
	bool refused;        /* MUTEX: the kernel refused a wait that would never end; glibc then sleeps forever */
	bool queued;         /* ONCE: parked in a queue that the word of the Once leads to (Rust up to 1.65) */
	xc_addr word;        /* the futex word; 0: not known */
	xc_addr object;      /* the lock, condition, …; 0: not known */
	pid_t target;        /* THREAD: its id, as in the list of threads; 0: not known */
	const char *call;    /* name of the system call; NULL: not known, or none */
	const char *through; /* the library function that the program called; NULL: none, or not known */
	/* Of a thread that waits in a signal handler: the handler, the interrupted library function, and the
	 * interrupted function of the user. Else NULL. */
	const char *handler, *interrupted, *interrupted_own;
	bool in_handler; /* it is in one that does not wait for anything of interest: the wait is that of before */
	bool has_place;  /* the place is that of the innermost function of user code; else of the innermost frame */
	struct xc_frame frame;
	const struct xc_place *place;
	size_t level;
	xc_addr routine;  /* an address in the thread's start routine; 0: not known */
	const char *role; /* its name; NULL: not known. "main" of the first thread */
};

struct xc_wait_id {
	pid_t tid;
	size_t index; /* of the thread */
};

/* The relation of the ids in the memory of the process to those in the list of threads. */
enum xc_ids_are {
	XC_IDS_SAME,
	XC_IDS_OTHERS,  /* of another pid namespace, and known for each thread */
	XC_IDS_UNKNOWN, /* perhaps of another one, and not known for each thread: an id that is not found may exist */
};

struct xc_waits {
	struct xc_wait *items; /* one for each thread, in their order */
	size_t count;
	struct xc_wait_id *ids;           /* by tid */
	struct xc_wait_id *namespace_ids; /* by the id in the process's own namespace */
	size_t namespace_id_count;
	enum xc_ids_are ids_are;
};

/* Sort a list of ids. Find an id in a sorted list: NULL when there is none, O(log n). */
void xc_wait_ids_sort(struct xc_wait_id *ids, size_t count);
const struct xc_wait_id *xc_wait_ids_find(const struct xc_wait_id *ids, size_t count, pid_t tid);

/* The name of the function at the place, inlined functions included; NULL when it has none. */
const char *xc_wait_function(const struct xc_wait *wait);

/* Does it wait for a std::sync::Mutex or RwLock? */
static inline bool xc_wait_is_rust(const struct xc_wait *wait)
{
	return wait->kind == XC_WAIT_RUST_MUTEX || wait->kind == XC_WAIT_RUST_READ || wait->kind == XC_WAIT_RUST_WRITE;
}

/* Append "transfer (lock.c:42)", as far as it is known. */
void xc_wait_where(const struct xc_wait *wait, struct xc_text *text);

/* Append the functions of user code from there outward, at most XC_WAIT_CALLERS: "transfer (lock.c:42) ← pay
 * (shop.c:7)". The unwinder is the process's. One serves all threads, and caches the rules of their frames. */
enum { XC_WAIT_CALLERS = 5 };
void xc_wait_callers(const struct xc_process *process, const struct xc_wait *wait, struct xc_unwinder *unwinder,
		     struct xc_text *text);

#endif
