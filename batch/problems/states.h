/* states: how problems stand to the baseline.
 *
 *	new      the baseline does not know it; or it was repaired and is back; or it is worse than what was accepted, or a death of it
 *	         is of a class that was not (`why` says so)
 *	known    the baseline knows it
 *	flaky    known, and it comes and goes: it was away in two or more of the last 16 updates
 *	gone     in the baseline and not in this batch, which was whole: it says nothing of other days
 *	unseen   in the baseline and not in this batch, of which nothing follows: `why` says what was not looked at, or that it comes
 *	         and goes
 *
 * A batch is whole when all its parts are there, every core was read, nothing that may be a core was left out, and there was a core. An
 * update (--update-baseline) by a whole batch notes who was there and who was not; by one that is not, neither. One absence is chance. Who was
 * away twice or more, and for longer than chance explains by how often it was there before, is taken for repaired: it is not listed any
 * more, and new when it comes back. "Always there" takes three times; less counts as every other time.
 *
 * What is known by a weak sig (xc_signature_is_weak) is known, or a person could never accept it; but `why` says by how little. */
#ifndef XC_STATES_H
#define XC_STATES_H

#include "batch/problems/baseline.h"
#include "batch/problems/problem.h"

/* Set state, note, why, expiry and (where the baseline knows it under another one) the id of each problem, and add those that are gone
 * or unseen. Without a baseline (NULL) all are open. problems->partial is set; today: problems.h. */
void xc_states_set(struct xc_problems *problems, const struct xc_baseline *baseline, const char *today);

#endif
