/* interrupts: the signals that ask a command to stop (SIGINT, SIGTERM, SIGHUP), for commands that must finish something
 * first.
 *
 * The watchdog (watchdog.h) gives them a moment, some seconds if they announce that (told.h), and no time when a
 * file blocks them. */
#ifndef XC_INTERRUPTS_H
#define XC_INTERRUPTS_H

#include <signal.h>

/* The last signal since xc_interrupts_catch; 0: none. */
extern volatile sig_atomic_t xc_interrupted_by;

/* From now on signals are only recorded. A signal that was ignored at the start (nohup) stays ignored. */
void xc_interrupts_catch(void);

/* From now on signals end the process at once. */
void xc_interrupts_release(void);

#endif
