/* base: the basic types, macros and allocation functions that all files share.
 *
 * Addresses of the target are integers and are never cast to pointers of ours.
 * Ranges are inclusive at both ends (lo, hi), so that a range may end at 2^64 - 1. */
#ifndef XC_BASE_H
#define XC_BASE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define XC_VERSION "0.1.0"

/* An address in the target's address space. */
typedef uint64_t xc_addr;

#define XC_MUST_CHECK            __attribute__((warn_unused_result))
#define XC_PRINTF(string, first) __attribute__((format(printf, string, first)))
#define XC_COUNT(array)          (sizeof(array) / sizeof(array)[0])

/* Scoped ownership: `xc_auto(xc_source_closep) struct xc_source *s = NULL;` closes s on every path out of the
 * scope. xc_take hands it over. No such variable may be alive across a call that can longjmp (Lua errors). */
#define xc_auto(function) __attribute__((cleanup(function)))
#define xc_take(pointer)                                                                                               \
	({                                                                                                             \
		__typeof__(pointer) taken_ = (pointer);                                                                \
		(pointer) = NULL;                                                                                      \
		taken_;                                                                                                \
	})

/* Cleanup for malloc'ed memory: `xc_auto(xc_freep) char *text = NULL;` */
void xc_freep(void *pointer_to_pointer);

/* Allocate, or end the program with a message: xcore does not recover from running out of memory for its own data.
 * The caller bounds sizes that come from the input. */
void *xc_alloc(size_t size); /* zeroed */
void *xc_realloc(void *old, size_t size);
char *xc_strdup(const char *text);
bool xc_begins_with(const char *text, const char *head);
bool xc_ends_with(const char *text, const char *tail);
char *xc_asprintf(const char *format, ...) XC_PRINTF(1, 2);
char *xc_vasprintf(const char *format, va_list args) XC_PRINTF(1, 0);

/* Make room for one more item in a malloc'ed array of *capacity items of `size` bytes, of which
 * `count` are used; returns the possibly moved array. Grows by doubling. */
void *xc_grow(void *items, size_t count, size_t *capacity, size_t size);

/* True when [addr, addr + len) lies within [lo, hi]; len 0 is never inside. Cannot overflow. */
static inline bool xc_inside(xc_addr addr, uint64_t len, xc_addr lo, xc_addr hi)
{
	return len > 0 && addr >= lo && addr <= hi && len - 1 <= hi - addr;
}

/* The low `bits` (1 to 64) of a value, filled up to 64 with copies of their highest one. */
static inline uint64_t xc_sign_extend(uint64_t value, unsigned bits)
{
	return (uint64_t)((int64_t)(value << (64 - bits)) >> (64 - bits));
}

/* The same, or filled up with zeros. */
static inline uint64_t xc_extend(uint64_t value, unsigned bits, bool is_signed)
{
	return is_signed ? xc_sign_extend(value, bits) : value << (64 - bits) >> (64 - bits);
}

/* Are all bytes zero? True if there are none. */
static inline bool xc_is_zero(const void *bytes, size_t size)
{
	const unsigned char *at = (const unsigned char *)bytes;
	for (size_t i = 0; i < size; i++)
		if (at[i])
			return false;
	return true;
}

/* The first of `count` sorted items for which `is_before`, an expression of its index `i`, is false; `count`: there is
 * none. O(log count). */
#define XC_LOWER_BOUND(count, i, is_before)                                                                            \
	({                                                                                                             \
		size_t lo_ = 0, hi_ = (count);                                                                         \
		while (lo_ < hi_) {                                                                                    \
			size_t i = lo_ + (hi_ - lo_) / 2;                                                              \
			if (is_before)                                                                                 \
				lo_ = i + 1;                                                                           \
			else                                                                                           \
				hi_ = i;                                                                               \
		}                                                                                                      \
		lo_;                                                                                                   \
	})

/* Nanoseconds of CLOCK_MONOTONIC. */
uint64_t xc_now_ns(void);

/* CPU time of the calling thread. */
uint64_t xc_thread_cpu_ns(void);

/* Take an amount from what is left of a budget. False when there is less: then nothing is left. */
static inline bool xc_spend(uint64_t *left, uint64_t amount)
{
	const bool enough = *left >= amount;
	*left = enough ? *left - amount : 0;
	return enough;
}

#endif
