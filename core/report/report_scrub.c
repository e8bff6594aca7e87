/* report_scrub: replaces each text of a report in place, in the report's arena. */
#include "core/report/report_scrub.h"

#include <jansson.h>

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

/* The replacement of a JSON string, or NULL when it needs none. */
static json_t *other_string(struct pass *p, const json_t *string)
{
	const char *text = json_string_value(string), *without = text ? scrubbed(p, text, true) : NULL;
	return without == text ? NULL : xc_jsonvalue_text(without);
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

static void stack(struct pass *p, struct xc_stack *stack)
{
	const char **const texts[] = {&stack->name, &stack->stop, &stack->how, &stack->waits, &stack->waits_redacted};
	for (size_t i = 0; i < XC_COUNT(texts); i++)
		prose(p, texts[i]);
	for (size_t i = 0; i < stack->row_count; i++) {
		struct xc_stack_row *row = &stack->rows[i];
		prose(p, &row->module);
		prose(p, &row->file);
		if (!row->function && xc_scrub_is_letters(row->pc))
			row->function = XC_REDACTED; /* without it the renderers would show the address */
	}
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
	verdict->source = scrubbed(p, verdict->source, true);
	verdict->expression = scrubbed(p, verdict->expression, true);
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
