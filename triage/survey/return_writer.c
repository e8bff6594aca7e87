/* return_writer: a pointer that fills a buffer stands behind what it wrote last. */
#include "triage/survey/return_writer.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "triage/blocks/value_place.h"
#include "triage/survey/survey.h"
#include "triage/util/same_type.h"

enum { TEXT_LEAST = 3, FRAMES = 16 };

struct search {
	const struct xc_crash_context *crash;
	xc_addr slot;     /* of the return address */
	const char *path; /* NULL: not found */
	uint64_t value;
};

/* What leads into the word has no business there. Right behind it the caller's frame begins: only a pointer to
 * characters is looked at. */
static bool is_suspect(const struct search *s, const struct xc_type *pointer, uint64_t value)
{
	const unsigned word = s->crash->process->arch->reg_size;
	const struct xc_type *to = value - s->slot == word ? xc_type_strip(pointer)->target : NULL;
	uint64_t size;
	return value > s->slot && (value - s->slot < word || (to && xc_type_size(to, &size) && size == 1 &&
							      !xc_same_type_is_record(xc_type_strip(to))));
}

static void look(void *user, const struct xc_surveyed *it)
{
	struct search *s = user;
	uint64_t value;
	if (s->path || !xc_type_is_pointer(xc_type_strip(it->value->type)) || !xc_value_load(it->value, &value) ||
	    !is_suspect(s, it->value->type, value))
		return;
	s->path = xc_arena_strdup(&s->crash->report->arena, it->path);
	s->value = value;
}

/* The lower bytes that are not as in other return addresses of this stack; all: none is known. */
static size_t count_changed(const struct search *s, const char bytes[8])
{
	const struct xc_crash_context *crash = s->crash;
	size_t least = 8;
	for (size_t i = 1; i < crash->frame_count && i < FRAMES; i++) {
		size_t count = 8;
		while (count && (uint8_t)bytes[count - 1] == (uint8_t)(crash->frames[i].pc >> 8 * (count - 1)))
			count--;
		least = count < least ? count : least;
	}
	return least;
}

/* "its lower 4 bytes are the text "|-| "": a part of it, where the rest is as in an address of code. */
static void report_text(const struct search *s)
{
	const struct xc_process *p = s->crash->process;
	char bytes[8];
	size_t len = 0;
	if (p->arch->word != sizeof bytes || xc_space_peek(p->space, s->slot, bytes, sizeof bytes) < sizeof bytes)
		return;
	const size_t changed = count_changed(s, bytes);
	while (len < changed && isascii((unsigned char)bytes[len]) && isprint((unsigned char)bytes[len]))
		len++;
	if (len < TEXT_LEAST || len < changed || len == sizeof bytes)
		return;
	struct xc_text text = {0};
	xc_text_escaped(&text, bytes, len);
	xc_verdict_evidence(s->crash->report,
			    "the lower %zu bytes of the return address at 0x%" PRIx64 " are a text: \"%s\"", len,
			    s->slot, xc_text_string(&text));
	xc_text_fini(&text);
	xc_verdict_redact(s->crash->report,
			  xc_arena_printf(&s->crash->report->arena,
					  "the lower %zu bytes of the return address at 0x%" PRIx64 " are a text", len,
					  s->slot));
}

void xc_return_writer_report(struct xc_crash_context *crash)
{
	struct search s = {.crash = crash};
	struct xc_verdict *v = crash->verdict;
	if (!v->class_name || !xc_value_place_returned(crash, &s.slot))
		return;
	report_text(&s);
	xc_survey_walk(crash, look, &s);
	if (!s.path)
		return;
	const bool behind = s.value - s.slot == crash->process->arch->reg_size;
	xc_verdict_evidence(crash->report, "`%s` = 0x%" PRIx64 " leads %s the return address at 0x%" PRIx64, s.path,
			    s.value, behind ? "to the byte behind" : "into", s.slot);
	v->cause =
		xc_arena_printf(&crash->report->arena, "%s%s%s by a write through `%s`, which leads there",
				v->cause ? v->cause : "", v->cause ? "; " : "", behind ? "perhaps" : "likely", s.path);
}
