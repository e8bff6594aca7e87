/* keeper: the process that the user has started. It forks the one that does the work, and ends as that ends, or without it.
 *
 * A call to a file system that hangs cannot be ended, not even by SIGKILL, and with it the process that made it: whoever waits for that, waits for
 * ever. So the one that is waited for touches no file. It looks what the other one waits for (core/io/stall.h), names it when that takes long, and
 * gives up after a time that the user may choose (--io-timeout), with status 4. SIGINT, SIGTERM and SIGHUP end both: the other one has a moment to
 * finish (some seconds when it has much to save), none when a file keeps it. Then everything that it has started is killed, what it would have removed is removed, the terminal is as it
 * was, and nobody who reads our output waits for more. */
#ifndef XC_KEEPER_H
#define XC_KEEPER_H

/* Returns in the process that is to do the work; or in this one, unkept, where there cannot be another one. */
void xc_keeper_fork(void);

/* For the end of that process: closes what is open, where closing may hang and is watched. */
void xc_keeper_close(void);

#endif
