/* rust_earlier: a message that was formatted is a text of the heap, of the payload or of what a program made of it.
 * free() overwrites the first bytes of a block: of a text in a freed one the rest is enough. */
#include "triage/rust/rust_earlier.h"

#include <stdlib.h>
#include <string.h>

#include "dwarf/stack/frame_walk.h"
#include "heap/query/owner.h"
#include "triage/blocks/block_types.h"
#include "triage/rust/rust_payload.h"
#include "triage/util/names.h"
#include "triage/util/sourceline.h"
#include "triage/util/user_code.h"

enum {
	WORD = 8,
	BLOCK_MOST = 1 << 16,
	BYTES_MOST = 64 << 20,
	AROUND = 200, /* of a text before and after what is found */
	HITS = 24,
	TOLD = 3,
	VTABLES = 64,
	THREADS = 64,
	FRAMES = 64,
	PAYLOAD_MOST = 1 << 10, /* of a block that may hold a Box<dyn Any> */
};

/* What a message of std has, and how it begins (library/core/src/panicking.rs, option.rs, result.rs,
 * slice/index.rs). */
static const struct {
	const char *part, *begins;
} messages[] = {
	{" but the index is ", "index out of bounds: the len is "},
	{"()` on a `None` value", "called `Option::unwrap"},
	{"()` on an `Err` value: ", "called `Result::unwrap"},
	{" with overflow", "attempt to "},
	{" with a divisor of zero", "attempt to "},
	{"attempt to divide by zero", "attempt to divide by zero"},
	{" is out of bounds of `", "byte index "},
	{" is not a char boundary; ", "byte index "},
	{"assertion `left ", "assertion `left "},
	{"assertion failed: ", "assertion failed: "},
	{"already borrowed: ", "already borrowed: "},
	{"already mutably borrowed: ", "already mutably borrowed: "},
	{" out of range for slice of length ", "range "},
};

struct hit {
	xc_addr at;       /* the block */
	bool free, boxed; /* boxed: found by its Box<dyn Any> */
	const char *text; /* with what is before it on its line */
	const char *core; /* in it: the message itself */
};

struct search {
	struct xc_crash_context *crash;
	const char *message; /* of the panic itself; NULL: not known */
	uint64_t left;
	struct hit hits[HITS];
	size_t count;
	struct {
		xc_addr at;
		bool is_any;
	} vtables[VTABLES]; /* that were asked for, by their addresses */
};

/* ---- texts ---- */

static const char *longer(const char *a, const char *b)
{
	return strlen(a) >= strlen(b) ? a : b;
}

/* The hit with the same message, or the end of it; the next free one where there is none. */
static struct hit *same_hit(struct search *s, const char *core)
{
	size_t i = 0;
	for (; i < s->count; i++) {
		const char *whole = longer(s->hits[i].core, core), *end = whole == core ? s->hits[i].core : core;
		if (strcmp(whole + strlen(whole) - strlen(end), end) == 0)
			break;
	}
	return i < HITS ? &s->hits[i] : NULL;
}

/* Another consequence of the lock, or the panic itself. */
static bool is_other(const struct search *s, const char *core)
{
	return !strstr(core, "PoisonError {") && !strstr(core, "Poisoned(..)") &&
	       !(s->message && strstr(s->message, core)) && !(s->message && strstr(core, s->message));
}

static void add(struct search *s, xc_addr block, bool free, bool boxed, const char *text, size_t len, size_t before)
{
	struct xc_text words = {0};
	xc_text_escaped(&words, text, before);
	size_t begins = words.len;
	xc_text_escaped(&words, text + before, len - before);
	const char *copy = xc_arena_strdup(&s->crash->report->arena, xc_text_string(&words));
	struct hit *hit = is_other(s, copy + begins) ? same_hit(s, copy + begins) : NULL;
	if (hit && (hit == &s->hits[s->count] || (hit->free && !free))) {
		s->count += hit == &s->hits[s->count];
		*hit = (struct hit){block, free, boxed, copy, copy + begins};
	}
	xc_text_fini(&words);
}

static bool is_text(uint8_t byte)
{
	return byte >= ' ' && byte != 0x7f;
}

/* The line around a part that was found at `at`. */
static void add_line(struct search *s, uint32_t block, const uint8_t *bytes, size_t size, size_t at, size_t which)
{
	const struct xc_blocks *blocks = &s->crash->heap->blocks;
	size_t from = at, end = at, core = at, begins = strlen(messages[which].begins);
	while (from > 0 && at - from < AROUND && is_text(bytes[from - 1]))
		from--;
	while (end < size && end - at < AROUND && is_text(bytes[end]))
		end++;
	while (core > from && !(core + begins <= end && memcmp(bytes + core, messages[which].begins, begins) == 0))
		core--;
	bool whole = core + begins <= end && memcmp(bytes + core, messages[which].begins, begins) == 0;
	bool freed = xc_block_state(blocks, block) != XC_BLOCK_LIVE;
	if (whole || (freed && from <= begins)) /* what free() left of it */
		add(s, xc_block_addr(blocks, block), freed, false, (const char *)bytes + from, end - from,
		    whole ? core - from : 0);
}

static void search_texts(struct search *s, uint32_t block, const uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i < XC_COUNT(messages); i++) {
		const char *part = messages[i].part;
		const uint8_t *hit = memmem(bytes, size, part, strlen(part));
		if (hit)
			add_line(s, block, bytes, size, (size_t)(hit - bytes), i);
	}
}

/* ---- payloads ---- */

/* {drop, size, alignment, type_id(), …}: that of dyn Any has type_id() as its only method. */
static bool is_any_vtable(struct search *s, xc_addr vtable)
{
	const struct xc_process *p = s->crash->process;
	const size_t slot = (size_t)(vtable / WORD) % VTABLES;
	uint64_t words[4];
	if (s->vtables[slot].at == vtable)
		return s->vtables[slot].is_any;
	s->vtables[slot].at = vtable;
	s->vtables[slot].is_any = false;
	if (!xc_process_module(p, vtable) || xc_space_peek(p->space, vtable, words, sizeof words) != sizeof words ||
	    (words[1] != 2 * WORD && words[1] != 3 * WORD) || words[2] != WORD || !xc_process_module(p, words[3]))
		return false;
	const struct xc_place *place = xc_debuginfo_place(p, words[3]);
	const char *name = xc_place_outer_function(place);
	s->vtables[slot].is_any = name && strstr(name, "core::any::Any>::type_id");
	return s->vtables[slot].is_any;
}

static void search_payloads(struct search *s, uint32_t block, const uint8_t *bytes, size_t size)
{
	const struct xc_blocks *blocks = &s->crash->heap->blocks;
	const xc_addr at = xc_block_addr(blocks, block);
	for (size_t i = 0; i + 2 * WORD <= size; i += WORD) {
		uint64_t words[2];
		memcpy(words, bytes + i, sizeof words);
		if (words[1] % WORD || !words[1] || words[1] >> 47 || words[0] >> 47)
			continue;
		uint32_t object = xc_blocks_find(blocks, words[0]);
		if (object == XC_NO_BLOCK || xc_block_addr(blocks, object) != words[0] || !is_any_vtable(s, words[1]))
			continue;
		const char *text = xc_rust_payload_boxed(s->crash, at + i);
		if (text)
			add(s, at, false, true, text, strlen(text), 0);
	}
}

/* ---- */

static void search_block(struct search *s, uint32_t block, uint8_t *buffer)
{
	const struct xc_blocks *blocks = &s->crash->heap->blocks;
	const enum xc_block_state state = xc_block_state(blocks, block);
	uint64_t size = xc_block_size(blocks, block);
	if (state == XC_BLOCK_TOP || state == XC_BLOCK_UNKNOWN || size > BLOCK_MOST || size > s->left)
		return;
	s->left -= size;
	const size_t have = xc_space_peek(s->crash->process->space, xc_block_addr(blocks, block), buffer, (size_t)size);
	search_texts(s, block, buffer, have);
	if (state == XC_BLOCK_LIVE && have <= PAYLOAD_MOST)
		search_payloads(s, block, buffer, have);
}

static void search_heap(struct search *s)
{
	uint8_t *buffer = xc_alloc(BLOCK_MOST);
	for (uint32_t i = 0; i < s->crash->heap->blocks.count && s->count < HITS; i++)
		search_block(s, i, buffer);
	free(buffer);
}

/* "…, held by …" */
static void add_holder(const struct search *s, const struct hit *hit, struct xc_text *text)
{
	struct xc_heap *heap = s->crash->heap;
	if (hit->free || heap->blocks.count > XC_BLOCK_TYPES_MOST) {
		xc_text_add(text, hit->free ? ", in a freed block" : "");
		return;
	}
	xc_block_types_infer(s->crash);
	uint32_t block = xc_blocks_find(&heap->blocks, hit->at);
	struct xc_text owner = {0};
	if (block != XC_NO_BLOCK)
		xc_owner_text(heap, block, &owner);
	if (owner.len)
		xc_text_printf(text, ", held by %s", xc_text_string(&owner));
	xc_text_fini(&owner);
}

static void tell(const struct search *s, const struct hit *hit)
{
	const char *what = hit->boxed ? "a payload of a panic that was caught, or not joined, is likely on the heap"
				      : "a text of the heap is likely the message of an earlier panic";
	struct xc_text text = {0};
	xc_text_printf(&text, "%s: \"%s\"", what, hit->text);
	add_holder(s, hit, &text);
	xc_verdict_evidence(s->crash->report, "%s", xc_text_string(&text));
	xc_verdict_redact(s->crash->report, what);
	xc_text_fini(&text);
}

/* ---- other threads ---- */

static bool find_panicking(const struct xc_crash_context *crash, const struct xc_thread *thread, struct xc_text *place)
{
	static const char *const panics[] = {"core::panicking::panic_fmt", "rust_panic", "__rustc::rust_panic",
					     "std::panicking::rust_panic_with_hook", NULL};
	struct xc_frame_walk walk;
	bool in = false;
	for (xc_frame_walk_begin(&walk, crash->process, crash->unwinder, thread, FRAMES); xc_frame_walk_next(&walk);) {
		const struct xc_place *at = walk.context.place;
		size_t level;
		in = in || xc_names_find(panics, xc_place_outer_function(at));
		if (in && xc_user_code_level(at, &level)) {
			xc_text_printf(place, " in %s", xc_place_function(at, level));
			xc_sourceline(at, level, ", ", place);
			break;
		}
	}
	return in;
}

static void report_threads(const struct xc_crash_context *crash)
{
	const struct xc_process *p = crash->process;
	for (size_t i = 0, told = 0; i < p->thread_count && i < THREADS && told < TOLD; i++) {
		struct xc_text place = {0};
		if (&p->threads[i] != crash->thread && find_panicking(crash, &p->threads[i], &place)) {
			xc_verdict_evidence(crash->report, "thread %d is in a panic, too%s%s", (int)p->threads[i].tid,
					    place.len ? "," : "", xc_text_string(&place));
			told++;
		}
		xc_text_fini(&place);
	}
}

void xc_rust_earlier_report(struct xc_crash_context *crash)
{
	struct search s = {.crash = crash, .message = crash->verdict->message, .left = BYTES_MOST};
	size_t told = 0;
	struct xc_text message = {0};
	if (s.message) { /* as the others are compared */
		xc_text_escaped(&message, s.message, strlen(s.message));
		s.message = xc_arena_strdup(&crash->report->arena, xc_text_string(&message));
		xc_text_fini(&message);
	}
	report_threads(crash);
	if (!crash->heap || crash->process->arch->word != WORD || crash->process->arch->big_endian)
		return;
	search_heap(&s);
	for (int freed = 0; freed < 2; freed++)
		for (size_t i = 0; i < s.count && told < TOLD; i++)
			if (s.hits[i].free == (freed == 1)) {
				tell(&s, &s.hits[i]);
				told++;
			}
}
