/* policy: rules about crashes that the user writes in Lua, applied before the built-in ones: `xcore triage --policy
 * FILE.lua` (README.md here).
 *
 * The file runs like a plugin: without files or processes, with limits on instructions, memory and time, and without
 * a target. It defines some of the functions class(record), keep(frame, record) and name(frame, record); they
 * implement the hooks of batch/record/policy.h. */
#ifndef XC_LUA_POLICY_H
#define XC_LUA_POLICY_H

#include "batch/record/policy.h"
#include "lua/vm/host.h"

struct xc_policy_script;

/* Called at the first error in a function of the policy, and when a limit is reached; err is borrowed. */
typedef void xc_policy_warn_fn(void *user, const struct xc_error *err);

struct xc_policy_script_options {
	struct xc_limits limits; /* for the file and all calls together */
	xc_policy_warn_fn *warn; /* may be NULL */
	void *warn_user;
};

/* Run the file. `name` is its name in messages. Errors: those of the script; XC_ERR_FORMAT when it defines none of
 * the functions. */
XC_MUST_CHECK struct xc_error *xc_policy_script_load(const char *name, const char *text, size_t len,
						     const struct xc_policy_script_options *options,
						     struct xc_policy_script **script_out);

/* Has a function failed, or a limit been reached? Then later queries had no answer, and the result is not the one
 * that the policy wants. */
bool xc_policy_script_failed(const struct xc_policy_script *script);

/* The hooks; they live as long as the script. A record must not change until the next record is queried. */
const struct xc_policy *xc_policy_script_hooks(const struct xc_policy_script *script);

void xc_policy_script_free(struct xc_policy_script *script); /* NULL is fine */

#endif
