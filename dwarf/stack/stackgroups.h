/* stackgroups: threads with equal stacks, folded into groups. */
#ifndef XC_STACKGROUPS_H
#define XC_STACKGROUPS_H

#include "core/report/report.h"

/* Fill the groups of `stacks`, which has at least one. `brief`: stacks that differ only in how often a function calls itself are equal. */
void xc_stacks_group(struct xc_arena *arena, struct xc_stacks *stacks, bool brief);

#endif
