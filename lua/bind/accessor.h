/* accessor: how to read a member or an element, worked out once for each type and name.
 *
 * A loop over a list reads the same few members a million times. What DWARF says of them is kept under the type and the name's
 * address: Lua keeps one copy of each short string, and the names kept here are anchored so that it stays. */
#ifndef XC_ACCESSOR_H
#define XC_ACCESSOR_H

#include "lua/vm/bind.h"

enum xc_reading_kind {
	XC_READ_SLOWLY, /* through dwarf/value/value.h: virtual bases, variants, wide and swapped numbers, references */
	XC_READ_INTEGER, /* also characters and enums */
	XC_READ_BOOL,
	XC_READ_FLOAT,
	XC_READ_DOUBLE,
	XC_READ_POINTER,
	XC_READ_BITS,  /* bit-fields that lie in 8 bytes */
	XC_READ_PLACE, /* structs, unions, arrays: nothing is read */
};

/* How the bytes of a type become something of Lua's. */
struct xc_reading {
	enum xc_reading_kind kind;
	uint8_t size; /* bytes, at most 8 */
	bool is_signed;
	uint8_t bit_offset, bit_size;
	const struct xc_type *type;  /* as declared */
	const struct xc_type *shape; /* of the resulting value */
};

struct xc_accessor {
	const struct xc_type *shape;
	const char *name; /* NULL: the element of an array, or what a pointer points to */
	struct xc_reading reading;
	uint64_t offset;                 /* of a member; of an element its size */
	const struct xc_path *from, *to; /* the last step of paths through it */
};

struct xc_reading xc_reading_of(const struct xc_process *process, const struct xc_type *type);

/* The same of a bit-field of the type. */
void xc_reading_narrow(struct xc_reading *reading, unsigned bit_offset, unsigned bit_size);

struct xc_accessors *xc_accessors_new(const struct xc_process *process);
void xc_accessors_free(struct xc_accessors *accessors);

/* The member of a shape whose name is the string at index `arg` of the Lua stack; NULL when there is none, or when the name is
 * too long to be kept (then look it up with xc_value_member). */
struct xc_accessor *xc_accessor_member(lua_State *L, const struct xc_type *shape, int arg);

/* Things of a type that lie one after the other: elements of an array, what a pointer points to; kept under the type as declared.
 * NULL: their size is not known. */
struct xc_accessor *xc_accessor_element(struct xc_accessors *accessors, const struct xc_type *element);

/* Find a member that lies at a fixed place: through anonymous members and base classes. False: there is none, or its place
 * depends on the object (*dynamic_out). */
struct xc_placed_member {
	const struct xc_member *member;
	uint64_t offset; /* from the start of the shape */
};
bool xc_accessor_place(const struct xc_type *shape, const char *name, struct xc_placed_member *out, bool *dynamic_out);

#endif
