/* expression: the findings about the operand (faulting_operand.h), in words. */
#include "triage/explain/expression.h"

#include <inttypes.h>
#include <string.h>

#include "core/base/text.h"
#include "triage/explain/array_bounds.h"
#include "triage/code/body.h"
#include "triage/explain/faulting_operand.h"
#include "triage/dataflow/argument.h"
#include "triage/dataflow/deref.h"
#include "triage/dataflow/libcall.h"
#include "triage/util/names.h"
#include "triage/util/same_type.h"
#include "triage/dataflow/origin.h"
#include "triage/code/cxx_accessor.h"

enum { NESTING = 8, MEMBERS = 64 };

static const char *verb(const struct xc_crash_context *crash)
{
	return crash->fault.access == XC_ACCESS_WRITE  ? "writing"
	       : crash->fault.access == XC_ACCESS_READ ? "reading"
						       : "accessing";
}

static bool is_reference(const struct xc_type *type)
{
	type = type ? xc_type_strip(type) : NULL;
	return type && (type->kind == XC_TYPE_REFERENCE || type->kind == XC_TYPE_RVALUE_REFERENCE);
}

/* A number of the type, of which `bits` has the low bytes. */
static void add_number(const struct xc_type *type, uint64_t bits, struct xc_text *text)
{
	uint64_t size = 8;
	bool is_signed = !type || xc_type_strip(type)->is_signed;
	if (type && xc_type_size(type, &size) && size && size < 8)
		bits = xc_extend(bits, 8 * (unsigned)size, is_signed);
	if (is_signed)
		xc_text_printf(text, "%" PRId64, (int64_t)bits);
	else
		xc_text_printf(text, "%" PRIu64, bits);
}

/* "was NULL when it was read, and is 0x55… now" */
static void add_changed(const struct xc_faulting_operand *f, uint64_t now, struct xc_text *text)
{
	if (f->divides) {
		xc_text_add(text, "was ");
		add_number(f->bad.type, f->value, text);
		xc_text_add(text, " when it was read, and is ");
		add_number(f->bad.type, now, text);
		xc_text_add(text, " now");
		return;
	}
	if (f->value)
		xc_text_printf(text, "was 0x%" PRIx64, f->value);
	else
		xc_text_add(text, "was NULL");
	xc_text_add(text, " when it was read, and is ");
	if (now)
		xc_text_printf(text, "0x%" PRIx64 " now", now);
	else
		xc_text_add(text, "NULL now");
}

/* Is a small value no offset from NULL either? Code has no members, and a member is as aligned as its type is. */
static bool is_number(const struct xc_crash_context *crash, const struct xc_faulting_operand *f)
{
	const struct xc_memory_operand *o = &crash->fault.operand;
	uint64_t size;
	if (!f->bad.text || f->divides || !f->value_known || !f->value || f->value >= XC_NULL_PAGES)
		return false;
	if (f->called)
		return true;
	bool whole = !f->passed_to && f->form.count == 1 && f->place.type && !xc_type_is_record(f->place.type) &&
		     xc_type_size(f->place.type, &size) && size && size == o->size && size <= 8;
	return whole && (uint64_t)f->form.constant % size == 0 && f->value % size;
}

/* Is a place in a record within a union, as a pointer beside a number? */
static bool is_in_union(const struct xc_type *type, uint64_t offset)
{
	for (unsigned i = 0; type && i < NESTING; i++) {
		size_t count;
		const struct xc_member *members = NULL;
		type = xc_type_complete(xc_type_strip(type));
		if (type->kind == XC_TYPE_UNION)
			return true;
		if (!xc_same_type_is_record(type) || !(members = xc_type_members(type, &count)))
			return false;
		type = NULL;
		for (size_t k = 0; k < count && k < MEMBERS && !type; k++) {
			uint64_t size;
			if (members[k].dynamic || !members[k].type || !xc_type_size(members[k].type, &size) ||
			    offset < members[k].offset || offset - members[k].offset >= size)
				continue;
			type = members[k].type;
			offset -= members[k].offset;
		}
	}
	return false;
}

/* Of a union, in which a number was stored. Elsewhere it may be an offset that was added to NULL, and then stored. */
static bool is_stored_number(const struct xc_crash_context *crash, const struct xc_faulting_operand *f)
{
	enum { FIRST_PAGE = 4096 };
	const struct xc_deref *bad = xc_derefs_bad(crash->derefs);
	return f->bad.text && !f->divides && !f->called && bad && bad->at_known && bad->value_known && bad->led_known &&
	       bad->value == f->value && f->value >= FIRST_PAGE && f->value < XC_NULL_PAGES &&
	       is_in_union(xc_same_type_pointed(bad->pointer_type), bad->at - bad->led);
}

/* The function of the C library that returned the bad value, and sets errno when it fails; NULL: none. */
static const char *failed_call(const struct xc_faulting_operand *f)
{
	const struct xc_body *body = f->frame_code.body;
	long call = f->bad.kind == XC_SYMBOLIC_RESULT ? (long)f->bad.at : xc_origin_result(&f->frame_code, &f->bad);
	const char *callee = call < 0 ? NULL : xc_body_callee(body, &body->insns[call], NULL);
	return xc_libcall_fails(callee) ? xc_libcall_name(callee, &f->frame_code.crash->report->arena) : NULL;
}

static bool is_map_failed(const struct xc_faulting_operand *f)
{
	static const char *const names[] = {"mmap", "mremap", "shmat", NULL};
	return f->value_known && f->value == UINT64_MAX && xc_names_find(names, f->failed);
}

static bool is_stream(const struct xc_type *pointer)
{
	static const char *const names[] = {"_IO_FILE", "__dirstream", NULL};
	const struct xc_type *type = xc_same_type_pointed(pointer);
	return type && xc_names_find(names, type->name);
}

/* "`r` is NULL", "`n->next` is 0x10", "`p` points to unmapped memory" */
static void add_bad(const struct xc_crash_context *crash, const struct xc_faulting_operand *f, struct xc_text *text)
{
	bool result = f->bad.kind == XC_SYMBOLIC_RESULT, number = is_number(crash, f) || is_stored_number(crash, f);
	uint64_t now;
	if (!f->bad.text)
		return;
	xc_text_printf(text, "`%s` ", f->bad.text);
	if (xc_derefs_changed(crash, &now)) {
		add_changed(f, now, text);
		return;
	}
	if (is_reference(f->bad.type) && f->value)
		xc_text_add(text, result ? "returned a reference to unmapped memory" : "is in unmapped memory");
	else if (f->divides) {
		xc_text_add(text, result ? "returned " : "is ");
		add_number(f->bad.type, f->value, text);
	} else if (!f->value)
		xc_text_add(text, result ? "returned NULL" : "is NULL");
	else if (is_map_failed(f))
		xc_text_printf(text, "%s -1, which says that %s() failed", result ? "returned" : "is", f->failed);
	else if (number || f->value < XC_NULL_PAGES)
		xc_text_printf(text, "is 0x%" PRIx64 ", which is not a pointer: the number %" PRIu64 "%s", f->value,
			       f->value, number ? "" : ", or an offset from NULL");
	else if (xc_faulting_operand_unwritable(crash, f))
		xc_text_add(text, "points to read-only memory, and with the index to unmapped memory");
	else if (!xc_operand_canonical(f->value) && crash->process->arch->word == 8)
		xc_text_add(text, "is not an address");
	else
		xc_text_add(text, "points to unmapped memory");
}

/* The library function that the program called, by the name that it has there, else the one that got the pointer. */
static const char *function_passed_to(const struct xc_faulting_operand *f)
{
	const struct xc_crash_context *crash = f->frame_code.crash;
	struct xc_arena *arena = &crash->report->arena;
	const char *function = f->passed_to;
	if (crash->blame.place && crash->blame.through && f->frame_code.frame == crash->blamed) {
		const char *called = xc_argument_callee(crash, crash->blamed);
		function =
			xc_arena_printf(arena, "%s()", xc_libcall_name(called ? called : crash->blame.through, arena));
	}
	return xc_cxx_accessor_short(function, arena);
}

/* Is it an unmapped element of an object in mapped memory? Then the index leads there. */
static bool is_index_wild(const struct xc_crash_context *crash, const struct xc_faulting_operand *f)
{
	const struct xc_linear_expr_part *pointer = xc_symbolic_value_pointer(&f->form);
	bool good = f->form.absolute || (pointer && f->value_known && xc_process_mapping(crash->process, f->value));
	return good && f->form.count > (pointer != NULL) && !f->bad.text && !f->called && !f->divides &&
	       !f->passed_to && crash->fault.operand.addr_known &&
	       !xc_process_mapping(crash->process, crash->fault.addr);
}

/* The name of such an index; NULL: it has no name, or is a sum. */
static const struct xc_symbolic_value *wild_index(const struct xc_crash_context *crash,
						  const struct xc_faulting_operand *f)
{
	const struct xc_linear_expr_part *pointer = xc_symbolic_value_pointer(&f->form), *index = &f->form.parts[0];
	if (!is_index_wild(crash, f) || f->form.count - (pointer != NULL) != 1)
		return NULL;
	index += index == pointer;
	return index->term.text ? &index->term : NULL;
}

static void write_cause(const struct xc_crash_context *crash, const struct xc_faulting_operand *f, struct xc_text *text)
{
	const char *expression = f->place.text;
	if (f->called)
		xc_text_printf(text, "calling `(*%s)()`: ", expression);
	else if (f->divides)
		xc_text_printf(text, "dividing by `%s`: ", expression);
	else if (f->passed_to && f->member)
		xc_text_printf(text, "%s `%s`, in %s: ", verb(crash), expression, function_passed_to(f));
	else if (f->passed_to)
		xc_text_printf(text, "%s what `%s` points to, in %s: ", verb(crash), expression, function_passed_to(f));
	else
		xc_text_printf(text, "%s `%s`", verb(crash), expression);
	if (!f->called && !f->divides && !f->passed_to) {
		if (f->bad.text && f->form.count == 1 && f->form.constant > 0)
			xc_text_printf(text, " (offset 0x%" PRIx64 ")", (uint64_t)f->form.constant);
		if (f->bad.text)
			xc_text_add(text, ": ");
	}
	add_bad(crash, f, text);
	if (wild_index(crash, f))
		xc_text_printf(text, ": the index `%s` leads to unmapped memory", wild_index(crash, f)->text);
	else if (is_index_wild(crash, f))
		xc_text_add(text, ": the index leads to unmapped memory");
}

/* Classes that say no more than this does. */
static bool may_explain(const struct xc_crash_context *crash)
{
	static const char *const names[] = {"null-read",   "null-write", "null-access", "wild-read",   "wild-write",
					    "wild-access", "call-null",  "pc-control",  "div-by-zero", NULL};
	return xc_names_find(names, crash->verdict->class_name);
}

/* A base register that is not zero made a NULL pointer only likely: here it is certain. */
static void explain(struct xc_crash_context *crash, const struct xc_faulting_operand *f, const char *cause)
{
	bool null = xc_crash_context_is(crash, "null-read") || xc_crash_context_is(crash, "null-write");
	crash->verdict->cause = xc_arena_strdup(&crash->report->arena, cause);
	if (null && f->form.sure && f->value_known && !f->value)
		crash->verdict->confidence = xc_arena_strdup(&crash->report->arena, "certain");
}

/* Where the place has no source form: the base of its offset. */
static bool write_offset(const struct xc_crash_context *crash, const struct xc_faulting_operand *f,
			 struct xc_text *text)
{
	bool wild = is_index_wild(crash, f) && !f->form.absolute;
	const char *from = wild ? xc_symbolic_value_pointer(&f->form)->term.text : f->bad.text;
	if (!from || f->called || f->divides || f->passed_to)
		return false;
	xc_text_printf(text, "%s%s at an offset from `%s`: ", f->form.sure ? "" : "likely ", verb(crash), from);
	if (wild)
		xc_text_add(text, "it leads to unmapped memory");
	else
		add_bad(crash, f, text);
	return true;
}

/* Other members of a union, of which the source does not name one: those that can be used like this one. */
static size_t find_others(const struct xc_symbolic_value *value, struct xc_text *others)
{
	size_t count = 0;
	bool pointer = xc_symbolic_value_is_pointer(value->type);
	for (size_t i = 0; value->text && i < value->choice_count; i++)
		if (!pointer || xc_symbolic_value_is_pointer(value->choices[i].type))
			xc_text_printf(others, "%s`%s`", count++ ? ", " : "", value->choices[i].text);
	return count;
}

static bool report_others(const struct xc_crash_context *crash, const struct xc_symbolic_value *value)
{
	struct xc_text others = {0};
	size_t count = find_others(value, &others);
	if (count)
		xc_verdict_evidence(crash->report, "`%s` is a member of a union, likely that one; as good: %s",
				    value->text, xc_text_string(&others));
	xc_text_fini(&others);
	return count > 0;
}

/* Is it certain which members of unions they are? */
static bool are_members_sure(const struct xc_crash_context *crash, const struct xc_faulting_operand *f)
{
	bool same = f->bad.text && f->place.text && strcmp(f->bad.text, f->place.text) == 0;
	bool bad = report_others(crash, &f->bad);
	return !(!same && report_others(crash, &f->place)) && !bad;
}

/* Has the place that a value was read from this value now, or was it that place for sure? */
static bool is_read_there(const struct xc_crash_context *crash, const struct xc_deref *one)
{
	uint64_t now;
	return one->at_known && (one->exact || (one->value_known && one->size && one->size <= 8 &&
						xc_space_peek_uint(crash->process->space, one->at, one->size, &now) &&
						now == one->value));
}

/* An element outside of its array: the place that was accessed, or one on the way of the bad value. */
static void add_bounds(struct xc_crash_context *crash, const struct xc_faulting_operand *f, struct xc_text *cause)
{
	struct xc_text bounds = {0};
	bool accessed = !f->called && !f->divides && !f->passed_to && !f->frame_code.frame && crash->fault.addr_known;
	bool found = accessed && xc_array_bounds_report(crash, 0, f->place.text, crash->fault.addr, false, &bounds);
	for (size_t i = 0; crash->derefs && i < crash->derefs->count && !found; i++) {
		const struct xc_deref *one = &crash->derefs->items[i];
		found = is_read_there(crash, one) &&
			xc_array_bounds_report(crash, one->frame, one->place, one->at, true, &bounds);
	}
	crash->outside = found && f->form.sure;
	if (found)
		xc_text_printf(cause, "; %s%s", f->form.sure ? "" : "likely ", xc_text_string(&bounds));
	xc_text_fini(&bounds);
}

/* Does the origin add anything to the expression? */
static bool is_origin_new(const struct xc_crash_context *crash, const struct xc_faulting_operand *f)
{
	return crash->verdict->origin && f->bad.text && f->bad.kind != XC_SYMBOLIC_RESULT &&
	       !(f->bad.kind == XC_SYMBOLIC_LOADED && !f->bad.slot);
}

/* Go's runtime made a panic of the fault: its cause does not say which pointer was nil. No register is left, but the
 * address is its offset. */
static void name_nil(struct xc_crash_context *crash, const struct xc_faulting_operand *f)
{
	const struct xc_verdict *v = crash->verdict;
	const struct xc_linear_expr_part *base = xc_symbolic_value_pointer(&f->form);
	if (xc_crash_context_is(crash, "panic") && v->kind && strcmp(v->kind, "nil") == 0 && v->cause && base &&
	    base->term.text && base->times == 1 && f->form.count == 1 && !f->called && crash->fault.addr_known &&
	    (int64_t)crash->fault.addr == f->form.constant)
		crash->verdict->cause = xc_arena_printf(
			&crash->report->arena, "%s: %s`%s` was nil%s%s", v->cause, f->form.sure ? "" : "likely ",
			base->term.text, is_origin_new(crash, f) ? "; " : "", is_origin_new(crash, f) ? v->origin : "");
}

static void report_operand(struct xc_crash_context *crash, struct xc_faulting_operand *f)
{
	struct xc_arena *arena = &crash->report->arena;
	struct xc_text cause = {0}, origin = {0};
	const struct xc_symbolic_value *index = wild_index(crash, f);
	bool sure = false, told = false;
	f->failed = f->bad.text && f->value_known ? failed_call(f) : NULL;
	if (f->bad.text)
		told = xc_origin_describe(&f->frame_code, &f->bad, f->value_known ? &f->value : NULL, &origin, &sure);
	else if (index)
		told = xc_origin_describe(&f->frame_code, index, NULL, &origin, &sure);
	if (told)
		crash->verdict->origin = xc_arena_printf(arena, "%s%s", sure ? "" : "likely ", xc_text_string(&origin));
	f->form.sure &= are_members_sure(crash, f);
	crash->number |= f->form.sure && (is_number(crash, f) || is_map_failed(f));
	crash->number_likely = !crash->number && f->form.sure && is_stored_number(crash, f);
	crash->number |= crash->number_likely;
	crash->by_errno = is_map_failed(f) || (f->bad.text && f->value_known && !f->value && !f->divides &&
					       (f->failed || is_stream(f->bad.type)));
	if (f->place.text) {
		crash->verdict->expression = f->called ? xc_arena_printf(arena, "(*%s)()", f->place.text)
						       : xc_arena_strdup(arena, f->place.text);
		if (!f->form.sure)
			xc_text_add(&cause, "likely ");
		write_cause(crash, f, &cause);
		if (crash->verdict->origin && index)
			xc_text_printf(&cause, "; %s", crash->verdict->origin);
		if (is_origin_new(crash, f))
			xc_text_printf(&cause, "; %s", crash->verdict->origin);
		add_bounds(crash, f, &cause);
		if ((f->bad.text || is_index_wild(crash, f)) && may_explain(crash))
			explain(crash, f, xc_text_string(&cause));
		name_nil(crash, f);
	} else if (may_explain(crash) && write_offset(crash, f, &cause)) {
		explain(crash, f, xc_text_string(&cause));
	}
	xc_text_fini(&cause);
	xc_text_fini(&origin);
}

void xc_expression_report(struct xc_crash_context *crash)
{
	const struct xc_fault *fault = &crash->fault;
	struct xc_faulting_operand f;
	if (!crash->frame_count || fault->sent || crash->no_access || !fault->frame_known ||
	    xc_crash_context_is(crash, "stack-overflow"))
		return; /* the place is irrelevant when the stack is exhausted */
	if (xc_faulting_operand_find(crash, &f))
		report_operand(crash, &f);
}
