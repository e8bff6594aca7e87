/* goclosed: close(c) is a call of runtime.closechan(c), with the channel in rax (Go 1.17 and later). */
#include "triage/go/goclosed.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "dwarf/line/source_lines.h"
#include "triage/code/body_cache.h"
#include "triage/code/slice.h"
#include "triage/dataflow/symbolic_value.h"
#include "triage/go/gocalls.h"
#include "triage/goroutine/gopackage.h"
#include "triage/goroutine/goroutine.h"
#include "triage/go/goowner.h"
#include "triage/util/sourceline.h"

enum { RAX = 0, RDX = 1 };
enum { TOLD = 3, GOROUTINES = 500, NAME_MOST = 100, CASES = 40 };

struct search {
	struct xc_godeath *d;
	const char *name; /* "s.out", as the source writes it; "": not known */
	struct xc_goowner owner;
	struct xc_gocalls all, closes,
		callers; /* calls of closechan(), those of this channel, calls of their functions */
	bool by_source;
	size_t own; /* closes at the place of the panic itself */
};

/* ---- names in a line ---- */

/* The channel of a line: of its only `close(…)`, or what its only send goes to. "": there is none, or several. */
static void channel_of(const char *line, char out[NAME_MOST])
{
	const char *close = line ? strstr(line, "close(") : NULL, *from = NULL, *end = NULL;
	out[0] = '\0';
	if (close && !strstr(close + 1, "close(")) {
		from = close + strlen("close(");
		end = from + strcspn(from, ")");
	}
	for (const char *at = line; !close && at && (at = strstr(at, "<-")); at += 2) {
		const char *last = at;
		while (last > line && last[-1] == ' ')
			last--;
		const char *first = last;
		while (first > line && (isalnum((unsigned char)first[-1]) || strchr("_.", first[-1])))
			first--;
		if (first == last || (last - first == 4 && strncmp(first, "case", 4) == 0) ||
		    (last - first == 6 && strncmp(first, "return", 6) == 0))
			continue;
		if (from)
			return;
		from = first;
		end = last;
	}
	if (!from || end == from || end - from >= NAME_MOST)
		return;
	for (const char *at = from; at < end; at++)
		if (!isalnum((unsigned char)*at) && !strchr("_.", *at))
			return;
	memcpy(out, from, (size_t)(end - from));
	out[end - from] = '\0';
}

static const char *last_part(const char *name)
{
	const char *dot = strrchr(name, '.');
	return dot ? dot + 1 : name;
}

/* Members of one name, or variables of one name. */
static bool are_alike(const char *a, const char *b)
{
	return !strchr(a, '.') == !strchr(b, '.') && strcmp(last_part(a), last_part(b)) == 0;
}

/* ---- the channel ---- */

static bool find_channel(const struct search *s, xc_addr *out)
{
	const struct xc_crash_context *crash = s->d->crash;
	for (size_t i = s->d->at + 1; xc_godeath_is_runtime(crash, i); i++) {
		const struct xc_frame_context context = xc_crash_context_frame(crash, i);
		struct xc_value value;
		const char *name = xc_godeath_name(crash, i);
		if ((strcmp(name, "runtime.chansend") == 0 || strcmp(name, "runtime.closechan") == 0) &&
		    xc_variable_find(&context, context.place->level_count - 1, "c", &crash->report->arena, &value) &&
		    xc_value_load(&value, out))
			return true;
	}
	return false;
}

static void report_state(const struct search *s, xc_addr channel)
{
	const struct xc_goruntime *go = &s->d->go;
	uint64_t closed, count, room;
	if (!xc_goruntime_read(go, "runtime.hchan", channel, "closed", &closed) || !closed ||
	    !xc_goruntime_read(go, "runtime.hchan", channel, "qcount", &count) ||
	    !xc_goruntime_read(go, "runtime.hchan", channel, "dataqsiz", &room))
		return;
	if (room)
		xc_verdict_evidence(s->d->crash->report,
				    "the channel (0x%" PRIx64 ") is closed, its buffer has %" PRIu64 " of %" PRIu64
				    " items",
				    channel, count, room);
	else
		xc_verdict_evidence(s->d->crash->report, "the channel (0x%" PRIx64 ") is closed, it has no buffer",
				    channel);
}

/* ---- who closes it ---- */

/* The offset from an object at which the call's channel was read; -1: not known. */
static int64_t offset_of(const struct search *s, xc_addr call)
{
	const struct xc_body *body = xc_body_cache_get(s->d->crash->bodies, call);
	const long at = body ? xc_body_at(body, call) : XC_BODY_NONE;
	const struct xc_arch *arch = s->d->crash->process->arch;
	struct xc_slice slice;
	if (at < 0)
		return -1;
	xc_slice_register(body, (size_t)at, RAX, &slice);
	if (slice.count != 1 || slice.items[0].kind != XC_DEFINITION_INSN)
		return -1;
	const struct xc_insn *insn = &body->insns[slice.items[0].insn];
	const struct xc_insn_memory *m = &insn->memory;
	bool of_object = insn->kind == XC_INSN_LOAD && m->base >= 0 && m->index < 0 &&
			 m->base != RDX && /* a closure's */
			 m->base != arch->sp && m->base != arch->fp;
	return of_object ? m->displacement : -1;
}

static bool is_own(const struct search *s, const struct xc_gocall *call)
{
	const struct xc_blame *blame = &s->d->crash->blame;
	if (!blame->place || blame->level >= blame->place->level_count || !call->place->level_count)
		return false;
	const struct xc_level *a = &blame->place->levels[blame->level], *b = &call->place->levels[0];
	return a->line && a->line == b->line && a->file && b->file && strcmp(a->file, b->file) == 0;
}

/* What the source calls the channel there; "": not known. */
static bool name_at(const struct search *s, const struct xc_gocall *call, char name[NAME_MOST])
{
	const struct xc_level *at = call->place->level_count ? &call->place->levels[0] : NULL;
	const char *line = at && at->file ? xc_source_reader_line(s->d->crash->source, at->file, at->line) : NULL;
	channel_of(line, name);
	return line != NULL;
}

/* By the types of what the source names, where they are known; else by the name of the member, and its offset. Without
 * sources by the offset, in a function that has such an object. */
static bool closes_it(struct search *s, const struct xc_gocall *call)
{
	const struct xc_frame frame = {.pc = call->addr, .interrupted = true};
	const struct xc_frame_context context = {.process = s->d->crash->process,
						 .unwinder = s->d->crash->unwinder,
						 .frame = &frame,
						 .place = call->place};
	struct xc_goowner owner = {.known = false};
	char name[NAME_MOST];
	const bool readable = name_at(s, call, name);
	s->by_source |= readable;
	if (*name && s->owner.known)
		xc_goowner_find(&context, 0, name, &owner);
	if (owner.known)
		return xc_goowner_same(&owner, &s->owner);
	const int64_t offset = s->owner.known ? offset_of(s, call->addr) : -1;
	if (readable)
		return *s->name && *name && are_alike(name, s->name) &&
		       (offset < 0 || offset == (int64_t)s->owner.offset);
	return offset >= 0 && offset == (int64_t)s->owner.offset && xc_goowner_is_used(&context, &s->owner);
}

static void find_closes(struct search *s)
{
	xc_addr closechan;
	uint64_t size;
	if (!xc_goruntime_variable(&s->d->go, "runtime.closechan", &closechan, &size))
		return;
	xc_gocalls_find(&s->d->go, &closechan, 1, NULL, &s->all);
	for (size_t i = 0; i < s->all.count; i++) {
		if (!closes_it(s, &s->all.items[i]))
			continue;
		s->own += is_own(s, &s->all.items[i]);
		s->closes.items[s->closes.count++] = s->all.items[i];
	}
}

static void report_closes(const struct search *s)
{
	struct xc_report *report = s->d->crash->report;
	size_t told = 0;
	for (size_t i = 0; i < s->closes.count && told < TOLD; i++) {
		const struct xc_gocall *call = &s->closes.items[i];
		struct xc_text text = {0};
		char name[NAME_MOST];
		if (is_own(s, call))
			continue;
		name_at(s, call, name);
		if (*name)
			xc_text_printf(&text, "`close(%s)` stands in %s", name, call->function);
		else
			xc_text_printf(&text, "perhaps %s", call->function);
		xc_sourceline(call->place, 0, ", ", &text);
		if (!*name)
			xc_text_printf(&text,
				       ", closed it: it closes a channel that it reads at the same offset, %" PRIu64,
				       s->owner.offset);
		xc_verdict_evidence(report, "%s", xc_text_string(&text));
		xc_text_fini(&text);
		told++;
	}
	if (s->own && s->own == s->closes.count && s->by_source && !s->all.more)
		xc_verdict_evidence(report, "no other close() of a channel of this name was found in the program: "
					    "likely this one ran twice");
}

/* ---- who is there ---- */

/* The call of `calls` in whose function the frame is; NULL: none. */
static const struct xc_gocall *function_at(const struct xc_gocalls *calls, const struct xc_place *place)
{
	for (size_t i = 0; i < calls->count; i++)
		for (size_t l = 0; l < place->level_count; l++) {
			const char *name = xc_place_function(place, l);
			if (name && strcmp(name, calls->items[i].function) == 0)
				return &calls->items[i];
		}
	return NULL;
}

static bool report_goroutine(const struct search *s, xc_addr g)
{
	const struct xc_crash_context *crash = s->d->crash;
	struct xc_frame *frames;
	uint64_t id;
	const struct xc_gocall *closes = NULL, *calls = NULL;
	if (!xc_goruntime_read(&s->d->go, "runtime.g", g, "goid", &id))
		return false;
	size_t count = xc_goroutine_frames(crash, &s->d->go, g, &frames);
	for (size_t i = 0; i < count && !closes && !calls; i++) {
		const struct xc_place *place = xc_debuginfo_place(crash->process, xc_frame_lookup(&frames[i]));
		closes = function_at(&s->closes, place);
		calls = closes ? NULL : function_at(&s->callers, place);
	}
	struct xc_text text = {0};
	if (closes)
		xc_text_printf(&text, "goroutine %" PRIu64 " is in %s now", id, closes->function);
	if (calls) {
		xc_text_printf(&text, "goroutine %" PRIu64 " is in %s now, which calls %s", id, calls->function,
			       calls->callee);
		xc_sourceline(calls->place, 0, " at ", &text);
	}
	if (text.len)
		xc_verdict_evidence(crash->report, "%s", xc_text_string(&text));
	xc_text_fini(&text);
	return closes || calls;
}

/* Calls of the functions that close it. */
static void find_callers(struct search *s)
{
	xc_addr targets[XC_GOCALLS];
	size_t count = 0;
	for (size_t i = 0; i < s->closes.count; i++) {
		const struct xc_body *body = xc_body_cache_get(s->d->crash->bodies, s->closes.items[i].addr);
		if (body && body->entry < body->count)
			targets[count++] = body->insns[body->entry].addr;
	}
	if (count)
		xc_gocalls_find(&s->d->go, targets, count, NULL, &s->callers);
}

static void report_goroutines(struct search *s)
{
	struct xc_goroutine_list list;
	struct xc_goroutine_starts starts = {0};
	uint64_t status;
	xc_addr g;
	size_t told = 0;
	if (!s->closes.count || !s->d->g_known || !xc_goroutine_list(&s->d->go, &list))
		return;
	find_callers(s);
	for (uint64_t i = 0; i < GOROUTINES && told < TOLD && xc_goroutine_at(&s->d->go, &list, i, &g); i++)
		if (g != s->d->g && xc_goroutine_status(&s->d->go, g, &status) && status &&
		    status != XC_GOROUTINE_ENDED && xc_goroutine_is_programs(&s->d->go, g, &starts))
			told += report_goroutine(s, g);
}

/* Without the source's line: what the code passes to the runtime's function, in the source's words. */
static void channel_by_code(const struct xc_crash_context *crash, char out[NAME_MOST])
{
	unsigned budget = XC_SYMBOLIC_BUDGET;
	struct xc_frame_code code;
	size_t len = 0;
	const char *callee = crash->blamed ? xc_godeath_name(crash, crash->blamed - 1) : "";
	if ((!xc_gopackage_begins(callee, "runtime.chansend") && strcmp(callee, "runtime.closechan") != 0) ||
	    !xc_frame_code_init(crash, crash->blamed, &budget, &code))
		return;
	const struct xc_linear_expr form = xc_symbolic_value_register(&code, code.at, RAX);
	const char *text = form.known && form.sure && form.count == 1 && form.parts[0].times == 1 && !form.constant
				   ? form.parts[0].term.text
				   : NULL;
	for (const char *at = text; at && *at && len + 1 < NAME_MOST; at++) {
		const bool arrow = at[0] == '-' && at[1] == '>';
		if (!arrow && !isalnum((unsigned char)*at) && !strchr("_.", *at)) {
			len = 0;
			break;
		}
		out[len++] = arrow ? '.' : *at;
		at += arrow;
	}
	out[len] = '\0';
}

/* What the only case of a select sends to that sends: its line is that of the select. */
static void channel_of_select(const struct xc_crash_context *crash, char out[NAME_MOST])
{
	const struct xc_level *at = &crash->blame.place->levels[crash->blame.level];
	char name[NAME_MOST];
	out[0] = '\0';
	for (unsigned i = 1; i <= CASES; i++) {
		const char *line = xc_source_reader_line(crash->source, at->file, at->line + i);
		if (!line || *line == '}')
			return;
		channel_of(xc_gopackage_begins(line, "case ") ? line : NULL, name);
		if (*name && *out) {
			out[0] = '\0';
			return;
		}
		if (*name)
			memcpy(out, name, sizeof name);
	}
	out[0] = '\0';
}

static void find_owner(struct search *s)
{
	const struct xc_crash_context *crash = s->d->crash;
	if (!*s->name || crash->blamed >= crash->frame_count)
		return;
	const struct xc_frame_context context = xc_crash_context_frame(crash, crash->blamed);
	if (context.place == crash->blame.place)
		xc_goowner_find(&context, crash->blame.level, s->name, &s->owner);
}

void xc_goclosed_report(struct xc_godeath *d, const char *line, bool named)
{
	struct xc_crash_context *crash = d->crash;
	struct xc_verdict *v = crash->verdict;
	char name[NAME_MOST];
	xc_addr channel = 0;
	channel_of(line, name);
	if (!line)
		channel_by_code(crash, name);
	else if (xc_gopackage_begins(line, "select"))
		channel_of_select(crash, name);
	struct search s = {.d = d, .name = name};
	if (*name)
		v->cause = xc_arena_printf(&crash->report->arena, "%s: `%s`", v->cause, name);
	const bool known = find_channel(&s, &channel);
	if ((known && !channel) || xc_gopackage_begins(v->message, "close of nil channel"))
		return; /* nobody closed it */
	if (known)
		report_state(&s, channel);
	find_owner(&s);
	if (known && !named)
		xc_goowner_report(d, name, &s.owner, channel);
	find_closes(&s);
	report_closes(&s);
	report_goroutines(&s);
}
