/* profile_scrub: a profile's data without the user's, for files that others may get. */
#ifndef XC_PROFILE_SCRUB_H
#define XC_PROFILE_SCRUB_H

#include "profile/data/profile_data.h"

/* Redact all texts as messages are (say.h), and replace those of facts that are secret. Nothing may be added to the
 * data afterwards. Does nothing where redaction is not in force. */
void xc_profile_scrub(struct xc_profile_data *data);

#endif
