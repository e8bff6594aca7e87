/* slot: one entry of the DWARF stack: an untyped word, or a value of a base type (DWARF 5, 2.5.1). */
#ifndef XC_SLOT_H
#define XC_SLOT_H

#include "dwarf/types/type.h"

enum xc_slot_kind { XC_SLOT_GENERIC, XC_SLOT_UNSIGNED, XC_SLOT_SIGNED, XC_SLOT_FLOAT };

struct xc_slot {
	unsigned __int128 bits; /* low `size` bytes, the rest zero */
	enum xc_slot_kind kind;
	unsigned size; /* bytes, at most 16 */
};

struct xc_slot xc_slot_word(uint64_t value, unsigned word);

/* A slot of a base type; false when the type is no base type we compute with. */
bool xc_slot_typed(const struct xc_type *type, unsigned __int128 bits, struct xc_slot *out);

/* The operators abs neg not plus_uconst…; and those of two operands: below OP top. NULL, or why not. */
const char *xc_slot_unary(unsigned atom, struct xc_slot *slot);
const char *xc_slot_binary(unsigned atom, const struct xc_slot *below, const struct xc_slot *top, unsigned word,
			   struct xc_slot *out);

/* DW_OP_convert: the same number in another type; like gives kind and size. NULL, or why not. */
const char *xc_slot_convert(struct xc_slot *slot, const struct xc_slot *like);

/* A float of 2, 4, 8, or 10 to 16 bytes (x87) and back. False for other sizes. */
bool xc_slot_to_float(unsigned __int128 bits, unsigned size, long double *out);
bool xc_slot_from_float(long double number, unsigned size, unsigned __int128 *bits_out);

#endif
