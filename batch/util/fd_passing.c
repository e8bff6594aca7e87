/* fd_passing: uses SCM_RIGHTS. */
#include "batch/util/fd_passing.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { WAKE_MS = 250, LAST_WAITS = 2, FLIGHT_MS = 5, FLIGHT_TRIES = 600 };

union control {
	char bytes[CMSG_SPACE(XC_FD_PASSING_MOST * sizeof(int))];
	struct cmsghdr header;
};

ssize_t xc_fd_passing_send(int socket, const void *bytes, size_t size, const int *descriptors, size_t count, int flags)
{
	union control control = {.bytes = {0}};
	struct iovec piece = {(void *)(uintptr_t)bytes, size};
	struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1};
	ssize_t sent;
	if (count) {
		control.header = (struct cmsghdr){
			.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(count * sizeof(int))};
		memcpy(CMSG_DATA(&control.header), descriptors, count * sizeof(int));
		message.msg_control = control.bytes;
		message.msg_controllen = CMSG_SPACE(count * sizeof(int));
	}
	for (int tries = 0;; tries++) {
		do
			sent = sendmsg(socket, &message, flags | MSG_NOSIGNAL);
		while (sent < 0 && errno == EINTR);
		/* Other processes of this user have as many descriptors under way as one may hold: they arrive soon. */
		if (sent >= 0 || errno != ETOOMANYREFS || (flags & MSG_DONTWAIT) || tries == FLIGHT_TRIES)
			return sent;
		poll(NULL, 0, FLIGHT_MS);
	}
}

static void take(const struct cmsghdr *header, int *descriptors, size_t count)
{
	const size_t came = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
	for (size_t i = 0; i < came; i++) {
		int fd;
		memcpy(&fd, CMSG_DATA(header) + i * sizeof fd, sizeof fd);
		if (i < count)
			descriptors[i] = fd;
		else
			close(fd);
	}
}

ssize_t xc_fd_passing_receive(int socket, void *bytes, size_t size, int *descriptors, size_t count, int flags)
{
	union control control = {.bytes = {0}};
	struct iovec piece = {bytes, size};
	struct msghdr message = {.msg_iov = &piece,
				 .msg_iovlen = 1,
				 .msg_control = control.bytes,
				 .msg_controllen = sizeof control.bytes};
	ssize_t received;
	for (size_t i = 0; i < count; i++)
		descriptors[i] = -1;
	do
		received = recvmsg(socket, &message, flags | MSG_CMSG_CLOEXEC);
	while (received < 0 && errno == EINTR);
	const struct cmsghdr *header = received < 0 ? NULL : CMSG_FIRSTHDR(&message);
	if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS)
		take(header, descriptors, count);
	return received;
}

bool xc_fd_passing_wait(int socket, unsigned seconds, const volatile sig_atomic_t *stopped)
{
	struct pollfd polled = {.fd = socket, .events = POLLIN};
	for (unsigned waits = seconds * 1000 / WAKE_MS; waits; waits--) {
		if (poll(&polled, 1, WAKE_MS) > 0)
			return true;
		if (stopped && *stopped && waits > LAST_WAITS)
			waits = LAST_WAITS;
	}
	return false;
}
