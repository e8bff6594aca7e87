/* triage_usage: which options of `triage` go together. */
#ifndef XC_TRIAGE_USAGE_H
#define XC_TRIAGE_USAGE_H

#include "cli/command.h"

/* What was given that makes no sense, or would do nothing: XC_ERR_USAGE. Nothing is opened. */
XC_MUST_CHECK struct xc_error *xc_triage_usage_check(const struct xc_job *job);

/* Those of these options that were given, as words of a command line (xc_options_given); the arena's. names ends with NULL. */
void xc_triage_given(const struct xc_job *job, const char *const *names, struct xc_arena *arena,
		     struct xc_words *words);

#endif
