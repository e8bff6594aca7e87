/* Lines are formatted by hand: for fifteen million lines, printf or a JSON library would take longer than finding
 * their content. Only type names and origins need escaping; there are few different ones, and each is escaped once. */
#include "heap/query/objects.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/say.h"
#include "core/text/suggest.h"
#include "core/text/jsonstream.h"
#include "core/text/jsonvalue.h"
#include "dwarf/lookup/lookup.h"
#include "heap/graph/graph.h"
#include "heap/session/session.h"

enum { LINE = 4096, ADDRESS_COLUMN = 14, SIZE_COLUMN = 12 };

struct writer {
	struct xc_heap *heap;
	const struct xc_object_filter *filter;
	const struct xc_typing *typing; /* NULL: it could not be made */
	/* By item of the typing, made on first use; JSON: its members "type", "confidence" and "via"; text: its type,
	 * a NUL, and what follows the count. */
	char **quoted;
	FILE *out;
	bool as_json;
};

const char *xc_object_state(const struct xc_heap *heap, uint32_t block)
{
	if (heap->graph && xc_graph_leaked(heap->graph, block))
		return "leaked";
	return xc_block_state_word(xc_block_state(&heap->blocks, block));
}

/* ---- filters ---- */

bool xc_object_wanted(const struct xc_heap *heap, const struct xc_object_filter *filter, uint32_t block)
{
	if (filter->least && xc_block_size(&heap->blocks, block) < filter->least)
		return false;
	if (filter->state && strcmp(filter->state, xc_object_state(heap, block)) != 0)
		return false;
	const char *type = filter->type && heap->typing ? xc_typing_name(heap->typing, block) : NULL;
	return !filter->type || (type && strcmp(filter->type, type) == 0);
}

/* ---- the name of a type ---- */

enum { NEAR = 3 };

struct near {
	const char *names[NEAR]; /* the nearest first */
	size_t distances[NEAR];
};

static const struct keyword {
	const char *word;
	int tag;
} keywords[] = {
	{"struct ", DW_TAG_structure_type},
	{"union ", DW_TAG_union_type},
	{"class ", DW_TAG_structure_type},
	{"enum ", DW_TAG_enumeration_type},
	{"", 0},
};

/* The character before a type's name; the last one if there is none. */
static const struct keyword *keyword_of(const char *name)
{
	const struct keyword *k = keywords;
	while (strncmp(name, k->word, strlen(k->word)) != 0)
		k++;
	return k;
}

/* "client" of "struct client". */
static const char *without_keyword(const char *name)
{
	return name + strlen(keyword_of(name)->word);
}

static void consider(struct near *near, const char *wrong, const char *name)
{
	size_t distance = xc_suggest_distance(without_keyword(wrong), without_keyword(name)), at = NEAR;
	for (size_t i = 0; i < NEAR; i++)
		if (near->names[i] && strcmp(near->names[i], name) == 0)
			return;
	while (at > 0 && (!near->names[at - 1] || distance < near->distances[at - 1]))
		at--;
	if (distance == SIZE_MAX || at == NEAR)
		return;
	memmove(near->names + at + 1, near->names + at, (NEAR - 1 - at) * sizeof *near->names);
	memmove(near->distances + at + 1, near->distances + at, (NEAR - 1 - at) * sizeof *near->distances);
	near->names[at] = name;
	near->distances[at] = distance;
}

/* By its whole name: in C "client" differs from "struct client". */
static bool in_debug_info(const struct xc_process *process, const char *name)
{
	const struct xc_query query = {
		.name = without_keyword(name), .kinds = XC_NAME_TYPE, .tag = keyword_of(name)->tag, .anywhere = true};
	struct xc_definition found;
	if (!xc_lookup_one(process, &query, &found))
		return false;
	const struct xc_type *type = xc_type_get(xc_types_of(process), &found.die);
	return type && strcmp(xc_type_name(type), name) == 0;
}

/* The type of some block, or at least a type of the program: then the answer is that there are none. */
static struct xc_error *check_type(const struct xc_heap *heap, const char *type)
{
	struct near near = {.names = {NULL}};
	struct xc_text text = {0};
	if (!type || !heap->typing)
		return NULL;
	for (size_t i = 1; i < heap->typing->item_count; i++) {
		const struct xc_type *of = heap->typing->items[i].type;
		if (of && strcmp(xc_type_name(of), type) == 0)
			return NULL;
		if (of)
			consider(&near, type, xc_type_name(of));
	}
	if (in_debug_info(heap->process, type))
		return NULL;
	struct xc_error *err = xc_error_new(XC_ERR_NOT_FOUND, "no block is of type '%s'", type);
	for (size_t i = 0; i < NEAR && near.names[i]; i++)
		xc_text_printf(&text, "%s%s", i ? ", " : "", near.names[i]);
	err = text.len ? xc_error_hint(err, "did you mean %s?", text.bytes)
		       : xc_error_hint(err, "`xcore heap types` lists them");
	xc_text_fini(&text);
	return err;
}

/* ---- numbers ---- */

static char *put_text(char *at, const char *text)
{
	size_t len = strlen(text);
	memcpy(at, text, len);
	return at + len;
}

static char *put_hex(char *at, uint64_t number)
{
	unsigned digits = 1;
	while (digits < 16 && number >> (4 * digits))
		digits++;
	at = put_text(at, "0x");
	while (digits-- > 0)
		*at++ = "0123456789abcdef"[number >> (4 * digits) & 15];
	return at;
}

static char *put_decimal(char *at, uint64_t number)
{
	char digits[20];
	unsigned count = 0;
	do
		digits[count++] = (char)('0' + number % 10);
	while (number /= 10);
	while (count > 0)
		*at++ = digits[--count];
	return at;
}

static char *put_padded(char *at, char *end, unsigned width)
{
	do
		*end++ = ' ';
	while (end < at + width + 1);
	return end;
}

/* ---- lines ---- */

/* The part that all blocks of one item share. Long names are kept whole: the line is written in two parts. */
static const char *quoted(struct writer *w, uint32_t item, uint32_t block)
{
	if (!w->quoted[item]) {
		const struct xc_typed *typed = &w->typing->items[item];
		xc_auto(xc_text_fini) struct xc_text type = {0}, via = {0};
		json_t *members = json_object();
		const char *name = xc_typing_name(w->typing, block);
		xc_say_redacted(&type, name ? name : "", XC_SAY_NAME);
		xc_say_redacted(&via, typed->via ? typed->via : "", XC_SAY_NAME);
		xc_jsonvalue_set(members, "type", xc_jsonvalue_text(name ? xc_text_string(&type) : NULL));
		xc_jsonvalue_set(members, "confidence",
				 xc_jsonvalue_text(xc_confidence_word((enum xc_confidence)typed->confidence)));
		xc_jsonvalue_set(members, "via", xc_jsonvalue_text(typed->via ? xc_text_string(&via) : NULL));
		w->quoted[item] = xc_jsonstream_text(members);
	}
	return w->quoted[item];
}

static const char *escaped(struct writer *w, uint32_t item, uint32_t block)
{
	if (!w->quoted[item]) {
		const struct xc_typed *typed = &w->typing->items[item];
		const char *name = xc_typing_name(w->typing, block);
		struct xc_text text = {0};
		xc_say_clean(&text, name ? name : "?", XC_SAY_NAME);
		xc_text_addn(&text, "", 1);
		xc_text_printf(&text, "  %s%s", xc_confidence_word((enum xc_confidence)typed->confidence),
			       typed->via ? "  " : "");
		xc_say_clean(&text, typed->via ? typed->via : "", XC_SAY_NAME);
		w->quoted[item] = xc_text_take(&text);
	}
	return w->quoted[item];
}

static bool is_possible(const struct writer *w, uint32_t block)
{
	return w->heap->graph && xc_graph_possibly_leaked(w->heap->graph, block);
}

static void write_json(struct writer *w, uint32_t block)
{
	const struct xc_blocks *blocks = &w->heap->blocks;
	char line[LINE], *at = put_text(line, "{\"addr\":\"");
	at = put_hex(at, xc_block_addr(blocks, block));
	at = put_text(at, "\",\"size\":");
	at = put_decimal(at, xc_block_size(blocks, block));
	at = put_text(at, ",\"state\":\"");
	at = put_text(at, xc_object_state(w->heap, block));
	at = put_text(at, "\",\"possible\":");
	at = put_text(at, is_possible(w, block) ? "true" : "false");
	at = put_text(at, ",\"count\":");
	at = put_decimal(at, w->typing ? xc_typing_count(w->typing, block) : 0);
	uint32_t item = w->typing ? w->typing->by_block[block] : 0;
	if (!item) {
		at = put_text(at, ",\"type\":null,\"confidence\":null,\"via\":null}\n");
		fwrite(line, 1, (size_t)(at - line), w->out);
		return;
	}
	*at++ = ',';
	fwrite(line, 1, (size_t)(at - line), w->out);
	fputs(quoted(w, item, block) + 1, w->out);
	fputc('\n', w->out);
}

static void write_text(struct writer *w, uint32_t block)
{
	const struct xc_blocks *blocks = &w->heap->blocks;
	const char *kept = xc_block_free_word(xc_block_state(blocks, block));
	const struct xc_typed *typed = w->typing ? xc_typing_get(w->typing, block) : NULL;
	char line[LINE], *at = line;
	at = put_padded(at, put_hex(at, xc_block_addr(blocks, block)), ADDRESS_COLUMN);
	at = put_padded(at, put_decimal(at, xc_block_size(blocks, block)), SIZE_COLUMN);
	at = put_text(at, xc_object_state(w->heap, block));
	fwrite(line, 1, (size_t)(at - line), w->out);
	if (kept)
		fprintf(w->out, " (%s)", kept);
	if (is_possible(w, block))
		fputs(" (possibly leaked)", w->out);
	if (typed) {
		const char *name = escaped(w, w->typing->by_block[block], block);
		uint64_t count = xc_typing_count(w->typing, block);
		fprintf(w->out, "  %s", name);
		if (typed->shape == XC_TYPED_ARRAY || typed->shape == XC_TYPED_TEXT)
			fprintf(w->out, " [%llu]", (unsigned long long)count);
		fputs(name + strlen(name) + 1, w->out);
	}
	fputc('\n', w->out);
}

/* ---- all lines ---- */

static void write_all(struct writer *w)
{
	uint64_t left = w->filter->limit ? w->filter->limit : UINT64_MAX;
	for (uint32_t block = 0; block < w->heap->blocks.count && left; block++) {
		if (!xc_object_wanted(w->heap, w->filter, block))
			continue;
		if (w->as_json)
			write_json(w, block);
		else
			write_text(w, block);
		left--;
	}
}

struct xc_error *xc_objects_write(struct xc_heap *heap, const struct xc_object_filter *filter, bool as_json, FILE *out,
				  struct xc_error **why_out)
{
	struct writer w = {.heap = heap, .filter = filter, .out = out, .as_json = as_json};
	*why_out = xc_heap_analyze(heap);
	const struct xc_typing *typing = w.typing = heap->typing;
	struct xc_error *err = check_type(heap, filter->type);
	if (err)
		return err;
	w.quoted = xc_alloc((typing ? typing->item_count : 1) * sizeof *w.quoted);
	write_all(&w);
	for (size_t i = 0; typing && i < typing->item_count; i++)
		free(w.quoted[i]);
	free(w.quoted);
	return ferror(out) ? xc_error_errno(errno, "objects") : NULL;
}
