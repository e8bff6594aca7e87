/* live_refusal: finds the kernel's rule that forbids reading a process.
 *
 * The kernel only returns EPERM or EACCES. Its rules are checked in its order (__ptrace_may_access, kernel/ptrace.c,
 * and the security modules, Linux 6.1 to 6.18), with the facts that /proc shows of both processes:
 *
 * 	same uid and gid     our effective ids equal the target's real, effective and saved ones
 * 	dumpable             the target has not been made undumpable (setuid program, prctl, unreadable executable):
 * 	                     then its /proc files belong to root
 * 	capabilities         the target holds none that we lack
 * 	Yama                 /proc/sys/kernel/yama/ptrace_scope
 * 	Landlock             we are in a domain of our own
 *
 * CAP_SYS_PTRACE passes the first three and Yama's scopes 1 and 2, but only inside our own user namespace. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/live/live_facts.h"
#include "core/live/live_proc.h"
#include "core/live/sandbox.h"

enum { CAP_SYS_PTRACE_BIT = 19 }; /* include/uapi/linux/capability.h */

static uint64_t own_caps(void)
{
	xc_auto(xc_text_fini) struct xc_text text = {0};
	if (xc_live_proc_read(AT_FDCWD, "/proc/self/status", &text))
		return 0;
	const char *caps = xc_live_proc_field(xc_text_string(&text), "CapEff");
	return caps ? strtoull(caps, NULL, 16) : 0;
}

static bool in_child_user_namespace(void)
{
	xc_auto(xc_text_fini) struct xc_text text = {0};
	unsigned inside, outside, count;
	if (xc_live_proc_read(AT_FDCWD, "/proc/self/uid_map", &text) ||
	    sscanf(xc_text_string(&text), "%u %u %u", &inside, &outside, &count) != 3)
		return false;
	return inside != 0 || outside != 0 || count != UINT32_MAX;
}

static int yama_scope(void)
{
	xc_auto(xc_text_fini) struct xc_text text = {0};
	if (xc_live_proc_read(AT_FDCWD, "/proc/sys/kernel/yama/ptrace_scope", &text))
		return 0;
	return atoi(xc_text_string(&text));
}

static bool undumpable(int proc_dir, const struct xc_live_identity *id)
{
	struct stat st;
	return !fstatat(proc_dir, "mem", &st, 0) && st.st_uid != id->uids[1];
}

static struct xc_error *refuse(const struct xc_live_identity *id, char *rule, const char *hint)
{
	struct xc_error *err =
		xc_error_new(XC_ERR_PERMISSION, "pid:%d (%s): may not be read: %s", (int)id->pid, id->name, rule);
	free(rule);
	return xc_error_hint(err, "%s", hint);
}

/* Without CAP_SYS_PTRACE. */
static struct xc_error *refuse_plain_user(int proc_dir, const struct xc_live_identity *id, uint64_t caps)
{
	uid_t uid = geteuid();
	gid_t gid = getegid();
	for (int i = 0; i < 3; i++)
		if (id->uids[i] != uid)
			return refuse(id,
				      xc_asprintf("it runs as uid %u and xcore as uid %u (rule: same uid)",
						  (unsigned)id->uids[i], (unsigned)uid),
				      "run xcore as that user or as root (sudo), or give it CAP_SYS_PTRACE");
	for (int i = 0; i < 3; i++)
		if (id->gids[i] != gid)
			return refuse(id,
				      xc_asprintf("it runs with gid %u and xcore with gid %u (rule: same gid)",
						  (unsigned)id->gids[i], (unsigned)gid),
				      "run xcore with that group (sg, newgrp) or as root (sudo)");
	if (undumpable(proc_dir, id))
		return refuse(
			id,
			xc_strdup("it is not dumpable: it changed its ids, called prctl(PR_SET_DUMPABLE, 0), or its "
				  "program file is not readable (rule: dumpable)"),
			"run xcore as root (sudo) or with CAP_SYS_PTRACE");
	if (id->caps & ~caps)
		return refuse(id, xc_strdup("it holds capabilities that xcore lacks (rule: capabilities)"),
			      "run xcore as root (sudo) or with CAP_SYS_PTRACE");
	return NULL;
}

static struct xc_error *refuse_by_yama(const struct xc_live_identity *id, bool capable)
{
	int scope = yama_scope();
	if (scope >= 3)
		return refuse(id,
			      xc_strdup("kernel.yama.ptrace_scope is 3: nobody may read another process (rule: Yama)"),
			      "only a reboot lowers that setting; take a core instead and analyse it");
	if (scope >= 1 && !capable)
		return refuse(id,
			      xc_asprintf("kernel.yama.ptrace_scope is %d: only %s may read it (rule: Yama)", scope,
					  scope == 1 ? "its ancestors" : "an administrator"),
			      "run xcore as root (sudo) or with CAP_SYS_PTRACE");
	return NULL;
}

struct xc_error *xc_live_facts_refusal(int proc_dir, const struct xc_live_identity *id)
{
	uint64_t caps = own_caps();
	bool capable = caps >> CAP_SYS_PTRACE_BIT & 1;
	struct xc_error *err = NULL;
	if (xc_sandbox_writes_limited())
		return refuse(id, xc_strdup("xcore has already closed itself in (rule: Landlock)"),
			      "one xcore process looks at one process: start another one");
	if (!capable)
		err = refuse_plain_user(proc_dir, id, caps);
	if (!err)
		err = refuse_by_yama(id, capable);
	if (!err && capable && in_child_user_namespace())
		err = refuse(
			id,
			xc_strdup(
				"xcore's CAP_SYS_PTRACE counts only inside its own user namespace, and the process is "
				"outside (rule: user namespace)"),
			"run xcore on the host, or in the user namespace of the process");
	if (!err)
		err = refuse(
			id,
			xc_strdup("a security module or the container's policy refused (SELinux, AppArmor, Landlock, "
				  "seccomp, or another user namespace)"),
			"look at the kernel's audit log, or run xcore on the host as root");
	return err;
}
