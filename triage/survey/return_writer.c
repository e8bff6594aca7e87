/* return_writer: a pointer that fills a buffer stands behind what it wrote last. */
#include "triage/survey/return_writer.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "triage/survey/survey.h"

enum { TEXT_LEAST = 3, FRAMES = 16 };

struct search {
	const struct xc_crash_context *crash;
	xc_addr slot;     /* of the return address */
	const char *path; /* NULL: not found */
	uint64_t value;
	xc_addr at; /* where the pointer is; 0: not in memory */
};

static bool find_slot(const struct xc_crash_context *crash, xc_addr *slot_out)
{
	const struct xc_verdict *v = crash->verdict;
	const struct xc_arch *arch = crash->process->arch;
	uint64_t sp;
	if (!v->kind || strcmp(v->kind, "ret") != 0 || !crash->fault.frame_known ||
	    !xc_regs_get(&crash->fault.frame.regs, arch->sp, &sp))
		return false;
	uint64_t taken;
	bool popped = xc_space_peek_uint(crash->process->space, sp - arch->word, arch->word, &taken) &&
		      taken == crash->fault.frame.pc; /* else the instruction failed, as for what is not canonical */
	*slot_out = popped ? sp - arch->word : sp;
	return true;
}

/* A pointer on the stack may be a frame's own, as to its saved registers. */
static void look(void *user, const struct xc_surveyed *it)
{
	struct search *s = user;
	const unsigned word = s->crash->process->arch->word;
	uint64_t value;
	if (s->path || !xc_type_is_pointer(xc_type_strip(it->value->type)) || !xc_value_load(it->value, &value) ||
	    value <= s->slot || value - s->slot > word)
		return;
	s->path = xc_arena_strdup(&s->crash->report->arena, it->path);
	s->value = value;
	s->at = it->value->kind == XC_VALUE_MEMORY ? it->value->addr : 0;
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
	if (len < TEXT_LEAST || len == sizeof bytes)
		return;
	struct xc_text text = {0};
	xc_text_printf(&text, "the lower %zu bytes of the return address at 0x%" PRIx64 " are a text", len, s->slot);
	xc_verdict_redact(s->crash->report, xc_text_string(&text));
	xc_text_add(&text, ": \"");
	xc_text_escaped(&text, bytes, len);
	xc_text_add(&text, "\"");
	xc_verdict_evidence(s->crash->report, "%s", xc_text_string(&text));
	xc_text_fini(&text);
}

void xc_return_writer_report(struct xc_crash_context *crash)
{
	struct search s = {.crash = crash};
	struct xc_verdict *v = crash->verdict;
	if (!v->class_name || !find_slot(crash, &s.slot))
		return;
	report_text(&s);
	xc_survey_walk(crash, look, &s);
	if (!s.path)
		return;
	const uint64_t behind = s.value - s.slot;
	xc_verdict_evidence(crash->report, "`%s` = 0x%" PRIx64 " leads %s the return address at 0x%" PRIx64, s.path,
			    s.value, behind == crash->process->arch->word ? "to the byte behind" : "into", s.slot);
	v->cause =
		xc_arena_printf(&crash->report->arena, "%s%slikely by what was written through `%s`, which leads there",
				v->cause ? v->cause : "", v->cause ? "; " : "", s.path);
}
