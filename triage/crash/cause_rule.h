/* cause_rule: a cause of death as data, and the interface between the verdict (triage/cause.c) and the causes.
 *
 * triage/cause_table.c lists all causes in the order in which they are tried. A new cause is one file with a
 * classify function and one entry in that table. */
#ifndef XC_CAUSE_RULE_H
#define XC_CAUSE_RULE_H

#include "triage/crash/crash_context.h"

/* How a program ended. A rule names the set of events that it applies to. */
enum xc_cause_event {
	XC_CAUSE_SEGV = 1 << 0, /* SIGSEGV, raised by an instruction; SIGBUS of a stack-segment fault */
	XC_CAUSE_BUS = 1 << 1,  /* any other SIGBUS */
	XC_CAUSE_FPE = 1 << 2,
	XC_CAUSE_ILL = 1 << 3,
	XC_CAUSE_TRAP = 1 << 4,
	XC_CAUSE_SYS = 1 << 5,   /* SIGSYS */
	XC_CAUSE_ABORT = 1 << 6, /* SIGABRT */
	XC_CAUSE_SENT = 1 << 7,  /* the signal of a fault, but sent by kill(2) and the like */
	XC_CAUSE_OTHER = 1 << 8, /* any other signal */
};

struct xc_cause_rule {
	const char *name; /* for the reader of the table: "stack canary" */
	unsigned needs;   /* the events of which one must hold: a set of enum xc_cause_event */
	/* Set the class of the verdict and add evidence. False when this is not the cause: then no class is set. */
	bool (*classify)(struct xc_crash_context *crash);
};

/* The event of a fault that an instruction raised: one of XC_CAUSE_SEGV to XC_CAUSE_SYS; XC_CAUSE_TRAP for any other
 * signal. */
enum xc_cause_event xc_cause_rule_event(const struct xc_fault *fault);

/* Try the rules of crash->rules that need this event, in order, until one classifies the crash. False when none
 * does. */
bool xc_cause_rule_apply(struct xc_crash_context *crash, enum xc_cause_event event);

#endif
