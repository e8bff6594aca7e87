/* policy: what a user's rules in Lua say of a crash, over the built-in ones. The hook is filled by lua/, which is above this folder. */
#ifndef XC_BATCH_POLICY_H
#define XC_BATCH_POLICY_H

#include "batch/record/record.h"

enum xc_policy_answer { XC_POLICY_SILENT, XC_POLICY_KEEP, XC_POLICY_SKIP };

/* Each function may be NULL. Strings given back are the arena's. An error inside a policy is reported once by `warn` and its answer is
 * silence; after a limit was reached it is silent for good. The command then writes the answer, leaves baseline and cores alone, and exits with
 * 4. */
struct xc_policy {
	void *user;
	/* Another class for the record ("low-memory"), and severity: either may stay NULL. */
	void (*classify)(void *user, const struct xc_record *record, struct xc_arena *arena, const char **class_out,
			 const char **severity_out);
	enum xc_policy_answer (*keep)(void *user, const struct xc_record *record, size_t frame, const char *name);
	/* Another normalised name; NULL: as it is. */
	const char *(*name)(void *user, const struct xc_record *record, size_t frame, const char *name,
			    struct xc_arena *arena);
};

#endif
