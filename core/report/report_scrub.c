/* report_scrub: replaces each text of a report in place, in the report's arena. */
#include "core/report/report_scrub.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "core/report/stacktree.h"
#include "core/text/jsonvalue.h"

struct pass {
	struct xc_report *report;
	const struct xc_scrub *scrub;
	struct xc_text text; /* scratch */
};

static const char *scrubbed(struct pass *p, const char *text, bool code)
{
	p->text.len = 0;
	return text && xc_scrub_text(p->scrub, text, code, &p->text)
		       ? xc_arena_strdup(&p->report->arena, xc_text_string(&p->text))
		       : text;
}

static void prose(struct pass *p, const char **text)
{
	*text = scrubbed(p, *text, false);
}

/* A name of a function, type or variable: the program chose it, so it may hold anything. */
static void name(struct pass *p, const char **text)
{
	p->text.len = 0;
	if (*text && xc_scrub_symbol(p->scrub, *text, &p->text))
		*text = xc_arena_strdup(&p->report->arena, xc_text_string(&p->text));
}

/* The replacement of a JSON string, or NULL when it needs none. */
static json_t *other_string(struct pass *p, const json_t *string)
{
	const char *text = json_string_value(string), *without = text ? scrubbed(p, text, true) : NULL;
	return without == text ? NULL : xc_jsonvalue_text(without);
}

/* The keys of an object that must go, in their order, each with its replacement. */
static json_t *renames(struct pass *p, json_t *object)
{
	json_t *others = json_object();
	for (void *at = json_object_iter(object); at; at = json_object_iter_next(object, at)) {
		const char *key = json_object_iter_key(at), *other = key;
		name(p, &other);
		if (strcmp(other, key) != 0)
			json_object_set_new_nocheck(others, key, json_string_nocheck(other));
	}
	return others;
}

/* Members may be named by the program. Two that become equal are kept apart. */
static void keys(struct pass *p, json_t *object)
{
	if (!json_object_size(object))
		return;
	json_t *others = renames(p, object);
	for (void *at = json_object_iter(others); at; at = json_object_iter_next(others, at)) {
		const char *key = json_object_iter_key(at), *other = json_string_value(json_object_iter_value(at));
		json_t *value = json_incref(json_object_get(object, key));
		xc_auto(xc_freep) char *free_key = xc_strdup(other);
		for (unsigned i = 2; json_object_get(object, free_key); i++) {
			free(free_key);
			free_key = xc_asprintf("%s %u", other, i);
		}
		json_object_del(object, key);
		json_object_set_new_nocheck(object, free_key, value);
	}
	json_decref(others);
}

/* Replace the strings of a document. xcore built it, so its depth is bounded. */
static void json(struct pass *p, json_t *value)
{
	for (size_t i = 0; i < json_array_size(value); i++) {
		json_t *other = other_string(p, json_array_get(value, i));
		if (other)
			json_array_set_new(value, i, other);
		else
			json(p, json_array_get(value, i));
	}
	keys(p, value);
	for (void *at = json_object_iter(value); at; at = json_object_iter_next(value, at)) {
		json_t *other = other_string(p, json_object_iter_value(at));
		if (other)
			json_object_iter_set_new(value, at, other);
		else
			json(p, json_object_iter_value(at));
	}
}

static void cell(struct pass *p, struct xc_cell *cell)
{
	if (cell->kind == XC_FIELD_ADDRESS && xc_scrub_is_letters(cell->number))
		cell->secret = true;
	prose(p, &cell->redacted);
	if (!cell->secret)
		prose(p, &cell->text);
}

static void table(struct pass *p, struct xc_table *table)
{
	for (size_t i = 0; i < table->row_count * table->column_count; i++)
		cell(p, &table->cells[i]);
}

/* Values are not shown; the reason for having none may quote one. */
static void variable(struct pass *p, struct xc_variable_text *variable)
{
	name(p, &variable->name);
	name(p, &variable->type);
	name(p, &variable->short_type);
	prose(p, &variable->why);
}

static void stack(struct pass *p, struct xc_stack *stack)
{
	const char **const texts[] = {&stack->name, &stack->stop, &stack->how, &stack->waits, &stack->waits_redacted};
	for (size_t i = 0; i < XC_COUNT(texts); i++)
		prose(p, texts[i]);
	name(p, &stack->role);
	name(p, &stack->cycle);
	for (size_t i = 0; i < stack->row_count; i++) {
		struct xc_stack_row *row = &stack->rows[i];
		prose(p, &row->module);
		prose(p, &row->file);
		name(p, &row->function);
		for (size_t k = 0; k < row->arg_count; k++)
			variable(p, &row->args[k]);
		for (size_t k = 0; k < row->local_count; k++)
			variable(p, &row->locals[k]);
		if (!row->function && xc_scrub_is_letters(row->pc))
			row->function = XC_REDACTED; /* without it the renderers would show the address */
	}
}

static void tree(struct pass *p, const struct xc_stacktree *tree)
{
	size_t depth = 0;
	name(p, &((struct xc_stacktree *)(uintptr_t)tree)->root.name);
	for (const struct xc_stacktree_node *node = &tree->root; (node = xc_stacktree_next(node, &depth));)
		name(p, &((struct xc_stacktree_node *)(uintptr_t)node)->name);
	prose(p, &((struct xc_stacktree *)(uintptr_t)tree)->title);
}

static void item(struct pass *p, struct xc_item *item)
{
	switch (item->kind) {
	case XC_ITEM_FIELD:
		cell(p, &item->field.cell);
		break;
	case XC_ITEM_TABLE:
		table(p, item->table);
		break;
	case XC_ITEM_MESSAGE:
		prose(p, &item->message.text);
		prose(p, &item->message.hint);
		break;
	case XC_ITEM_STACKS:
		for (size_t i = 0; i < item->stacks->stack_count; i++)
			stack(p, &item->stacks->stacks[i]);
		break;
	case XC_ITEM_TEXT:
		item->text = scrubbed(p, item->text, true);
		break;
	case XC_ITEM_DOCUMENT:
		item->document.text = scrubbed(p, item->document.text, true);
		json(p, item->document.json);
		break;
	case XC_ITEM_TREE:
		tree(p, item->tree);
		break;
	case XC_ITEM_HISTOGRAM:
		break;
	}
}

static void section(struct pass *p, struct xc_section *section)
{
	if (!section)
		return;
	prose(p, &section->title);
	prose(p, &section->headline);
	for (struct xc_item *i = section->items; i; i = i->next)
		item(p, i);
}

static void verdict(struct pass *p, struct xc_verdict *verdict)
{
	const char **const texts[] = {&verdict->headline, &verdict->file,   &verdict->module,
				      &verdict->cause,    &verdict->origin, &verdict->thread_name};
	for (size_t i = 0; i < XC_COUNT(texts); i++)
		prose(p, texts[i]);
	p->text.len = 0;
	if (verdict->source && xc_scrub_source(p->scrub, verdict->source, &p->text))
		verdict->source = xc_arena_strdup(&p->report->arena, xc_text_string(&p->text));
	prose(p, &verdict->source_hint);
	verdict->expression = scrubbed(p, verdict->expression, true);
	name(p, &verdict->function);
	for (size_t i = 0; i < verdict->evidence_count; i++)
		prose(p, &verdict->redacted[i]);
}

void xc_report_scrub(struct xc_report *report, const struct xc_scrub *scrub)
{
	struct pass p = {report, scrub, {0}};
	section(&p, report->target);
	section(&p, report->run);
	for (struct xc_section *s = report->sections; s; s = s->next)
		section(&p, s);
	if (report->verdict)
		verdict(&p, report->verdict);
	xc_text_fini(&p.text);
}
