/* profile_diff: two profiles compared by the shares of their functions, with what may be chance told, and as flame
 * graphs. */
#ifndef XC_PROFILE_DIFF_H
#define XC_PROFILE_DIFF_H

#include <stdio.h>

#include "core/report/report.h"
#include "core/report/stacktree.h"
#include "profile/data/profile_pair.h"

/* Add two sections, each a table of at most `rows` functions: by their own samples, and with what they call; first
 * those whose change is more than chance, by its size.
 *
 * Test: a function's samples among all of its profile, in the two profiles. Where every observation is one sample,
 * the exact conditional binomial test, two-sided; where some count more (waits), the normal approximation with the
 * variance that the squares give. Corrected for the number of functions by Holm's method, at 5 %. Samples are taken as
 * independent of each other. */
void xc_profile_diff(struct xc_report *report, const struct xc_profile_pair *pair, size_t rows);

/* The two-sided probability that counts of a and b among `all_a` and `all_b` differ as much as they do, or more, where
 * the shares are the same. */
double xc_profile_diff_chance(uint64_t a, uint64_t all_a, uint64_t b, uint64_t all_b);

/* A tree that compares, initialised and finished; widths are those of the later profile, or of the earlier. */
void xc_profile_diff_tree(struct xc_stacktree *tree, const struct xc_profile_pair *pair, bool by_earlier);

/* The formats: "folded", "svg", "html"; NULL-terminated. The one that a file's name asks for; NULL: none. */
extern const char *const xc_profile_diff_kinds[];
const char *xc_profile_diff_kind_of(const char *file);
XC_MUST_CHECK struct xc_error *xc_profile_diff_write(const struct xc_profile_pair *pair, const char *kind,
						     bool by_earlier, FILE *out);

#endif
