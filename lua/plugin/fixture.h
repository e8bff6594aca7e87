/* fixture: a process made up of what a test says, so that plugins can be tested without a core.
 *
 *	{ arch = "x86-64",                                      the host's unless given
 *	  cdef = [[ struct node { struct node *next; const char *name; int value; }; ]],
 *	  objects = {                                           each is a variable, in memory of its own
 *	    head = { "struct node *", "first" },
 *	    first = { "struct node", { next = "second", name = "ann", value = 7 } },
 *	    second = { "struct node", { name = "bob", value = 8 }, at = 0x2000 } },
 *	  memory = { [0x9000] = "bytes as they are" } }
 *
 * Values: numbers, booleans, names of enumerators; lists for arrays; tables by member name for structs and unions; for a pointer an
 * address, the name of an object, or { "text" }, and for one to characters a text; what is left out is zero. Variables, types and
 * constants are found by name as in a real process (t:var, t:type, t:eval); there are no threads, modules and symbols. */
#ifndef XC_FIXTURE_H
#define XC_FIXTURE_H

#include <lua.h>

#include "core/process/process.h"

struct xc_fixture;

struct xc_fixture *xc_fixture_new(void);          /* empty; never NULL */
void xc_fixture_free(struct xc_fixture *fixture); /* NULL is fine */

/* Fill it from the table at the top of the stack. Raises what is wrong with it: call it protected, and once. */
void xc_fixture_read(lua_State *L, struct xc_fixture *fixture);

/* The process; it goes with the fixture. */
struct xc_process *xc_fixture_process(const struct xc_fixture *fixture);

#endif
