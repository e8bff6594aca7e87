/* scout: talks with its parent over a pair of sockets: it says when its name spaces are made, waits until they were opened, and says what
 * kept it from the jail; nothing, if nothing did. */
#include "batch/sandbox/scout.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "batch/sandbox/jail.h"
#include "batch/util/passing.h"

enum { WORDS = 256, FAILED = 1 /* exit status */ };

/* ---- the scout ---- */

static void say(int socket, const char *bytes, size_t len)
{
	if (write(socket, bytes, len) != (ssize_t)len)
		_exit(FAILED);
}

_Noreturn static void go(const struct xc_worker_options *options, int socket)
{
	const struct xc_jail jail = xc_worker_jail(options);
	const char made = unshare(CLONE_NEWUSER | CLONE_NEWNET) ? 'n' : 'y';
	char seen;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (int number = 1; number < NSIG; number++)
		signal(number, SIG_DFL);
	say(socket, &made, 1);
	if (read(socket, &seen, 1) != 1)
		_exit(FAILED);
	struct xc_error *err = xc_jail_enter(&jail);
	if (err)
		say(socket, err->message, strlen(err->message));
	_exit(err ? FAILED : 0);
}

/* ---- the parent ---- */

struct talk {
	const struct xc_worker_options *options;
	pid_t pid;
	int socket;
	bool silent; /* it did not answer */
};

static int open_space(pid_t pid, const char *kind)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/%ld/ns/%s", (long)pid, kind);
	return open(path, O_RDONLY | O_CLOEXEC);
}

static void open_spaces(pid_t pid, struct xc_scout *scout)
{
	scout->user = open_space(pid, "user");
	scout->net = open_space(pid, "net");
	if (scout->user < 0 || scout->net < 0)
		xc_scout_fini(scout);
}

/* As read(2). One that says nothing and does not end is ended, by which there is nothing more to read. */
static ssize_t hear(struct talk *talk, void *bytes, size_t size)
{
	if (!talk->silent && !xc_passing_wait(talk->socket, XC_WORKER_ANSWER_SECONDS, talk->options->stopped)) {
		talk->silent = true;
		kill(talk->pid, SIGKILL);
	}
	ssize_t n;
	do
		n = read(talk->socket, bytes, size);
	while (n < 0 && errno == EINTR);
	return n;
}

/* What the scout says behind its first byte, until it ends. */
static void listen_to(struct talk *talk, char words[WORDS])
{
	size_t len = 0;
	ssize_t n = 0;
	while (len < WORDS - 1 && (n = hear(talk, words + len, WORDS - 1 - len)) > 0)
		len += (size_t)n;
	words[len] = '\0';
}

static struct xc_error *judge(const struct talk *talk, int status, const char *words)
{
	struct xc_error *err;
	if (talk->silent)
		return xc_error_new(XC_ERR_IO, "no core can be looked at here: the process that tries a worker's jail "
					       "does not answer: was it stopped?");
	if (WIFEXITED(status) && !WEXITSTATUS(status))
		return NULL;
	if (WIFSIGNALED(status))
		err = xc_error_new(XC_ERR_IO, "no core can be looked at here: a worker's jail ends it (signal %d, %s)",
				   WTERMSIG(status), strsignal(WTERMSIG(status)));
	else
		err = xc_error_new(XC_ERR_IO, "no core can be looked at here: %s",
				   *words ? words : "a worker ends before it is in its jail");
	return xc_error_hint(err,
			     "workers need seccomp filters: run where the container's or the kernel's settings allow "
			     "them; `xcore analyze` looks at a core that you trust without a jail");
}

static struct xc_error *meet(struct talk *talk, struct xc_scout *scout)
{
	char made = 'n', words[WORDS];
	int status = 0;
	if (hear(talk, &made, 1) == 1 && made == 'y')
		open_spaces(talk->pid, scout);
	if (send(talk->socket, "", 1, MSG_NOSIGNAL) < 0)
		errno = 0; /* how it ended tells more */
	listen_to(talk, words);
	while (waitpid(talk->pid, &status, 0) < 0)
		if (errno != EINTR)
			break; /* SIGCHLD is ignored: nobody can say how it ended */
	struct xc_error *err = judge(talk, status, words);
	if (err)
		xc_scout_fini(scout);
	return err;
}

struct xc_error *xc_scout_send(const struct xc_worker_options *options, struct xc_scout *scout_out)
{
	int sockets[2];
	struct xc_scout scout = {-1, -1};
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets))
		return xc_error_errno(errno, "starting a worker");
	const pid_t pid = fork();
	const int number = errno;
	if (pid == 0) {
		close(sockets[0]);
		go(options, sockets[1]);
	}
	close(sockets[1]);
	struct talk talk = {.options = options, .pid = pid, .socket = sockets[0]};
	struct xc_error *err = pid < 0 ? xc_error_errno(number, "starting a worker") : meet(&talk, &scout);
	close(sockets[0]);
	if (!err)
		*scout_out = scout;
	return err;
}

void xc_scout_fini(struct xc_scout *scout)
{
	if (scout->user >= 0)
		close(scout->user);
	if (scout->net >= 0)
		close(scout->net);
	*scout = (struct xc_scout){-1, -1};
}

/* ---- a worker ---- */

void xc_scout_follow(const struct xc_scout *scout)
{
	if (scout->user < 0 || setns(scout->user, CLONE_NEWUSER))
		return;
	if (setns(scout->net, CLONE_NEWNET))
		errno = 0; /* no network is reached without it either */
}
