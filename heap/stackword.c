#include "stackword.h"

#include "../dwarf/field.h"
#include "../dwarf/standpoint.h"
#include "../dwarf/variable.h"

enum { ROWS = 10000 };

/* Between its stack pointer and its caller's. */
static bool in_frame(const struct xc_standpoint *at, xc_addr addr)
{
	uint64_t sp;
	struct xc_frame frame = at->frame;
	if (!at->has_frame || !xc_regs_get(&frame.regs, at->process->arch->sp, &sp) || addr < sp)
		return false;
	return xc_unwind_cfa(at->unwinder, &frame) && addr < frame.cfa;
}

static bool add_variable(const struct xc_standpoint *at, bool locals, xc_addr addr, struct xc_text *text)
{
	struct xc_frame_context context = xc_standpoint_context(at);
	struct xc_arena scratch = {0};
	struct xc_named_value *values;
	size_t count = xc_variable_values(&context, at->level, locals, &scratch, &values), i = 0;
	for (; i < count; i++) {
		const struct xc_value *v = &values[i].value;
		if (v->kind == XC_VALUE_MEMORY && addr >= v->addr && addr - v->addr < xc_value_size(v))
			break;
	}
	if (i < count) {
		xc_text_add(text, ", ");
		xc_text_name(text, values[i].name);
		xc_field_path(text, values[i].value.type, addr - values[i].value.addr, NULL);
	}
	xc_arena_fini(&scratch);
	return i < count;
}

/* The rows of a frame: inlined functions first. */
static void add_frame(struct xc_standpoint *at, xc_addr addr, struct xc_text *text)
{
	const char *function = xc_standpoint_function(at);
	xc_text_printf(text, "#%u ", at->row);
	xc_text_name(text, function ? function : "??");
	do
		if (add_variable(at, true, addr, text) || add_variable(at, false, addr, text))
			return;
	while (xc_standpoint_up(at) && in_frame(at, addr));
}

void xc_stackword_text(const struct xc_process *process, const struct xc_thread *thread, xc_addr addr,
		       struct xc_text *text)
{
	struct xc_standpoint at;
	struct xc_error *err = xc_standpoint_open(&at, process, thread, 0);
	unsigned rows = 0;
	bool found = false;
	while (!err && !(found = in_frame(&at, addr)) && rows++ < ROWS)
		if (!xc_standpoint_up(&at))
			break;
	if (found)
		add_frame(&at, addr, text);
	xc_standpoint_fini(&at);
	xc_error_free(err);
}
