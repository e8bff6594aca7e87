/* frame_names: the functions of sampled addresses, with inlined ones, looked up once for each address at the end. */
#ifndef XC_FRAME_NAMES_H
#define XC_FRAME_NAMES_H

#include "core/process/process.h"
#include "core/text/intern.h"
#include "profile/stack_store.h"

/* A function; equal ones have equal numbers. */
struct xc_frame_function {
	const char *name;   /* "ns::Class::method", "do_sys_poll", "??" */
	const char *module; /* NULL: of none */
};

/* A function at a place. */
struct xc_frame_name {
	uint32_t function;
	const char *file; /* NULL: unknown */
	unsigned line;    /* 0: unknown */
};

struct xc_frame_names {
	struct xc_arena arena;
	struct xc_frame_function *functions;
	size_t function_count, function_capacity;
	struct xc_frame_name *names; /* of all places, one after the other; of each the innermost inlined one first */
	size_t name_count, name_capacity;
	uint32_t *starts;         /* place i has the names [starts[i], starts[i + 1]), at least one */
	struct xc_intern by_name; /* name, newline, module */
};

/* Look up all places of the store. */
void xc_frame_names_find(struct xc_frame_names *names, struct xc_process *process, const struct xc_stack_store *store);
void xc_frame_names_fini(struct xc_frame_names *names);

#endif
