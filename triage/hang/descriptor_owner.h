/* descriptor_owner: the variable of a waiting thread's functions that holds a descriptor or a child's id, and what is
 * stored beside it. */
#ifndef XC_DESCRIPTOR_OWNER_H
#define XC_DESCRIPTOR_OWNER_H

#include "triage/crash/crash_context.h"
#include "triage/waits/wait.h"

enum { XC_DESCRIPTOR_OTHERS = 4 };

/* A number with the name of its variable: "h.to_fd". */
struct xc_named_number {
	const char *name; /* in the report's arena; NULL: none */
	int value;
};

/* A record, or the variables of one function. */
struct xc_descriptor_owner {
	struct xc_named_number found, child;                 /* what was asked for; a process's id beside it */
	struct xc_named_number others[XC_DESCRIPTOR_OTHERS]; /* other descriptors */
	size_t other_count;
};

/* The variable, by its number and by a name that speaks of descriptors (`fd`, `sock`) or, with `is_child`, of
 * processes. One in a record with a process's id and other descriptors is preferred. False when there is none: nothing
 * records which numbers are descriptors. Looks at 8 frames. */
bool xc_descriptor_owner_find(const struct xc_crash_context *crash, const struct xc_wait *wait, int number,
			      bool is_child, struct xc_descriptor_owner *out);

#endif
