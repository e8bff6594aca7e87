/* fd_passing: messages with attached descriptors, over a packet socket. */
#ifndef XC_FD_PASSING_H
#define XC_FD_PASSING_H

#include <signal.h>
#include <sys/types.h>

#include "core/base/base.h"

enum { XC_FD_PASSING_MOST = 4 }; /* per message */

/* Sends a packet and copies of descriptors. As sendmsg with these flags: -1 with errno set. Never raises SIGPIPE.
 * Unless MSG_DONTWAIT is among the flags, waits up to three seconds while too many descriptors of this user are under
 * way. */
ssize_t xc_fd_passing_send(int socket, const void *bytes, size_t size, const int *descriptors, size_t count, int flags);

/* Receives a packet and up to `count` attached descriptors; missing ones are -1, excess ones are closed. As recvmsg
 * with these flags: 0 if the other side is gone, -1 with errno set. A longer packet is truncated. */
ssize_t xc_fd_passing_receive(int socket, void *bytes, size_t size, int *descriptors, size_t count, int flags);

/* Waits until the socket is readable or the other side is gone: at most this many seconds, and only a moment longer
 * once *stopped is true (stopped may be NULL). False: neither happened. */
bool xc_fd_passing_wait(int socket, unsigned seconds, const volatile sig_atomic_t *stopped);

#endif
