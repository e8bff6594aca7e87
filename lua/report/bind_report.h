/* bind_report: what the bindings of the report share: handles, cells, keys, and how much a run may tell.
 *
 * Handles are userdata that point into the report, which outlives the state. A run may make 1,000 sections, 4,096 items of a
 * section, a million rows of a table and 256 MiB in all; then it fails with `limit`, and what it made stays. */
#ifndef XC_BIND_REPORT_H
#define XC_BIND_REPORT_H

#include "core/report/report.h"
#include "lua/bind/bind_class.h"

enum {
	XC_REPORT_SECTIONS = 1000,
	XC_REPORT_SECTION_ITEMS = 4096,
	XC_REPORT_ITEMS = 50000, /* in all */
	XC_REPORT_ROWS = 1000000,
	XC_REPORT_COLUMNS = 64,
	XC_REPORT_KEY = 64, /* bytes of a key */
	XC_REPORT_BYTES = 256 << 20,
};

/* User value 1: its sections by key. */
struct xc_lua_report {
	struct xc_report *report;
	uint64_t bytes; /* about what all that was added takes */
	unsigned sections, items;
};

/* User value 1: its report, which so lives as long. */
struct xc_lua_section {
	struct xc_section *section;
	struct xc_lua_report *owner;
	unsigned items;
};

struct xc_lua_section *xc_report_check_section(lua_State *L); /* argument 1 */

/* A new item is about to be added to the section: raises when it is one too many. `bytes` are the caller's strings. */
void xc_report_spend_item(lua_State *L, struct xc_lua_section *section, uint64_t bytes);
void xc_report_spend(lua_State *L, struct xc_lua_report *report, uint64_t bytes);

/* The argument as a key; raises when it is none. */
const char *xc_report_check_key(lua_State *L, int arg);

/* The string argument without NULs (which become \x00), kept alive on the stack. */
const char *xc_report_check_text(lua_State *L, int arg, const char *what);
const char *xc_report_opt_text(lua_State *L, int arg, const char *what); /* NULL for nil */

/* Push "some_key" as "some key" and return it; in capitals for columns. */
const char *xc_report_push_label(lua_State *L, const char *key, bool capitals);

struct xc_report_options {
	const char *label; /* NULL: none was given; alive on the stack */
	const char *unit, *title;
	int secret; /* -1: not given */
	bool quiet, verbose;
};

/* Every key of the table at `arg` that is no integer is one of `allowed` ("label secret"); else raise. */
void xc_report_check_names(lua_State *L, int arg, const char *allowed);

/* The options that `allowed` names ("label secret quiet"), each once; raises for all others and for wrong kinds. Integer keys are
 * none of them. Pushes strings that must stay on the stack. */
struct xc_report_options xc_report_check_options(lua_State *L, int arg, const char *allowed);

/* The value at `arg` as a cell of this kind: nil is unknown; raises, naming `what`, when it is of another kind. */
struct xc_cell xc_report_check_cell(lua_State *L, int arg, enum xc_field_kind kind, const char *what);

/* A column's kind by its name; XC_FIELD_NULL when there is none such. */
enum xc_field_kind xc_report_kind(const char *name);

/* xcore.report, and the handle of a tree (of the host's report), pushed. */
void xc_report_push(lua_State *L);
void xc_report_push_tree(lua_State *L, struct xc_stacktree *tree);

/* The tree at `arg`, which may still be added to; raises for others. And what was added to it counts. */
struct xc_stacktree *xc_report_check_tree(lua_State *L, int arg);
void xc_report_spend_frames(lua_State *L, int arg, size_t frames);

/* Methods of sections that other files define. */
int xc_report_section_table(lua_State *L);
int xc_report_section_tree(lua_State *L);
int xc_report_section_histogram(lua_State *L);

/* Classes that other files define. */
void xc_report_open_table(lua_State *L);
void xc_report_open_tree(lua_State *L);

#endif
