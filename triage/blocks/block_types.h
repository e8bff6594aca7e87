/* block_types: types for the blocks of the heap, where a sentence about one of them is to name its type. */
#ifndef XC_BLOCK_TYPES_H
#define XC_BLOCK_TYPES_H

#include "heap/types/typing.h"
#include "triage/crash/crash_context.h"

/* Infer the types of all blocks, once, unless the heap has more than XC_BLOCK_TYPES_MOST blocks: descriptions then name
 * no type. crash->heap must not be NULL. Inference may renumber the blocks: look an index up again afterwards. */
enum { XC_BLOCK_TYPES_MOST = 1000000 };
void xc_block_types_infer(const struct xc_crash_context *crash);

/* What is known of the block that contains the address, after inference, and its index. NULL: nothing. */
const struct xc_typed *xc_block_types_at(const struct xc_crash_context *crash, xc_addr at, uint32_t *block_out);

/* For a block whose type a variable of a stack alone says: ", whose type only local t of handle tells". The
 * variable may have been cast wrongly: its type is no proof. Else "". In the report's arena. crash->heap may be
 * NULL. */
const char *xc_block_types_only_by(const struct xc_crash_context *crash, xc_addr at);

#endif
