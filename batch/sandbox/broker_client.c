#include "batch/sandbox/broker_client.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "core/io/opener.h"
#include "batch/util/fd_passing.h"
#include "batch/sandbox/broker_protocol.h"

static int asked;           /* the socket */
static uint32_t last_asked; /* number of the last request; no request has 0 */

/* Receives the answer to the last request. Answers to earlier requests are dropped. */
static int receive(bool *special)
{
	struct xc_broker_answer answer;
	ssize_t size;
	int fd;
	for (;;) {
		size = xc_fd_passing_receive(asked, &answer, sizeof answer, &fd, 1, 0);
		if (size != sizeof answer || answer.number == last_asked)
			break;
		if (fd >= 0)
			close(fd);
	}
	*special = size == sizeof answer && answer.special;
	errno = size == sizeof answer ? answer.error : EIO;
	return errno ? -1 : fd;
}

static int ask(enum xc_broker_request_kind kind, const char *first, const char *second, bool *special)
{
	struct xc_broker_request request = {.kind = (int)kind, .number = last_asked + 1, .has_root = first != NULL};
	const size_t first_size = strlen(first ? first : "") + 1, second_size = strlen(second) + 1;
	errno = ENAMETOOLONG;
	if (first_size > XC_BROKER_REQUEST_TEXT || second_size > XC_BROKER_REQUEST_TEXT)
		return -1;
	memcpy(request.texts, first ? first : "", first_size);
	memcpy(request.texts + first_size, second, second_size);
	last_asked++;
	const size_t size = offsetof(struct xc_broker_request, texts) + first_size + second_size;
	return xc_fd_passing_send(asked, &request, size, NULL, 0, 0) < 0 ? -1 : receive(special);
}

static int ask_file(void *user, const char *root, const char *path, bool *special)
{
	(void)user;
	return ask(XC_BROKER_REQUEST_FILE, root, path, special);
}

static int ask_kept(void *user, const char *kind, const char *name)
{
	bool special;
	(void)user;
	return ask(XC_BROKER_REQUEST_KEPT, kind, name, &special);
}

static int ask_scratch(void *user)
{
	bool special;
	(void)user;
	return ask(XC_BROKER_REQUEST_SCRATCH, NULL, "", &special);
}

int xc_broker_client_core(void)
{
	bool special;
	return ask(XC_BROKER_REQUEST_CORE, NULL, "", &special);
}

void xc_broker_client_begin(int socket)
{
	static const struct xc_opener opener = {.regular = ask_file, .kept = ask_kept, .scratch = ask_scratch};
	asked = socket;
	xc_opener_use(&opener);
}
