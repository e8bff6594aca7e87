/* goholder: who holds a mutex of Go's. It has no record of that: one whose functions lock, and have a variable that
 * leads to the mutex, likely holds it. */
#ifndef XC_GOHOLDER_H
#define XC_GOHOLDER_H

#include "triage/code/body_cache.h"
#include "triage/goroutine/gowait.h"

/* Among whom to look. */
struct xc_goholders {
	struct xc_crash_context *crash;
	struct xc_body_cache *bodies;
	const struct xc_gowait *items; /* the goroutines of the program */
	size_t count;                  /* the first 64 of them are asked */
};

/* Why a goroutine likely holds a mutex. */
struct xc_goholding {
	const char *name; /* of the mutex, in a function of its stack that locks; NULL: only its address is there */
	struct xc_blame where; /* that function */
};

/* The only goroutine with the strongest reason. NULL: none, or more than one, or it may be one whose stack is not
 * known, because it runs. */
const struct xc_gowait *xc_goholder_find(const struct xc_goholders *h, xc_addr mutex, struct xc_goholding *how);

/* Does it wait to read a lock that it likely holds to read, behind a writer that waits for its readers: does a caller
 * of the function that waits lock it? */
bool xc_goholder_reads_again(const struct xc_goholders *h, const struct xc_gowait *wait, struct xc_goholding *how);

/* How many goroutines likely hold it, by that. */
size_t xc_goholder_count(const struct xc_goholders *h, xc_addr mutex);

/* Is the mutex locked, and does no stack show a holder: is each goroutine's known, and does none likely hold it, or run
 * in package sync? Then perhaps it was never unlocked. False for more than 512 goroutines. */
bool xc_goholder_is_missing(const struct xc_goholders *h, xc_addr mutex);

/* Append "; likely held by goroutine 7, which has it as `c.mu` in main.fetch, main.go:7", or that it holds it itself;
 * nothing when no holder is known. */
void xc_goholder_describe(const struct xc_goholders *h, const struct xc_gowait *wait, struct xc_text *text);

/* The name by which the waiting function has the mutex; NULL: it has none. */
const char *xc_goholder_own_name(const struct xc_goholders *h, const struct xc_gowait *wait);

#endif
