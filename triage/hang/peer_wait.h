/* peer_wait: all threads wait for other processes: for one that has the other end of a pipe or socket, or for a
 * child. */
#ifndef XC_PEER_WAIT_H
#define XC_PEER_WAIT_H

#include "triage/crash/crash_context.h"

/* Does each thread wait in a call that only another process ends: read, write, poll without a timeout, wait for a
 * child? Set the class hang (kind "other process", a guess) when there is no verdict and one writes, or waits for one
 * child, or the variable with its descriptor lies beside a child's id. A program that waits for its input, or for
 * clients, is well. Of a process that another one killed, it is evidence in any case.
 *
 * Reported are the descriptor and its variable, the bytes that are left, the child's id, and descriptors beside it that
 * nobody reads: that is where the child may wait, too. Of a process that lives, what the child does, and whether it is
 * at a pipe whose other end this one has. */
bool xc_peer_wait_classify(struct xc_crash_context *crash);

#endif
