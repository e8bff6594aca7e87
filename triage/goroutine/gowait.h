/* gowait: what a goroutine waits for: by its state, the runtime's reason, the functions on its stack, and, of a channel
 * or a lock, the object. */
#ifndef XC_GOWAIT_H
#define XC_GOWAIT_H

#include "dwarf/unwind/goruntime.h"
#include "triage/crash/crash_context.h"
#include "triage/goroutine/goroutine.h"

enum xc_gowait_kind {
	XC_GOWAIT_NOT,     /* it runs, or could */
	XC_GOWAIT_CALL,    /* in a system call, or in C */
	XC_GOWAIT_SLEEP,   /* a time */
	XC_GOWAIT_ACCEPT,  /* a new client */
	XC_GOWAIT_IO,      /* other input or output */
	XC_GOWAIT_SIGNAL,  /* a signal, in a channel of os.Signal */
	XC_GOWAIT_RECEIVE, /* an item in a channel */
	XC_GOWAIT_SEND,    /* someone who takes its item */
	XC_GOWAIT_SELECT,  /* one of several channels */
	XC_GOWAIT_MUTEX,   /* a sync.Mutex or sync.RWMutex */
	XC_GOWAIT_GROUP,   /* a sync.WaitGroup */
	XC_GOWAIT_CONDITION,
	XC_GOWAIT_FOREVER, /* a nil channel, a select without cases */
	XC_GOWAIT_OTHER,
};

struct xc_gowait {
	xc_addr g;
	uint64_t id;
	enum xc_gowait_kind kind;
	const char *words;       /* "receives from a channel", in the report's arena */
	const char *behind;      /* of a lock: ", which 4 readers hold,", likewise; "" */
	bool behind_writer;      /* it wants to read, and a writer before it waits until others have read: */
	uint32_t readers;        /* so many */
	xc_addr object;          /* the channel, lock or WaitGroup; 0: not known */
	struct xc_frame *frames; /* in the report's arena */
	size_t frame_count;      /* 0: not known */
	struct xc_blame blame;   /* the innermost function of the program; its place is NULL when none is known */
};

/* Semaphores: which one a goroutine is queued at. */
struct xc_gosemas {
	struct xc_gosema {
		xc_addr g, word, sudog;
	} * items; /* by g, in the report's arena */
	size_t count;
};

/* Read the queues of runtime.semtable, at most 10,000 goroutines of them. */
struct xc_gosemas xc_gosemas_read(const struct xc_crash_context *crash, const struct xc_goruntime *go);

/* Fill out for a goroutine that has not ended. Unwinds its stack: some 0.1 ms. */
void xc_gowait_read(const struct xc_crash_context *crash, const struct xc_goruntime *go, const struct xc_gosemas *semas,
		    xc_addr g, struct xc_gowait *out);

/* Append "goroutine 7, main's, waits for a sync.Mutex, `r.lock` (0xc000016090), in main.run, main.go:30". `object`: its
 * name; NULL: it has none. */
void xc_gowait_describe(const struct xc_gowait *wait, const char *object, struct xc_text *text);

/* Append "main.run, main.go:30". */
void xc_gowait_where(const struct xc_blame *blame, struct xc_text *text);

#endif
