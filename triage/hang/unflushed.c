/* unflushed: a stream that is no terminal is written out when its buffer is full, by fflush() and at the end. */
#include "triage/hang/unflushed.h"

#include <inttypes.h>
#include <unistd.h>

#include "triage/libc/stream.h"
#include "triage/survey/survey.h"

enum { TOLD = 3, SHOWN = 60 };

struct search {
	const struct xc_crash_context *crash;
	xc_addr stream;
	const char *path; /* NULL: not found */
};

static void look(void *user, const struct xc_surveyed *it)
{
	struct search *s = user;
	uint64_t value;
	if (!s->path && xc_type_is_pointer(it->value->type) && xc_value_load(it->value, &value) && value == s->stream)
		s->path = xc_arena_strdup(&s->crash->report->arena, it->path);
}

static const char *name_of(const struct xc_crash_context *crash, xc_addr stream)
{
	struct search s = {.crash = crash, .stream = stream};
	if (crash->blame.place && crash->frame_count)
		xc_survey_walk(crash, look, &s);
	return s.path ? xc_arena_printf(&crash->report->arena, "`%s` (", s.path) : "(";
}

static void report(const struct xc_crash_context *crash, xc_addr stream, const struct xc_stream_pending *pending)
{
	char bytes[SHOWN];
	struct xc_text text = {0}, plain = {0};
	const size_t want = pending->size < SHOWN ? (size_t)pending->size : SHOWN;
	const size_t some = xc_space_peek(crash->process->space, pending->at, bytes, want);
	xc_text_printf(&plain,
		       "the stream %sdescriptor %d) still holds %" PRIu64
		       " byte%s that %s written to it and not flushed",
		       name_of(crash, stream), pending->fd, pending->size, pending->size == 1 ? "" : "s",
		       pending->size == 1 ? "was" : "were");
	xc_text_printf(&text, "%s: if the other side reads there, it may wait for them: \"", xc_text_string(&plain));
	xc_text_escaped(&text, bytes, some);
	xc_text_add(&text, some < pending->size ? "\"…" : "\"");
	xc_verdict_evidence(crash->report, "%s", xc_text_string(&text));
	xc_verdict_redact(crash->report, xc_text_string(&plain));
	xc_text_fini(&plain);
	xc_text_fini(&text);
}

void xc_unflushed_report(struct xc_crash_context *crash)
{
	const struct xc_process *p = crash->process;
	struct xc_stream_pending pending;
	xc_addr stream;
	unsigned told = 0;
	bool more = xc_stream_first(p, &stream);
	for (unsigned i = 0; more && stream && i < XC_STREAMS && told < TOLD; i++, more = xc_stream_next(p, &stream)) {
		if (!xc_stream_pending(p, stream, &pending) || pending.fd <= STDERR_FILENO)
			continue;
		report(crash, stream, &pending);
		told++;
	}
}
