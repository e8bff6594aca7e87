/* fd_passing: messages over a socket of packets that have descriptors with them. */
#ifndef XC_FD_PASSING_H
#define XC_FD_PASSING_H

#include <signal.h>
#include <sys/types.h>

#include "core/base/base.h"

enum { XC_FD_PASSING_MOST = 4 }; /* descriptors of one message */

/* Send a packet and copies of descriptors. As sendmsg with these flags: -1 with errno set. Never a SIGPIPE. */
ssize_t xc_fd_passing_send(int socket, const void *bytes, size_t size, const int *descriptors, size_t count, int flags);

/* Receive one and the descriptors that came with it, at most count of them, -1 for those that did not; more are closed. As recvmsg with these
 * flags: 0 when the other side has gone, -1 with errno set. What is longer is cut. */
ssize_t xc_fd_passing_receive(int socket, void *bytes, size_t size, int *descriptors, size_t count, int flags);

/* Wait until the socket can be read or the other side has gone: at most this many seconds, and only a moment longer once
 * *stopped is true (stopped may be NULL). False: neither happened. */
bool xc_fd_passing_wait(int socket, unsigned seconds, const volatile sig_atomic_t *stopped);

#endif
