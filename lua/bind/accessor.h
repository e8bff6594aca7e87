/* accessor: the way to read a member or an element, computed once for each type and name.
 *
 * A loop over a list reads the same few members a million times. The facts from DWARF are kept under the type and
 * the address of the name: Lua interns short strings, and the names kept here are anchored so that they stay. */
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
	XC_READ_BITS,  /* bit-fields within 8 bytes */
	XC_READ_PLACE, /* structs, unions, arrays: nothing is read */
};

/* The conversion of the bytes of a type to a Lua value. */
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
	const char *name; /* NULL: the element of an array, or the target of a pointer */
	struct xc_reading reading;
	uint64_t offset;                 /* of a member; of an element its size */
	const struct xc_path *from, *to; /* the last step of a path with this member, cached */
};

struct xc_reading xc_reading_of(const struct xc_process *process, const struct xc_type *type);

/* The same for a bit-field of the type. */
void xc_reading_narrow(struct xc_reading *reading, unsigned bit_offset, unsigned bit_size);

struct xc_accessors *xc_accessors_new(const struct xc_process *process);
void xc_accessors_free(struct xc_accessors *accessors);

/* The member of a shape whose name is the string at index `arg` of the Lua stack. NULL: there is none, or the name
 * is too long to be cached (use xc_value_member then). */
struct xc_accessor *xc_accessor_member(lua_State *L, const struct xc_type *shape, int arg);

/* Consecutive objects of a type: elements of an array, targets of a pointer; cached under the declared type. NULL:
 * their size is unknown. */
struct xc_accessor *xc_accessor_element(struct xc_accessors *accessors, const struct xc_type *element);

/* Find a member at a fixed offset, through anonymous members and base classes. False: there is none, or its offset
 * depends on the object (*dynamic_out). */
struct xc_placed_member {
	const struct xc_member *member;
	uint64_t offset; /* from the start of the shape */
};
bool xc_accessor_place(const struct xc_type *shape, const char *name, struct xc_placed_member *out, bool *dynamic_out);

#endif
