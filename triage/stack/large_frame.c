/* large_frame: loops that touch each page of a large frame compare with its size. */
#include "triage/stack/large_frame.h"

#include "triage/code/body_cache.h"

enum {
	HALF = 2,
	LARGEST = 1 << 30, /* smallest frame that a number in the code is taken for */
};

uint64_t xc_large_frame_coded(const struct xc_crash_context *crash, size_t index, uint64_t bytes, bool *known_out)
{
	const struct xc_body *body = xc_body_cache_get(crash->bodies, xc_frame_lookup(&crash->frames[index]));
	int64_t half = (int64_t)(bytes / HALF), found = 0;
	*known_out = body && !body->incomplete;
	for (size_t i = 0; body && i < body->count && !found; i++) {
		const struct xc_insn *insn = &body->insns[i];
		bool sp = insn->memory.base == crash->process->arch->sp;
		int64_t moves = insn->stack_known ? -insn->stack_moves : 0;
		int64_t down = insn->kind == XC_INSN_ADDRESS && sp ? -insn->memory.displacement
			       : insn->kind == XC_INSN_ADD         ? -insn->constant
			       : insn->kind == XC_INSN_CONSTANT    ? insn->constant
								   : 0;
		found = moves >= half ? moves : down >= half && down <= LARGEST ? down : 0;
	}
	return (uint64_t)found;
}

const char *xc_large_frame_local(const struct xc_crash_context *crash, size_t index, uint64_t bytes, uint64_t *size_out)
{
	struct xc_frame_context in = xc_crash_context_frame(crash, index);
	const char *name = NULL;
	uint64_t best = bytes / HALF;
	for (size_t level = 0; level < in.place->level_count && !in.place->line_only; level++) {
		struct xc_named_value *locals;
		size_t count = xc_variable_values(&in, level, true, &crash->report->arena, &locals);
		for (size_t i = 0; i < count; i++) {
			uint64_t size = xc_value_size(&locals[i].value);
			if (size < best || size > bytes)
				continue;
			best = *size_out = size;
			name = locals[i].name;
		}
	}
	return xc_arena_strdup(&crash->report->arena, name); /* the report outlives the process */
}
