#include "triage/loop/idle_step.h"

#include "core/base/text.h"
#include "triage/dataflow/origin.h"
#include "triage/util/sourceline.h"

enum { NEAR = 3 };

static const struct xc_symbolic_value *single(const struct xc_linear_expr *form)
{
	bool one = form->known && form->count == 1 && form->parts[0].times == 1 && !form->constant;
	return one && form->parts[0].term.text ? &form->parts[0].term : NULL;
}

static bool name_memory(const struct xc_frame_code *code, size_t at, struct xc_symbolic_value *out)
{
	const struct xc_insn *insn = &code->body->insns[at];
	struct xc_linear_expr form = xc_symbolic_value_address(code, at, &insn->memory);
	xc_addr addr;
	if (!form.known || !xc_symbolic_value_place(code, at, &form, insn->memory.size, out) || !out->text)
		return false;
	out->value_known = insn->memory.size <= 8 && xc_origin_value(code, &form, &addr) &&
			   xc_space_peek_uint(code->crash->process->space, addr, insn->memory.size, &out->value);
	return true;
}

/* What is in the register: code without optimization loads a number, and extends it in a step of its own. */
static bool name_register(const struct xc_frame_code *code, size_t at, int reg, struct xc_symbolic_value *out)
{
	struct xc_linear_expr form = xc_symbolic_value_register(code, at, reg);
	if (single(&form)) {
		*out = *single(&form);
		return true;
	}
	for (size_t i = at; i-- > 0 && at - i <= NEAR && reg >= 0 && reg < 64;) {
		const struct xc_insn *insn = &code->body->insns[i];
		if (insn->kind == XC_INSN_LOAD && insn->to == reg)
			return name_memory(code, i, out);
		if ((insn->writes >> reg & 1) && (insn->kind != XC_INSN_OTHER || insn->has_memory))
			return false;
	}
	return false;
}

/* What the source calls the part of the sum that is 0, and is known to be. */
static const char *name_of(const struct xc_frame_code *code, size_t at)
{
	const struct xc_insn *insn = &code->body->insns[at];
	const int parts[] = {insn->kind == XC_INSN_ADD_REGISTER ? insn->from : insn->added,
			     insn->kind == XC_INSN_ADD_REGISTER ? insn->to : -1};
	struct xc_symbolic_value one;
	if (insn->kind == XC_INSN_ADD_MEMORY && name_memory(code, at, &one) && one.value_known && !one.value)
		return one.text;
	for (size_t i = 0; i < XC_COUNT(parts); i++)
		if (parts[i] >= 0 && name_register(code, at, parts[i], &one) && one.value_known && !one.value)
			return one.text;
	return NULL;
}

const char *xc_idle_step_words(const struct xc_frame_code *code, xc_addr pc)
{
	struct xc_text text = {0};
	long at = xc_body_at(code->body, pc);
	const char *name = at >= 0 ? name_of(code, (size_t)at) : NULL;
	xc_text_add(&text, "likely because the value that it adds");
	xc_sourceline(xc_debuginfo_place(code->crash->process, pc), 0, " at ", &text);
	xc_text_printf(&text, name ? ", `%s`, is 0" : " is 0", name);
	const char *words = xc_arena_strdup(&code->crash->report->arena, xc_text_string(&text));
	xc_text_fini(&text);
	return words;
}
