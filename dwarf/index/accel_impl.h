/* accel_impl: shared by the two kinds of tables. */
#ifndef XC_ACCEL_IMPL_H
#define XC_ACCEL_IMPL_H

#include "dwarf/index/accel.h"

/* The actual units of .debug_info. */
struct xc_accel_list {
	struct xc_die_scan_unit *items;
	size_t count, capacity;
};

struct xc_accel {
	struct xc_accel_list units;
	struct xc_cursor gdb_index;   /* empty: there is no sound one */
	struct xc_cursor debug_names; /* the same */
	struct xc_cursor str;         /* .debug_str */
};

/* The unit whose header is at this offset; NULL when there is none. */
const struct xc_die_scan_unit *xc_accel_unit(const struct xc_accel_list *units, uint64_t offset);

void xc_accel_add(struct xc_accel_units *units, uint64_t offset);

/* u32 at an offset; false when it lies outside. */
bool xc_accel_u32(const struct xc_cursor *c, uint64_t offset, uint32_t *value_out);

bool xc_gdb_index_is_sound(const struct xc_cursor *index, const struct xc_accel_list *units);
bool xc_gdb_index_find(const struct xc_accel *accel, const char *name, struct xc_accel_units *units);

bool xc_debug_names_are_sound(const struct xc_cursor *names, const struct xc_accel_list *units);
bool xc_debug_names_find(const struct xc_accel *accel, const char *last, size_t last_len, struct xc_accel_units *units);

#endif
