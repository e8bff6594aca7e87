/* rows: many structs read into tables of Lua, a table a member.
 *
 * A table takes 16 bytes a number, and filling it costs more than reading the target: tables are made with their final size, so how
 * many rows there are must be known. */
#ifndef XC_ROWS_H
#define XC_ROWS_H

#include "lua/bulk/fixed.h"

enum { XC_ROWS_FIELDS = 100, XC_ROWS_MAX = 1 << 30 };
enum { XC_ROWS_NUMBERS = 1 << 14 }; /* of a block: they fit the second cache */

/* Rows that were read: number f of row r is numbers[f * rows->block + r]. */
struct xc_rows_block {
	uint64_t numbers[XC_ROWS_NUMBERS];
	uint64_t failed[XC_ROWS_NUMBERS / 64]; /* a bit a row: it could not be read */
};

struct xc_rows {
	const struct xc_fixed *fields;
	int field_count;
	xc_addr start; /* rows at start, start + stride, … */
	uint64_t stride;
	const xc_addr *nodes; /* or, when not NULL, there, each … */
	uint64_t back;        /* … minus this */
	size_t count;
	uint64_t direct; /* bytes of a row from which 8 can be taken at each member; 0: some are to be read slowly */
	bool partial;    /* go on behind a row that cannot be read: it is false in all columns, and counted */
	size_t missing;
	int first; /* tables lie on the stack from here on, one a field */
	int failed_field;
	size_t block; /* rows read at once */
};

/* The fields that the list of names at index `arg` asks for, in a userdata that is pushed; the list is replaced by a plain copy.
 * Raises. */
void xc_rows_find(lua_State *L, const struct xc_type *type, int arg, struct xc_rows *rows);

/* Do the options at index `arg`, a table or nil, have `partial`: go on behind what cannot be read? Raises. */
bool xc_rows_is_partial(lua_State *L, int arg);

/* A column of addresses, in a userdata that is pushed. With `partial` what is false is an address that cannot be read. Raises. */
const xc_addr *xc_rows_addresses(lua_State *L, int arg, size_t count, bool partial);

/* Rows from `from` on, a block at most; returns how many could be read, and why no more. */
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

/* Returns how many rows could be read in full, and why no more: *err_out, with failed_field. About 8 ns a number. Raises limits. */
size_t xc_rows_fill(lua_State *L, struct xc_rows *rows, struct xc_error **err_out);

/* Push the table of columns by their names, the list at index `arg`. */
void xc_rows_push_columns(lua_State *L, const struct xc_rows *rows, int arg);

/* Push a table of addresses. */
void xc_rows_push_addresses(lua_State *L, const struct xc_rows *rows, size_t count);

#endif
