/* rows: many structs read into Lua tables, a table for each member.
 *
 * A table takes 16 bytes per number, and filling it costs more than reading the target: tables are created with
 * their final size, so the number of rows must be known. */
#ifndef XC_ROWS_H
#define XC_ROWS_H

#include "lua/bulk/fixed.h"

enum { XC_ROWS_FIELDS = 100, XC_ROWS_MAX = 1 << 30 };
enum { XC_ROWS_NUMBERS = 1 << 14 }; /* per block: they fit the second-level cache */

/* Rows that were read: number f of row r is numbers[f * rows->block + r]. */
struct xc_rows_block {
	uint64_t numbers[XC_ROWS_NUMBERS];
	uint64_t failed[XC_ROWS_NUMBERS / 64]; /* one bit per row: it could not be read */
};

struct xc_rows {
	const struct xc_fixed *fields;
	int field_count;
	xc_addr start; /* rows at start, start + stride, … */
	uint64_t stride;
	const xc_addr *nodes; /* or, when not NULL, at these addresses ... */
	uint64_t back;        /* ... minus this */
	size_t count;
	uint64_t direct; /* size of a row if 8 bytes can be read at each member; 0: some members are read slowly */
	bool partial;    /* continue after a row that cannot be read: it is false in all columns, and counted */
	size_t missing;
	int first; /* the tables are on the stack from here on, one per field */
	int failed_field;
	size_t block; /* rows read at once */
};

/* The fields named by the list at index `arg`, in a userdata that is pushed; the list is replaced by a plain copy.
 * Raises. */
void xc_rows_find(lua_State *L, const struct xc_type *type, int arg, struct xc_rows *rows);

/* Do the options at index `arg`, a table or nil, have `partial`: continue after rows that cannot be read? Raises. */
bool xc_rows_is_partial(lua_State *L, int arg);

/* A column of addresses, in a userdata that is pushed. With `partial` an item that is false is an unreadable
 * address. Raises. */
const xc_addr *xc_rows_addresses(lua_State *L, int arg, size_t count, bool partial);

/* Read rows from `from` on, at most a block; returns the number of rows read, and why no more. */
size_t xc_rows_read(struct xc_host *host, struct xc_rows *rows, size_t from, struct xc_rows_block *block,
		    struct xc_error **err_out);

/* Raise the error of a row: "row 17 (0x…): .next: …"; the list of names at index `arg`. */
int xc_rows_raise(lua_State *L, struct xc_error *err, const struct xc_rows *rows, size_t row, int arg);

/* Push a number that was read. */
static inline void xc_rows_push_number(lua_State *L, uint64_t bits, enum xc_fixed_form form)
{
	double number;
	switch (form) {
	case XC_FIXED_INTEGER:
		lua_pushinteger(L, (lua_Integer)bits);
		break;
	case XC_FIXED_BOOL:
		lua_pushboolean(L, bits != 0);
		break;
	case XC_FIXED_DOUBLE:
		memcpy(&number, &bits, sizeof number);
		lua_pushnumber(L, number);
		break;
	}
}

/* Push the empty tables. */
void xc_rows_push_tables(lua_State *L, struct xc_rows *rows);

/* Read all rows into the tables. Returns the number of complete rows, and why no more: *err_out, with failed_field.
 * About 8 ns per number. Raises limits. */
size_t xc_rows_fill(lua_State *L, struct xc_rows *rows, struct xc_error **err_out);

/* Push the table of columns by name; the names are the list at index `arg`. */
void xc_rows_push_columns(lua_State *L, const struct xc_rows *rows, int arg);

/* Push a table of addresses. */
void xc_rows_push_addresses(lua_State *L, const struct xc_rows *rows, size_t count);

#endif
