/* rust_consequence: of rustc 1.63 to 1.95 (library/std/src/sync/poison.rs, thread/mod.rs):
 *
 *  PoisonError<G> { guard: G }                           newer: { data: G }
 *  MutexGuard<T>, RwLockWriteGuard<T> { lock: &Mutex<T>, … }
 *  Mutex<T> { poison: Flag { failed: AtomicBool }, data: T, … }
 *  JoinHandle<T>::join() → Err(Box<dyn Any + Send>)      the payload of the thread's panic
 *
 * core::result::unwrap_failed() gets the Err as &dyn Debug: the object, and a vtable with its fmt(). */
#include "triage/rust/rust_consequence.h"

#include <inttypes.h>
#include <string.h>

#include "dwarf/format/format.h"
#include "dwarf/stack/variable.h"
#include "triage/code/rust_lock.h"
#include "triage/dataflow/argument.h"
#include "triage/rust/rust_earlier.h"
#include "triage/rust/rust_expression.h"
#include "triage/rust/rust_payload.h"

enum { FRAMES = 64, WORD = 8, NESTED = 3, DATA_MOST = 400, PANICS_MOST = 100 };

/* What unwrap() was called on. */
struct error {
	xc_addr object;        /* 0: not known */
	const char *debug;     /* the name of its fmt(); "" */
	const char *message;   /* of the panic; "" */
	struct xc_value value; /* a PoisonError; its type is NULL: not known */
};

struct lock {
	const char *what;      /* "mutex", "RwLock", "lock" */
	xc_addr addr;          /* 0: not known */
	struct xc_value value; /* its type is NULL: not known */
};

static bool begins(const char *text, const char *with)
{
	return text && strncmp(text, with, strlen(with)) == 0;
}

static bool ends(const char *text, const char *end)
{
	size_t len = strlen(text), wanted = strlen(end);
	return len >= wanted && strcmp(text + len - wanted, end) == 0;
}

static bool wants_poison(void *user, const struct xc_type *type)
{
	(void)user;
	return begins(xc_type_strip(type)->name, "std::sync::poison::PoisonError<");
}

/* The variable of unwrap() that has the Err. */
static bool find_variable(const struct xc_crash_context *crash, size_t from, struct xc_value *out)
{
	for (size_t i = from; i <= crash->blamed && i < crash->frame_count && i - from < FRAMES; i++) {
		const struct xc_frame_context context = xc_crash_context_frame(crash, i);
		for (size_t l = 0; !context.place->line_only && l < context.place->level_count; l++)
			for (int locals = 1; locals >= 0; locals--) {
				struct xc_named_value *values;
				if (!xc_variable_values_of(&context, l, locals, wants_poison, NULL,
							   &crash->report->arena, &values))
					continue;
				*out = values[0].value;
				return true;
			}
	}
	return false;
}

static struct error find_error(const struct xc_crash_context *crash)
{
	static const char *const takers[] = {"core::result::unwrap_failed", NULL};
	const size_t taker = xc_crash_context_find_frame(crash, takers);
	const char *message = crash->verdict->message;
	struct error e = {.debug = "", .message = message ? message : "", .value = {.type = NULL}};
	uint64_t object, vtable, debug;
	if (taker + 1 >= crash->frame_count)
		return e;
	if (xc_argument_find(crash, taker + 1, 2, &object) && xc_argument_find(crash, taker + 1, 3, &vtable) &&
	    xc_space_peek_uint(crash->process->space, vtable + 3 * WORD, WORD, &debug)) {
		const struct xc_place *place = xc_debuginfo_place(crash->process, debug);
		const char *name = xc_place_outer_function(place);
		if (name && strstr(name, "core::fmt::Debug")) {
			e.object = object;
			e.debug = name;
		}
	}
	if (!find_variable(crash, taker, &e.value))
		e.value.type = NULL;
	else if (e.object && strstr(e.debug, "PoisonError<"))
		e.value = xc_value_memory(crash->process, e.value.type, e.object);
	return e;
}

/* By whose fmt() it is; where that is not known, by the message, or a variable. */
static bool is_poison(const struct error *e)
{
	const bool tried = ends(e->message, ": Poisoned(..)") || ends(e->message, ": \"Poisoned(..)\"");
	if (*e->debug)
		return begins(e->debug, "<std::sync::poison::PoisonError<") ||
		       (tried && begins(e->debug, "<std::sync::poison::TryLockError<"));
	return tried || ends(e->message, ": PoisonError { .. }") || (!strstr(e->message, ": ") && e->value.type);
}

/* ---- the lock ---- */

static const struct xc_type *target_of(const struct xc_type *type)
{
	const struct xc_type *pointer = xc_type_strip(type);
	return xc_type_is_pointer(pointer) && pointer->target ? xc_type_complete(xc_type_strip(pointer->target)) : NULL;
}

static bool member_of(const struct xc_value *value, const char *name, struct xc_value *out)
{
	struct xc_error *error = xc_value_member(value, name, out);
	bool found = !error;
	xc_error_free(error);
	return found;
}

/* The guard in a PoisonError, also in a pair, as Condvar::wait_timeout() gives it. */
static bool find_guard(const struct xc_value *error, struct xc_value *guard)
{
	if (!error->type || (!member_of(error, "guard", guard) && !member_of(error, "data", guard)))
		return false;
	for (unsigned i = 0; i < NESTED; i++) {
		const char *name = xc_type_strip(guard->type)->name;
		if (begins(name, "std::sync::") && strstr(name, "Guard<"))
			return true;
		if (!begins(name, "(") || !member_of(guard, "__0", guard))
			return false;
	}
	return false;
}

static void find_lock(const struct error *e, const char *expression, struct lock *lock)
{
	struct xc_value guard;
	size_t count = 0;
	static const char *const writes[] = {".read()", ".write()", ".try_read()", ".try_write()"};
	*lock = (struct lock){.what = strstr(expression, ".lock()") || strstr(expression, ".try_lock()") ? "mutex"
													 : "lock"};
	for (size_t i = 0; i < XC_COUNT(writes); i++)
		if (ends(expression, writes[i]))
			lock->what = "RwLock";
	if (!find_guard(&e->value, &guard))
		return;
	const char *name = xc_type_strip(guard.type)->name;
	lock->what = strstr(name, "RwLock") ? "RwLock" : "mutex";
	const struct xc_member *members = xc_type_members(xc_type_complete(xc_type_strip(guard.type)), &count);
	for (size_t i = 0; i < count; i++) {
		const struct xc_type *target = target_of(members[i].type);
		struct xc_value pointer;
		uint64_t addr;
		if (!target || !xc_rust_lock_is(target))
			continue;
		xc_value_field(&guard, &members[i], &pointer);
		if (!xc_value_load(&pointer, &addr) || !addr)
			continue;
		lock->addr = addr;
		lock->value = xc_value_memory(e->value.process, target, addr);
		return;
	}
}

/* 0, 1; -1: not known. */
static int read_mark(const struct lock *lock)
{
	struct xc_value poison, failed;
	uint8_t mark;
	if (!lock->value.type || !member_of(&lock->value, "poison", &poison) ||
	    !member_of(&poison, "failed", &failed) || !xc_value_peek(&failed, 0, &mark, sizeof mark))
		return -1;
	return mark != 0;
}

/* "shared.histogram" of "shared.histogram.lock()"; "" where the expression is no such call. In the report's arena. */
static const char *name_of(const struct xc_crash_context *crash, const char *expression)
{
	static const char *const calls[] = {".lock()",     ".read()",      ".write()",   ".try_lock()",
					    ".try_read()", ".try_write()", ".get_mut()", ".into_inner()"};
	for (size_t i = 0; i < XC_COUNT(calls); i++)
		if (ends(expression, calls[i]))
			return xc_arena_strndup(&crash->report->arena, expression,
						strlen(expression) - strlen(calls[i]));
	return "";
}

/* "the mutex `shared.histogram` (0x5581…) is marked as poisoned" */
static void report_lock(const struct xc_crash_context *crash, const struct lock *lock, const char *name)
{
	const int mark = read_mark(lock);
	struct xc_text text = {0};
	if (!lock->addr)
		return;
	xc_text_printf(&text, "the %s ", lock->what);
	if (*name)
		xc_text_printf(&text, "`%s` (0x%" PRIx64 ")", name, lock->addr);
	else
		xc_text_printf(&text, "at 0x%" PRIx64, lock->addr);
	xc_text_add(&text, mark > 0    ? " is marked as poisoned"
			   : mark == 0 ? " is no longer marked as poisoned"
				       : ": its mark could not be read");
	xc_verdict_evidence(crash->report, "%s", xc_text_string(&text));
	xc_text_fini(&text);
}

/* The thread that panicked may have left it half changed. */
static void report_data(const struct xc_crash_context *crash, const struct lock *lock)
{
	struct xc_format_options options = xc_format_defaults();
	struct xc_report *report = crash->report;
	struct xc_value data, inner;
	struct xc_text text = {0};
	options.depth = 3;
	options.length = DATA_MOST;
	if (!lock->value.type || !member_of(&lock->value, "data", &data))
		return;
	if (begins(xc_type_strip(data.type)->name, "core::cell::UnsafeCell<") && member_of(&data, "value", &inner))
		data = inner;
	const char *type = xc_type_name(data.type);
	if (xc_format_whole(&text, &data, &options)) {
		xc_verdict_evidence(report, "the data that it protects may be half changed, a %s: %s", type,
				    xc_text_string(&text));
		xc_verdict_redact(report, xc_arena_printf(&report->arena,
							  "the data that it protects may be half changed, a %s", type));
	}
	xc_text_fini(&text);
}

static void report_poison(struct xc_crash_context *crash, const struct error *e, const char *expression)
{
	struct xc_verdict *v = crash->verdict;
	struct lock lock;
	find_lock(e, expression, &lock);
	v->cause = xc_arena_printf(&crash->report->arena,
				   "%s: the %s is poisoned: a thread panicked while it held it, and this panic is a "
				   "consequence of that one",
				   v->cause, lock.what);
	report_lock(crash, &lock, name_of(crash, expression));
	report_data(crash, &lock);
	xc_rust_earlier_report(crash);
}

/* ---- the payload of another panic ---- */

static bool is_payload(const struct error *e)
{
	return ends(e->message, ": Any { .. }") && (!*e->debug || begins(e->debug, "<alloc::boxed::Box<"));
}

static void report_payload(struct xc_crash_context *crash, const struct error *e, const char *expression)
{
	struct xc_verdict *v = crash->verdict;
	const char *message = e->object ? xc_rust_payload_boxed(crash, e->object) : NULL;
	bool joined = ends(expression, ".join()");
	v->cause = xc_arena_printf(
		&crash->report->arena, "%s: %s, and this panic is a consequence of that one", v->cause,
		joined ? "the thread that it joined had panicked" : "the Err comes from a caught panic");
	if (message) {
		xc_verdict_evidence(crash->report, "the panic before had the message \"%s\"", message);
		xc_verdict_redact(crash->report, "the panic before had a message");
	} else {
		xc_rust_earlier_report(crash);
	}
}

/* ---- a panic of a destructor that another panic runs ---- */

/* The count of this thread's panics, a local variable of std (library/std/src/panicking.rs). */
static uint64_t count_of_panics(const struct xc_crash_context *crash)
{
	static const char *const names[] = {"std::panicking::rust_panic_with_hook", NULL};
	const size_t frame = xc_crash_context_find_frame(crash, names);
	struct xc_value value;
	uint64_t count;
	if (frame >= crash->frame_count)
		return 0;
	const struct xc_frame_context in = xc_crash_context_frame(crash, frame);
	for (size_t level = 0; level < in.place->level_count; level++)
		if (xc_variable_find(&in, level, "panics", &crash->report->arena, &value) &&
		    xc_value_load(&value, &count))
			return count;
	return 0;
}

static bool report_second(struct xc_crash_context *crash)
{
	struct xc_verdict *v = crash->verdict;
	const bool explained = v->kind && (!strcmp(v->kind, "double panic") || !strcmp(v->kind, "no unwind"));
	const uint64_t count = explained ? 0 : count_of_panics(crash);
	if (count < 2 || count > PANICS_MOST)
		return false;
	v->cause = xc_arena_printf(&crash->report->arena,
				   "%s; likely it came while another panic of this thread unwound the stack (the count "
				   "of panics is %" PRIu64 "), and that one is the cause",
				   v->cause, count);
	xc_rust_earlier_report(crash);
	return true;
}

void xc_rust_consequence_report(struct xc_crash_context *crash)
{
	const struct xc_verdict *v = crash->verdict;
	if (v->cause && report_second(crash))
		return;
	if (crash->process->arch->word != WORD || !v->cause || !v->kind ||
	    (strcmp(v->kind, "unwrap") && strcmp(v->kind, "expect")))
		return;
	const struct error e = find_error(crash);
	const char *expression = xc_rust_expression_of(crash, crash->stated_file, crash->stated_line);
	if (!expression)
		expression = "";
	if (is_poison(&e))
		report_poison(crash, &e, expression);
	else if (is_payload(&e))
		report_payload(crash, &e, expression);
}
