/* body_cache: looked up by the address of an instruction. Other addresses, within an instruction or in no function,
 * have entries of their own. */
#include "triage/code/body_cache.h"

enum {
	ASKED = 512,           /* addresses */
	FUNCTIONS = 256,       /* functions to decode at most */
	INSTRUCTIONS = 1 << 20 /* in all functions: about 150 MiB */
};

struct asked {
	xc_addr addr;
	struct xc_body *body;
};

struct xc_body_cache {
	const struct xc_process *process;
	struct xc_arena *arena;
	struct asked asked[ASKED];
	struct xc_body *functions[FUNCTIONS];
	size_t asked_count, function_count, instructions;
};

struct xc_body_cache *xc_body_cache_new(const struct xc_process *process, struct xc_arena *arena)
{
	struct xc_body_cache *bodies = xc_arena_alloc(arena, sizeof *bodies);
	bodies->process = process;
	bodies->arena = arena;
	return bodies;
}

static struct xc_body *read(struct xc_body_cache *b, xc_addr addr)
{
	if (b->function_count == FUNCTIONS || b->asked_count == ASKED || b->instructions >= INSTRUCTIONS)
		return NULL;
	struct xc_body *body = xc_body_read(b->process, addr, b->arena);
	b->asked[b->asked_count++] = (struct asked){.addr = addr, .body = body};
	if (body) {
		b->functions[b->function_count++] = body;
		b->instructions += body->count;
	}
	return body;
}

struct xc_body *xc_body_cache_get(struct xc_body_cache *b, xc_addr addr)
{
	for (size_t i = 0; i < b->asked_count; i++)
		if (b->asked[i].addr == addr)
			return b->asked[i].body;
	for (size_t i = 0; i < b->function_count; i++)
		if (xc_body_holds(b->functions[i], addr))
			return b->functions[i];
	return read(b, addr);
}
