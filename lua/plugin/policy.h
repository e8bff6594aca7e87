/* policy: a user's rules about crashes in Lua, over the built-in ones: `xcore triage --policy FILE.lua` (README.md here).
 *
 * The file runs as a plugin does: without files or processes, with limits on instructions, memory and time, and without a target. It
 * defines some of the functions class(record), keep(frame, record) and name(frame, record); they are batch/record/policy.h's hooks. */
#ifndef XC_LUA_POLICY_H
#define XC_LUA_POLICY_H

#include "batch/record/policy.h"
#include "lua/vm/host.h"

struct xc_policy_script;

/* Told of the first error in a function of the policy, and of a limit that was reached; err is borrowed. */
typedef void xc_policy_warn_fn(void *user, const struct xc_error *err);

struct xc_policy_script_options {
	struct xc_limits limits; /* of the file and of all calls together */
	xc_policy_warn_fn *warn; /* may be NULL */
	void *warn_user;
};

/* Run the file. `name` stands in messages. Errors: those of the script; XC_ERR_FORMAT when it defines none of the functions. */
XC_MUST_CHECK struct xc_error *xc_policy_script_load(const char *name, const char *text, size_t len,
						     const struct xc_policy_script_options *options,
						     struct xc_policy_script **script_out);

/* Has a function failed, or a limit been reached? Then what was asked since is answered by silence, and the result is not what the policy wants. */
bool xc_policy_script_failed(const struct xc_policy_script *script);

/* The hooks; they live as long as the script. Records that they are asked about must stay as they are until the next is asked about. */
const struct xc_policy *xc_policy_script_hooks(const struct xc_policy_script *script);

void xc_policy_script_free(struct xc_policy_script *script); /* NULL is fine */

#endif
