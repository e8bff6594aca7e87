/* stall: says on standard error that this process waits for a file that does not answer.
 *
 * A file system may hang (NFS, FUSE, autofs), and then the call that asks it for something does not return, not even for a signal. So a thread
 * beside it looks what the other one does, as the kernel tells it (/proc/self/task/TID/syscall), and names the file when it has been in one
 * call for too long; it is not there while the other one forks, so that no child begins with what it had locked. Waiting for processes, sockets
 * and who reads our output is not told: that has an end of its own. */
#ifndef XC_STALL_H
#define XC_STALL_H

#include "base.h"

enum { XC_STALL_SECONDS = 10 };

/* Watch the thread that calls this, from now on, where the kernel tells what it does; once at a time. What takes `milliseconds` is told, once
 * each time, within the half of that. */
void xc_stall_start(unsigned milliseconds);
void xc_stall_stop(void);

#endif
