/* policy: what the user's rules in Lua decide about a crash, overriding the built-in rules. lua/, a layer above,
 * supplies the functions. */
#ifndef XC_BATCH_POLICY_H
#define XC_BATCH_POLICY_H

#include "batch/record/record.h"

enum xc_policy_answer { XC_POLICY_SILENT, XC_POLICY_KEEP, XC_POLICY_SKIP };

/* Each function may be NULL. Returned strings are in the arena. An error in a policy is reported once by `warn`, and
 * counts as no answer; after exceeding a limit, the policy is never asked again. The command then writes its output,
 * leaves baseline and cores unchanged, and exits with 4. */
struct xc_policy {
	void *user;
	/* Sets another class ("low-memory") and severity for the record; either may stay NULL. */
	void (*classify)(void *user, const struct xc_record *record, struct xc_arena *arena, const char **class_out,
			 const char **severity_out);
	enum xc_policy_answer (*keep)(void *user, const struct xc_record *record, size_t frame, const char *name);
	/* Another normalised name; NULL: no change. */
	const char *(*name)(void *user, const struct xc_record *record, size_t frame, const char *name,
			    struct xc_arena *arena);
};

#endif
