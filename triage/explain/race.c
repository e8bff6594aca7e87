/* race: the other threads' stacks at the moment of the core are those of shortly after the fault: the one that wrote
 * is often still in the function that did. */
#include "triage/explain/race.h"

#include <inttypes.h>
#include <string.h>

#include "core/process/module.h"
#include "dwarf/stack/frame_walk.h"
#include "triage/code/body_cache.h"
#include "triage/dataflow/deref.h"
#include "triage/util/names.h"
#include "triage/util/severity.h"
#include "triage/util/sourceline.h"
#include "triage/util/user_code.h"

enum { THREADS = 64, FRAMES = 12, OWN_FRAMES = 3, CODE = 64, TOLD = 3 };

/* A thread that may have written, and the code that does. */
struct writer {
	xc_addr pc;
	bool writes; /* false: it only takes the address */
	bool clears; /* it writes 0 */
};

struct search {
	const struct xc_crash_context *crash;
	xc_addr at;
	uint32_t size;
	unsigned code_left;
};

/* Does the instruction write the place, or take its address? By its address in the code alone. */
static bool uses(const struct search *s, const struct xc_insn *insn, bool *writes)
{
	const struct xc_insn_memory *m = &insn->memory;
	xc_addr to = (xc_addr)m->displacement;
	bool fixed = insn->has_memory && m->base < 0 && m->index < 0 && m->segment < 0 && !m->complex;
	*writes = insn->writes_memory;
	if (insn->kind == XC_INSN_CONSTANT)
		return (xc_addr)insn->constant == s->at;
	if (!fixed || (!insn->writes_memory && insn->kind != XC_INSN_ADDRESS))
		return false;
	return insn->writes_memory ? to - s->at < s->size || s->at - to < m->size : to == s->at;
}

static bool find_in_code(struct search *s, xc_addr pc, struct writer *out)
{
	struct xc_body *body = s->code_left ? xc_body_cache_get(s->crash->bodies, pc) : NULL;
	bool found = false, writes;
	s->code_left -= s->code_left > 0;
	for (size_t i = 0; body && i < body->count; i++) {
		if (!uses(s, &body->insns[i], &writes) || (found && !writes))
			continue;
		out->clears |= writes && body->insns[i].kind == XC_INSN_STORE_CONSTANT && !body->insns[i].constant;
		if (found && out->writes)
			continue;
		out->pc = body->insns[i].addr;
		out->writes = writes;
		found = true;
	}
	return found;
}

static bool find_in_thread(struct search *s, const struct xc_thread *thread, struct writer *out)
{
	struct xc_frame_walk walk;
	unsigned own = 0;
	xc_frame_walk_begin(&walk, s->crash->process, s->crash->unwinder, thread, FRAMES);
	while (own < OWN_FRAMES && xc_frame_walk_next(&walk)) {
		const struct xc_place *place = walk.context.place;
		if (!place->module || xc_module_is_runtime(place->module))
			continue;
		own++;
		if (find_in_code(s, xc_frame_lookup(&walk.frame), out))
			return true;
	}
	return false;
}

static void report_writer(const struct search *s, const struct xc_thread *thread, const struct writer *writer,
			  const char *what)
{
	const struct xc_place *place = xc_debuginfo_place(s->crash->process, writer->pc);
	struct xc_text text = {0};
	size_t level = 0;
	if (!xc_user_code_level(place, &level))
		level = 0;
	const char *function = xc_place_function(place, level);
	xc_text_printf(&text, "thread %d, in %s, runs code that %s %s%s%s", (int)thread->tid,
		       function ? function : "a function without a name", writer->writes ? "writes" : "uses",
		       what ? "`" : "", what ? what : "that place", what ? "`" : "");
	xc_sourceline(place, level, ", at ", &text);
	xc_verdict_evidence(s->crash->report, "%s", xc_text_string(&text));
	xc_text_fini(&text);
}

/* x86: is the thread in a system call? It waits there, and writes nothing meanwhile. */
static bool waits(const struct xc_crash_context *crash, const struct xc_thread *thread)
{
	uint8_t code[2];
	uint64_t pc;
	return !xc_regs_get(&thread->regs, crash->process->arch->pc, &pc) ||
	       xc_space_peek(crash->process->space, pc - 2, code, 2) != 2 || (code[0] == 0x0f && code[1] == 0x05);
}

/* Reports threads that run code that writes the place, or uses its address; with `now`, only those that run at this
 * moment, and write 0. Returns the number of those that write. */
static size_t report_writers(const struct xc_crash_context *crash, const struct xc_deref *bad, bool now)
{
	struct search s = {.crash = crash, .at = bad->at, .size = bad->size, .code_left = CODE};
	size_t told = 0, writers = 0;
	for (size_t i = 0; i < crash->process->thread_count && i < THREADS && told < TOLD; i++) {
		const struct xc_thread *thread = &crash->process->threads[i];
		struct writer writer = {.pc = 0};
		if (thread == crash->faulted || (now && waits(crash, thread)) || !find_in_thread(&s, thread, &writer) ||
		    (now && !writer.clears))
			continue;
		report_writer(&s, thread, &writer, bad->text);
		if (!told++)
			xc_verdict_involve(crash->report, crash->thread->tid);
		xc_verdict_involve(crash->report, thread->tid);
		writers += writer.writes;
	}
	return writers;
}

/* Classes of a value that was bad when it was read. */
static bool may_race(const struct xc_crash_context *crash)
{
	static const char *const names[] = {"null-read", "null-write",  "null-access", "call-null",
					    "wild-read", "wild-write",  "wild-access", "pc-control",
					    "exec-data", "div-by-zero", NULL};
	return crash->verdict->class_name && xc_names_find(names, crash->verdict->class_name);
}

void xc_race_classify(struct xc_crash_context *crash, bool certain, const char *with)
{
	struct xc_verdict *v = crash->verdict;
	if (!v->kind) /* "tainted" says how dangerous it is */
		v->kind = xc_arena_strdup(&crash->report->arena, "race");
	if (v->severity && xc_severity_rank(v->severity) < xc_severity_rank("medium"))
		v->severity = xc_severity_name(xc_severity_rank("medium"));
	if (v->confidence && strcmp(v->confidence, "certain") == 0 && !certain)
		v->confidence = "likely";
	if (v->cause)
		v->cause = xc_arena_printf(&crash->report->arena, "%s: %sa race with another %s", v->cause,
					   certain ? "" : "likely ", with);
}

/* It was replaced since it was read. */
static void report_changed(struct xc_crash_context *crash, const struct xc_deref *bad, uint64_t now)
{
	const struct xc_mapping *m = xc_process_mapping(crash->process, bad->at);
	bool others = crash->process->thread_count > 1, shared = m && m->shared;
	xc_verdict_evidence(crash->report,
			    "%s%s%s was 0x%" PRIx64 " when it was read; now 0x%" PRIx64 " is there, at 0x%" PRIx64
			    ": %s",
			    bad->text ? "`" : "", bad->text ? bad->text : "the value", bad->text ? "`" : "", bad->value,
			    now, bad->at,
			    others && xc_fault_was_handled(&crash->fault)
				    ? "another thread or the signal handler wrote it in between"
			    : others ? "another thread wrote it in between"
			    : shared ? "another process, which shares this memory, wrote it in between"
				     : "a signal handler, or whoever made the core, wrote it in between");
	if (others || shared)
		xc_race_classify(crash,
				 others && report_writers(crash, bad, false) && !xc_fault_was_handled(&crash->fault),
				 others ? "thread" : "process");
}

void xc_race_report(struct xc_crash_context *crash)
{
	const struct xc_deref *bad = xc_derefs_bad(crash->derefs);
	uint64_t now;
	if (!bad || !may_race(crash))
		return;
	if (xc_derefs_changed(crash, &now))
		report_changed(crash, bad, now);
	else if (bad->value_known && !bad->value && bad->exact && report_writers(crash, bad, true))
		xc_race_classify(crash, false, "thread");
}
