/* budget: a limit on the work that the debug information of one process may cause.
 *
 * A few megabytes of DWARF can describe things that take hours to follow: a hundred thousand blocks that share one
 * list of a hundred thousand ranges, or blocks nested so that each step over a child reads all that follows. So every
 * step over an entry, every entry of a list and every few steps of an expression spend from a budget that no honest
 * file of that size uses up. */
#ifndef XC_BUDGET_H
#define XC_BUDGET_H

#include "core/base/base.h"

/* The budget counts steps. It is set when the first unit of a process is asked for, and grows with each file.
 * Spending more than is left empties it, and all walks then end as if there were no more entries: later answers are
 * less complete, never wrong. There is one budget: it serves one process at a time. Nothing is limited before it is
 * set. Not thread-safe. */
void xc_budget_set(uint64_t amount);
void xc_budget_add(uint64_t amount);

/* False when less than `amount` was left. */
bool xc_budget_spend(uint64_t amount);

bool xc_budget_is_spent(void);

/* Something was left out because of another limit on debug information (scan/abbrev.h); the work goes on. */
void xc_budget_fall_short(void);

/* Was anything left out, for that reason or because the budget is spent? */
bool xc_budget_is_short(void);

#endif
