/* peer_wait: the call's arguments give the descriptor; the variables that hold this number, the rest. */
#include "triage/hang/peer_wait.h"

#include <inttypes.h>
#include <poll.h>
#include <string.h>

#include "core/live/live.h"
#include "core/text/threadlabel.h"
#include "triage/hang/descriptor_owner.h"
#include "triage/hang/unflushed.h"
#include "triage/locks/wait_report.h"
#include "triage/waits/waits.h"
#include "triage/util/names.h"

enum { TOLD = 3, POLLED = 8, NO_HANG = 1 /* WNOHANG */, NOT_BLOCKING = 4 /* LOCK_NB */ };
enum { SET_LOCK_WAIT = 7 /* F_SETLKW */, SET_OPEN_LOCK_WAIT = 38 /* F_OFD_SETLKW */ };

enum call { NEITHER, READS, WRITES, POLLS, CHILD, LOCKS };

static enum call call_of(const struct xc_wait *wait)
{
	static const char *const reads[] = {"read", "readv", "recvfrom", "recvmsg", NULL};
	static const char *const writes[] = {"write", "writev", "sendto", "sendmsg", NULL};
	const struct xc_thread *t = wait->thread;
	if (wait->kind != XC_WAIT_CALL || !wait->call || !t->call_known || wait->timed || wait->handler)
		return NEITHER;
	if (xc_names_find(reads, wait->call))
		return READS;
	if (xc_names_find(writes, wait->call))
		return WRITES;
	if (strcmp(wait->call, "poll") == 0)
		return (int32_t)t->call_args[2] < 0 ? POLLS : NEITHER;
	if (strcmp(wait->call, "ppoll") == 0)
		return t->call_args[2] == 0 ? POLLS : NEITHER;
	if (strcmp(wait->call, "flock") == 0)
		return !(t->call_args[1] & NOT_BLOCKING) ? LOCKS : NEITHER;
	if (strcmp(wait->call, "fcntl") == 0)
		return t->call_args[1] == SET_LOCK_WAIT || t->call_args[1] == SET_OPEN_LOCK_WAIT ? LOCKS : NEITHER;
	return strcmp(wait->call, "wait4") == 0 && !(t->call_args[2] & NO_HANG) ? CHILD : NEITHER;
}

static bool all_wait(const struct xc_process *process, const struct xc_waits *waits)
{
	for (size_t i = 0; i < waits->count; i++)
		if (call_of(&waits->items[i]) == NEITHER ||
		    (process->live && !xc_live_thread_slept(process, waits->items[i].thread)))
			return false;
	return waits->count > 0;
}

/* ---- poll ---- */

struct polled {
	int fd;
	bool in, out;
};

/* struct pollfd | fd 4 | events 2 | revents 2 | */
static bool polled_at(const struct xc_process *p, const struct xc_thread *thread, uint64_t index, struct polled *out)
{
	uint64_t fd, events;
	xc_addr at = thread->call_args[0] + 8 * index;
	if (index >= thread->call_args[1] || index >= POLLED || !xc_space_peek_uint(p->space, at, 4, &fd) ||
	    !xc_space_peek_uint(p->space, at + 4, 2, &events))
		return false;
	*out = (struct polled){.fd = (int)(int32_t)fd, .in = events & POLLIN, .out = events & POLLOUT};
	return true;
}

/* Does a thread wait until the descriptor can be read? */
static bool is_read(const struct xc_process *p, const struct xc_waits *waits, int fd)
{
	struct polled polled;
	for (size_t i = 0; i < waits->count; i++) {
		const struct xc_wait *w = &waits->items[i];
		enum call call = call_of(w);
		if (call == READS && (int)(int32_t)w->thread->call_args[0] == fd)
			return true;
		for (uint64_t k = 0; call == POLLS && polled_at(p, w->thread, k, &polled); k++)
			if (polled.fd == fd && polled.in)
				return true;
	}
	return false;
}

/* ---- one wait ---- */

/* The number that the wait is about: a descriptor, of poll the first, or a child; -1: none. */
static int number_of(const struct xc_process *p, const struct xc_wait *wait)
{
	struct polled polled;
	if (call_of(wait) == POLLS)
		return polled_at(p, wait->thread, 0, &polled) ? polled.fd : -1;
	return (int)(int32_t)wait->thread->call_args[0];
}

struct peer {
	const struct xc_wait *wait;
	enum call call;
	struct xc_descriptor_owner owner; /* found.name is NULL when it is not known */
};

static struct peer peer_of(const struct xc_crash_context *crash, const struct xc_wait *wait)
{
	struct peer peer = {.wait = wait, .call = call_of(wait)};
	int number = number_of(crash->process, wait);
	bool child = peer.call == CHILD;
	if (number < child || !xc_descriptor_owner_find(crash, wait, number, child, &peer.owner))
		peer.owner = (struct xc_descriptor_owner){.other_count = 0};
	return peer;
}

/* ---- in words ---- */

static void add_wait(const struct xc_crash_context *crash, const struct peer *peer, struct xc_text *text)
{
	xc_wait_report_describe(crash->process, peer->wait, false, text);
	if (peer->owner.found.name)
		xc_text_printf(text, peer->call == POLLS ? ", the first is `%s` (%d)" : ", `%s`",
			       peer->owner.found.name, peer->owner.found.value);
	xc_text_add(text, ", in ");
	xc_wait_where(peer->wait, text);
}

static void add_cause(const struct xc_crash_context *crash, const struct peer *peers, size_t count, size_t threads,
		      struct xc_text *text)
{
	xc_text_add(text, threads == 1 ? "it waits for another process: " : "each thread waits for another process: ");
	for (size_t i = 0; i < count; i++) {
		xc_text_add(text, i ? "; " : "");
		if (threads > 1) {
			xc_threadlabel(text, (int)peers[i].wait->thread->tid, peers[i].wait->thread->name);
			xc_text_add(text, ", ");
		}
		add_wait(crash, &peers[i], text);
	}
	if (threads > count)
		xc_text_printf(text, "; and %zu more", threads - count);
}

static void report_unread(const struct xc_crash_context *crash, const struct xc_descriptor_owner *o)
{
	size_t i = 0;
	while (i < o->other_count && is_read(crash->process, xc_waits_of(crash->process), o->others[i].value))
		i++;
	if (i < o->other_count)
		xc_verdict_evidence(crash->report,
				    "perhaps process %d waits for this one, too: no thread reads `%s` (descriptor %d) "
				    "while this one writes",
				    o->child.value, o->others[i].name, o->others[i].value);
}

static void report_ends(const struct xc_crash_context *crash, const struct xc_descriptor_owner *o)
{
	struct xc_text text = {0};
	for (size_t i = 0; i < o->other_count; i++)
		xc_text_printf(&text, "%s`%s` (%d)", i ? ", " : "", o->others[i].name, o->others[i].value);
	xc_verdict_evidence(
		crash->report,
		"perhaps process %d waits for this one, too, at a descriptor that is not closed, or not read: %s",
		o->child.value, xc_text_string(&text));
	xc_text_fini(&text);
}

/* The child beside the descriptor, and those of its descriptors that nobody serves. */
static void report_owner(const struct xc_crash_context *crash, const struct peer *peer)
{
	const struct xc_descriptor_owner *o = &peer->owner;
	if (peer->call == LOCKS) {
		xc_verdict_evidence(crash->report, "missing: the holder of that file's lock%s",
				    crash->process->live ? "" : ": a core does not record it");
		return;
	}
	if (!o->found.name || !o->child.name)
		return;
	if (peer->call != CHILD)
		xc_verdict_evidence(crash->report, "likely process %d has the other end: `%s`%s", o->child.value,
				    o->child.name, crash->process->live ? "" : " (a core does not record its holder)");
	if (!o->other_count)
		return;
	if (peer->call == WRITES)
		report_unread(crash, o);
	else
		report_ends(crash, o);
}

static const char *state_words(const struct xc_child *c)
{
	switch (c->state) {
	case 'T':
	case 't':
		return "is stopped by a signal, or by a debugger";
	case 'Z':
		return "has ended, and this process has only to reap it";
	case 'R':
		return "runs";
	case 'D':
		return "waits for the kernel, and cannot be interrupted";
	default:
		return c->call ? NULL : "sleeps";
	}
}

static bool child_writes(const struct xc_child *c)
{
	return c->call && strncmp(c->call, "write", strlen("write")) == 0;
}

static bool nobody_reads(const struct xc_crash_context *crash, const struct xc_child *c)
{
	return child_writes(c) && c->has_other_end &&
	       !is_read(crash->process, xc_waits_of(crash->process), c->other_end);
}

/* Does the other process wait for this one, which waits for it? */
static bool is_mutual(const struct xc_crash_context *crash, const struct peer *peer)
{
	const struct xc_child *c = peer->wait->thread->child;
	return c && c->pid != crash->process->pid && !state_words(c) && c->has_other_end &&
	       (!child_writes(c) || nobody_reads(crash, c));
}

/* Programs rest in other waits. */
static bool is_odd(const struct xc_crash_context *crash, const struct peer *peer)
{
	switch (peer->call) {
	case WRITES:
	case LOCKS:
		return true;
	case CHILD:
		return (int32_t)peer->wait->thread->call_args[0] > 0;
	default:
		return (peer->owner.found.name && peer->owner.child.name) || is_mutual(crash, peer);
	}
}

/* What the other process has that the thread waits for. */
static void add_bond(const struct peer *peer, struct xc_text *text)
{
	const struct xc_child *c = peer->wait->thread->child;
	if (c->took_lock)
		xc_text_add(text, " took the lock of that file, and");
	else if (c->has_pipe)
		xc_text_printf(text, " has the %s end of that pipe, as descriptor %d, and",
			       peer->call == WRITES ? "read" : "write", c->pipe);
}

/* "process 17 "cat" is in read, on descriptor 0 = pipe:[12]; this process has the write end of that pipe itself, as
 * descriptor 4: while it is open, the other one does not see the end" */
static void report_child(const struct xc_crash_context *crash, const struct peer *peer)
{
	const struct xc_child *c = peer->wait->thread->child;
	struct xc_text text = {0};
	const char *state = state_words(c);
	bool writes = child_writes(c);
	xc_text_printf(&text, "process %d \"", (int)c->pid);
	xc_text_name(&text, c->name);
	xc_text_add(&text, "\"");
	add_bond(peer, &text);
	xc_text_printf(&text, state ? " %s" : " is in system call %s", state ? state : c->call);
	if (c->file && !state)
		xc_text_printf(&text, " on descriptor %d", c->fd);
	if ((c->has_other_end || c->has_itself) && !state)
		xc_text_printf(&text, ", one end of a pipe whose %s end %s, as descriptor %d",
			       writes ? "read" : "write", c->has_itself ? "it has itself" : "this process has",
			       c->other_end);
	if (!writes && (c->has_other_end || c->has_itself) && !state)
		xc_text_add(&text, ": while that is open, it does not see the end of its input");
	if (!state && nobody_reads(crash, c))
		xc_text_add(&text, ": nobody reads what it writes");
	xc_verdict_evidence(crash->report, "%s", xc_text_string(&text));
	xc_text_fini(&text);
}

static void report_peer(const struct xc_crash_context *crash, const struct peer *peer)
{
	const struct xc_child *c = peer->wait->thread->child;
	if (c && c->pid == crash->process->pid)
		xc_verdict_evidence(crash->report,
				    "this process took the lock of that file itself, by another open of it");
	else if (c)
		report_child(crash, peer);
	else
		report_owner(crash, peer);
}

static void hung_perhaps(const struct xc_crash_context *crash, const char *cause)
{
	xc_verdict_evidence(crash->report, "perhaps it hung: %s", cause);
	xc_verdict_redact(crash->report, "perhaps it hung: every thread waits");
}

static bool is_killed(const struct xc_crash_context *crash)
{
	return xc_crash_context_is_signalled(crash) && xc_crash_context_sent_by_other(crash);
}

static const char *headline(const struct xc_crash_context *crash, const struct peer *peer, size_t threads, bool mutual)
{
	struct xc_arena *arena = &crash->report->arena;
	if (mutual)
		return xc_arena_printf(arena, "hang: this process and process %d wait for each other",
				       (int)peer->wait->thread->child->pid);
	if (threads == 1)
		return "the only thread waits for another process: perhaps a hang";
	return xc_arena_printf(arena, "no thread runs, all %zu wait for other processes: perhaps a hang", threads);
}

static void set_class(struct xc_crash_context *crash, const struct peer *peer, size_t threads, const char *cause)
{
	const struct xc_wait *wait = peer->wait;
	bool mutual = is_mutual(crash, peer);
	crash->verdict = xc_report_verdict(crash->report);
	crash->verdict->headline = headline(crash, peer, threads, mutual);
	xc_crash_context_classify(crash, "hang", "other process", mutual ? "medium" : "low",
				  mutual ? "likely" : "guess", cause);
	crash->thread = wait->thread;
	crash->blame = (struct xc_blame){.place = wait->place, .level = wait->level, .frame = wait->frame};
	xc_verdict_involve(crash->report, wait->thread->tid);
}

bool xc_peer_wait_classify(struct xc_crash_context *crash)
{
	const struct xc_waits *waits = xc_waits_of(crash->process);
	bool dead = crash->verdict && crash->verdict->class_name;
	struct peer peers[TOLD];
	size_t count = 0, odd = TOLD;
	if ((dead && !is_killed(crash)) || !all_wait(crash->process, waits))
		return false;
	for (; count < waits->count && count < TOLD; count++) {
		peers[count] = peer_of(crash, &waits->items[count]);
		if (odd == TOLD && peers[count].wait->has_place && is_odd(crash, &peers[count]))
			odd = count;
	}
	if (!dead && odd == TOLD)
		return false;
	struct xc_text text = {0};
	add_cause(crash, peers, count, waits->count, &text);
	if (dead)
		hung_perhaps(crash, xc_text_string(&text));
	else
		set_class(crash, &peers[odd], waits->count, xc_text_string(&text));
	xc_text_fini(&text);
	bool reads = false;
	for (size_t i = 0; i < count; i++) {
		report_peer(crash, &peers[i]);
		reads |= peers[i].call == READS || peers[i].call == POLLS;
	}
	if (reads)
		xc_unflushed_report(crash);
	return !dead;
}
