/* watchdog: the process that the user has started. It forks a child that does the work, and ends as the child ends.
 *
 * A process that waits for a file system that hangs cannot be ended, not even by SIGKILL; its parent would wait for
 * ever. So the parent touches no file. It watches which system call the child waits in (core/io/stall.h), names a
 * file that takes long, and gives up after a time that the user chooses (--io-timeout), with status 4. SIGINT,
 * SIGTERM, SIGHUP and SIGQUIT end both processes. The child gets a moment to finish, some seconds when it has much to
 * save, and no time when a file blocks it. Then all processes that the child has started are killed, its temporary
 * files are removed, the terminal is restored, and the standard streams are closed, so that no reader of the output
 * waits. */
#ifndef XC_WATCHDOG_H
#define XC_WATCHDOG_H

/* Returns in the child. Returns in the calling process, which then has no watchdog, when no child can be made. */
void xc_watchdog_fork(void);

/* The last call of the child: closes all files while the watchdog still watches, since closing may hang. */
void xc_watchdog_close(void);

#endif
