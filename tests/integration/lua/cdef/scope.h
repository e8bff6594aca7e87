/* scope: C declarations of a process, and the types and constants that they name. */
#ifndef XC_TEST_CDEF_SCOPE_H
#define XC_TEST_CDEF_SCOPE_H

#include <elf.h>

#include "core/elf/arch.h"
#include "lua/cdef/cdef.h"
#include "tests/support/opened.h"

enum { MEMORY = 0x1000 };

struct scope {
	struct xc_process *process;
	struct xc_cdef *cdef;
};

static inline struct scope open_with(const void *bytes, size_t size)
{
	struct scope s = {.process = xc_process_new("cdef", false)};
	s.process->arch = xc_arch_find(EM_X86_64, ELFCLASS64, false);
	struct xc_segment segment = {.lo = MEMORY, .hi = MEMORY + size - 1, .provenance = XC_FROM_CORE, .bytes = bytes};
	if (size)
		xc_space_add(s.process->space, &segment);
	xc_space_seal(s.process->space);
	s.cdef = xc_cdef_new(s.process);
	return s;
}

static inline struct scope open_scope(void)
{
	return open_with(NULL, 0);
}

static inline void close_scope(struct scope *s)
{
	xc_cdef_free(s->cdef);
	xc_process_close(s->process);
}

static inline const struct xc_type *type_of(struct scope *s, const char *name)
{
	const struct xc_type *type = NULL;
	CHECK_OK(xc_cdef_type(s->cdef, name, &type));
	return type;
}

static inline int64_t constant_of(struct scope *s, const char *name)
{
	int64_t value = 0;
	CHECK_OK(xc_cdef_constant(s->cdef, name, &value));
	return value;
}

static inline uint64_t size_of(struct scope *s, const char *name)
{
	uint64_t size = 0;
	if (!xc_type_size(type_of(s, name), &size))
		fail_msg("%s has no size", name);
	return size;
}

#endif
