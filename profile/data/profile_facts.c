#include "profile/data/profile_facts.h"

#include <math.h>

static uint32_t number_of(struct xc_intern *texts, const char *text)
{
	return text ? xc_intern(texts, text) : 0;
}

static const char *text_of(const struct xc_intern *texts, uint32_t number)
{
	return number ? texts->texts[number] : NULL;
}

static struct xc_profile_fact *add(struct xc_profile_facts *f)
{
	f->rows = xc_grow(f->rows, f->count, &f->room, sizeof *f->rows);
	f->rows[f->count] = (struct xc_profile_fact){0};
	return &f->rows[f->count++];
}

static void keep_field(struct xc_profile_fact *fact, struct xc_intern *texts, const struct xc_field *field)
{
	fact->kind = field->cell.kind;
	fact->quiet = field->quiet;
	fact->secret = field->cell.secret;
	fact->key = number_of(texts, field->key);
	fact->label = number_of(texts, field->label);
	fact->text = number_of(texts, field->cell.text);
	fact->number = field->cell.number;
	fact->real = field->cell.real;
}

static void keep_message(struct xc_profile_fact *fact, struct xc_intern *texts, const struct xc_message *message)
{
	fact->note = (uint32_t)message->severity + 1;
	fact->text = number_of(texts, message->text);
	fact->hint = number_of(texts, message->hint);
}

void xc_profile_facts_keep(struct xc_profile_facts *f, struct xc_intern *texts, const struct xc_section *section)
{
	for (const struct xc_item *item = section->items; item; item = item->next)
		if (item->kind == XC_ITEM_FIELD && item->field.cell.kind != XC_FIELD_VALUE)
			keep_field(add(f), texts, &item->field);
		else if (item->kind == XC_ITEM_MESSAGE)
			keep_message(add(f), texts, &item->message);
}

static void show_field(const struct xc_profile_fact *fact, const struct xc_intern *texts, struct xc_section *section)
{
	const char *text = text_of(texts, fact->text), *key = text_of(texts, fact->key),
		   *label = text_of(texts, fact->label);
	const enum xc_field_kind kind = fact->kind == XC_FIELD_VALUE ? XC_FIELD_TEXT : fact->kind;
	const struct xc_cell cell = {
		.kind = isfinite(fact->real) ? kind : XC_FIELD_NULL,
		.text = !text && kind == XC_FIELD_TEXT ? "" : text,
		.number = fact->number,
		.real = fact->real,
		.secret = fact->secret,
	};
	xc_section_cell(section, key ? key : "field", label ? label : "field", cell)->quiet = fact->quiet;
}

void xc_profile_facts_show(const struct xc_profile_facts *f, const struct xc_intern *texts, struct xc_section *section)
{
	for (size_t i = 0; i < f->count; i++) {
		const struct xc_profile_fact *fact = &f->rows[i];
		const char *text = text_of(texts, fact->text);
		if (fact->note)
			xc_section_message(section, (enum xc_severity)(fact->note - 1), text_of(texts, fact->hint),
					   "%s", text ? text : "");
		else
			show_field(fact, texts, section);
	}
}
