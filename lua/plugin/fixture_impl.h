/* fixture_impl: declarations that the files of the fixture share. */
#ifndef XC_FIXTURE_IMPL_H
#define XC_FIXTURE_IMPL_H

#include <elf.h>

#include "dwarf/types/ctype.h"
#include "dwarf/cexpr/synthetic_symbol.h"
#include "lua/plugin/fixture.h"

struct xc_cdef;

struct xc_fixture_object {
	const char *name;
	const struct xc_type *type;
	xc_addr addr;
	uint64_t size;
	uint8_t *bytes;
};

struct xc_fixture {
	struct xc_synthetic_symbols synthetic; /* first: see synthetic_value */
	struct xc_process *process;
	struct xc_cdef *cdef;
	struct xc_fixture_object *objects; /* by name */
	size_t object_count;
	xc_addr next_addr;
};

const struct xc_fixture_object *xc_fixture_object(const struct xc_fixture *fixture, const char *name);

/* Allocate `size` zero bytes at *addr, or, when that is 0, anywhere. */
uint8_t *xc_fixture_lay(struct xc_fixture *fixture, xc_addr *addr, uint64_t size);

/* Write the value at the top of the stack as bytes of a type; nil is zero. `path` is for messages. Raises. */
void xc_fixture_encode(lua_State *L, struct xc_fixture *fixture, const char *path, const struct xc_type *type,
		       uint8_t *bytes);

#endif
