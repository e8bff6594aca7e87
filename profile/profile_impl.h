/* profile_impl: what the ways of sampling share. Private to profile. */
#ifndef XC_PROFILE_IMPL_H
#define XC_PROFILE_IMPL_H

#include "profile/profile.h"

/* Samples that stand for the time between two instants, or for one. */
struct xc_profile_span {
	uint64_t from_ns, to_ns, samples;
};

/* Count samples of a stack, in a thread that runs (what 0), or waits for `what`. */
void xc_profile_count_stack(struct xc_profile *profile, uint32_t stack, uint32_t what, pid_t tid,
			    struct xc_profile_span span);
void xc_profile_count_waits(struct xc_profile *profile, uint32_t stack, uint32_t what, pid_t tid,
			    struct xc_profile_span span);

/* Read the mappings again, when code was mapped, or a stack lies in none; at most a tenth of the time. */
void xc_profile_update_maps(struct xc_profile *profile, bool code, bool stack, uint64_t now);

/* CPU time by /proc since times were read last. */
void xc_profile_end_times(struct xc_profile *profile);

/* profile_polled.c */
xc_polling_take xc_profile_take_polled;
void xc_profile_poll(struct xc_profile *profile); /* a tick; sets due_ns */
void xc_profile_pause(uint64_t now, uint64_t due);
void xc_profile_end_polling(struct xc_profile *profile);

#endif
