/* golang: what Go's run-time leaves when it aborts the program, of Go 1.19 (runtime/panic.go, signal_unix.go, print.go), newest frame first:
 *
 *	crash ← fatalpanic ← gopanic ← goPanicIndex, panicmem ← sigpanic, … ← the program      a panic; g._panic has its value
 *	crash ← fatalthrow ← throw or fatal ← mapassign, checkdead, sigpanic, … ← the program  what cannot be recovered
 *	crash ← sighandler ← the signal's trampoline ← …                                       a signal that means a core
 *
 * Before a panic's value is printed, preprintpanics() puts the text of an error or Stringer in its place. What throw() says stands
 * in runtime.printBacklog, a ring of the last bytes printed until the first panic or throw began. */
#include "golang.h"

#include <dwarf.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "../dwarf/goruntime.h"
#include "cause_impl.h"
#include "goroutine.h"
#include "gosignal.h"
#include "govalue.h"
#include "recursion.h"

enum { FRAMES = 64, PANICS = 8, BACKLOG = 4096, FIRST_PAGE = 4096 };

struct death {
	struct xc_inquiry *q;
	struct xc_goruntime go;
	bool g_known;
	xc_addr g; /* the goroutine that died */
	size_t at; /* frame of gopanic(), throw() */
	char printed[BACKLOG + 1];
};

/* What the run-time's panics say. */
static const struct {
	const char *begins, *kind, *words;
} panics[] = {
	{"runtime error: index out of range", "index", "used an index that is out of range"},
	{"runtime error: slice bounds out of range", "slice", "took a slice out of bounds"},
	{"runtime error: cannot convert slice", "slice", "made an array of a slice that is too short"},
	{"runtime error: integer divide by zero", "division by zero", "divided by zero"},
	{"runtime error: negative shift amount", "shift", "shifted by a negative number"},
	{"runtime error: invalid memory address or nil pointer", "nil", "dereferenced a nil pointer"},
	{"assignment to entry in nil map", "nil map", "put an entry into a map that is nil"},
	{"interface conversion: ", "type assertion", "took an interface for a type that it does not hold"},
	{"runtime error: hash of unhashable", "unhashable", "used a key that has no hash: its type cannot be compared"},
	{"runtime error: comparing uncomparable", "uncomparable", "compared interfaces whose type cannot be compared"},
	{"runtime error: makeslice", "size", "asked for a slice of a size that cannot be"},
	{"runtime error: unsafe.Slice", "size", "asked for a slice of a size that cannot be"},
	{"makechan: size out of range", "size", "asked for a channel of a size that cannot be"},
	{"send on closed channel", "channel", "sent to a channel that was closed"},
	{"close of closed channel", "channel", "closed a channel that was closed"},
	{"close of nil channel", "channel", "closed a channel that is nil"},
};

/* What throw() says. */
static const struct {
	const char *has, *kind, *words;
} throws[] = {
	{"concurrent map", "concurrent map", "used a map that another goroutine writes"},
	{"unlock of unlocked", "unlock", "unlocked a lock that is not locked"},
	{"nlock of unlocked RWMutex", "unlock", "unlocked a lock that is not locked"},
};

static bool begins(const char *text, const char *prefix)
{
	return text && strncmp(text, prefix, strlen(prefix)) == 0;
}

/* What the function that the frame is of is called, not what was inlined into it; "" when that is not known. */
static const char *name_of(const struct xc_inquiry *q, size_t frame)
{
	const struct xc_place *place = frame < q->frame_count ? xc_inquiry_place(q, frame) : NULL;
	const char *name = place ? xc_place_function(place, place->level_count ? place->level_count - 1 : 0) : NULL;
	return name ? name : "";
}

static bool is_runtime(const struct xc_inquiry *q, size_t frame)
{
	const char *name = name_of(q, frame);
	return begins(name, "runtime.") && !begins(name, "runtime.main") && !begins(name, "runtime.goexit");
}

static bool is_called(const struct xc_inquiry *q, size_t frame, const char *name)
{
	const char *have = name_of(q, frame);
	size_t len = strlen(name);
	return begins(have, name) && (!have[len] || strcmp(have + len, ".abi0") == 0);
}

/* The frame with this name among those of the run-time that frame `from` begins; frame_count when there is none. */
static size_t before_program(const struct xc_inquiry *q, size_t from, const char *name)
{
	for (size_t i = from; is_runtime(q, i) && i - from < FRAMES; i++)
		if (is_called(q, i, name))
			return i;
	return q->frame_count;
}

static void say(struct death *d, const char *kind, const char *confidence, const char *words)
{
	xc_auto(xc_freep) char *cause = xc_asprintf("%s %s", xc_inquiry_culprit(d->q), words);
	xc_inquiry_class(d->q, "panic", kind, "low", confidence, cause);
}

/* ---- panics ---- */

static bool read_panic(const struct death *d, xc_addr panic, struct xc_goface *out)
{
	return xc_goruntime_read(&d->go, "runtime._panic", panic, "arg._type", &out->type) &&
	       xc_goruntime_read(&d->go, "runtime._panic", panic, "arg.data", &out->data);
}

static const char *text_of(const struct death *d, const struct xc_goface *face)
{
	struct xc_arena *arena = &d->q->report->arena;
	struct xc_text text = {0};
	const char *said = NULL;
	if (xc_govalue_text(&d->go, face, &text))
		said = xc_arena_strdup(arena, xc_text_string(&text));
	xc_text_fini(&text);
	return said;
}

/* The type that panic() was called with: its argument may still be where gopanic() keeps it. */
static const char *given_type(const struct death *d)
{
	struct xc_frame_context in = xc_inquiry_context(d->q, d->at);
	struct xc_value value, type;
	uint64_t addr;
	if (!in.place->level_count ||
	    !xc_variable_find(&in, in.place->level_count - 1, "e", &d->q->report->arena, &value))
		return NULL;
	struct xc_error *error = xc_value_member(&value, "_type", &type);
	bool known = !error && xc_value_load(&type, &addr);
	xc_error_free(error);
	return known ? xc_govalue_type(&d->go, addr, &d->q->report->arena) : NULL;
}

/* Those before: it panicked in a function that a panic had deferred. */
static void tell_earlier(const struct death *d, xc_addr panic)
{
	struct xc_goface face;
	uint64_t recovered, exits;
	for (unsigned i = 0; i < PANICS; i++) {
		if (!xc_goruntime_read(&d->go, "runtime._panic", panic, "link", &panic) || !panic)
			return;
		if (!xc_goruntime_read(&d->go, "runtime._panic", panic, "goexit", &exits) || exits ||
		    !read_panic(d, panic, &face))
			continue;
		bool known = xc_goruntime_read(&d->go, "runtime._panic", panic, "recovered", &recovered);
		const char *text = text_of(d, &face);
		const char *how = known && recovered ? ", and had recovered" : "";
		xc_verdict_evidence(d->q->report, "it had panicked before%s: %s", how,
				    text ? text : "with a value that is not told here");
		xc_auto(xc_freep) char *redacted = xc_asprintf("it had panicked before%s", how);
		xc_verdict_redact(d->q->report, redacted);
	}
}

static void tell_value(const struct death *d)
{
	xc_addr panic;
	struct xc_goface face;
	const char *type = given_type(d);
	if (type && !begins(type + (*type == '*'), "runtime."))
		xc_verdict_evidence(d->q->report, "panic() was given a value of type %s", type);
	if (!d->g_known || !xc_goruntime_read(&d->go, "runtime.g", d->g, "_panic", &panic) || !panic ||
	    !read_panic(d, panic, &face)) {
		xc_verdict_evidence(d->q->report, "missing: debug information of Go's run-time, or its memory, so what "
						  "the panic says is not known");
		return;
	}
	const char *text = text_of(d, &face);
	if (text && !d->q->verdict->message)
		d->q->verdict->message = text;
	if (!text && (type = xc_govalue_type(&d->go, face.type, &d->q->report->arena)))
		xc_verdict_evidence(d->q->report, "the panic's value is a %s", type);
	tell_earlier(d, panic);
}

/* Without the text its helper on the stack tells. */
static const char *kind_by_frames(const struct death *d, const char **words_out)
{
	static const struct {
		const char *name, *kind;
	} helpers[] = {{"runtime.goPanicIndex", "index"},
		       {"runtime.goPanicSlice", "slice"},
		       {"runtime.panicdivide", "division by zero"},
		       {"runtime.panicshift", "shift"},
		       {"runtime.panicmem", "nil"},
		       {"runtime.mapassign", "nil map"},
		       {"runtime.panicdottype", "type assertion"},
		       {"runtime.chansend", "channel"},
		       {"runtime.closechan", "channel"},
		       {"runtime.makeslice", "size"}};
	for (size_t i = d->at + 1; is_runtime(d->q, i); i++)
		for (size_t h = 0; h < XC_COUNT(helpers); h++)
			for (size_t k = 0; begins(name_of(d->q, i), helpers[h].name) && k < XC_COUNT(panics); k++)
				if (strcmp(panics[k].kind, helpers[h].kind) == 0) {
					*words_out = panics[k].words;
					return panics[k].kind;
				}
	return NULL;
}

/* panic() was called by the run-time itself. */
static void judge_runtime_panic(struct death *d)
{
	const char *words = NULL, *kind = NULL, *message = d->q->verdict->message;
	for (size_t i = 0; i < XC_COUNT(panics) && !kind; i++)
		if (begins(message, panics[i].begins)) {
			kind = panics[i].kind;
			words = panics[i].words;
		}
	if (!kind)
		kind = kind_by_frames(d, &words);
	say(d, kind || !message ? kind : "run-time", "certain", kind ? words : "did what Go's run-time does not allow");
}

static void judge_explicit(struct death *d)
{
	const char *thrower = name_of(d->q, d->at + 1);
	if (!*thrower || strcmp(thrower, xc_inquiry_culprit(d->q)) == 0)
		thrower = NULL;
	xc_auto(xc_freep) char *words =
		thrower ? xc_asprintf("led to %s, which called panic()", thrower) : xc_asprintf("called panic()");
	say(d, "explicit", "certain", words);
}

/* ---- faults ---- */

/* The only operand in memory that is not the stack: registers at the fault are lost, so addresses do not tell which it was. */
static const struct xc_memory_operand *sole_operand(const struct xc_instruction *instruction)
{
	const struct xc_memory_operand *found = NULL;
	for (size_t i = 0; i < instruction->operand_count; i++) {
		const struct xc_memory_operand *o = &instruction->operands[i];
		if (o->stack || o->access == XC_ACCESS_EXECUTE)
			continue;
		if (found)
			return NULL;
		found = o;
	}
	return found;
}

/* The g that sigpanic() ran on for a fault at pc: the goroutine's, or the thread's own, where C runs. */
static bool fault_on(const struct death *d, xc_addr pc, xc_addr *g_out)
{
	uint64_t at;
	*g_out = d->g;
	if (d->g_known && xc_goruntime_read(&d->go, "runtime.g", d->g, "sigpc", &at) && at == pc)
		return true;
	return xc_goruntime_g(&d->go, &d->q->thread->regs, g_out) &&
	       xc_goruntime_read(&d->go, "runtime.g", *g_out, "sigpc", &at) && at == pc;
}

/* sigpanic() at frames[at] stands for the fault that g.sig, sigcode0, sigcode1 and sigpc tell of. The inquiry goes on with it. */
static bool adopt_fault(struct death *d, size_t at)
{
	struct xc_inquiry *q = d->q;
	uint64_t sig, code, addr, g;
	if (at + 1 >= q->frame_count || !fault_on(d, q->frames[at + 1].pc, &g) ||
	    !xc_goruntime_read(&d->go, "runtime.g", g, "sig", &sig) ||
	    !xc_goruntime_read(&d->go, "runtime.g", g, "sigcode0", &code) ||
	    !xc_goruntime_read(&d->go, "runtime.g", g, "sigcode1", &addr) ||
	    (sig != SIGSEGV && sig != SIGBUS && sig != SIGFPE))
		return false;
	struct xc_fault f = {.signal = (int)sig,
			     .code = (int)code,
			     .code_known = true,
			     .addr_known = sig != SIGFPE && (int)code != SI_KERNEL,
			     .addr = addr,
			     .in_handler = true,
			     .outer_signal = q->fault.signal,
			     .frame = q->frames[at + 1],
			     .frame_known = true};
	f.decoded = xc_operand_decode(q->process, &f.frame.regs, &f.instruction);
	const struct xc_memory_operand *operand = f.decoded ? sole_operand(&f.instruction) : NULL;
	if (operand && sig != SIGFPE) {
		f.operand_known = true;
		f.operand = *operand;
		f.probed = begins(f.instruction.text, "testb %al, (");
		f.access = f.probed ? XC_ACCESS_UNKNOWN : operand->access;
	}
	q->fault = f;
	xc_goroutine_begin_at(q, at + 1);
	return true;
}

static void judge_panic(struct death *d)
{
	size_t fault = before_program(d->q, d->at + 1, "runtime.sigpanic");
	bool by_runtime = is_runtime(d->q, d->at + 1);
	xc_goroutine_blame(d->q, d->at + 1);
	tell_value(d);
	if (by_runtime)
		judge_runtime_panic(d);
	else
		judge_explicit(d);
	if (fault >= d->q->frame_count || !adopt_fault(d, fault))
		return;
	/* The text is the same at any address (Go 1.19, runtime/panic.go, panicmemAddr). */
	const struct xc_verdict *v = d->q->verdict;
	if (v->kind && strcmp(v->kind, "nil") == 0 && d->q->fault.addr_known && d->q->fault.addr >= FIRST_PAGE)
		say(d, "fault", "certain",
		    "touched memory that is not there (debug.SetPanicOnFault makes that a panic)");
}

/* ---- throws ---- */

/* What the run-time printed last, oldest first. */
static bool read_printed(struct death *d)
{
	char ring[BACKLOG];
	uint64_t size, next, index_size;
	xc_addr at, index;
	if (!xc_goruntime_variable(&d->go, "runtime.printBacklog", &at, &size) || size > sizeof ring ||
	    !xc_goruntime_variable(&d->go, "runtime.printBacklogIndex", &index, &index_size) ||
	    !xc_space_peek_uint(d->q->process->space, index, 8, &next) || next >= size ||
	    xc_space_peek(d->q->process->space, at, ring, (size_t)size) != size)
		return false;
	size_t length = 0;
	for (uint64_t i = 0; i < size; i++) {
		char c = ring[(next + i) % size];
		if (c)
			d->printed[length++] = c;
	}
	d->printed[length] = '\0';
	return true;
}

/* What throw() said: the last line "fatal error: …". NULL when it is not known; *sure_out is false when there are others. */
static const char *last_throw(const struct death *d, bool *sure_out)
{
	static const char mark[] = "fatal error: ";
	const char *said = NULL;
	*sure_out = true;
	for (const char *from = d->printed; (from = strstr(from, mark));) {
		from += strlen(mark);
		size_t len = strcspn(from, "\n");
		if (said && (strcspn(said, "\n") != len || strncmp(said, from, len) != 0))
			*sure_out = false;
		said = from;
	}
	return said ? xc_arena_strndup(&d->q->report->arena, said, strcspn(said, "\n")) : NULL;
}

/* "runtime: out of memory: cannot allocate 2147483648-byte block (3964928 in use)". */
static bool asked_for(const struct death *d, uint64_t *size_out)
{
	static const char mark[] = "cannot allocate ";
	const char *said = NULL;
	for (const char *from = d->printed; (from = strstr(from, mark));) {
		from += strlen(mark);
		said = from;
	}
	char *end = NULL;
	*size_out = said ? strtoull(said, &end, 10) : 0;
	return end && end != said && begins(end, "-byte block");
}

static void judge_memory(struct death *d, const char *confidence)
{
	uint64_t size;
	xc_auto(xc_freep) char *cause =
		asked_for(d, &size)
			? xc_asprintf("%s asked for memory, %" PRIu64 " bytes, that could not be had",
				      xc_inquiry_culprit(d->q), size)
			: xc_asprintf("%s asked for memory that could not be had", xc_inquiry_culprit(d->q));
	xc_inquiry_class(d->q, "out-of-memory", NULL, "low", confidence, cause);
}

/* newstack() runs on the thread's stack; morestack()'s caller is the function that wanted more of the goroutine's. */
static void judge_stack(struct death *d, const char *confidence)
{
	struct xc_inquiry *q = d->q;
	size_t wants = before_program(q, d->at, "runtime.morestack");
	uint64_t lo, hi, sp;
	struct xc_stackend end = {.framed = true, .limit = "the goroutine's stack may not grow any more"};
	struct xc_mapping stack = {.readable = true, .writable = true};
	if (wants + 1 >= q->frame_count) {
		xc_inquiry_class(q, "stack-overflow", NULL, "low", confidence,
				 "a goroutine's stack grew to its limit; which functions fill it is not known");
		return;
	}
	xc_goroutine_begin_at(q, wants + 1);
	if (d->g_known && xc_goruntime_read(&d->go, "runtime.g", d->g, "stack.lo", &lo) &&
	    xc_goruntime_read(&d->go, "runtime.g", d->g, "stack.hi", &hi) && lo < hi &&
	    xc_regs_get(&q->frames[0].regs, q->process->arch->sp, &sp) && sp >= lo && sp < hi) {
		stack.lo = lo;
		stack.hi = hi - 1;
		end.stack = &stack;
		end.addr = end.sp = sp;
		xc_recursion_judge_end(q, &end);
		return;
	}
	xc_goroutine_blame(q, 0);
	xc_inquiry_class(q, "stack-overflow", NULL, "low", confidence, "a goroutine's stack grew to its limit");
}

static void judge_asleep(struct death *d, const char *confidence)
{
	xc_goroutine_tell_all(d->q, &d->go);
	xc_inquiry_class(d->q, "deadlock", "goroutines", "medium", confidence,
			 "all goroutines wait for each other, or for what no goroutine is left to do");
}

static bool judge_by_text(struct death *d, const char *text, const char *confidence)
{
	if (strstr(text, "deadlock!"))
		judge_asleep(d, confidence);
	else if (strstr(text, "out of memory"))
		judge_memory(d, confidence);
	else if (strcmp(text, "stack overflow") == 0)
		judge_stack(d, confidence);
	else
		for (size_t i = 0; i < XC_COUNT(throws); i++)
			if (strstr(text, throws[i].has)) {
				say(d, throws[i].kind, confidence, throws[i].words);
				break;
			}
	return d->q->verdict->class_name != NULL;
}

/* "unexpected fault address 0x123456789000". */
static void tell_address(const struct death *d)
{
	const char *said = strstr(d->printed, "unexpected fault address ");
	if (said)
		xc_verdict_evidence(d->q->report, "Go's run-time said: %.*s", (int)strcspn(said, "\n"), said);
}

static void judge_throw(struct death *d)
{
	struct xc_inquiry *q = d->q;
	bool sure = false, known = read_printed(d);
	const char *text = known ? last_throw(d, &sure) : NULL;
	size_t fault = before_program(q, d->at, "runtime.sigpanic");
	xc_goroutine_blame(q, d->at);
	if (text && !q->verdict->message)
		q->verdict->message = text;
	if (fault < q->frame_count)
		tell_address(d);
	if (fault < q->frame_count && adopt_fault(d, fault))
		xc_cause_fault(q); /* one that cannot be a nil pointer, or not in Go's code */
	else if (!text || !judge_by_text(d, text, sure ? "certain" : "likely"))
		say(d, "throw", "certain", "came to what Go's run-time ends a program for");
	if (!text)
		xc_verdict_evidence(q->report, "missing: what Go's run-time printed before it gave up");
}

/* ---- */

/* Go has one operator for members, of pointers too. */
static const char *spelled(const struct xc_inquiry *q, const char *text)
{
	char *copy = text ? xc_arena_strdup(&q->report->arena, text) : NULL, *to = copy;
	for (const char *from = copy; from && *from;) {
		bool arrow = from[0] == '-' && from[1] == '>';
		*to++ = arrow ? '.' : *from;
		from += arrow ? 2 : 1;
	}
	if (to)
		*to = '\0';
	return copy;
}

void xc_golang_spell(struct xc_inquiry *q)
{
	Dwarf_Die unit;
	if (!q->verdict->expression || !q->blame.place || !q->blame.place->level_count)
		return;
	unit = q->blame.place->unit;
	if (dwarf_srclang(&unit) != DW_LANG_Go)
		return;
	q->verdict->expression = spelled(q, q->verdict->expression);
	q->verdict->cause = spelled(q, q->verdict->cause);
	q->verdict->origin = spelled(q, q->verdict->origin);
}

bool xc_golang_judge(struct xc_inquiry *q)
{
	static const char *const panic[] = {"runtime.gopanic", NULL};
	static const char *const throw[] = {"runtime.throw", "runtime.fatal", "runtime.fatalthrow",
					    "runtime.fatalthrow.func1", NULL};
	static const char *const handler[] = {"runtime.sighandler", NULL};
	struct death d = {.q = q};
	if (!q->frame_count || !xc_goruntime_find(q->process, &d.go))
		return false;
	if (!d.go.codes[XC_GO_SYSTEMSTACK].from) {
		xc_verdict_evidence(q->report,
				    "missing: the names of Go's run-time, of which the program is stripped, so "
				    "whether it panicked, and what that said, is not known");
		return false;
	}
	size_t panicked = xc_inquiry_frame_called(q, panic), threw = xc_inquiry_frame_called(q, throw),
	       handled = xc_inquiry_frame_called(q, handler);
	d.g_known = xc_goruntime_current(&d.go, &q->thread->regs, &d.g);
	d.at = panicked < threw ? panicked : threw;
	if (handled < d.at)
		return xc_gosignal_judge(q, handled);
	if (d.at == q->frame_count)
		return false;
	if (panicked < threw)
		judge_panic(&d);
	else
		judge_throw(&d);
	if (d.g_known)
		xc_goroutine_tell(q, &d.go, d.g);
	return true;
}
