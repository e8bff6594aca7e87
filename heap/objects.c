/* Lines are put together by hand: fifteen million of them through printf or a JSON library would take longer than finding what they
 * say. Only type names and origins need escaping; there are few different ones, and each is escaped once. */
#include "objects.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "graph.h"

enum { LINE = 4096, ADDRESS_COLUMN = 14, SIZE_COLUMN = 12 };

struct writer {
	struct xc_heap *heap;
	const struct xc_object_filter *filter;
	const struct xc_typing *typing; /* NULL: could not be made */
	char **quoted; /* by item of the typing: its members "type", "confidence" and "via", made when first needed */
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

/* What all blocks of one item have in common. Long names are kept whole: the line is written in two parts. */
static const char *quoted(struct writer *w, uint32_t item, uint32_t block)
{
	if (!w->quoted[item]) {
		const struct xc_typed *typed = &w->typing->items[item];
		const char *confidence = xc_confidence_word((enum xc_confidence)typed->confidence);
		json_t *members = json_pack("{s:s, s:s?, s:s?}", "type", xc_typing_name(w->typing, block), "confidence",
					    confidence, "via", typed->via);
		w->quoted[item] = members ? json_dumps(members, JSON_COMPACT) : xc_strdup("{\"type\":null}");
		json_decref(members);
	}
	return w->quoted[item];
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
	at = put_text(at, "\",\"count\":");
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
	if (typed) {
		fprintf(w->out, "  %s", xc_typing_name(w->typing, block));
		uint64_t count = xc_typing_count(w->typing, block);
		if (typed->shape == XC_TYPED_ARRAY || typed->shape == XC_TYPED_TEXT)
			fprintf(w->out, " [%llu]", (unsigned long long)count);
		fprintf(w->out, "  %s", xc_confidence_word((enum xc_confidence)typed->confidence));
		if (typed->via)
			fprintf(w->out, "  %s", typed->via);
	}
	fputc('\n', w->out);
}

/* ---- all of them ---- */

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
	*why_out = xc_heap_work_out(heap);
	const struct xc_typing *typing = w.typing = heap->typing;
	w.quoted = xc_alloc((typing ? typing->item_count : 1) * sizeof *w.quoted);
	write_all(&w);
	for (size_t i = 0; typing && i < typing->item_count; i++)
		free(w.quoted[i]);
	free(w.quoted);
	return ferror(out) ? xc_error_errno(errno, "objects") : NULL;
}
