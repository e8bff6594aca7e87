#include "cli/shared/profile_many.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/io/stall.h"
#include "profile/data/profile_file.h"
#include "profile/data/profile_merge.h"

enum { MOST = 500 /* processes */, PAUSE_US = 10000, LEAST_NS = 1000000 };

/* An xcore that samples a process. */
struct worker {
	pid_t target, pid;
	int fd;     /* what it writes */
	bool found; /* the target began later, or was found as a child */
	bool ended;
	bool done; /* and has written all */
};

struct many {
	const struct xc_many_options *options;
	struct worker *workers;
	size_t count, room;
	uint64_t until_ns;
	size_t found;    /* children */
	size_t left_out; /* targets and children that were too many, or could not be sampled */
};

static bool is_known(const struct many *m, pid_t target)
{
	if (target == getpid() || target == getppid()) /* ourselves, and our watchdog */
		return true;
	for (size_t i = 0; i < m->count; i++)
		if (m->workers[i].target == target)
			return true;
	return false;
}

/* ---- workers ---- */

static int start(const struct many *m, struct worker *w)
{
	extern char **environ;
	const uint64_t now = xc_now_ns(), left = m->until_ns > now + LEAST_NS ? m->until_ns - now : LEAST_NS;
	xc_auto(xc_freep) char *target = xc_asprintf("pid:%d", (int)w->target);
	xc_auto(xc_freep) char *time = xc_asprintf("--for=%" PRIu64 "ms", left / 1000000);
	char *const fixed[] = {"xcore", "profile", target, time, "--as=xprof", "--quiet"};
	const struct xc_words *given = m->options->given;
	xc_auto(xc_freep) char **words = xc_alloc((XC_COUNT(fixed) + given->count + 1) * sizeof *words);
	memcpy(words, fixed, sizeof fixed);
	for (size_t i = 0; i < given->count; i++)
		words[XC_COUNT(fixed) + i] = (char *)(uintptr_t)given->items[i];
	posix_spawn_file_actions_t actions;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, w->fd, STDOUT_FILENO);
	if (w->found) /* that it has ended by then is counted */
		posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	const int error = posix_spawn(&w->pid, "/proc/self/exe", &actions, NULL, words, environ);
	posix_spawn_file_actions_destroy(&actions);
	return error;
}

static struct xc_error *begin(struct many *m, pid_t target, bool found)
{
	struct worker w = {.target = target, .fd = memfd_create("xcore-profile", MFD_CLOEXEC), .found = found};
	const int error = w.fd < 0 ? errno : start(m, &w);
	if (error) {
		if (w.fd >= 0)
			close(w.fd);
		return xc_error_errno(error, "sampling pid:%d", (int)target);
	}
	m->workers = xc_grow(m->workers, m->count, &m->room, sizeof *m->workers);
	m->workers[m->count++] = w;
	return NULL;
}

static bool reap(struct many *m, int flags)
{
	bool all = true;
	for (size_t i = 0; i < m->count; i++) {
		struct worker *w = &m->workers[i];
		int status;
		if (!w->ended && waitpid(w->pid, &status, flags) == w->pid) {
			w->ended = true;
			w->done = WIFEXITED(status) && WEXITSTATUS(status) == 0;
		}
		all &= w->ended;
	}
	return all;
}

static void end_early(const struct many *m)
{
	for (size_t i = 0; i < m->count; i++)
		if (!m->workers[i].ended)
			kill(m->workers[i].pid, SIGTERM);
}

/* ---- children ---- */

static void add_child(struct many *m, pid_t child)
{
	struct xc_error *err = NULL;
	if (is_known(m, child))
		return;
	m->found++;
	if (m->count >= MOST || (err = begin(m, child, true)))
		m->left_out++;
	xc_error_free(err);
}

/* Those of all, children's too: they are added behind. */
static void find_children(struct many *m)
{
	for (size_t i = 0; i < m->count; i++) {
		xc_auto(xc_freep) pid_t *children = xc_stall_children(m->workers[i].target);
		for (const pid_t *child = children; *child; child++)
			add_child(m, *child);
	}
}

/* ---- the run ---- */

static void wait_for_all(struct many *m)
{
	bool told = false;
	while (!reap(m, WNOHANG)) {
		const bool interrupted = *m->options->interrupted != 0;
		if (interrupted && !told)
			end_early(m);
		told = interrupted;
		if (m->options->children && !interrupted && xc_now_ns() + LEAST_NS < m->until_ns)
			find_children(m);
		usleep(PAUSE_US);
	}
}

/* ^C reaches the workers of a terminal, too. */
static struct xc_error *begin_targets(struct many *m)
{
	const struct xc_words *targets = m->options->targets;
	for (size_t i = 0; i < targets->count; i++) {
		uint64_t pid;
		struct xc_error *err = NULL;
		if (!xc_begins_with(targets->items[i], "pid:") ||
		    !xc_options_number(targets->items[i] + strlen("pid:"), INT32_MAX, &pid) || !pid)
			return xc_error_new(XC_ERR_USAGE, "%s: only running processes (pid:N) are sampled together",
					    targets->items[i]);
		if (!is_known(m, (pid_t)pid) && (err = begin(m, (pid_t)pid, false)))
			return err;
	}
	return NULL;
}

/* What the workers have written: NULL where one has failed. */
static struct xc_error *read_all(struct many *m, struct xc_profile_data **profiles, size_t *count_out)
{
	struct xc_error *err = NULL;
	*count_out = 0;
	for (size_t i = 0; i < m->count && !err; i++) {
		xc_auto(xc_freep) char *path = xc_asprintf("/proc/self/fd/%d", m->workers[i].fd);
		if (!m->workers[i].done)
			m->left_out++;
		else if (!(err = xc_profile_file_read(path, &profiles[*count_out])))
			++*count_out;
	}
	if (!err && !*count_out)
		err = xc_error_new(XC_ERR_NOT_FOUND, "none of the processes could be sampled");
	return err;
}

/* Processes that were forked meanwhile, as the accounts of all tell. */
static uint64_t forks_of(const struct xc_profile_data *d)
{
	for (size_t i = 0; i < d->account.count; i++) {
		const struct xc_profile_fact *fact = &d->account.rows[i];
		if (fact->key && strcmp(xc_profile_data_text(d, fact->key), "forks") == 0)
			return fact->number;
	}
	return 0;
}

static void add_left_out(const struct many *m, struct xc_profile_data *d)
{
	struct xc_report *report = xc_report_new("profile");
	struct xc_section *s = xc_report_section(report, "profile", "Profile");
	const uint64_t forks = forks_of(d);
	if (m->left_out)
		xc_section_message(s, XC_WARNING, NULL,
				   "%zu of the processes %s not sampled: %s ended, or could not be", m->left_out,
				   m->left_out > 1 ? "were" : "was", m->left_out > 1 ? "they had" : "it had");
	if (forks && !m->options->children)
		xc_section_message(s, XC_INFO, "--children samples them too", "%" PRIu64 " processes were forked",
				   forks);
	else if (forks > m->found)
		xc_section_message(s, XC_WARNING, NULL,
				   "%" PRIu64 " of %" PRIu64
				   " processes that were forked had ended before they were found",
				   forks - m->found, forks);
	if (m->options->children)
		xc_section_message(s, XC_INFO, NULL,
				   "children are sampled from some hundredths of a second after their start");
	xc_profile_facts_keep(&d->account, &d->texts, s);
	xc_report_free(report);
}

static struct xc_error *collect(struct many *m, struct xc_profile_data **data_out)
{
	size_t count;
	xc_auto(xc_freep) struct xc_profile_data **profiles = xc_alloc((m->count + 1) * sizeof(void *));
	struct xc_error *err = read_all(m, profiles, &count);
	if (!err && !(err = xc_profile_merge(profiles, count, data_out)))
		add_left_out(m, *data_out);
	for (size_t i = 0; i < count; i++)
		xc_profile_data_free(profiles[i]);
	return err;
}

struct xc_error *xc_profile_many(const struct xc_many_options *options, struct xc_profile_data **data_out)
{
	struct many m = {.options = options, .until_ns = xc_now_ns() + options->ns};
	struct xc_error *err = begin_targets(&m);
	if (err)
		end_early(&m);
	if (err)
		(void)reap(&m, 0);
	else
		wait_for_all(&m);
	if (!err)
		err = collect(&m, data_out);
	for (size_t i = 0; i < m.count; i++)
		close(m.workers[i].fd);
	free(m.workers);
	return err;
}
