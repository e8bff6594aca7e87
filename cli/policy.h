/* policy: conditions that make a successful run fail: --fail-on and --strict. */
#ifndef XC_POLICY_H
#define XC_POLICY_H

#include "core/process/process.h"
#include "core/report/report.h"
#include "cli/options.h"

/* Check the words of --fail-on (each may be a list with commas). Errors: XC_ERR_USAGE. */
XC_MUST_CHECK struct xc_error *xc_policy_check(const struct xc_words *words);

/* The first condition that the target meets, or NULL. The verdict is computed when a condition needs it and the
 * report has none. */
const char *xc_policy_hit(const struct xc_words *words, struct xc_process *process, const struct xc_report *report);

/* Is any part of the target, or of its files, missing? */
bool xc_policy_incomplete(const struct xc_process *process, const struct xc_report *report);

#endif
