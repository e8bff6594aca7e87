/* value: a type together with the location of its bytes.
 *
 * Values are plain structs that are copied freely. Nothing is read until it is needed. Memory is read through the space
 * at each access, so a live process shows its present state. Bytes from registers, and computed ones, are in the value
 * itself (up to 16 bytes), or in a buffer with holes for pieces that are optimised out. A value that does not exist has
 * a reason.
 *
 * There are two ways to read: probes (`peek`, `load`), which only return false, and functions that return an error with
 * address and reason. */
#ifndef XC_VALUE_H
#define XC_VALUE_H

#include "core/base/text.h"
#include "dwarf/types/type.h"

enum xc_value_kind {
	XC_VALUE_ABSENT,  /* why */
	XC_VALUE_MEMORY,  /* addr */
	XC_VALUE_BYTES,   /* small or buffer */
	XC_VALUE_POINTEE, /* an optimised-out pointer whose target is known */
};

/* Bits of a buffer that do not exist. */
struct xc_hole {
	uint64_t first, count; /* bits */
	const char *why;
};

struct xc_buffer {
	size_t size;
	uint8_t *bytes;
	struct xc_hole *holes; /* in order */
	size_t hole_count;
};

struct xc_value {
	const struct xc_process *process;
	const struct xc_type *type;
	enum xc_value_kind kind;
	bool guessed;                   /* recovered from a call site */
	uint8_t bit_offset;             /* of a bit-field, from the low end of the first byte */
	uint16_t bit_size;              /* 0: no bit-field */
	xc_addr addr;                   /* MEMORY */
	const struct xc_buffer *buffer; /* BYTES: in an arena, borrowed; NULL: the bytes are in small */
	uint64_t at;                    /* first byte in small or buffer */
	uint8_t small[16];
	const struct xc_value *pointee; /* POINTEE; may itself be absent */
	const char *why;                /* ABSENT: static, or in the arena of the evaluation */
};

enum { XC_VALUE_MAX = 1 << 20 }; /* bytes of one value that is not in memory */

/* A value in memory. */
struct xc_value xc_value_memory(const struct xc_process *process, const struct xc_type *type, xc_addr addr);

/* A value that does not exist; why is borrowed. */
struct xc_value xc_value_absent(const struct xc_process *process, const struct xc_type *type, const char *why);

/* A value of at most 16 bytes, copied. */
struct xc_value xc_value_small(const struct xc_process *process, const struct xc_type *type, const void *bytes,
			       size_t size);

/* Probe: copies len bytes from byte offset on. False when any of them is missing. Not for bit-fields. */
bool xc_value_peek(const struct xc_value *value, uint64_t offset, void *buf, size_t len);

/* Probe: the bits of an integer, char, bool, enum, pointer or bit-field of up to 8 bytes, sign-extended when the type
 * is signed. False when they are missing or the type is another one. Fast: made for loops. */
bool xc_value_load(const struct xc_value *value, uint64_t *bits_out);

/* The same for 16 bytes. */
bool xc_value_load_wide(const struct xc_value *value, unsigned __int128 *bits_out);

/* Probe: up to 16 bytes from byte offset on, as a number in the byte order of the value's type. False when any is
 * missing. */
bool xc_value_load_bytes(const struct xc_value *value, uint64_t offset, unsigned size, unsigned __int128 *bits_out);

/* Probe: a floating-point number of any format of float.h, from byte offset on (for complex numbers). */
bool xc_value_load_float(const struct xc_value *value, uint64_t offset, unsigned size, long double *number_out);

/* Append why the bytes [offset, offset + len) of the value cannot be read: "optimized out", "0x10: not mapped". Returns
 * false, and appends nothing, when they can be read. */
bool xc_value_why(const struct xc_value *value, uint64_t offset, uint64_t len, struct xc_text *text);

/* Append "0x10: not mapped" for the first byte of the range that cannot be read; false when all can. */
bool xc_value_fault(const struct xc_process *process, xc_addr addr, uint64_t len, struct xc_text *text);

/* The part of a struct that a member of its type describes. value and out may be the same. */
void xc_value_field(const struct xc_value *value, const struct xc_member *member, struct xc_value *out);

/* The member with this name. The search looks through typedefs, pointers (one level), anonymous members, base classes
 * and the active variant. Errors: XC_ERR_NOT_FOUND, XC_ERR_USAGE (not a struct), XC_ERR_FAULT (of the pointer). */
XC_MUST_CHECK struct xc_error *xc_value_member(const struct xc_value *value, const char *name, struct xc_value *out);

/* The name of a member of the struct that is most similar to a misspelt one; NULL when none is similar. */
const char *xc_value_near_member(const struct xc_type *type, const char *name);

/* Element of an array, or of the memory that a pointer points to. index counts elements; it is not checked for pointers
 * and arrays of unknown count. Errors: XC_ERR_LIMIT past the end, XC_ERR_USAGE, XC_ERR_FAULT. */
XC_MUST_CHECK struct xc_error *xc_value_index(const struct xc_value *value, int64_t index, struct xc_value *out);

/* The target of a pointer or reference, unread. Errors: XC_ERR_USAGE, XC_ERR_FAULT, XC_ERR_ABSENT. */
XC_MUST_CHECK struct xc_error *xc_value_deref(const struct xc_value *value, struct xc_value *out);

/* xc_value_load with an error: XC_ERR_FAULT, XC_ERR_ABSENT, XC_ERR_USAGE (not an integer). */
XC_MUST_CHECK struct xc_error *xc_value_number(const struct xc_value *value, uint64_t *bits_out);

/* The bytes from `offset` on that one missing piece holds; 0 when there is something, or the value is not in pieces. */
uint64_t xc_value_hole(const struct xc_value *value, uint64_t offset);

/* XC_ERR_ABSENT or XC_ERR_FAULT with the reason of xc_value_why, for the whole value; NULL when it can be read. */
XC_MUST_CHECK struct xc_error *xc_value_check(const struct xc_value *value);

/* Size of the value's type in bytes, 0 when unknown. */
uint64_t xc_value_size(const struct xc_value *value);

#endif
