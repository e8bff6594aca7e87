#include "core/perf/call_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

struct xc_call_reader {
	pid_t child;
	int socket;
	struct xc_call_text *texts; /* XC_CALL_BATCH, shared with the child */
};

/* ---- the child ---- */

static int read_file(int dir, const char *name, char *text, size_t size)
{
	const int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	const ssize_t got = fd >= 0 ? read(fd, text, size - 1) : -1;
	const int error = got < 0 ? errno : 0;
	if (fd >= 0)
		close(fd);
	text[got > 0 ? got : 0] = '\0';
	return error;
}

static void answer(int dir, pid_t tid, struct xc_call_text *text)
{
	char name[64], *end;
	snprintf(name, sizeof name, "%d/syscall", (int)tid);
	text->error = read_file(dir, name, text->call, sizeof text->call);
	(void)strtol(text->call, &end, 10);
	const unsigned long long first = end != text->call ? strtoull(end, NULL, 16) : UINT64_MAX;
	ssize_t len = 0;
	if (first <= INT32_MAX) {
		snprintf(name, sizeof name, "%d/fd/%llu", (int)tid, first);
		len = readlinkat(dir, name, text->file, sizeof text->file - 1);
	}
	text->file[len > 0 ? len : 0] = '\0';
}

/* Ends when the parent closes its end, or ends. Signals of the terminal are the parent's business. */
static _Noreturn void serve(int dir, int fd, struct xc_call_text *texts)
{
	pid_t tids[XC_CALL_BATCH];
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	for (ssize_t len; (len = recv(fd, tids, sizeof tids, 0)) > 0;) {
		const size_t count = (size_t)len / sizeof *tids;
		for (size_t i = 0; i < count; i++)
			answer(dir, tids[i], &texts[i]);
		if (send(fd, &count, sizeof count, MSG_NOSIGNAL) < 0)
			break;
	}
	_exit(0);
}

/* ---- the parent ---- */

struct xc_error *xc_call_reader_start(int task_dir, struct xc_call_reader **reader_out)
{
	const size_t size = XC_CALL_BATCH * sizeof(struct xc_call_text);
	int ends[2];
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return xc_error_errno(errno, "socketpair");
	struct xc_call_text *texts = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	const pid_t child = texts != MAP_FAILED ? fork() : -1;
	const int error = errno;
	if (child == 0) {
		close(ends[0]);
		serve(task_dir, ends[1], texts);
	}
	close(ends[1]);
	if (child < 0) {
		close(ends[0]);
		if (texts != MAP_FAILED)
			munmap(texts, size);
		return xc_error_errno(error, "a child that reads system calls");
	}
	*reader_out = xc_alloc(sizeof **reader_out);
	**reader_out = (struct xc_call_reader){child, ends[0], texts};
	return NULL;
}

/* An empty message ends the child, also when another child has inherited our end of the socket. */
void xc_call_reader_free(struct xc_call_reader *r)
{
	if (!r)
		return;
	(void)send(r->socket, "", 0, MSG_NOSIGNAL);
	close(r->socket);
	while (waitpid(r->child, NULL, 0) < 0 && errno == EINTR)
		;
	munmap(r->texts, XC_CALL_BATCH * sizeof *r->texts);
	free(r);
}

const struct xc_call_text *xc_call_reader_read(struct xc_call_reader *r, const pid_t *tids, size_t count)
{
	size_t done = 0;
	ssize_t got;
	if (send(r->socket, tids, count * sizeof *tids, MSG_NOSIGNAL) < 0)
		return NULL;
	while ((got = recv(r->socket, &done, sizeof done, 0)) < 0 && errno == EINTR)
		;
	if (got != sizeof done || done != count)
		return NULL;
	for (size_t i = 0; i < count; i++) /* the child is no more trusted than what it reads */
		r->texts[i].call[sizeof r->texts[i].call - 1] = r->texts[i].file[sizeof r->texts[i].file - 1] = '\0';
	return r->texts;
}
