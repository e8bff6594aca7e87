/* states: the states of problems against the baseline.
 *
 *	new      the baseline does not know it; or it was repaired and is back; or it is worse than accepted, or has a
 *	         class that is not accepted (`why` says which)
 *	known    the baseline knows it
 *	flaky    known, and it comes and goes: absent in two or more of the last 16 updates
 *	gone     in the baseline and not in this batch, which is complete; this says nothing about other days
 *	unseen   in the baseline and not in this batch, without being gone: `why` says what was not examined, or that it
 *	         comes and goes
 *
 * A batch is complete when all its parts are there, every core was read, no possible core was left out, and there was
 * at least one core. An update (--update-baseline) by a complete batch records which clusters were present and which
 * were absent; an incomplete batch records neither. One absence is chance. A cluster that was absent at least twice,
 * and for longer than its earlier frequency explains, counts as repaired: it is no longer listed, and is new when it
 * comes back. "Always present" takes three times; fewer count as every other time.
 *
 * A problem that is known by a weak sig (xc_signature_is_weak) is known, because otherwise people could never accept
 * it; but `why` says so. */
#ifndef XC_STATES_H
#define XC_STATES_H

#include "batch/problems/baseline.h"
#include "batch/problems/problem.h"

/* Sets state, note, why, expiry and (if the baseline knows it under another one) the id of each problem, and adds those
 * that are gone or unseen. Without a baseline (NULL) all are open. Sets problems->partial; today: problems.h. */
void xc_states_set(struct xc_problems *problems, const struct xc_baseline *baseline, const char *today);

#endif
