/* doctor: facts become fields, obstacles become messages; the remedies are collected and reported at the end, as
 * commands.
 *
 * The rules are those of do_coredump (fs/coredump.c, Linux 6.1): a file is limited by RLIMIT_CORE, a pipe only by a
 * limit of 1, and a handler runs outside of every container; and those of systemd-coredump, which keeps no core of a
 * process whose soft limit is below a page. */
#include "batch/doctor/doctor.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/text/jsonvalue.h"
#include "core/text/shellword.h"
#include "batch/doctor/corefilter.h"
#include "batch/doctor/corepattern.h"

enum { PAGE = 4096, LITTLE_ROOM = 256 << 20 };

struct doctor {
	const struct xc_doctor_facts *facts;
	const char *ci;
	struct xc_report *report;
	struct xc_section *answer, *section;
	bool kept;             /* nothing found so far prevents a core */
	struct xc_text reason; /* the first obstacle */
	struct xc_text text;   /* what to change */
	json_t *changes;
};

static void prevents(struct doctor *d, const char *format, ...) XC_PRINTF(2, 3);

static void prevents(struct doctor *d, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	xc_auto(xc_freep) char *line = xc_vasprintf(format, args);
	va_end(args);
	if (d->kept)
		xc_text_add(&d->reason, line);
	d->kept = false;
	xc_section_message(d->section, XC_PROBLEM, NULL, "%s", line);
}

static void change(struct doctor *d, const char *why, const char *format, ...) XC_PRINTF(3, 4);

static void change(struct doctor *d, const char *why, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	xc_auto(xc_freep) char *command = xc_vasprintf(format, args);
	va_end(args);
	xc_text_printf(&d->text, "# %s\n%s\n", why, command);
	json_t *one = json_object();
	xc_jsonvalue_set(one, "why", xc_jsonvalue_text(why));
	xc_jsonvalue_set(one, "command", xc_jsonvalue_text(command));
	json_array_append_new(d->changes, one);
}

static bool handled_by(const struct doctor *d, const char *name)
{
	return d->facts->handler && !strcmp(d->facts->handler, name);
}

static enum xc_corepattern_kind kind_of(const struct doctor *d)
{
	return xc_corepattern_kind(d->facts->pattern);
}

static bool to_a_file(const struct doctor *d)
{
	return kind_of(d) == XC_COREPATTERN_RELATIVE || kind_of(d) == XC_COREPATTERN_ABSOLUTE;
}

/* ---- the pattern ---- */

static void set_pattern(struct doctor *d)
{
	static const char command[] = "sysctl -w kernel.core_pattern=/var/tmp/core.%e.%p.%t";
	if (d->ci && !strcmp(d->ci, "github"))
		change(d, "in a step of the workflow that runs on the machine itself", "sudo %s", command);
	else if (d->facts->container)
		change(d, "on the host, as root: the pattern is the kernel's, one for all containers", "%s", command);
	else
		change(d, "as root: to files with names that contain program, process and time", "%s", command);
}

static void show_pattern(struct doctor *d)
{
	static const char *const kinds[] = {"nowhere", "to a file in the directory of the process", "to a file",
					    "to a program", "to a socket"};
	struct xc_text words = {0};
	const char *pattern = d->facts->pattern;
	const bool uses_pid = d->facts->uses_pid.value != 0;
	xc_section_text(d->section, "core_pattern", "pattern", pattern);
	xc_corepattern_words(pattern, &words);
	if (to_a_file(d) && uses_pid && !strstr(pattern, "%p"))
		xc_text_add(&words, ".PID");
	xc_section_text(d->section, "becomes", "in words", xc_text_string(&words));
	xc_section_text(d->section, "goes", "goes", kinds[kind_of(d)]);
	xc_text_fini(&words);
}

static void check_directory(struct doctor *d)
{
	const struct xc_doctor_facts *f = d->facts;
	const char *directory = f->directory ? f->directory : "the working directory";
	const bool fixed = kind_of(d) == XC_COREPATTERN_ABSOLUTE;
	xc_auto(xc_freep) char *word = xc_shellword(directory);
	static const char shared[] = "as root: programs of all users write there";
	if (!f->directory_there) {
		prevents(d, "%s does not exist, or cannot be searched", directory);
		if (fixed)
			change(d, shared, "install -d -m 1777 %s", word);
	} else if (!f->directory_writable && !f->pid) {
		prevents(d, "nothing can be written to %s", directory);
		if (fixed)
			change(d, shared, "chmod 1777 %s", word);
	}
}

static void check_file(struct doctor *d)
{
	const struct xc_doctor_facts *f = d->facts;
	const bool absolute = kind_of(d) == XC_COREPATTERN_ABSOLUTE;
	check_directory(d);
	if (f->container && absolute) {
		xc_section_message(
			d->section, XC_INFO, NULL,
			"the file is written in the container, and lost with it unless its directory is a volume");
		xc_auto(xc_freep) char *volume = xc_asprintf("/var/tmp:%s", f->directory);
		xc_auto(xc_freep) char *word = xc_shellword(volume);
		if (strcmp(f->container, "kubernetes") != 0)
			change(d, "where the container is started: cores outlive it in a volume", "docker run -v %s …",
			       word);
	}
	if (!xc_corepattern_distinct(f->pattern, f->uses_pid.value != 0)) {
		xc_section_message(d->section, XC_WARNING, NULL,
				   "all cores get the same name: each one overwrites the last");
		change(d, "as root: a name for each", "sysctl -w kernel.core_uses_pid=1");
	}
}

/* ---- handlers ---- */

static bool is_zero(const char *size)
{
	return size && size[0] == '0' && !size[strspn(size, "0BKMGTPE")];
}

static void check_systemd(struct doctor *d)
{
	const struct xc_doctor_facts *f = d->facts;
	const struct xc_coredumpconf *c = &f->storage;
	const char *storage = c->storage ? c->storage : "external";
	static const char drop_in[] =
		"install -d /etc/systemd/coredump.conf.d && printf '[Coredump]\\nStorage=external\\n"
		"ProcessSizeMax=32G\\nExternalSizeMax=32G\\n' >/etc/systemd/coredump.conf.d/keep.conf";
	xc_section_text(d->section, "storage", "Storage", storage);
	xc_section_text(d->section, "process_size_max", "ProcessSizeMax",
			c->process_size_max ? c->process_size_max : "32G (default)");
	xc_section_text(d->section, "external_size_max", "ExternalSizeMax",
			c->external_size_max ? c->external_size_max : "32G (default)");
	if (!f->systemd && !f->container)
		prevents(d, "systemd-coredump is the handler, but systemd does not run here");
	if (f->soft.known && f->soft.value < PAGE)
		prevents(d, "systemd-coredump keeps no core of a process whose soft limit is below a page");
	const bool none = !strcmp(storage, "none") || is_zero(c->process_size_max) ||
			  (strcmp(storage, "journal") != 0 && is_zero(c->external_size_max));
	if (none) {
		prevents(d, "systemd-coredump is configured to keep no cores (coredump.conf)");
		change(d, "as root: let systemd-coredump keep cores", "%s", drop_in);
	} else if (!strcmp(storage, "journal")) {
		xc_section_message(d->section, XC_INFO, NULL,
				   "cores are in the journal, not in files: coredumpctl dump writes them");
	}
}

static void check_pipe(struct doctor *d)
{
	const struct xc_doctor_facts *f = d->facts;
	xc_section_text(d->section, "handler", "handler", f->handler);
	if (f->container)
		xc_section_message(d->section, XC_WARNING, NULL,
				   "the handler runs on the host: cores of this container are kept there, not here");
	else if (!f->handler_there)
		prevents(d, "the handler does not exist: %s", f->pattern + 1);
	if (f->soft.known && f->soft.value == 1)
		prevents(d, "a limit of 1 tells the kernel to start no handler");
	if (handled_by(d, "systemd-coredump"))
		check_systemd(d);
	else if (handled_by(d, "apport"))
		xc_section_message(d->section, XC_WARNING, NULL,
				   "apport keeps reports (/var/crash/*.crash), and of programs that belong to no "
				   "package only a file "
				   "`core` below /var/lib/apport/coredump, within the soft limit");
	else if (f->handler && strstr(f->handler, "abrt"))
		xc_section_message(
			d->section, XC_WARNING, NULL,
			"abrt keeps cores as /var/spool/abrt/*/coredump, of programs without a package only if "
			"ProcessUnpackaged is yes");
	if (f->pipe_limit.known && !f->pipe_limit.value)
		xc_section_message(d->section, XC_INFO, NULL,
				   "core_pipe_limit is 0: the kernel does not wait for the handler, which may find "
				   "/proc/PID gone");
	if (f->container || !d->kept)
		set_pattern(d);
}

/* ---- limits ---- */

static void show_limit(struct doctor *d, const char *key, const char *label, struct xc_doctor_number limit)
{
	if (!limit.known)
		xc_section_unknown(d->section, key, label, "not readable");
	else if (limit.value == XC_DOCTOR_UNLIMITED)
		xc_section_text(d->section, key, label, "unlimited");
	else
		xc_section_bytes(d->section, key, label, limit.value);
}

static void raise_limit(struct doctor *d)
{
	const struct xc_doctor_facts *f = d->facts;
	const bool hard = f->hard.known && f->hard.value != XC_DOCTOR_UNLIMITED;
	if (f->pid)
		change(d, hard ? "as root: the hard limit is in the way, too" : "for the process as it runs",
		       "prlimit --core=unlimited%s --pid %d", hard ? ":unlimited" : ":", f->pid);
	else if (!hard)
		change(d, "in the shell or script that starts the program", "ulimit -c unlimited");
	else if (f->container)
		change(d, "where the container is started: its hard limit is in the way", "%s",
		       d->ci && !strcmp(d->ci, "github") ? "container: {options: --ulimit core=-1}"
							 : "docker run --ulimit core=-1 …");
	else
		change(d, "as root, for the next login: the hard limit is in the way",
		       "echo '* - core unlimited' >/etc/security/limits.d/core.conf");
	if (f->systemd)
		change(d, "for a service of systemd", "systemctl edit SERVICE   # [Service] LimitCORE=infinity");
}

static void check_limits(struct doctor *d)
{
	const struct xc_doctor_facts *f = d->facts;
	show_limit(d, "soft_limit", "soft limit", f->soft);
	show_limit(d, "hard_limit", "hard limit", f->hard);
	if (!f->soft.known || f->soft.value == XC_DOCTOR_UNLIMITED)
		return;
	if (to_a_file(d) && !f->soft.value)
		prevents(d, "the soft limit of the size of cores is 0 (ulimit -c)");
	else if (to_a_file(d))
		xc_section_message(d->section, XC_WARNING, NULL,
				   "cores are truncated at the soft limit: the rest is missing, stacks included");
	if (to_a_file(d) || handled_by(d, "systemd-coredump") || handled_by(d, "apport"))
		raise_limit(d);
}

/* ---- what is in a core ---- */

static void check_filter(struct doctor *d)
{
	const struct xc_doctor_number filter = d->facts->filter;
	const char *lacks[XC_COREFILTER_BITS];
	struct xc_text has = {0};
	if (!filter.known) {
		xc_section_unknown(d->section, "coredump_filter", "in a core", "not readable");
		return;
	}
	xc_corefilter_words(filter.value, &has);
	xc_section_text(d->section, "coredump_filter", "in a core", has.bytes);
	xc_text_fini(&has);
	const size_t count = xc_corefilter_lacks(filter.value, lacks);
	for (size_t i = 0; i < count; i++)
		xc_section_message(d->section, XC_WARNING, NULL, "cores lack %s", lacks[i]);
	if (!count)
		return;
	xc_auto(xc_freep) char *process = d->facts->pid ? xc_asprintf("%d", d->facts->pid) : xc_strdup("self");
	change(d, d->facts->pid ? "what a core holds" : "what a core holds: in the shell that starts the program",
	       "echo 0x%" PRIx64 " >/proc/%s/coredump_filter", filter.value | XC_COREFILTER_DEFAULT, process);
}

/* ---- other facts ---- */

static void check_process(struct doctor *d)
{
	const struct xc_doctor_facts *f = d->facts;
	static const char *const suid[] = {"no cores of programs that changed their user",
					   "cores of them, too, readable by their user",
					   "cores of them, readable by root alone"};
	if (f->suid_dumpable.known && f->suid_dumpable.value < XC_COUNT(suid))
		xc_section_text(d->section, "suid_dumpable", "set-user-id", suid[f->suid_dumpable.value]);
	if (!f->undumpable)
		return;
	if (!f->suid_dumpable.value) {
		prevents(d, "the process must not be dumped: it changed its user, has capabilities of its file, or "
			    "asked for it "
			    "(prctl PR_SET_DUMPABLE)");
		change(d, "as root: cores of such programs, readable by root alone", "sysctl -w fs.suid_dumpable=2");
	} else if (kind_of(d) == XC_COREPATTERN_RELATIVE && f->suid_dumpable.value == 2) {
		prevents(d, "for a program that changed its user, only a pipe or an absolute path receives a core");
		set_pattern(d);
	}
}

static void check_room(struct doctor *d)
{
	const struct xc_doctor_facts *f = d->facts;
	if (f->directory)
		xc_section_text(d->section, "directory", "directory", f->directory);
	if (!f->room.known)
		return;
	xc_section_bytes(d->section, "room", "free space", f->room.value);
	if (f->room.value < LITTLE_ROOM)
		xc_section_message(d->section, XC_WARNING, NULL,
				   "little space: cores will be truncated, or not written at all");
}

static void check_container(struct doctor *d)
{
	const struct xc_doctor_facts *f = d->facts;
	xc_section_text(d->section, "container", "container", f->container ? f->container : "none detected");
	xc_section_bool(d->section, "own_pids", "own process ids", f->own_pids);
	xc_section_bool(d->section, "own_users", "own user ids", f->own_users);
	if (!f->container)
		return;
	xc_section_bool(d->section, "settings_read_only", "settings read-only", f->settings_read_only);
	if (f->settings_read_only)
		xc_section_message(d->section, XC_INFO, NULL,
				   "the pattern cannot be changed from here: /proc/sys is read-only");
	if (!strcmp(f->container, "kubernetes"))
		change(d, "in the pod: cores outlive it in a volume of the node",
		       "volumes: [{name: cores, hostPath: {path: /var/tmp}}]   # mounted at /var/tmp");
	if (d->ci && !strcmp(d->ci, "gitlab"))
		change(d, "in .gitlab-ci.yml: keep what was written", "artifacts: {when: on_failure, paths: [cores/]}");
}

static void check(struct doctor *d)
{
	show_pattern(d);
	if (kind_of(d) == XC_COREPATTERN_NONE && !d->facts->uses_pid.value) {
		prevents(d, "the pattern is empty: the kernel writes no cores");
		set_pattern(d);
	}
	check_limits(d);
	if (to_a_file(d))
		check_file(d);
	else if (kind_of(d) == XC_COREPATTERN_PIPE)
		check_pipe(d);
	check_room(d);
	check_process(d);
	check_filter(d);
	check_container(d);
}

static void conclude(struct doctor *d)
{
	struct xc_section *s = d->answer;
	const bool away = d->facts->handler && d->facts->container;
	struct xc_text answer = {0};
	if (!d->facts->pattern)
		xc_section_unknown(s, "answer", "answer", "the kernel's pattern cannot be read");
	else if (!d->kept)
		xc_text_printf(&answer, "no: %s", d->reason.bytes);
	else
		xc_text_add(&answer, away ? "on the host, not in this container" : "yes");
	if (d->facts->pattern) {
		xc_section_text(s, "answer", "answer", answer.bytes);
		xc_section_bool(s, "core", "core", d->kept && !away)->quiet = true;
	}
	xc_text_fini(&answer);
	if (!d->text.len)
		return;
	json_t *changes = json_object();
	xc_jsonvalue_set(changes, "commands", json_incref(d->changes));
	xc_section_document(xc_report_section(d->report, "changes", "What to change"), "changes", d->text.bytes,
			    changes);
}

void xc_doctor_report(struct xc_report *report, const struct xc_doctor_facts *facts, const char *ci)
{
	struct doctor d = {.facts = facts, .ci = ci, .report = report, .kept = true, .changes = json_array()};
	d.answer = xc_report_section(report, "doctor", "Does a crash leave a core?");
	d.section = xc_report_section(report, "settings", "Settings");
	if (facts->pattern)
		check(&d);
	conclude(&d);
	json_decref(d.changes);
	xc_text_fini(&d.text);
	xc_text_fini(&d.reason);
}
