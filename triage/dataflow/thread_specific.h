/* thread_specific: thread-specific data: the value under a key of pthread_key_create(). */
#ifndef XC_THREAD_SPECIFIC_H
#define XC_THREAD_SPECIFIC_H

#include "triage/crash/crash_context.h"

/* The result of pthread_getspecific(key) in the crashed thread, for the first 32 keys; 0 is a value. False when it
 * is not known: another C library than glibc, or another machine than x86-64. */
bool xc_thread_specific_get(const struct xc_crash_context *crash, uint64_t key, uint64_t *value_out);

/* The key that a function passes to pthread_getspecific(): the only one, stored in a variable. */
bool xc_thread_specific_key(const struct xc_crash_context *crash, xc_addr function, uint64_t *key_out);

#endif
