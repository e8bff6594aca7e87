/* fixed: a number at a fixed offset of a struct: resolved once, read many times. */
#ifndef XC_FIXED_H
#define XC_FIXED_H

#include <string.h>

#include "lua/bind/accessor.h"

/* The conversion of the 8 bytes that are read. */
enum xc_fixed_form { XC_FIXED_INTEGER, XC_FIXED_BOOL, XC_FIXED_DOUBLE };

struct xc_fixed {
	uint64_t offset; /* from the start of the struct, bytes */
	struct xc_reading reading;
	enum xc_fixed_form form;
	uint8_t bit_offset; /* of a bit-field */
	uint16_t bit_size;  /* 0: no bit-field */
};

/* Find the member by its path ("a.b[2].c") in structs of a type. Raises not_found, and usage for a path through a
 * pointer. */
struct xc_fixed xc_fixed_find(lua_State *L, const struct xc_type *type, const char *path);

/* The same for a member that must be a number or boolean: pointers and references count as their addresses; structs
 * and arrays raise. */
struct xc_fixed xc_fixed_find_number(lua_State *L, const struct xc_type *type, const char *path);

/* Is it a pointer, or an unsigned integer that may hold one? Run-times store addresses in integers; 4-byte ones are
 * below 4 GiB. */
static inline bool xc_fixed_is_address(const struct xc_fixed *fixed, unsigned word)
{
	const struct xc_reading *reading = &fixed->reading;
	return reading->kind == XC_READ_POINTER ||
	       (reading->kind == XC_READ_INTEGER &&
		(reading->size == word || (reading->size == 4 && !reading->is_signed)));
}

/* Read the number in the struct at addr; NULL on success. */
struct xc_error *xc_fixed_load(struct xc_host *host, const struct xc_fixed *fixed, xc_addr addr, uint64_t *bits_out);

/* The number from the 8 bytes at its offset; not for XC_READ_SLOWLY. */
static inline uint64_t xc_fixed_number(const struct xc_reading *reading, uint64_t bits)
{
	unsigned shift = 64 - reading->size * 8u;
	float single;
	double number;
	switch (reading->kind) {
	case XC_READ_BITS:
		bits >>= reading->bit_offset;
		shift = 64u - reading->bit_size;
		break;
	case XC_READ_BOOL:
		return bits << shift != 0;
	case XC_READ_FLOAT:
		memcpy(&single, &bits, sizeof single);
		number = single;
		memcpy(&bits, &number, sizeof bits);
		return bits;
	case XC_READ_DOUBLE:
		return bits;
	default:
		break;
	}
	bits <<= shift;
	return reading->is_signed ? (uint64_t)((int64_t)bits >> shift) : bits >> shift;
}

#endif
