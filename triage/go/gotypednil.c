/* gotypednil: interfaces of Go 1.19 to 1.22: eface { type, data }; iface { itab { the interface's type, type, … }, data
 * }. */
#include "triage/go/gotypednil.h"

#include <string.h>

#include "triage/code/body_cache.h"
#include "triage/explain/faulting_operand.h"
#include "triage/goroutine/govalue.h"
#include "triage/util/sourceline.h"

enum { CALLERS = 6 };

/* The receiver of "main.(*RuleError).Error": "RuleError", of this length. NULL: it is no method of a pointer. */
static const char *receiver_of(const char *function, size_t *len_out)
{
	const char *from = function ? strstr(function, ".(*") : NULL;
	const char *end = from ? strchr(from, ')') : NULL;
	*len_out = end ? (size_t)(end - from) - 3 : 0;
	return end ? from + 3 : NULL;
}

/* Is the type "*main.RuleError" a pointer to the receiver's? */
static bool is_pointer_to(const char *type, const char *receiver, size_t len)
{
	const char *dot = type && *type == '*' ? strrchr(type, '.') : NULL;
	return dot && strlen(dot + 1) == len && strncmp(dot + 1, receiver, len) == 0;
}

/* The type of the nil pointer that an interface holds; NULL: it is none, or holds something else, or is nil itself. */
static const char *held_type(const struct xc_godeath *d, const struct xc_value *value)
{
	const char *name = xc_type_complete(xc_type_strip(value->type))->name;
	bool with_table = name && strcmp(name, "runtime.iface") == 0;
	uint64_t words[2], type;
	if ((!with_table && !(name && strcmp(name, "runtime.eface") == 0)) ||
	    !xc_value_peek(value, 0, words, sizeof words) || !words[0] || words[1])
		return NULL;
	type = words[0];
	if (with_table && !xc_space_peek_uint(d->crash->process->space, words[0] + 8, 8, &type))
		return NULL;
	return xc_govalue_type(&d->go, type, &d->crash->report->arena);
}

static bool report_variable(const struct xc_godeath *d, const struct xc_named_value *v, const struct xc_place *place,
			    size_t level, const char *receiver, size_t len)
{
	const char *type = v->name && *v->name != '~' ? held_type(d, &v->value) : NULL;
	struct xc_text where = {0};
	if (!is_pointer_to(type, receiver, len))
		return false;
	const char *function = xc_place_function(place, level);
	xc_text_add(&where, function ? function : "a caller");
	xc_sourceline(place, level, ", ", &where);
	xc_verdict_evidence(d->crash->report,
			    "`%s` in %s is an interface that holds a nil %s: it is not nil itself (`%s != nil`)",
			    v->name, xc_text_string(&where), type, v->name);
	xc_text_fini(&where);
	return true;
}

static bool report_frame(const struct xc_godeath *d, size_t frame, const char *receiver, size_t len)
{
	struct xc_frame_context in = xc_crash_context_frame(d->crash, frame);
	for (size_t level = 0; !in.place->line_only && level < in.place->level_count; level++)
		for (int locals = 1; locals >= 0; locals--) {
			struct xc_named_value *values;
			size_t count = xc_variable_values(&in, level, locals, &d->crash->report->arena, &values);
			for (size_t i = 0; i < count; i++)
				if (report_variable(d, &values[i], in.place, level, receiver, len))
					return true;
		}
	return false;
}

/* The receiver is the first argument. */
static bool has_receiver(const struct xc_crash_context *crash)
{
	struct xc_named_value *values;
	uint64_t receiver;
	const struct xc_frame_context in = xc_crash_context_frame(crash, crash->blamed);
	return xc_variable_values(&in, crash->blame.level, false, &crash->report->arena, &values) &&
	       xc_value_load(&values[0].value, &receiver) && receiver;
}

/* Is it known that the nil pointer was another one than the receiver? */
static bool is_other_nil(struct xc_crash_context *crash)
{
	struct xc_faulting_operand f;
	struct xc_named_value *values;
	const struct xc_frame_context in = xc_crash_context_frame(crash, crash->blamed);
	const struct xc_linear_expr_part *base =
		xc_faulting_operand_find(crash, &f) ? xc_symbolic_value_pointer(&f.form) : NULL;
	return base && base->term.text && base->times == 1 && f.form.count == 1 &&
	       xc_variable_values(&in, crash->blame.level, false, &crash->report->arena, &values) && values[0].name &&
	       strcmp(base->term.text, values[0].name) != 0;
}

/* Did the caller call it by an address in a register or in memory? */
static bool is_called_indirectly(const struct xc_crash_context *crash)
{
	if (crash->blamed + 1 >= crash->frame_count || !crash->bodies ||
	    crash->blame.level + 1 < crash->blame.place->level_count) /* it is inlined */
		return false;
	xc_addr pc = crash->frames[crash->blamed + 1].pc;
	const struct xc_body *body = xc_body_cache_get(crash->bodies, pc - 1);
	long at = body ? xc_body_before(body, pc) : XC_BODY_NONE;
	return at >= 0 && body->insns[at].kind == XC_INSN_CALL && !body->insns[at].has_target;
}

void xc_gotypednil_report(const struct xc_godeath *d)
{
	struct xc_crash_context *crash = d->crash;
	size_t len;
	const char *function = crash->blame.place ? xc_place_function(crash->blame.place, crash->blame.level) : NULL;
	const char *receiver = receiver_of(function, &len);
	if (!receiver || crash->blamed >= crash->frame_count)
		return;
	for (size_t i = crash->blamed + 1; i < crash->frame_count && i <= crash->blamed + CALLERS; i++)
		if (report_frame(d, i, receiver, len))
			return;
	if (is_called_indirectly(crash) && !has_receiver(crash) && !is_other_nil(crash))
		xc_verdict_evidence(
			crash->report,
			"%s was called through an interface or a function value: perhaps an interface that holds "
			"a nil *%.*s, which is not nil itself",
			function, (int)len, receiver);
}
