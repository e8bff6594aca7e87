/* same_type: can memory of one type hold an object of another? */
#ifndef XC_SAME_TYPE_H
#define XC_SAME_TYPE_H

#include "dwarf/types/type.h"

/* The target of a pointer or reference, complete; NULL: it is none, or the target is not known. */
const struct xc_type *xc_same_type_pointed(const struct xc_type *pointer);

/* The same type, perhaps of two units: of the same kind and name. False when one is NULL. */
bool xc_same_type(const struct xc_type *a, const struct xc_type *b);

/* Is it a struct or class? */
bool xc_same_type_is_record(const struct xc_type *type);

/* Is it a character or byte, void, or not known? Pointers to these point to anything. */
bool xc_same_type_is_bytes(const struct xc_type *type);

/* Can an object of type `object` be in memory of type `holder`: the same type, an element, a member or base on some
 * level, a derived class, bytes or a union large enough, or a struct that begins with the same tag, header or members?
 * True when one of them is not known, or only declared. Looks at a few hundred members. */
bool xc_same_type_may_hold(const struct xc_type *holder, const struct xc_type *object);

#endif
