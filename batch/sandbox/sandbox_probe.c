/* sandbox_probe: talks to its parent over a socket pair. It reports whether its name spaces exist, waits until the
 * parent has opened them, and then reports why it could not enter the sandbox; nothing on success. */
#include "batch/sandbox/sandbox_probe.h"

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

#include "batch/sandbox/worker_sandbox.h"
#include "batch/util/fd_passing.h"

enum { WORDS = 256, FAILED = 1 /* exit status */ };

/* ---- the probe ---- */

static void send_bytes(int socket, const char *bytes, size_t len)
{
	if (write(socket, bytes, len) != (ssize_t)len)
		_exit(FAILED);
}

_Noreturn static void go(const struct xc_worker_options *options, int socket)
{
	const struct xc_worker_sandbox sandbox = xc_worker_options_sandbox(options);
	const char made = unshare(CLONE_NEWUSER | CLONE_NEWNET) ? 'n' : 'y';
	char seen;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (int number = 1; number < NSIG; number++)
		signal(number, SIG_DFL);
	send_bytes(socket, &made, 1);
	if (read(socket, &seen, 1) != 1)
		_exit(FAILED);
	struct xc_error *err = xc_worker_sandbox_enter(&sandbox);
	if (err)
		send_bytes(socket, err->message, strlen(err->message));
	_exit(err ? FAILED : 0);
}

/* ---- the parent ---- */

struct talk {
	const struct xc_worker_options *options;
	pid_t pid;
	int socket;
	bool silent; /* it did not respond */
};

static int open_space(pid_t pid, const char *kind)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/%ld/ns/%s", (long)pid, kind);
	return open(path, O_RDONLY | O_CLOEXEC);
}

static void open_spaces(pid_t pid, struct xc_sandbox_probe *probe)
{
	probe->user = open_space(pid, "user");
	probe->net = open_space(pid, "net");
	if (probe->user < 0 || probe->net < 0)
		xc_sandbox_probe_fini(probe);
}

/* As read(2). A probe that neither writes nor ends is killed, which ends the stream. */
static ssize_t receive(struct talk *talk, void *bytes, size_t size)
{
	if (!talk->silent && !xc_fd_passing_wait(talk->socket, XC_WORKER_ANSWER_SECONDS, talk->options->stopped)) {
		talk->silent = true;
		kill(talk->pid, SIGKILL);
	}
	ssize_t n;
	do
		n = read(talk->socket, bytes, size);
	while (n < 0 && errno == EINTR);
	return n;
}

/* Reads what follows the probe's first byte, until the probe ends. */
static void receive_message(struct talk *talk, char words[WORDS])
{
	size_t len = 0;
	ssize_t n = 0;
	while (len < WORDS - 1 && (n = receive(talk, words + len, WORDS - 1 - len)) > 0)
		len += (size_t)n;
	words[len] = '\0';
}

static struct xc_error *error_of(const struct talk *talk, int status, const char *words)
{
	struct xc_error *err;
	if (talk->silent)
		return xc_error_new(XC_ERR_IO, "no core can be examined here: the process that probes the sandbox "
					       "does not answer: was it stopped?");
	if (WIFEXITED(status) && !WEXITSTATUS(status))
		return NULL;
	if (WIFSIGNALED(status))
		err = xc_error_new(XC_ERR_IO, "no core can be examined here: the sandbox ends a worker (signal %d, %s)",
				   WTERMSIG(status), strsignal(WTERMSIG(status)));
	else
		err = xc_error_new(XC_ERR_IO, "no core can be examined here: %s",
				   *words ? words : "a worker ends before it enters its sandbox");
	return xc_error_hint(err,
			     "workers need seccomp filters: run where the container's or the kernel's settings allow "
			     "them; `xcore analyze` examines a core that you trust without a sandbox");
}

static struct xc_error *meet(struct talk *talk, struct xc_sandbox_probe *probe)
{
	char made = 'n', words[WORDS];
	int status = 0;
	if (receive(talk, &made, 1) == 1 && made == 'y')
		open_spaces(talk->pid, probe);
	if (send(talk->socket, "", 1, MSG_NOSIGNAL) < 0)
		errno = 0; /* its exit status is more informative */
	receive_message(talk, words);
	while (waitpid(talk->pid, &status, 0) < 0)
		if (errno != EINTR)
			break; /* SIGCHLD is ignored: the exit status is lost */
	struct xc_error *err = error_of(talk, status, words);
	if (err)
		xc_sandbox_probe_fini(probe);
	return err;
}

struct xc_error *xc_sandbox_probe_run(const struct xc_worker_options *options, struct xc_sandbox_probe *probe_out)
{
	int sockets[2];
	struct xc_sandbox_probe probe = {-1, -1};
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
	struct xc_error *err = pid < 0 ? xc_error_errno(number, "starting a worker") : meet(&talk, &probe);
	close(sockets[0]);
	if (!err)
		*probe_out = probe;
	return err;
}

void xc_sandbox_probe_fini(struct xc_sandbox_probe *probe)
{
	if (probe->user >= 0)
		close(probe->user);
	if (probe->net >= 0)
		close(probe->net);
	*probe = (struct xc_sandbox_probe){-1, -1};
}

/* ---- a worker ---- */

void xc_sandbox_probe_enter(const struct xc_sandbox_probe *probe)
{
	if (probe->user < 0 || setns(probe->user, CLONE_NEWUSER))
		return;
	if (setns(probe->net, CLONE_NEWNET))
		errno = 0; /* without it, no network is reachable either */
}
