/* odd_object: what is wrong with the objects that the crashed functions work on, whatever the fault was. */
#ifndef XC_ODD_OBJECT_H
#define XC_ODD_OBJECT_H

#include "triage/crash/crash_context.h"

/* Evidence: pointers and views of text, of live objects, that lead into freed memory, those to one block together; a
 * count that is larger than the capacity, or the array, beside it. Where the class is a symptom only, the cause says
 * so, too, as "perhaps". Nothing where the target has no walked heap, or the heap's damage makes its blocks
 * doubtful. */
void xc_odd_object_report(struct xc_crash_context *crash);

#endif
