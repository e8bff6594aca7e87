/* gothrow: what Go's runtime leaves of a fatal error, of Go 1.19 (runtime/panic.go, print.go), newest frame first:
 *
 *	crash ← fatalthrow ← throw or fatal ← mapassign, checkdead, sigpanic, … ← the program
 *
 * The text of throw() is in runtime.printBacklog, a ring of the last bytes printed until the first panic or throw
 * began. */
#include "triage/go/gothrow.h"

#include <inttypes.h>
#include <stdlib.h>

#include "triage/crash/cause_rule.h"
#include "triage/go/gofault.h"
#include "triage/goroutine/gopackage.h"
#include "triage/goroutine/goasleep.h"
#include "triage/goroutine/goroutine.h"
#include "triage/util/names.h"
#include "triage/stack/recursion.h"

enum { BACKLOG = 4096 };

/* The last output of the runtime, oldest first. */
static bool read_printed(const struct xc_godeath *d, char printed[BACKLOG + 1])
{
	char ring[BACKLOG];
	uint64_t size, next, index_size;
	xc_addr at, index;
	if (!xc_goruntime_variable(&d->go, "runtime.printBacklog", &at, &size) || size > sizeof ring ||
	    !xc_goruntime_variable(&d->go, "runtime.printBacklogIndex", &index, &index_size) ||
	    !xc_space_peek_uint(d->crash->process->space, index, 8, &next) || next >= size ||
	    xc_space_peek(d->crash->process->space, at, ring, (size_t)size) != size)
		return false;
	size_t length = 0;
	for (uint64_t i = 0; i < size; i++) {
		char c = ring[(next + i) % size];
		if (c)
			printed[length++] = c;
	}
	printed[length] = '\0';
	return true;
}

/* The text of throw(): the last line "fatal error: …". NULL when it is not known; *sure_out is false when there are
 * others. */
static const char *last_throw(const char *printed, struct xc_arena *arena, bool *sure_out)
{
	static const char mark[] = "fatal error: ";
	const char *said = NULL;
	*sure_out = true;
	for (const char *from = printed; (from = strstr(from, mark));) {
		from += strlen(mark);
		size_t len = strcspn(from, "\n");
		if (said && (strcspn(said, "\n") != len || strncmp(said, from, len) != 0))
			*sure_out = false;
		said = from;
	}
	return said ? xc_arena_strndup(arena, said, strcspn(said, "\n")) : NULL;
}

/* "runtime: out of memory: cannot allocate 2147483648-byte block (3964928 in use)". */
static bool asked_for(const char *printed, uint64_t *size_out)
{
	static const char mark[] = "cannot allocate ";
	const char *said = NULL;
	for (const char *from = printed; (from = strstr(from, mark));) {
		from += strlen(mark);
		said = from;
	}
	char *end = NULL;
	*size_out = said ? strtoull(said, &end, 10) : 0;
	return end && end != said && xc_gopackage_begins(end, "-byte block");
}

static void classify_memory(struct xc_godeath *d, const char *printed, const char *confidence)
{
	uint64_t size;
	xc_auto(xc_freep) char *cause =
		asked_for(printed, &size)
			? xc_asprintf("%s asked for memory, %" PRIu64 " bytes, that could not be allocated",
				      xc_crash_context_culprit(d->crash), size)
			: xc_asprintf("%s asked for memory that could not be allocated",
				      xc_crash_context_culprit(d->crash));
	xc_crash_context_classify(d->crash, "out-of-memory", NULL, "low", confidence, cause);
}

/* newstack() runs on the thread's stack; the caller of morestack() is the function that needed more of the
 * goroutine's. */
static void classify_stack(struct xc_godeath *d, const char *printed, const char *confidence)
{
	struct xc_crash_context *crash = d->crash;
	size_t wants = xc_godeath_before_program(crash, d->at, "runtime.morestack");
	uint64_t lo, hi, sp;
	(void)printed;
	struct xc_stack_end end = {.framed = true, .limit = "the goroutine's stack may not grow any more"};
	struct xc_mapping stack = {.readable = true, .writable = true};
	if (wants + 1 >= crash->frame_count) {
		xc_crash_context_classify(
			crash, "stack-overflow", NULL, "low", confidence,
			"a goroutine's stack grew to its limit; the functions that fill it are not known");
		return;
	}
	xc_goroutine_begin_at(crash, wants + 1);
	if (d->g_known && xc_goruntime_read(&d->go, "runtime.g", d->g, "stack.lo", &lo) &&
	    xc_goruntime_read(&d->go, "runtime.g", d->g, "stack.hi", &hi) && lo < hi &&
	    xc_regs_get(&crash->frames[0].regs, crash->process->arch->sp, &sp) && sp >= lo && sp < hi) {
		stack.lo = lo;
		stack.hi = hi - 1;
		end.stack = &stack;
		end.addr = end.sp = sp;
		xc_recursion_classify_end(crash, &end);
		return;
	}
	xc_goroutine_blame(crash, 0);
	xc_crash_context_classify(crash, "stack-overflow", NULL, "low", confidence,
				  "a goroutine's stack grew to its limit");
}

static void classify_asleep(struct xc_godeath *d, const char *printed, const char *confidence)
{
	xc_goasleep_report(d->crash, &d->go);
	xc_crash_context_classify(
		d->crash, "deadlock", "goroutines", "medium", confidence,
		*printed ? "all goroutines wait for each other, or for something that no goroutine is left to do"
			 : "no goroutine is left that can run");
}

/* No goroutine waits: the caller of Goexit() is gone with its stack. */
static void classify_exited(struct xc_godeath *d, const char *printed, const char *confidence)
{
	(void)printed;
	d->crash->blame = (struct xc_blame){.place = NULL};
	xc_verdict_evidence(d->crash->report, "missing: which function called runtime.Goexit(): its stack is gone");
	xc_crash_context_classify(d->crash, "deadlock", "goroutines", "medium", confidence,
				  "main's goroutine ended with runtime.Goexit(), and no goroutine is left");
}

/* Texts of throw(), and the functions that call it with them (Go 1.19). Texts with a class of their own have a
 * function. */
static const struct reason {
	const char *has, *throwers[5], *kind, *words;
	void (*classify)(struct xc_godeath *d, const char *printed, const char *confidence);
} reasons[] = {
	{"main called runtime.Goexit", {NULL}, NULL, NULL, classify_exited},
	{"deadlock!", {"runtime.checkdead"}, NULL, NULL, classify_asleep},
	{"out of memory", {"runtime.(*mcache)", "runtime.sysMap", "runtime.sysUsed"}, NULL, NULL, classify_memory},
	{"stack overflow", {"runtime.newstack"}, NULL, NULL, classify_stack},
	{"concurrent map",
	 {"runtime.mapa", "runtime.mapdelete", "runtime.mapiter", "runtime.mapclear"},
	 "concurrent map",
	 "used a map while another goroutine was writing it",
	 NULL},
	{"unlock of unlocked",
	 {"sync.(*Mutex).unlock", "sync.(*RWMutex).Unlock", "sync.(*RWMutex).RUnlock", "sync.(*RWMutex).rUnlock"},
	 "unlock",
	 "unlocked a lock that is not locked",
	 NULL},
	{"nlock of unlocked RWMutex", {NULL}, "unlock", "unlocked a lock that is not locked", NULL},
};

static const struct reason *by_text(const char *text)
{
	for (size_t i = 0; text && i < XC_COUNT(reasons); i++)
		if (strstr(text, reasons[i].has))
			return &reasons[i];
	return NULL;
}

/* Without the text the caller of throw() or fatal() determines the reason. */
static const struct reason *by_thrower(const struct xc_godeath *d)
{
	static const char *const between[] = {"runtime.fatal", "runtime.throw", "runtime.systemstack",
					      "sync.fatal",    "sync.throw",    NULL};
	size_t at = d->at;
	while (xc_names_begin(between, xc_godeath_name(d->crash, at)))
		at++;
	for (size_t i = 0; i < XC_COUNT(reasons); i++)
		if (xc_names_begin(reasons[i].throwers, xc_godeath_name(d->crash, at)))
			return &reasons[i];
	return NULL;
}

static void classify_reason(struct xc_godeath *d, const struct reason *r, const char *printed, const char *confidence)
{
	if (!r)
		xc_godeath_classify(d, "throw", confidence, "caused a fatal error in Go's runtime");
	else if (r->classify)
		r->classify(d, printed, confidence);
	else
		xc_godeath_classify(d, r->kind, confidence, r->words);
}

/* "unexpected fault address 0x123456789000". */
static void report_address(const struct xc_godeath *d, const char *printed)
{
	const char *said = strstr(printed, "unexpected fault address ");
	if (said)
		xc_verdict_evidence(d->crash->report, "Go's runtime said: %.*s", (int)strcspn(said, "\n"), said);
}

void xc_gothrow_classify(struct xc_godeath *d)
{
	struct xc_crash_context *crash = d->crash;
	char printed[BACKLOG + 1] = "";
	bool sure = false, known = read_printed(d, printed);
	const char *text = known ? last_throw(printed, &crash->report->arena, &sure) : NULL;
	size_t fault = xc_godeath_before_program(crash, d->at, "runtime.sigpanic");
	xc_goroutine_blame(crash, d->at);
	if (text && !crash->verdict->message)
		crash->verdict->message = text;
	if (fault < crash->frame_count)
		report_address(d, printed);
	if (fault < crash->frame_count && xc_gofault_adopt(d, fault))
		xc_cause_rule_apply(
			crash,
			xc_cause_rule_event(&crash->fault)); /* it cannot be a nil pointer, or is not in Go code */
	else
		classify_reason(d, text ? by_text(text) : by_thrower(d), printed, text && sure ? "certain" : "likely");
	if (!text)
		xc_verdict_evidence(crash->report, "missing: the last output of Go's runtime");
	xc_godeath_headline(d, "fatal error", text ? text : "an error of Go's runtime");
}
