/* channel: who has the other ends of a Rust channel that a thread waits at. */
#ifndef XC_CHANNEL_H
#define XC_CHANNEL_H

#include "triage/crash/crash_context.h"
#include "triage/waits/wait.h"

/* Of a wait of the kind CHANNEL of std::sync::mpsc: report as evidence how many senders (for one that waits to send:
 * receivers) the channel still has, and which variables of the program's functions likely are or contain one, with
 * what their threads wait for. While there are any, it is not closed. Nothing where the types of std are not found
 * (since
 * 1.67; of older ones, for who waits to receive). Unwinds all stacks, 48 frames of each. */
void xc_channel_report(struct xc_crash_context *crash, const struct xc_wait *wait);

#endif
