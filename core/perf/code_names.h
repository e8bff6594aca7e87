/* code_names: names of code that a program compiles while it runs, by address: from what such programs write for
 * profilers (perf_map.h, jitdump.h). Code is replaced: of several functions that were at an address, the one that was
 * added last counts. */
#ifndef XC_CODE_NAMES_H
#define XC_CODE_NAMES_H

#include "core/process/process.h"

struct xc_code_line {
	xc_addr at; /* from here to that of the next */
	const char *file;
	uint32_t line;
};

struct xc_code_name {
	xc_addr lo, hi; /* inclusive */
	const char *name;
	const struct xc_code_line *lines; /* by address */
	size_t line_count;                /* 0: not known */
	size_t order;                     /* of being added */
};

struct xc_code_names;

struct xc_code_names *xc_code_names_new(void);
void xc_code_names_free(struct xc_code_names *names); /* NULL is fine */

/* Those that a live process has written: NULL when there are none. Files are taken only from the process's user, or
 * root, and found in its root and by its number in its own name space. Cost: 100 ns for each function. */
struct xc_code_names *xc_code_names_of(const struct xc_process *process);

/* Add a function of at least one byte; name is copied, at most 1,000 bytes. lines: sorted by address and kept with the
 * names (xc_code_names_lines), or NULL. Past a million functions or 64 MiB of names nothing is added. */
void xc_code_names_add(struct xc_code_names *names, xc_addr lo, uint64_t size, const char *name,
		       const struct xc_code_line *lines, size_t line_count);

/* Room for lines that lives as long as the names; NULL: past four million of them. */
struct xc_code_line *xc_code_names_lines(struct xc_code_names *names, size_t count);

/* A file's name that lives as long as the names; equal ones are one. */
const char *xc_code_names_file(struct xc_code_names *names, const char *file);

/* The function at an address; NULL: none is known. O(log n). */
const struct xc_code_name *xc_code_names_find(struct xc_code_names *names, xc_addr addr);

/* Its line there; NULL: not known. */
const struct xc_code_line *xc_code_name_line(const struct xc_code_name *name, xc_addr addr);

#endif
