/* triage_gate: the conditions under which a batch fails: --fail-on, --baseline, --max-unreadable, missing parts. */
#ifndef XC_TRIAGE_GATE_H
#define XC_TRIAGE_GATE_H

#include "batch/problems/problems.h"
#include "cli/command.h"

struct xc_triage_gate {
	const struct xc_words *fail_on;
	bool baseline;           /* --baseline was given, so new problems fail */
	bool limited;            /* --max-unreadable was given */
	uint64_t max_unreadable; /* the permitted number of records that are not OK */
};

/* The options --fail-on and --strict, and the meanings of the exit statuses: command.h. */
extern const struct xc_option xc_triage_gate_options[];
extern const char *const xc_triage_gate_statuses[6];

/* Checks the words of --fail-on. Errors: XC_ERR_USAGE. */
XC_MUST_CHECK struct xc_error *xc_triage_gate_check(const struct xc_words *words);

/* The exit status; *why_out is the reason in one line, malloc'ed; NULL for XC_EXIT_DONE. */
enum xc_exit xc_triage_gate(const struct xc_triage_gate *gate, const struct xc_problems *problems, char **why_out);

#endif
