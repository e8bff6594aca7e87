/* freed_content: what is left of an object in its freed block, as those see it who still point there. */
#ifndef XC_FREED_CONTENT_H
#define XC_FREED_CONTENT_H

#include "triage/dataflow/deref.h"
#include "triage/dataflow/pointers.h"

/* Evidence: the object, by the pointer that the code read through (NULL: not known), or by a variable that points into
 * the block (NULL: none): a pointer to a class, or an iterator of libstdc++ that has a node. Nothing when no type is
 * known that fits into the block. */
void xc_freed_content_report(const struct xc_crash_context *crash, uint32_t block, const struct xc_deref *way,
			     const struct xc_pointers *pointers);

#endif
