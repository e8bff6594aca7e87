/* fixture: a synthetic process, described by a test, so that plugins can be tested without a core.
 *
 *	{ arch = "x86-64",                                      the host's unless given
 *	  cdef = [[ struct node { struct node *next; const char *name; int value; }; ]],
 *	  objects = {                                           each is a variable with its own memory
 *	    head = { "struct node *", "first" },
 *	    first = { "struct node", { next = "second", name = "ann", value = 7 } },
 *	    second = { "struct node", { name = "bob", value = 8 }, at = 0x2000 } },
 *	  memory = { [0x9000] = "raw bytes" } }
 *
 * Values: numbers, booleans, names of enumerators; lists for arrays; tables by member name for structs and unions;
 * for a pointer an address, the name of an object, or { "text" }, and for a pointer to characters a text; omitted
 * members are zero. Variables, types and constants are found by name as in a real process (t:var, t:type, t:eval);
 * there are no threads, modules and symbols. */
#ifndef XC_FIXTURE_H
#define XC_FIXTURE_H

#include <lua.h>

#include "core/process/process.h"

struct xc_fixture;

struct xc_fixture *xc_fixture_new(void);          /* empty; never NULL */
void xc_fixture_free(struct xc_fixture *fixture); /* NULL is fine */

/* Fill it from the table at the top of the stack. Raises errors in the table: call it protected, and once. */
void xc_fixture_read(lua_State *L, struct xc_fixture *fixture);

/* The process; owned by the fixture. */
struct xc_process *xc_fixture_process(const struct xc_fixture *fixture);

#endif
