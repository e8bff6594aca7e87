/* triage_inputs: the cores of a batch, from the operands and with hints from the journal; reports what could not be
 * searched. */
#ifndef XC_TRIAGE_INPUTS_H
#define XC_TRIAGE_INPUTS_H

#include "batch/input/input.h"
#include "cli/command.h"

/* journal: the value of --journal, or NULL; *digest_out is its xc_journal_digest, in the arena, or NULL. Errors: those
 * of xc_inputs_find and xc_journal_read; a journal and a list that both come from standard input. */
XC_MUST_CHECK struct xc_error *xc_triage_inputs(const struct xc_job *job, const char *journal, struct xc_arena *arena,
						struct xc_inputs **inputs_out, const char **digest_out);

#endif
