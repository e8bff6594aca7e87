/* class_layout: a class that two units of a program lay out in different ways: by a macro, a packing, an ABI. */
#ifndef XC_CLASS_LAYOUT_H
#define XC_CLASS_LAYOUT_H

#include "triage/crash/crash_context.h"

/* For the classes of what the crashed functions work on (survey.h): evidence of those of C++ that have another
 * definition with the same name and linkage in the module, of another size or with a member elsewhere; and of those
 * whose object belongs to another module, which defines that name otherwise, in C, too. Where the bad value was read
 * from an object of one of them, from where the two do not agree, this is a likely cause; where memory was damaged, or
 * nothing is known of a bad pointer, perhaps. Looks up at most some names, and none in a module with much debug
 * information (lookup.h, small_only). Not found: a definition of the same size in the same line of a header, of which
 * the index of names keeps one. */
void xc_class_layout_report(struct xc_crash_context *crash);

#endif
