/* profile_account: how a profile was taken, what it counted, and what is missing. */
#ifndef XC_PROFILE_ACCOUNT_H
#define XC_PROFILE_ACCOUNT_H

#include "core/report/report.h"
#include "profile/profile.h"

/* The whole account: fields and messages. */
void xc_profile_account(struct xc_section *section, const struct xc_profile *profile);

/* One line of it, for output that is no report: "1203 samples in 10.0 s; 0 lost, …". Malloc'ed. */
char *xc_profile_account_line(const struct xc_profile *profile);

#endif
