/* origin: the slice again, this time for what set the value and not for its name. */
#include "origin.h"

#include <inttypes.h>
#include <string.h>

#include "stdobject.h"

enum { DEPTH = 12, FRAMES = 4, TOLD = 3 };

/* One teller for all steps: how far it may go, and what is known. */
struct teller {
	const struct xc_scene *scene;
	const uint64_t *value;
	unsigned depth, frames;
	bool sure;
};

static bool tell_register(struct teller t, size_t at, int reg, struct xc_text *text, bool *sure);
static bool tell_slot(struct teller t, size_t at, const struct xc_insn_memory *m, struct xc_text *text, bool *sure);

/* Append "main.c:88" of an instruction; nothing when the line is not known. */
static bool add_line(const struct xc_scene *s, size_t at, const char *before, struct xc_text *text)
{
	const struct xc_place *place = xc_debuginfo_place(s->q->process, s->body->insns[at].addr);
	const struct xc_level *level = place->level_count ? &place->levels[0] : NULL;
	if (!level || !level->file || !level->line)
		return false;
	const char *slash = strrchr(level->file, '/');
	xc_text_printf(text, "%s%s:%u", before, slash ? slash + 1 : level->file, level->line);
	return true;
}

const char *xc_origin_function(const struct xc_scene *s)
{
	const struct xc_place *place = xc_debuginfo_place(s->q->process, s->body->insns[s->at].addr);
	return place->level_count ? place->levels[0].function : place->symbol;
}

/* ---- what a definition says ---- */

static bool tell_result(const struct teller *t, size_t call, struct xc_text *text)
{
	const struct xc_scene *s = t->scene;
	const struct xc_insn *insn = &s->body->insns[call];
	const char *callee = xc_body_callee(s->body, insn, NULL);
	if (callee) {
		xc_text_printf(text, "returned by %s()", xc_stdobject_short(callee, &s->q->report->arena));
	} else {
		struct xc_form form = {.known = false};
		struct xc_term term = {.text = NULL};
		if (insn->from >= 0)
			form = xc_form_register(s, call, insn->from);
		if (form.known && form.count == 1 && form.parts[0].times == 1 && !form.constant)
			term = form.parts[0].term;
		else if (insn->has_memory) {
			form = xc_form_memory(s, call, &insn->memory);
			if (!xc_form_place(s, call, &form, insn->memory.size, &term))
				term.text = NULL;
		}
		if (term.text)
			xc_text_printf(text, "returned by (*%s)()", term.text);
		else
			xc_text_add(text, "returned by a call");
	}
	add_line(s, call, " at ", text);
	return true;
}

static bool tell_constant(const struct teller *t, size_t at, struct xc_text *text)
{
	int64_t constant = t->scene->body->insns[at].constant;
	if (constant)
		xc_text_printf(text, "set to 0x%" PRIx64, (uint64_t)constant);
	else
		xc_text_add(text, "set to NULL");
	add_line(t->scene, at, " at ", text);
	return true;
}

/* What was read from another place than the frame's own: its name is all that is known. */
static bool tell_place(const struct teller *t, size_t at, struct xc_text *text)
{
	const struct xc_insn *insn = &t->scene->body->insns[at];
	struct xc_form form = xc_form_memory(t->scene, at, &insn->memory);
	struct xc_term term;
	if (!xc_form_place(t->scene, at, &form, insn->memory.size, &term))
		return false;
	xc_text_printf(text, "read from `%s`", term.text);
	add_line(t->scene, at, " at ", text);
	return form.sure;
}

static bool tell_load(struct teller t, size_t at, struct xc_text *text, bool *sure)
{
	const struct xc_insn *insn = &t.scene->body->insns[at];
	if (xc_scene_is_slot(t.scene, &insn->memory))
		return tell_slot(t, at, &insn->memory, text, sure);
	size_t before = text->len;
	bool certain = tell_place(&t, at, text);
	*sure &= certain;
	return text->len > before;
}

static bool tell_insn(struct teller t, size_t at, struct xc_text *text, bool *sure)
{
	const struct xc_insn *insn = &t.scene->body->insns[at];
	switch (insn->kind) {
	case XC_INSN_MOVE:
	case XC_INSN_STORE:
	case XC_INSN_CHOOSE:
		return insn->from >= 0 && tell_register(t, at, insn->from, text, sure);
	case XC_INSN_CONSTANT:
	case XC_INSN_STORE_CONSTANT:
		return tell_constant(&t, at, text);
	case XC_INSN_LOAD:
	case XC_INSN_CHOOSE_MEMORY:
		return tell_load(t, at, text, sure);
	default:
		return false;
	}
}

/* ---- into the callers ---- */

/* Does the call go to this function, for all that can be seen? */
static bool calls(const struct xc_scene *caller, const struct xc_scene *callee)
{
	xc_addr addr;
	const struct xc_insn *call = &caller->body->insns[caller->at];
	if (call->kind != XC_INSN_CALL)
		return false;
	xc_body_callee(caller->body, call, &addr);
	return !addr ? !call->has_target : xc_body_at(callee->body, addr) >= 0;
}

bool xc_origin_caller(const struct xc_scene *s, int reg, struct xc_scene *caller, struct xc_form *form)
{
	const struct xc_inquiry *q = s->q;
	size_t next = s->frame + 1;
	if (next >= q->frame_count || q->frames[next].trust != XC_TRUST_CFI || q->frames[next].tail_call ||
	    q->frames[s->frame].signal || q->frames[next].signal || q->frames[next].interrupted ||
	    !xc_scene_set(q, next, s->fuel, caller) || !calls(caller, s))
		return false;
	*form = xc_form_register(caller, caller->at, reg);
	return form->known;
}

/* Of the result of a call its origin says all. */
static const char *form_text(const struct xc_form *form)
{
	bool one = form->count == 1 && form->parts[0].times == 1 && !form->constant;
	return one && form->parts[0].term.kind != XC_TERM_RESULT ? form->parts[0].term.text : NULL;
}

/* "read from `x`" of what was told as `x`. */
static bool is_read_of(const char *told, const char *name)
{
	static const char read[] = "read from `";
	size_t len = strlen(name);
	return strncmp(told, read, sizeof read - 1) == 0 && strncmp(told + sizeof read - 1, name, len) == 0 &&
	       told[sizeof read - 1 + len] == '`';
}

static bool tell_caller(struct teller t, int reg, struct xc_text *text)
{
	struct xc_scene caller;
	struct xc_form form;
	if (!t.frames || !xc_origin_caller(t.scene, reg, &caller, &form))
		return false;
	const char *function = xc_origin_function(&caller);
	bool null = !form.count && !form.absolute && !form.constant;
	const char *name = form_text(&form);
	if (!function || (null && t.value && *t.value))
		return false;
	xc_text_printf(text, "passed%s by %s()", null ? " as NULL" : "", function);
	add_line(&caller, caller.at, " at ", text);
	if (name)
		xc_text_printf(text, " as `%s`", name);
	if (null)
		return true;
	struct xc_text more = {0};
	bool further_sure = true;
	t.scene = &caller;
	t.frames--;
	bool told = tell_register(t, caller.at, reg, &more, &further_sure) && more.len;
	if (told && !(name && is_read_of(xc_text_string(&more), name)))
		xc_text_printf(text, ", %s%s", further_sure ? "" : "likely ", xc_text_string(&more));
	xc_text_fini(&more);
	return true;
}

/* ---- the paths together ---- */

static bool tell_entry(struct teller t, const struct xc_slice_definition *d, struct xc_text *text)
{
	if (d->reg >= 0)
		return tell_caller(t, d->reg, text);
	if (d->offset >= 0)
		return false; /* an argument on the stack */
	const char *function = xc_origin_function(t.scene);
	xc_text_printf(text, "never set%s%s%s", function ? " in " : "", function ? function : "", function ? "()" : "");
	return true;
}

static bool tell_definition(struct teller t, const struct xc_slice_definition *d, struct xc_text *text, bool *sure)
{
	const char *callee;
	switch (d->kind) {
	case XC_DEFINITION_INSN:
		return tell_insn(t, d->insn, text, sure);
	case XC_DEFINITION_RESULT:
		return tell_result(&t, d->insn, text);
	case XC_DEFINITION_ENTRY:
		return tell_entry(t, d, text);
	case XC_DEFINITION_FILLED:
		callee = xc_body_callee(t.scene->body, &t.scene->body->insns[d->insn], NULL);
		if (!callee)
			return false;
		callee = xc_stdobject_short(callee, &t.scene->q->report->arena);
		xc_text_printf(text, "set by %s(), which got its address,", callee);
		add_line(t.scene, d->insn, " at ", text);
		*sure = false;
		return true;
	default:
		return false;
	}
}

/* What a definition is known to have set, when that is a number. */
static bool constant_of(const struct xc_scene *s, const struct xc_slice_definition *d, uint64_t *value)
{
	const struct xc_insn *insn = &s->body->insns[d->insn];
	struct xc_form form = {.known = false};
	struct xc_scene caller;
	if (d->kind == XC_DEFINITION_ENTRY && d->reg >= 0 && !xc_origin_caller(s, d->reg, &caller, &form))
		return false;
	if (d->kind == XC_DEFINITION_INSN && insn->kind == XC_INSN_STORE_CONSTANT)
		form = (struct xc_form){.known = true, .constant = insn->constant};
	else if (d->kind == XC_DEFINITION_INSN && insn->kind == XC_INSN_STORE && insn->from >= 0)
		form = xc_form_register(s, d->insn, insn->from);
	else if (d->kind == XC_DEFINITION_INSN)
		form = xc_form_definition(s, d);
	*value = (uint64_t)form.constant;
	return form.known && !form.count;
}

/* It is known to have set another value than this. */
static bool excluded(const struct teller *t, const struct xc_slice_definition *d)
{
	uint64_t value;
	return t->value && constant_of(t->scene, d, &value) && value != *t->value &&
	       (value >> 32 || *t->value >> 32 || (uint32_t)value != (uint32_t)*t->value);
}

static bool tell_slice(struct teller t, const struct xc_slice *slice, struct xc_text *text, bool *sure)
{
	struct xc_text all = {0};
	unsigned told = 0, asked = 0;
	if (!t.depth--)
		return false;
	*sure &= slice->sure;
	for (size_t i = 0; i < slice->count; i++) {
		struct xc_text one = {0};
		if (excluded(&t, &slice->items[i]))
			continue;
		asked += !slice->items[i].before;
		if (told < TOLD && tell_definition(t, &slice->items[i], &one, sure) && one.len &&
		    !(all.len && strstr(all.bytes, one.bytes))) {
			xc_text_printf(&all, "%s%s", all.len ? " or " : "", one.bytes);
			told++;
			asked += slice->items[i].before;
		}
		xc_text_fini(&one);
	}
	bool complete = told && told == asked;
	*sure &= complete && told == 1;
	if (complete)
		xc_text_add(text, xc_text_string(&all));
	xc_text_fini(&all);
	return complete;
}

static bool tell_register(struct teller t, size_t at, int reg, struct xc_text *text, bool *sure)
{
	struct xc_slice slice;
	if (!xc_scene_pay(t.scene))
		return false;
	xc_slice_register(t.scene->body, at, reg, &slice);
	return tell_slice(t, &slice, text, sure);
}

static bool tell_slot(struct teller t, size_t at, const struct xc_insn_memory *m, struct xc_text *text, bool *sure)
{
	struct xc_slice slice;
	if (!xc_scene_pay(t.scene))
		return false;
	xc_slice_slot(t.scene->body, at, m->base, m->displacement, m->size, &slice);
	return tell_slice(t, &slice, text, sure);
}

bool xc_origin_tell(const struct xc_scene *scene, const struct xc_term *term, const uint64_t *value,
		    struct xc_text *text, bool *sure_out)
{
	struct teller t = {.scene = scene, .value = value, .depth = DEPTH, .frames = FRAMES};
	*sure_out = true;
	switch (term->kind) {
	case XC_TERM_VARIABLE:
	case XC_TERM_ENTRY:
		return tell_register(t, term->at, term->reg, text, sure_out);
	case XC_TERM_LOADED:
		if (term->slot)
			return tell_slot(t, term->at, &scene->body->insns[term->at].memory, text, sure_out);
		if (term->text)
			xc_text_printf(text, "read from `%s`", term->text);
		return term->text != NULL;
	case XC_TERM_RESULT:
		return tell_result(&t, term->at, text);
	default:
		return false;
	}
}

/* ---- arguments ---- */

static int argument_of(const struct xc_scene *s, const struct xc_slice *slice, unsigned depth);

static int argument_register(const struct xc_scene *s, size_t at, int reg, unsigned depth)
{
	struct xc_slice slice;
	if (reg < 0 || !xc_scene_pay(s))
		return -1;
	xc_slice_register(s->body, at, reg, &slice);
	return argument_of(s, &slice, depth);
}

static int argument_slot(const struct xc_scene *s, size_t at, unsigned depth)
{
	struct xc_slice slice;
	const struct xc_insn_memory *m = &s->body->insns[at].memory;
	if (!xc_scene_is_slot(s, m) || !xc_scene_pay(s))
		return -1;
	xc_slice_slot(s->body, at, m->base, m->displacement, m->size, &slice);
	return argument_of(s, &slice, depth);
}

static int argument_of(const struct xc_scene *s, const struct xc_slice *slice, unsigned depth)
{
	const struct xc_slice_definition *d = &slice->items[0];
	if (slice->count != 1 || !depth)
		return -1;
	if (d->kind == XC_DEFINITION_ENTRY)
		return d->reg;
	const struct xc_insn *insn = &s->body->insns[d->insn];
	if (d->kind != XC_DEFINITION_INSN)
		return -1;
	if (insn->kind == XC_INSN_MOVE || insn->kind == XC_INSN_STORE)
		return argument_register(s, d->insn, insn->from, depth - 1);
	return insn->kind == XC_INSN_LOAD ? argument_slot(s, d->insn, depth - 1) : -1;
}

int xc_origin_argument(const struct xc_scene *scene, const struct xc_term *term)
{
	switch (term->kind) {
	case XC_TERM_VARIABLE:
	case XC_TERM_ENTRY:
		return argument_register(scene, term->at, term->reg, DEPTH);
	case XC_TERM_LOADED:
		return term->slot ? argument_slot(scene, term->at, DEPTH) : -1;
	default:
		return -1;
	}
}

/* ---- values ---- */

static bool form_value(const struct xc_scene *s, const struct xc_form *form, unsigned frames, uint64_t *value)
{
	*value = (uint64_t)form->constant;
	for (size_t i = 0; i < form->count; i++) {
		const struct xc_term *term = &form->parts[i].term;
		uint64_t one = term->value;
		struct xc_scene caller;
		struct xc_form passed;
		int reg = term->value_known || !frames ? -1 : xc_origin_argument(s, term);
		if (!term->value_known && (reg < 0 || !xc_origin_caller(s, reg, &caller, &passed) ||
					   !form_value(&caller, &passed, frames - 1, &one)))
			return false;
		*value += one * (uint64_t)form->parts[i].times;
	}
	return form->known;
}

bool xc_origin_value(const struct xc_scene *scene, const struct xc_form *form, uint64_t *value)
{
	return form_value(scene, form, FRAMES, value);
}
