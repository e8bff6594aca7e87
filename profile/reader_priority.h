/* reader_priority: how soon the reader of samples gets a processor.
 *
 * Stacks of interpreted languages are read after the sample. On a busy host an ordinary process waits for its turn for
 * longer than the functions last whose callers it is to read. So, in this order, as far as the host permits:
 *
 *	real time     SCHED_RR at the lowest priority: before all ordinary work, for some 100 us a sample. It ends when
 *	              the thread has not waited for 50 ms, so that nothing starves.
 *	short slices  of SCHED_OTHER (Linux 6.12): as much of the processor as before, but in small parts and sooner
 *
 * Who was started to be less urgent than others (nice, SCHED_BATCH, SCHED_IDLE) has no real time. */
#ifndef XC_READER_PRIORITY_H
#define XC_READER_PRIORITY_H

#include "core/base/base.h"

/* For the calling thread, the only one that may do so, until it restores; not for what it forks. */
void xc_reader_priority_raise(void);
void xc_reader_priority_restore(void); /* no-op when it was not raised */

/* Has it real time now? */
bool xc_reader_priority_is_real_time(void);

/* The thread that is to be sampled runs on this processor. In real time, while no processor of the host is idle, it is
 * read there: it waits meanwhile, for the time that others would wait, and its stack is that of the sample. */
void xc_reader_priority_follow(unsigned cpu);

#endif
