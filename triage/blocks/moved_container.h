/* moved_container: the container whose elements a stale pointer was likely one of: it grew, and has them in another
 * block now. */
#ifndef XC_MOVED_CONTAINER_H
#define XC_MOVED_CONTAINER_H

#include "triage/blocks/other_owner.h"

/* Append "`slots_` (std::vector of length 5, …) has its elements at 0x…": a contiguous container, or a pointer to an
 * array of the heap, among the variables of the innermost frames and of the blamed one's file, and their members, with
 * elements of the type that the pointer leads to. False: there is none, or one has its elements in the block, so that
 * the pointer may be good. */
bool xc_moved_container_find(const struct xc_pointed *pointed, struct xc_text *out);

#endif
