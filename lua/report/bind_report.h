/* bind_report: handles, cells, keys and limits that the bindings of the report share.
 *
 * Handles are userdata that point into the report, which outlives the state. A run may make 1,000 sections, 4,096
 * items per section, a million rows per table and 256 MiB in all; then it fails with `limit`, and the report keeps
 * what was added. */
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
	uint64_t bytes; /* approximate memory of everything that was added */
	unsigned sections, items;
};

/* User value 1: its report, which it keeps alive. */
struct xc_lua_section {
	struct xc_section *section;
	struct xc_lua_report *owner;
	unsigned items;
};

struct xc_lua_section *xc_report_check_section(lua_State *L); /* argument 1 */

/* Before a new item is added to the section: raises when it is one too many. `bytes` is the size of the caller's
 * strings. */
void xc_report_spend_item(lua_State *L, struct xc_lua_section *section, uint64_t bytes);
void xc_report_spend(lua_State *L, struct xc_lua_report *report, uint64_t bytes);

/* The argument as a key; raises when it is not valid. */
const char *xc_report_check_key(lua_State *L, int arg);

/* The string argument without NULs (which become \x00), kept alive on the stack. */
const char *xc_report_check_text(lua_State *L, int arg, const char *what);
const char *xc_report_opt_text(lua_State *L, int arg, const char *what); /* NULL for nil */

/* Push "some_key" as "some key" and return it; in capitals for columns. */
const char *xc_report_push_label(lua_State *L, const char *key, bool capitals);

struct xc_report_options {
	const char *label; /* NULL: not given; kept alive on the stack */
	const char *unit, *title;
	int secret; /* -1: not given */
	bool quiet, verbose;
};

/* Every non-integer key of the table at `arg` must be one of `allowed` ("label secret"); else raise. */
void xc_report_check_names(lua_State *L, int arg, const char *allowed);

/* The options that `allowed` names ("label secret quiet"), each at most once; raises for unknown options and wrong
 * kinds. Integer keys are not options. Pushes strings that must stay on the stack. */
struct xc_report_options xc_report_check_options(lua_State *L, int arg, const char *allowed);

/* The value at `arg` as a cell of this kind; nil: unknown. Raises, naming `what`, when it is of another kind. */
struct xc_cell xc_report_check_cell(lua_State *L, int arg, enum xc_field_kind kind, const char *what);

/* The kind of a column by its name; XC_FIELD_NULL when there is no such kind. */
enum xc_field_kind xc_report_kind(const char *name);

/* Push xcore.report; push the handle of a tree (of the host's report). */
void xc_report_push(lua_State *L);
void xc_report_push_tree(lua_State *L, struct xc_stacktree *tree);

/* The tree at `arg`, which must be open for additions; raises otherwise. And the size of what was added to it. */
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
