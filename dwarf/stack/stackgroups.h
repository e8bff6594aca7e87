/* stackgroups: threads with equal stacks, folded into groups. */
#ifndef XC_STACKGROUPS_H
#define XC_STACKGROUPS_H

#include "core/report/report.h"

/* Fill the groups of `stacks`, which has at least one stack. `brief`: stacks that differ only in recursion depth are
 * equal. */
void xc_stacks_group(struct xc_arena *arena, struct xc_stacks *stacks, bool brief);

#endif
