/* goowner: the object whose member is a certain channel, where no variable leads there any more. Private to go*.c. */
#ifndef XC_GOOWNER_H
#define XC_GOOWNER_H

#include "dwarf/stack/variable.h"
#include "triage/go/godeath.h"

/* The struct that has a member. */
struct xc_goowner {
	bool known;
	const struct xc_type *type;
	uint64_t offset; /* of the member */
};

/* For the name of a channel as the source writes it at a place, "s.out", by the types of the variables there; their
 * values need not be known, nor the registers of the frame. Not known: it is no member, or the type of `s` is not
 * known. */
void xc_goowner_find(const struct xc_frame_context *context, size_t level, const char *name, struct xc_goowner *out);

/* Is it the same member of the same struct? */
bool xc_goowner_same(const struct xc_goowner *a, const struct xc_goowner *b);

/* Does a function at the place have a variable that is, or leads to, such a struct? */
bool xc_goowner_is_used(const struct xc_frame_context *context, const struct xc_goowner *owner);

/* Evidence: what `s` of `s.out` likely led to: the only object of the heap that has the channel as this member. Nothing
 * where there are several, or none. Searches memory. */
void xc_goowner_report(const struct xc_godeath *d, const char *name, const struct xc_goowner *owner, xc_addr channel);

#endif
