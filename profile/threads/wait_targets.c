/* wait_targets: the kernel's frames of a sample name the system call ("__x64_sys_futex"), the registers have its
 * arguments (entry to a system call preserves them: x86-64 psABI, A.2.1; arm64: x0 holds the result only
 * afterwards). */
#include "profile/threads/wait_targets.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/live/live.h"
#include "core/live/live_proc.h"
#include "core/live/sandbox.h"
#include "core/perf/kernel_symbols.h"
#include "core/perf/perf_regs.h"
#include "core/text/intern.h"
#include "profile/threads/lock_owner.h"
#include "triage/locks/wait_report.h"
#include "triage/waits/waits.h"

struct xc_wait_targets {
	struct xc_process *process;
	struct xc_kernel_symbols *kernel;
	struct xc_arena arena;
	struct xc_intern texts;
	struct xc_hashtable event_loops; /* the numbers of those texts, plus one */
	struct xc_wait_target *known;
	size_t known_count, known_capacity;
	struct xc_hashtable by_stack; /* (stack, first argument) → index into known, plus one */
	struct xc_hashtable files;    /* descriptor → its name */
	struct xc_lock_owner owner;
};

enum { MOST_FILES = 1 << 16, PATH = 4096, MOST_TEXTS = 1 << 14, MOST_KNOWN = 1 << 17 };

static void read_files(struct xc_wait_targets *t)
{
	const int dir = openat(xc_live_task_dir(t->process), "../fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	size_t count = 0;
	xc_auto(xc_freep) pid_t *numbers = dir >= 0 ? xc_live_proc_tids(dir, MOST_FILES, &count) : NULL;
	for (size_t i = 0; i < count; i++) {
		char name[16], path[PATH];
		snprintf(name, sizeof name, "%d", (int)numbers[i]);
		const ssize_t len = readlinkat(dir, name, path, sizeof path);
		if (len > 0)
			xc_hashtable_at(&t->files, NULL, (uint64_t)numbers[i], 1)->pointer =
				xc_arena_printf(&t->arena, "%.*s (at the start)", (int)len, path);
	}
	if (dir >= 0)
		close(dir);
}

struct xc_wait_targets *xc_wait_targets_new(struct xc_process *process)
{
	struct xc_wait_targets *t = xc_alloc(sizeof *t);
	t->process = process;
	t->kernel = xc_kernel_symbols_read();
	read_files(t);
	xc_lock_owner_init(&t->owner, process);
	return t;
}

void xc_wait_targets_free(struct xc_wait_targets *t)
{
	if (!t)
		return;
	xc_kernel_symbols_free(t->kernel);
	xc_arena_fini(&t->arena);
	xc_intern_fini(&t->texts);
	xc_hashtable_fini(&t->event_loops);
	xc_hashtable_fini(&t->by_stack);
	xc_hashtable_fini(&t->files);
	xc_lock_owner_fini(&t->owner);
	free(t->known);
	free(t);
}

static uint32_t number_of(struct xc_wait_targets *t, const char *text, bool event_loop)
{
	const uint32_t number = xc_intern(&t->texts, text) + 1;
	if (event_loop)
		xc_hashtable_at(&t->event_loops, NULL, number, 1)->number = 1;
	return number;
}

/* "futex" of "__x64_sys_futex", "__arm64_sys_futex", "__se_sys_futex"; "read" of "ksys_read" and "wait4" of
 * "kernel_wait4", to which the former jump; NULL: the name is another one. */
static const char *call_in(const char *function)
{
	static const char *const inner[] = {"ksys_", "kernel_"};
	const char *sys = xc_begins_with(function, "__") ? strstr(function, "_sys_") : NULL;
	if (sys)
		return sys + strlen("_sys_");
	for (size_t i = 0; i < XC_COUNT(inner); i++)
		if (xc_begins_with(function, inner[i]) && xc_sandbox_call_number(function + strlen(inner[i])) >= 0)
			return function + strlen(inner[i]);
	return NULL;
}

static const char page[] = "a page of memory (page fault)";
static const char stopped[] = "a signal that continues it: it is stopped";

/* What the kernel's frames tell: the system call, or why there is none. */
static const char *system_call(const struct xc_wait_targets *t, const struct xc_perf_record *sample,
			       const char **other_out)
{
	const char *call = NULL;
	for (size_t i = 0; i < sample->kernel_count && !call; i++) {
		const char *name = xc_kernel_symbols_find(t->kernel, sample->kernel[i] - (i ? 1 : 0));
		call = name ? call_in(name) : NULL;
		if (name && (strstr(name, "page_fault") || strstr(name, "do_mem_abort")))
			*other_out = page;
		if (name && strstr(name, "do_signal_stop"))
			*other_out = stopped;
	}
	return call;
}

/* The thread as it waits. */
static bool thread_of(const struct xc_wait_targets *t, const struct xc_perf_record *sample, const char *call,
		      struct xc_thread *thread)
{
	const struct xc_arch *arch = t->process->arch;
	*thread = (struct xc_thread){.tid = sample->tid, .state = 'S', .syscall = -1};
	thread->has_regs = sample->regs && xc_perf_regs_read(arch, sample->regs, &thread->regs);
	if (!thread->has_regs || !call || !arch->call_registers)
		return thread->has_regs;
	thread->syscall = xc_sandbox_call_number(call);
	thread->call_known = thread->syscall >= 0;
	for (size_t i = 0; i < XC_COUNT(thread->call_args); i++)
		thread->call_known &= xc_regs_get(&thread->regs, arch->call_registers[i], &thread->call_args[i]);
	const union xc_hashtable_value *file =
		thread->call_known ? xc_hashtable_find(&t->files, thread->call_args[0], 1) : NULL;
	thread->call_file = file ? file->pointer : NULL;
	return true;
}

static bool is_event_loop(const char *call)
{
	return call &&
	       (xc_begins_with(call, "epoll_") || strcmp(call, "poll") == 0 || strcmp(call, "ppoll") == 0 ||
		strcmp(call, "select") == 0 || strcmp(call, "pselect6") == 0 || strcmp(call, "io_uring_enter") == 0);
}

static struct xc_wait_target target_of(struct xc_wait_targets *t, const char *text, const char *call)
{
	const bool looped = is_event_loop(call);
	return (struct xc_wait_target){.text = number_of(t, text, looped), .looped = looped};
}

/* poll or select on no descriptors: a sleep. */
static bool polls_nothing(const struct xc_thread *thread, const char *call)
{
	const bool poll = call && xc_ends_with(call, "poll"), select = call && strstr(call, "select");
	return thread->call_known &&
	       ((poll && !(uint32_t)thread->call_args[1]) || (select && !(uint32_t)thread->call_args[0]));
}

/* By its stack, as memory shows it now. call: for waits of which no more is known, or after too many texts. */
static struct xc_wait_target describe(struct xc_wait_targets *t, const struct xc_thread *thread, const char *call)
{
	xc_auto(xc_text_fini) struct xc_text text = {0};
	struct xc_wait wait;
	xc_waits_look(t->process, thread, &wait);
	xc_wait_report_alone(t->process, &wait, &text);
	call = wait.call ? wait.call : call;
	const bool is_told = text.len && t->texts.count < MOST_TEXTS;
	struct xc_wait_target target = target_of(t,
						 is_told ? xc_text_string(&text)
						 : call  ? call
							 : "not known",
						 polls_nothing(thread, call) ? NULL : call);
	target.owner_word = xc_wait_owner_word(t->process, &wait);
	return target;
}

/* The memory of the stack is shown meanwhile as it is now, past the cache, and its inner part as in the sample. */
static struct xc_wait_target describe_stack(struct xc_wait_targets *t, const struct xc_thread *thread, const char *call,
					    const uint8_t *bytes, size_t len)
{
	uint64_t sp;
	if (!xc_regs_get(&thread->regs, t->process->arch->sp, &sp))
		return target_of(t, call ? call : "not known", call);
	const struct xc_mapping *m = xc_process_mapping(t->process, sp);
	xc_live_show(t->process, sp, bytes, len, m ? m->hi : sp + len);
	const struct xc_wait_target target = describe(t, thread, call);
	xc_live_show(t->process, 0, NULL, 0, 0);
	return target;
}

static struct xc_wait_target look(struct xc_wait_targets *t, const struct xc_perf_record *sample)
{
	const char *other = NULL, *call = system_call(t, sample, &other);
	struct xc_thread thread;
	if (!call && other)
		return target_of(t, other, NULL);
	if (thread_of(t, sample, call, &thread))
		return describe_stack(t, &thread, call, sample->stack, sample->stack_len);
	return target_of(t, call ? call : "not known", call);
}

static const struct xc_wait_target *known(const struct xc_wait_targets *t, uint32_t stack, uint64_t argument)
{
	const union xc_hashtable_value *found = xc_hashtable_find(&t->by_stack, argument, (uint64_t)stack + 1);
	return found && found->number ? &t->known[found->number - 1] : NULL;
}

static struct xc_wait_target remember(struct xc_wait_targets *t, uint32_t stack, uint64_t argument,
				      struct xc_wait_target target)
{
	if (t->known_count >= MOST_KNOWN) {
		xc_hashtable_fini(&t->by_stack);
		t->known_count = 0;
	}
	t->known = xc_grow(t->known, t->known_count, &t->known_capacity, sizeof *t->known);
	t->known[t->known_count++] = target;
	xc_hashtable_at(&t->by_stack, NULL, argument, (uint64_t)stack + 1)->number = t->known_count;
	return target;
}

struct xc_wait_target xc_wait_targets_of_thread(struct xc_wait_targets *t, const struct xc_thread *thread,
						uint32_t stack)
{
	if (xc_thread_is_stopped(thread)) /* the number of its last call is still there */
		return target_of(t, stopped, NULL);
	if (thread->syscall < 0)
		return target_of(t, page, NULL);
	const struct xc_wait_target *target = known(t, stack, thread->call_args[0]);
	return target ? *target : remember(t, stack, thread->call_args[0], describe_stack(t, thread, NULL, NULL, 0));
}

void xc_wait_targets_forget(struct xc_wait_targets *t, const struct xc_thread *thread, uint32_t stack)
{
	union xc_hashtable_value *found = xc_hashtable_find(&t->by_stack, thread->call_args[0], (uint64_t)stack + 1);
	if (!found || !found->number || found->number != t->known_count)
		return;
	found->number = 0;
	t->known_count--;
}

uint32_t xc_wait_targets_early(struct xc_wait_targets *t)
{
	return number_of(t, "not known: it began before the profile", false);
}

uint32_t xc_wait_targets_unseen(struct xc_wait_targets *t)
{
	return number_of(t, "short waits: too short, or too many, to be looked at", false);
}

uint32_t xc_wait_targets_cpu(struct xc_wait_targets *t, bool queued)
{
	return number_of(t, queued ? "a CPU (it could run)" : "a CPU (it was preempted)", false);
}

static uint64_t first_argument(const struct xc_wait_targets *t, const struct xc_perf_record *sample)
{
	struct xc_regs regs;
	uint64_t value = 0;
	if (t->process->arch->call_registers && sample->regs &&
	    xc_perf_regs_read(t->process->arch, sample->regs, &regs))
		(void)xc_regs_get(&regs, t->process->arch->call_registers[0], &value);
	return value;
}

struct xc_wait_target xc_wait_targets_find(struct xc_wait_targets *t, const struct xc_perf_record *sample,
					   uint32_t stack, bool preempted)
{
	if (preempted)
		return (struct xc_wait_target){.text = xc_wait_targets_cpu(t, false)};
	const uint64_t argument = first_argument(t, sample);
	const struct xc_wait_target *target = known(t, stack, argument);
	return target ? *target : remember(t, stack, argument, look(t, sample));
}

bool xc_wait_targets_is_futex(const struct xc_wait_targets *t, const struct xc_perf_record *sample)
{
	const char *other, *call = system_call(t, sample, &other);
	return call && xc_begins_with(call, "futex");
}

pid_t xc_wait_targets_owner(struct xc_wait_targets *t, xc_addr owner_word)
{
	return xc_lock_owner_now(&t->owner, owner_word);
}

uint32_t xc_wait_targets_held(struct xc_wait_targets *t, uint32_t text, pid_t owner)
{
	if (!owner || t->texts.count > MOST_TEXTS)
		return text;
	xc_auto(xc_freep) char *held = xc_asprintf("%s, held by thread %d", xc_wait_targets_text(t, text), (int)owner);
	return number_of(t, held, false);
}

const char *xc_wait_targets_text(const struct xc_wait_targets *t, uint32_t number)
{
	return t->texts.texts[number - 1];
}

bool xc_wait_targets_is_event_loop(const struct xc_wait_targets *t, uint32_t number)
{
	return xc_hashtable_find(&t->event_loops, number, 1) != NULL;
}

size_t xc_wait_targets_count(const struct xc_wait_targets *t)
{
	return t->texts.count;
}
