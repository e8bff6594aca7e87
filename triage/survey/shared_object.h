/* shared_object: an object that two others have, each as its own: released twice, or given away too early. */
#ifndef XC_SHARED_OBJECT_H
#define XC_SHARED_OBJECT_H

#include "triage/crash/crash_context.h"

/* For a member that leads back to the owner of an object (`conn->request`, of `request->conn`) and is NULL, or a bad
 * pointer: add evidence when several owners in the heap lead to that object, and one to each other. Looks at the
 * types of up to a million blocks. */
void xc_shared_object_report(struct xc_crash_context *crash);

#endif
