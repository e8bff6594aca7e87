/* triage_usage: which options of `triage` can be combined. */
#ifndef XC_TRIAGE_USAGE_H
#define XC_TRIAGE_USAGE_H

#include "cli/command.h"

/* Checks for options that make no sense or would have no effect: XC_ERR_USAGE. Opens nothing. */
XC_MUST_CHECK struct xc_error *xc_triage_usage_check(const struct xc_job *job);

/* Those of these options that were given, as words of a command line (xc_options_given); in the arena. names ends with
 * NULL. */
void xc_triage_given(const struct xc_job *job, const char *const *names, struct xc_arena *arena,
		     struct xc_words *words);

#endif
