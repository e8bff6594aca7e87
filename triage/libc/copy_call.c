/* copy_call: see copy_call.h. The arguments are those of the program's call, which has not returned. What object a
 * pointer leads to is asked in this order: the array that the source names, the block of the heap, the variable
 * there. */
#include "triage/libc/copy_call.h"

#include <inttypes.h>
#include <string.h>

#include "core/base/text.h"
#include "triage/dataflow/argument.h"
#include "triage/dataflow/libcall.h"
#include "triage/dataflow/local.h"
#include "triage/dataflow/origin.h"
#include "triage/source/frame_value.h"
#include "triage/util/names.h"
#include "triage/util/statics.h"

enum {
	BUDGET = 10000,
	VECTOR = 64, /* an access of a vector may begin so far before what is wanted */
	FRAMES = 8,  /* whose variables are searched */
};

struct copy {
	struct xc_crash_context *crash;
	struct xc_frame_code code;
	unsigned budget;
	const char *callee; /* "memcpy" */
	uint64_t length;
	const char *length_name; /* NULL: it has no name */
	struct xc_linear_expr form;
	uint64_t at; /* where it was to begin */
};

/* What the pointer leads to. */
struct object {
	const char *name;
	uint64_t size;
	int64_t offset; /* of the pointer in it; it may be outside */
};

/* ---- arguments ---- */

/* Is the number, or what is left of it, still in rdx or rcx of the innermost frame? */
static bool has_count(const struct xc_crash_context *crash, uint64_t number)
{
	static const int registers[] = {1, 2}; /* rdx, rcx: where memcpy() and memset() keep it */
	uint64_t value;
	for (size_t i = 0; i < XC_COUNT(registers); i++)
		if (xc_regs_get(&crash->fault.frame.regs, registers[i], &value) && number - value <= UINT32_MAX)
			return true;
	return false;
}

/* "n", "len - 12": a sum of one variable and a constant. NULL: it is none. */
static const char *name_of(const struct xc_crash_context *crash, const struct xc_linear_expr *form)
{
	struct xc_arena *arena = &crash->report->arena;
	int64_t more = (int64_t)form->constant;
	if (!form->known || !form->sure || form->count != 1 || form->parts[0].times != 1 || !form->parts[0].term.text)
		return NULL;
	if (!more)
		return form->parts[0].term.text;
	return xc_arena_printf(arena, "%s %c %" PRIu64, form->parts[0].term.text, more < 0 ? '-' : '+',
			       more < 0 ? 0 - (uint64_t)more : (uint64_t)more);
}

/* An argument of the call that has not returned. An int is a size only if a register agrees: the code may have passed a
 * part of it. */
static bool find_argument(struct copy *c, int number, struct xc_linear_expr *form, uint64_t *value)
{
	static const int registers[] = {5, 4, 1}; /* rdi, rsi, rdx: psABI x86-64, 3.2.3 */
	uint64_t size;
	*form = xc_symbolic_value_register(&c->code, c->code.at, registers[number]);
	if (xc_argument_find(c->crash, c->crash->blamed, (unsigned)number, value))
		return true;
	if (!form->known || !form->sure || !xc_origin_value(&c->code, form, value))
		return false;
	bool alone = form->count == 1 && form->parts[0].times == 1 && !form->constant;
	const struct xc_type *type = alone && form->parts[0].term.type ? xc_type_strip(form->parts[0].term.type) : NULL;
	if (!type || !type->is_signed || !xc_type_size(type, &size) || size != sizeof(int32_t))
		return true;
	*value = xc_extend(*value, 8 * (unsigned)size, true);
	return has_count(c->crash, *value);
}

static bool find_length(struct copy *c)
{
	const struct xc_crash_context *crash = c->crash;
	struct xc_linear_expr form;
	const char *callee = crash->blame.place && crash->frame_count ? xc_argument_callee(crash, crash->blamed) : NULL;
	c->callee = callee ? xc_libcall_name(callee, &crash->report->arena) : NULL;
	int number = xc_libcall_length(c->callee);
	c->budget = BUDGET;
	if (number < 0 || !xc_arch_is_x86_64(crash->process->arch) || crash->frames[crash->blamed].interrupted ||
	    !xc_frame_code_init(crash, crash->blamed, &c->budget, &c->code) ||
	    !find_argument(c, number, &form, &c->length))
		return false;
	c->length_name = name_of(crash, &form);
	return true;
}

/* Where it was to begin, if the fault is between there and the end. */
static bool find_begin(struct copy *c)
{
	const struct xc_fault *f = &c->crash->fault;
	bool fills = strstr(c->callee, "set") || strcmp(c->callee, "bzero") == 0;
	if (!f->addr_known || (f->access != XC_ACCESS_READ && f->access != XC_ACCESS_WRITE) ||
	    !find_argument(c, f->access == XC_ACCESS_READ && !fills, &c->form, &c->at))
		return false;
	return f->addr >= c->at && f->addr - c->at < c->length && xc_process_mapping(c->crash->process, c->at);
}

/* ---- objects ---- */

/* "`c->buf`" of the address of c->buf[0]. */
static bool find_array(struct copy *c, struct object *out)
{
	static const char first[] = "[0]";
	struct xc_arena *arena = &c->crash->report->arena;
	struct xc_symbolic_value place;
	struct xc_value value;
	if (!c->form.known || !xc_symbolic_value_place(&c->code, c->code.at, &c->form, 1, &place) || !place.text)
		return false;
	size_t len = strlen(place.text), end = strlen(first);
	if (len > end && strcmp(place.text + len - end, first) == 0)
		len -= end;
	const char *text = xc_arena_strndup(arena, place.text, len);
	bool good = xc_frame_value_of(c->crash, c->crash->blamed, c->crash->blame.level, text, &value) &&
		    value.kind == XC_VALUE_MEMORY && value.addr == c->at &&
		    xc_type_strip(value.type)->kind == XC_TYPE_ARRAY && xc_type_size(value.type, &out->size);
	out->name = xc_arena_printf(arena, "`%s`", text);
	return good;
}

static bool find_block(const struct copy *c, struct object *out)
{
	const struct xc_crash_context *crash = c->crash;
	const struct xc_linear_expr_part *base = xc_symbolic_value_pointer(&c->form);
	bool named = base && base->times == 1 && base->term.value_known;
	const uint64_t pointer = named ? base->term.value : c->at;
	const struct xc_blocks *blocks = crash->heap ? &crash->heap->blocks : NULL;
	uint32_t block = blocks ? xc_blocks_find(blocks, pointer) : XC_NO_BLOCK;
	if (block == XC_NO_BLOCK || xc_block_state(blocks, block) != XC_BLOCK_LIVE)
		return false;
	*out = (struct object){.name = named && base->term.text
					       ? xc_arena_printf(&crash->report->arena, "the block that `%s` points to",
								 base->term.text)
					       : "a block of the heap",
			       .size = xc_block_size(blocks, block),
			       .offset = (int64_t)(c->at - xc_block_addr(blocks, block))};
	return true;
}

static bool find_variable(const struct copy *c, struct object *out)
{
	const struct xc_crash_context *crash = c->crash;
	struct xc_held held = {.type = NULL};
	if (!xc_local_held(crash, crash->blamed + FRAMES, c->at, &held) &&
	    (!xc_statics_at(crash->process, crash->blame.place, crash->thread, c->at, &held) || !held.type))
		return false;
	*out = (struct object){.name = xc_arena_printf(&crash->report->arena, "`%s`", held.name),
			       .offset = (int64_t)held.offset};
	return xc_type_size(held.type, &out->size);
}

/* ---- words ---- */

static void explain(struct xc_crash_context *crash, const char *cause)
{
	struct xc_verdict *v = crash->verdict;
	bool names = v->cause && strchr(v->cause, '`'); /* one that names no variable says less */
	v->cause = names ? xc_arena_printf(&crash->report->arena, "%s; %s", cause, v->cause) : cause;
}

static void report_negative(const struct copy *c)
{
	const char *name = c->length_name;
	xc_verdict_evidence(c->crash->report, "the length of %s()%s%s%s is %" PRId64 ": a negative length", c->callee,
			    name ? ", `" : "", name ? name : "", name ? "`," : "", (int64_t)c->length);
	explain(c->crash,
		xc_arena_printf(&c->crash->report->arena,
				"%s() was given a negative length, %" PRId64 "%s%s%s, which it takes for "
				"nearly all of the memory",
				c->callee, (int64_t)c->length, name ? " (`" : "", name ? name : "", name ? "`)" : ""));
}

/* "memcpy() was to write 65280 bytes (`m->len`)" */
static void add_call(const struct copy *c, struct xc_text *text)
{
	const char *name = c->length_name;
	xc_text_printf(text, "%s() was to %s %" PRIu64 " bytes%s%s%s", c->callee,
		       c->crash->fault.access == XC_ACCESS_WRITE ? "write" : "read", c->length, name ? " (`" : "",
		       name ? name : "", name ? "`)" : "");
}

/* "past the end of `copy`, of which 64 are left". False: the object has as many. */
static bool add_object(const struct copy *c, const struct object *o, struct xc_text *text)
{
	const int64_t size = (int64_t)o->size, left = size - o->offset;
	if (o->offset < 0)
		xc_text_printf(text, ", from %" PRId64 " bytes before the beginning of %s on", -o->offset, o->name);
	else if (left <= 0)
		xc_text_printf(text, ", from %" PRId64 " bytes past the end of %s on, which has %" PRIu64, -left,
			       o->name, o->size);
	else if ((uint64_t)left >= c->length)
		return false;
	else
		xc_text_printf(text,
			       c->crash->fault.access == XC_ACCESS_WRITE ? " to %s, which has room for %" PRId64
									 : " from %s, which has %" PRId64,
			       o->name, left);
	if (left > 0 && o->offset > 0)
		xc_text_add(text, " from there on");
	return true;
}

static void report_long(const struct copy *c, const struct object *object)
{
	struct xc_text cause = {0};
	add_call(c, &cause);
	bool told = object->size && add_object(c, object, &cause);
	if (told) {
		explain(c->crash, xc_arena_strdup(&c->crash->report->arena, xc_text_string(&cause)));
		c->crash->outside = true;
	}
	xc_verdict_evidence(c->crash->report, "%s%sthe access that failed is %" PRIu64 " bytes from its first",
			    told ? "" : xc_text_string(&cause), told ? "" : ": ", c->crash->fault.addr - c->at);
	xc_text_fini(&cause);
}

void xc_copy_call_report(struct xc_crash_context *crash)
{
	static const char *const names[] = {"wild-read",        "wild-write",   "wild-access", "memory-access",
					    "protected-access", "write-rodata", "bus-error",   NULL};
	struct copy c = {.crash = crash};
	struct object object = {.size = 0};
	if (!xc_names_find(names, crash->verdict->class_name) || !crash->blame.through || !find_length(&c))
		return;
	if ((int64_t)c.length < 0) {
		report_negative(&c);
	} else if (find_begin(&c)) {
		if (!find_array(&c, &object) && !find_block(&c, &object) && !find_variable(&c, &object))
			object.size = 0;
		report_long(&c, &object);
	}
}
