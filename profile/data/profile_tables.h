/* profile_tables: the tables of a profile's data, described once for all who read or write them whole: files, pages.
 *
 * A table is an array of rows in struct xc_profile_data, a row a struct with columns of 32 or 64 bits. */
#ifndef XC_PROFILE_TABLES_H
#define XC_PROFILE_TABLES_H

#include "profile/data/profile_data.h"

/* What the numbers of a column mean. */
enum xc_profile_means {
	XC_PROFILE_IS_NUMBER, /* at most `most` */
	XC_PROFILE_IS_TEXT,
	XC_PROFILE_IS_FUNCTION, /* and the rest: numbers of rows */
	XC_PROFILE_IS_FRAME,
	XC_PROFILE_IS_NODE,
	XC_PROFILE_IS_CALLER, /* a node before this row; of the first row, itself */
	XC_PROFILE_IS_THREAD,
	XC_PROFILE_IS_WAIT,
	XC_PROFILE_IS_SUM,
	XC_PROFILE_IS_SLICE, /* below head->slices */
	XC_PROFILE_IS_REAL,  /* the bits of a double */
};

struct xc_profile_column {
	const char *name;
	size_t offset, size; /* in the row: 4 or 8 bytes */
	enum xc_profile_means means;
	uint64_t most;
};

struct xc_profile_table {
	const char *name;
	uint32_t tag;       /* in files: stays for ever */
	size_t rows, count; /* offsets in the data: of the pointer to the rows, of their number */
	size_t row_size;
	size_t least, most; /* rows */
	const struct xc_profile_column *columns;
	size_t column_count;
};

/* In the order of files: a column refers to tables before its own, but for `slices` of the head. */
extern const struct xc_profile_table xc_profile_tables[];
extern const size_t xc_profile_table_count;

static inline size_t xc_profile_table_rows(const struct xc_profile_table *table, const struct xc_profile_data *data)
{
	return *(const size_t *)((const char *)data + table->count);
}

/* A number of row i. */
uint64_t xc_profile_table_get(const struct xc_profile_table *table, const struct xc_profile_data *data, size_t row,
			      const struct xc_profile_column *column);

/* How many values the numbers of such a column may have: 0 to that, exclusive; 0: all of
 * 64 bits. */
uint64_t xc_profile_table_limit(const struct xc_profile_data *data, const struct xc_profile_column *column, size_t row);

/* Are the rows facts? Those are shown as text; views compute with the other tables. */
static inline bool xc_profile_table_is_facts(const struct xc_profile_table *table)
{
	return table->row_size == sizeof(struct xc_profile_fact);
}

/* By number: is the text of a table that is not facts? Facts may hold the user's data. Malloc'ed. */
bool *xc_profile_texts_of_views(const struct xc_profile_data *data);

#endif
