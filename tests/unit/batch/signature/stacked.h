/* stacked: a stack in a line of words, and its signature. */
#ifndef XC_TEST_STACKED_H
#define XC_TEST_STACKED_H

#include <string.h>

#include "batch/signature/signature.h"
#include "core/base/text.h"
#include "tests/support/check.h"

/* A stack in a line: "f@module" is a function of a module (by default the program itself), "?@module" one without a
 * name, "!" a signal trampoline, "-" a frame without name and module; "|" starts another thread's stack. Offsets count
 * up. */
struct stack {
	struct xc_arena arena;
	struct xc_framerules *rules;
	struct xc_record record;
	struct xc_signature *s;
};

static inline void frame(struct stack *stack, const char *word, size_t len)
{
	struct xc_record_frame *f = &stack->record.frames[stack->record.frame_count];
	const char *at = memchr(word, '@', len);
	size_t name = at ? (size_t)(at - word) : len;
	*f = (struct xc_record_frame){.offset = 0x1000 + 0x10 * stack->record.frame_count++, .has_offset = true};
	f->module = at ? xc_arena_strndup(&stack->arena, at + 1, len - name - 1) : "server";
	f->signal = *word == '!';
	if (*word == '-')
		f->module = NULL;
	else if (*word != '?' && *word != '!')
		f->function = xc_arena_strndup(&stack->arena, word, name);
}

static inline void init(struct stack *stack, const char *class_name, const char *frames)
{
	*stack = (struct stack){.rules = xc_framerules_builtin()};
	stack->record =
		(struct xc_record){.program = "server", .arch = "x86-64", .class_name = class_name, .severity = "low"};
	stack->record.frames = xc_arena_alloc(&stack->arena, XC_RECORD_FRAMES * sizeof *stack->record.frames);
	bool begins = false;
	for (const char *at = frames + strspn(frames, " "); *at; at += strspn(at, " ")) {
		size_t len = strcspn(at, " ");
		if (*at != '|')
			frame(stack, at, len);
		if (begins)
			stack->record.frames[stack->record.frame_count - 1].thread = "thread 7";
		begins = *at == '|';
		at += len;
	}
}

static inline void sign(struct stack *stack)
{
	stack->s = xc_signature(&stack->record, stack->rules, NULL, &stack->arena);
}

static inline void fini(struct stack *stack)
{
	xc_framerules_free(stack->rules);
	xc_arena_fini(&stack->arena);
}

static inline void expect_kept(const struct stack *stack, const char *wanted)
{
	struct xc_text text = {0};
	for (size_t i = 0; i < stack->s->kept_count; i++)
		xc_text_printf(&text, "%s%s", i ? " " : "", stack->s->frames[stack->s->kept[i]].shown);
	assert_string_equal(xc_text_string(&text), wanted);
	xc_text_fini(&text);
}

static inline void keeps(const char *class_name, const char *frames, const char *wanted)
{
	struct stack stack;
	init(&stack, class_name, frames);
	sign(&stack);
	expect_kept(&stack, wanted);
	fini(&stack);
}

#define LIBC_END "main __libc_start_call_main@libc.so.6 __libc_start_main_impl@libc.so.6 _start"
#define ABORT    "__pthread_kill_implementation@libc.so.6 raise@libc.so.6 abort@libc.so.6 "

#define WAIT   "futex_wait@libc.so.6 __pthread_mutex_lock@libc.so.6 "
#define THREAD "start_thread@libc.so.6 clone3@libc.so.6 "

#endif
