/* cause: the first rule that holds sets the class; later steps add evidence. */
#include "triage/cause.h"

#include <inttypes.h>
#include <signal.h>
#include <string.h>

#include "core/facts/facts.h"
#include "core/base/text.h"
#include "core/process/source_roots.h"
#include "dwarf/elf/symbol.h"
#include "dwarf/line/source_lines.h"
#include "triage/cause_table.h"
#include "triage/locks/deadlock.h"
#include "triage/explain/evidence.h"
#include "triage/fault/cause_fault.h"
#include "triage/hang/hang.h"
#include "triage/hang/endless_loop.h"
#include "triage/hang/peer_wait.h"
#include "triage/hang/sleep_loop.h"
#include "triage/waits/stopped.h"
#include "triage/explain/expression.h"
#include "triage/explain/failed_index.h"
#include "triage/fault/null_member.h"
#include "triage/explain/null_place.h"
#include "triage/explain/race.h"
#include "triage/missing_evidence.h"
#include "triage/goroutine/gohang.h"
#include "triage/go/golang.h"
#include "triage/memory/heap_evidence.h"
#include "triage/libc/error_number.h"
#include "triage/crash/abort_message.h"
#include "triage/crash/handled_signal.h"
#include "triage/crash/own_line.h"
#include "triage/crash/phase.h"
#include "triage/explain/merged_call.h"
#include "triage/runtime/script.h"
#include "triage/rust/rust_null.h"
#include "triage/rust/rust_poison.h"
#include "triage/util/sourceline.h"
#include "triage/util/user_code.h"
#include "triage/runtime/uncaught.h"
#include "triage/libc/copy_call.h"
#include "triage/libc/inlined_copy.h"
#include "triage/libc/endless_list.h"
#include "triage/libc/sort_order.h"
#include "triage/memory/pointer_diagnosis.h"
#include "triage/libc/bad_descriptor.h"
#include "triage/runtime/free_argument.h"
#include "triage/runtime/freed_holder.h"
#include "triage/survey/broken_argument.h"
#include "triage/survey/class_layout.h"
#include "triage/survey/moved_from.h"
#include "triage/survey/odd_object.h"
#include "triage/survey/overlong_slice.h"
#include "triage/survey/return_writer.h"
#include "triage/survey/shifted_pointer.h"
#include "triage/survey/shared_object.h"
#include "triage/source/source_divisor.h"
#include "triage/survey/wrong_object.h"

enum { SOURCE_AROUND = 2, SYMBOL_MOST = 512 };

static bool is_fault_signal(int number)
{
	return number == SIGSEGV || number == SIGBUS || number == SIGFPE || number == SIGILL;
}

static enum xc_cause_event event_of(const struct xc_fault *f)
{
	if (f->sent && is_fault_signal(f->signal))
		return XC_CAUSE_SENT;
	if (is_fault_signal(f->signal) || f->signal == SIGSYS || (f->signal == SIGTRAP && !f->sent))
		return xc_cause_rule_event(f);
	return f->signal == SIGABRT ? XC_CAUSE_ABORT : XC_CAUSE_OTHER;
}

/* ---- words ---- */

static void add_code(const struct xc_crash_context *crash, struct xc_text *text)
{
	const struct xc_fault *f = &crash->fault;
	const char *name = xc_signal_code_name(f->signal, f->code);
	const char *words = !f->computed    ? xc_signal_code_text(f->signal, f->code)
			    : f->misaligned ? "not aligned"
					    : "not a canonical address";
	if (f->sent || !f->code_known)
		return;
	if (f->signal == SIGFPE && crash->verdict->kind && strcmp(crash->verdict->kind, "division overflow") == 0)
		words = "a quotient that does not fit"; /* the kernel has one code for both */
	xc_text_printf(text, ", %s", words);
	if (name)
		xc_text_printf(text, " (%s)", name);
}

/* "invalid memory reference, sent by process 12 (user 0), and by its handler again" */
static void add_resent(const struct xc_crash_context *crash, struct xc_text *text)
{
	const struct xc_fault *f = &crash->fault;
	xc_text_printf(text, "%s, sent", xc_signal_text(f->signal));
	if (f->first_sender && f->first_sender != crash->process->pid)
		xc_text_printf(text, " by process %d (user %u)", (int)f->first_sender, (unsigned)f->first_user);
	xc_text_add(text, f->first_sender == crash->process->pid ? " by itself, and by its handler again"
								 : ", and by its handler again");
}

/* "quit from the keyboard, sent by itself" */
static void add_sent_by_itself(const struct xc_crash_context *crash, struct xc_text *text)
{
	const struct xc_handled_signal handled = xc_handled_signal_find(crash);
	xc_text_add(text, xc_signal_text(crash->fault.signal));
	if (crash->fault.signal != SIGABRT)
		xc_text_add(text, handled.again        ? ", sent by its handler again"
				  : handled.in_handler ? ", sent by itself in a signal handler"
						       : ", sent by itself");
}

/* "SIGSEGV: wrote 8 bytes at 0x18, address not mapped (SEGV_MAPERR)". */
static void headline(struct xc_crash_context *crash)
{
	const struct xc_fault *f = &crash->fault;
	const struct xc_signal *signal = &crash->process->signal;
	struct xc_text text = {0};
	xc_text_printf(&text, "%s: ", xc_signal_name(f->signal));
	if (f->resent)
		add_resent(crash, &text);
	else if (f->sent && f->code_known && signal->sender_pid == crash->process->pid)
		add_sent_by_itself(crash, &text);
	else if (f->sent && f->code_known)
		xc_text_printf(&text, "%s, sent by process %d (user %u)", xc_signal_text(f->signal),
			       (int)signal->sender_pid, (unsigned)signal->sender_uid);
	else if (f->addr_known && (f->signal == SIGSEGV || f->signal == SIGBUS))
		xc_fault_describe(f, &text);
	else
		xc_text_add(&text, xc_signal_text(f->signal));
	add_code(crash, &text);
	if (crash->verdict->headline) /* a rule has set a better one */
		xc_verdict_evidence(crash->report, "%s", xc_text_string(&text));
	else
		crash->verdict->headline = xc_arena_strdup(&crash->report->arena, xc_text_string(&text));
	xc_text_fini(&text);
}

/* The frame to look at need not be the one that called the library: of a recursion it is another round. Generated code
 * has no place of its own: that of a caller is shown. */
static void add_library(const struct xc_crash_context *crash)
{
	const struct xc_blame *b = &crash->blame;
	struct xc_report *r = crash->report;
	if (crash->fault.sent || crash->fault.signal == SIGABRT)
		return;
	if (b->nameless && b->through)
		xc_verdict_evidence(
			r, "it happened inside %s (%s), called by code without a name at 0x%" PRIx64 ", in no module",
			b->through, b->through_module, b->nameless);
	else if (b->nameless)
		xc_verdict_evidence(
			r, "it happened in code without a name at 0x%" PRIx64 ", in no module: generated code?",
			b->nameless);
	else if (b->through && b->caller_frame == b->frame.index)
		xc_verdict_evidence(r, "it happened inside %s (%s), called from there", b->through, b->through_module);
	else if (b->through && b->caller)
		xc_verdict_evidence(r, "it happened inside %s (%s), called by %s", b->through, b->through_module,
				    b->caller);
}

/* The place is a guess of a kind: which lines the code in between is of is lost. */
static void report_nearest(struct xc_crash_context *crash)
{
	struct xc_text text = {0};
	xc_sourceline(crash->blame.place, crash->blame.level, "", &text);
	xc_verdict_evidence(
		crash->report,
		"the line is that of the nearest code of the function: the instruction is of %s, inlined there",
		xc_text_string(&text));
	xc_text_fini(&text);
}

/* The place in the source. A line of library code that was inlined without a trace gives way to what the program itself
 * says. */
static void locate_source(struct xc_crash_context *crash, const struct xc_level *level)
{
	struct xc_arena *arena = &crash->report->arena;
	struct xc_verdict *v = crash->verdict;
	bool stated = crash->stated_file && xc_crash_context_is(crash, "panic") && xc_user_code_is_library_line(level);
	struct xc_own_line own = {.file = level->file, .line = level->line};
	if (!stated)
		xc_own_line_find(crash->process, crash->blame.place, crash->blame.level, &own);
	const char *file = stated ? crash->stated_file : own.file;
	v->file = xc_arena_strdup(arena, file);
	v->line = stated ? crash->stated_line : own.line;
	if (own.nearest && !stated)
		report_nearest(crash);
	xc_auto(xc_freep) char *source = xc_source_lines(crash->process, file, v->line, SOURCE_AROUND);
	xc_auto(xc_freep) char *hint = source ? NULL : xc_source_roots_hint(crash->process, file);
	v->source = xc_arena_strdup(arena, source);
	v->source_hint = xc_arena_strdup(arena, hint);
}

/* gcc names what it makes of a function by a suffix, which debug information leaves out. */
static void report_copy(const struct xc_crash_context *crash)
{
	static const struct {
		const char *suffix, *words;
	} copies[] = {
		{".constprop.", "a copy that the compiler made of it for calls with constants as arguments"},
		{".isra.", "a copy that the compiler made of it with other arguments"},
		{".part.", "a part that the compiler cut out of it: the rest, which calls it, may have been inlined"},
	};
	const struct xc_place *place = crash->blame.place;
	const char *name = crash->blame.level + 1 == place->level_count && !place->line_only
				   ? place->levels[crash->blame.level].function
				   : NULL;
	char symbol[SYMBOL_MOST];
	if (!name || !xc_symbol_describe(crash->process, xc_frame_lookup(&crash->blame.frame), symbol, sizeof symbol))
		return;
	for (size_t i = 0; i < XC_COUNT(copies); i++)
		if (strstr(symbol, copies[i].suffix)) {
			char *offset = strrchr(symbol, '+');
			if (offset && strncmp(offset, "+0x", 3) == 0)
				*offset = '\0';
			xc_verdict_evidence(crash->report, "the running code of %s is %s: %s", name, symbol,
					    copies[i].words);
			return;
		}
}

/* Of a function that returned to nowhere only its callers are on the stack. */
static void report_guess(const struct xc_crash_context *crash)
{
	const struct xc_verdict *v = crash->verdict;
	bool returned = v->kind && strcmp(v->kind, "ret") == 0;
	if (v->function && crash->blame.frame.trust == XC_TRUST_SCAN && returned)
		xc_verdict_evidence(crash->report,
				    "the frame of %s is a guess: a scan of the stack found it, and it may have called "
				    "others that are not shown",
				    v->function);
}

static void locate(struct xc_crash_context *crash)
{
	struct xc_arena *arena = &crash->report->arena;
	struct xc_verdict *v = crash->verdict;
	const struct xc_place *place = crash->blame.place;
	v->tid = crash->off_thread ? 0 : crash->thread->tid;
	v->frame = crash->thread == crash->faulted && crash->fault.in_handler && crash->fault.frame_known
			   ? crash->fault.frame.index
			   : 0;
	v->thread_name = crash->off_thread ? NULL : xc_arena_strdup(arena, crash->thread->name);
	if (!v->involved)
		xc_verdict_involve(crash->report, crash->thread->tid);
	if (!place)
		return;
	if (place->module)
		v->module = xc_arena_strdup(arena, place->module->name);
	v->function = xc_arena_strdup(arena, place->symbol ? place->symbol : place->stub);
	if (place->level_count) {
		const struct xc_level *level = &place->levels[crash->blame.level];
		if (level->function)
			v->function = xc_arena_strdup(arena, level->function);
		locate_source(crash, level);
	}
	add_library(crash);
	report_copy(crash);
	report_guess(crash);
}

/* A handler of SIGABRT that hangs hides why the program aborted. */
static void report_abort(struct xc_crash_context *crash, struct xc_heap *heap)
{
	if (!crash->thread || !xc_abort_message_handled(crash, crash->thread))
		return;
	xc_verdict_evidence(crash->report,
			    "before that the program had called abort(): the deadlock is in a signal's handler");
	crash->heap = heap ? heap : crash->heap;
	if (heap)
		xc_heap_evidence_damage(crash);
}

/* No signal: is it hung? Threads of Go's runtime wait for work: its goroutines tell. */
static void find_hang(struct xc_crash_context *crash)
{
	bool deadlock = xc_deadlock_exists(crash->process);
	if (!deadlock && (xc_stopped_classify(crash) || xc_gohang_classify(crash)))
		return;
	enum xc_hang hang = deadlock ? XC_HANG_NONE : xc_hang_of(crash->process);
	if (!deadlock && hang == XC_HANG_NONE && xc_endless_loop_classify(crash, XC_ENDLESS_LOOP_LIKELY)) {
		xc_deadlock_classify(crash); /* who waits for the locks that the thread holds */
		return;
	}
	deadlock = deadlock || (hang != XC_HANG_LIKELY && xc_deadlock_is_held(crash->process));
	if (!deadlock && hang == XC_HANG_NONE) {
		if (!xc_endless_loop_classify(crash, XC_ENDLESS_LOOP_BUSY) && !xc_sleep_loop_classify(crash))
			xc_peer_wait_classify(crash);
		return;
	}
	crash->verdict = xc_report_verdict(crash->report);
	if (deadlock)
		xc_deadlock_classify(crash);
	else
		xc_hang_classify(crash);
}

static void hung(struct xc_report *report, struct xc_process *process, struct xc_heap *heap)
{
	struct xc_crash_context crash = {.report = report,
					 .process = process,
					 .unwinder = xc_unwinder_new(process),
					 .source = xc_source_reader_new(process)};
	find_hang(&crash);
	if (crash.thread) {
		report_abort(&crash, heap);
		xc_stopped_report(&crash);
		locate(&crash);
	}
	xc_source_reader_free(crash.source);
	xc_unwinder_free(crash.unwinder);
}

/* What values, objects and threads tell of the cause, in this order. */
static void (*const reports[])(struct xc_crash_context *crash) = {
	xc_source_divisor_report,
	xc_failed_index_report,
	xc_copy_call_report,
	xc_inlined_copy_report,
	xc_broken_argument_report,
	xc_cause_fault_number,
	xc_rust_poison_report,
	xc_rust_null_report,
	xc_race_report,
	xc_free_argument_report_fault,
	xc_pointer_diagnosis_report,
	xc_overlong_slice_report,
	xc_null_place_report,
	xc_null_member_report,
	xc_endless_list_report,
	xc_sort_order_report,
	xc_moved_from_report,
	xc_odd_object_report,
	xc_wrong_object_report,
	xc_shared_object_report,
	xc_class_layout_report,
	xc_phase_report,
	xc_error_number_report,
	xc_freed_holder_report_destructor,
	xc_bad_descriptor_report,
	xc_shifted_pointer_report,
	xc_return_writer_report,
	xc_golang_spell,
};

void xc_cause(struct xc_report *report, struct xc_process *process, struct xc_heap *heap)
{
	struct xc_crash_context crash;
	if (!xc_crash_context_init(&crash, report, process, heap)) {
		hung(report, process, heap);
		return;
	}
	xc_abort_message_read(&crash);
	crash.rules = xc_cause_table;
	xc_cause_rule_apply(&crash, event_of(&crash.fault));
	xc_uncaught_report_flight(&crash);
	if (!xc_crash_context_is(&crash, "stack-overflow") && /* which access came first does not matter */
	    !xc_crash_context_is(&crash, "format-string"))
		xc_expression_report(&crash);
	for (size_t i = 0; i < XC_COUNT(reports); i++)
		reports[i](&crash);
	xc_deadlock_classify(&crash);
	xc_hang_classify(&crash);
	xc_endless_loop_classify(&crash, XC_ENDLESS_LOOP_LIKELY);
	xc_sleep_loop_classify(&crash);
	xc_peer_wait_classify(&crash);
	if (xc_crash_context_is_signalled(&crash))
		xc_gohang_classify(&crash);
	if (xc_crash_context_is(&crash, "deadlock"))
		report_abort(&crash, NULL); /* the heap's evidence comes later */
	headline(&crash);
	locate(&crash);
	xc_merged_call_report(&crash);
	xc_script_report(&crash);
	xc_evidence_add(&crash);
	if (heap)
		xc_heap_evidence_add(&crash);
	xc_missing_evidence_report(&crash);
	xc_crash_context_fini(&crash);
}
