#include "heap/query/stackword.h"

#include "dwarf/types/field.h"
#include "dwarf/stack/ended_variable.h"
#include "dwarf/stack/frame_scope.h"
#include "dwarf/stack/variable.h"

enum { ROWS = 10000 };

/* Is it between its stack pointer and its caller's? */
static bool in_frame(const struct xc_frame_scope *at, xc_addr addr)
{
	uint64_t sp;
	struct xc_frame frame = at->frame;
	if (!at->has_frame || !xc_regs_get(&frame.regs, at->process->arch->sp, &sp) || addr < sp)
		return false;
	return xc_unwind_cfa(at->unwinder, &frame) && addr < frame.cfa;
}

static bool find_variable(const struct xc_frame_scope *at, bool locals, xc_addr addr, struct xc_stackword *word)
{
	struct xc_frame_context context = xc_frame_scope_context(at);
	struct xc_arena scratch = {0};
	struct xc_named_value *values;
	size_t count = xc_variable_values(&context, at->level, locals, &scratch, &values), i = 0;
	for (; i < count; i++) {
		const struct xc_value *v = &values[i].value;
		if (v->kind == XC_VALUE_MEMORY && addr >= v->addr && addr - v->addr < xc_value_size(v))
			break;
	}
	if (i < count) {
		word->type = values[i].value.type;
		word->offset = addr - values[i].value.addr;
		xc_text_name(&word->variable, values[i].name);
		xc_field_path(&word->variable, word->type, word->offset, NULL);
	}
	xc_arena_fini(&scratch);
	return i < count;
}

/* A variable of the frame that is not in scope. */
static void look_for_ended(const struct xc_frame_scope *at, xc_addr addr, struct xc_stackword *word)
{
	struct xc_frame_context context = xc_frame_scope_context(at);
	struct xc_ended_variable *variables;
	struct xc_arena scratch = {0};
	size_t count = xc_ended_variables(&context, &scratch, &variables);
	const struct xc_ended_variable *found = xc_ended_variable_at(&context, variables, count, addr);
	if (found)
		word->ended = found->name;
	xc_arena_fini(&scratch);
}

/* The rows of a frame: inlined functions first. What has ended is asked only where no variable in scope has the word:
 * that reads the whole function. */
static void look_at_frame(struct xc_frame_scope *at, xc_addr addr, struct xc_stackword *word)
{
	const struct xc_frame_scope innermost = *at; /* borrows its unwinder */
	word->in_frame = true;
	word->row = at->row;
	word->function = xc_frame_scope_function(at);
	do
		if (find_variable(at, true, addr, word) || find_variable(at, false, addr, word)) {
			word->row = at->row;
			word->function = xc_frame_scope_function(at);
			return;
		}
	while (xc_frame_scope_up(at) && in_frame(at, addr));
	look_for_ended(&innermost, addr, word);
}

struct xc_stackword xc_stackword_find(const struct xc_process *process, const struct xc_thread *thread, xc_addr addr)
{
	struct xc_stackword word = {.in_frame = false};
	struct xc_frame_scope at;
	struct xc_error *err = xc_frame_scope_open(&at, process, thread, 0);
	unsigned rows = 0;
	bool found = false;
	while (!err && !(found = in_frame(&at, addr)) && rows++ < ROWS)
		if (!xc_frame_scope_up(&at))
			break;
	if (found)
		look_at_frame(&at, addr, &word);
	xc_frame_scope_fini(&at);
	xc_error_free(err);
	return word;
}

void xc_stackword_fini(struct xc_stackword *word)
{
	xc_text_fini(&word->variable);
}

void xc_stackword_text(const struct xc_process *process, const struct xc_thread *thread, xc_addr addr,
		       struct xc_text *text)
{
	struct xc_stackword word = xc_stackword_find(process, thread, addr);
	if (word.in_frame) {
		xc_text_printf(text, "#%u ", word.row);
		xc_text_name(text, word.function ? word.function : "??");
	}
	if (word.type)
		xc_text_printf(text, ", %s", xc_text_string(&word.variable));
	else if (word.ended)
		xc_text_printf(text, ", `%s`, which is not in scope", word.ended);
	else
		xc_text_add(text, word.in_frame ? ", no named variable" : "in no frame");
	xc_stackword_fini(&word);
}
