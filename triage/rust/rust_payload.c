/* rust_payload: std allocates an exception object for each panic that unwinds (rustc 1.63 to 1.95,
 * library/panic_unwind/src/gcc.rs):
 *
 *	+0   "MOZ\0RUST"    class of the exception (Itanium C++ ABI, 2.2.1)
 *	+8   cleanup        its function; then two words of the unwinder
 *	+32  canary         an address; missing in old versions, whose payload begins here
 *	+40  payload        Box<dyn Any + Send>: the object, its vtable
 *
 * The vtable has the destructor, the size and the alignment of the object: 16 bytes are a &'static str, {text, length},
 * 24 a String: {capacity, text, length} in newer versions, else {text, capacity, length}. The handler of a panic
 * formats its message into a String on its stack before it prints it (library/std/src/panicking.rs,
 * FormatStringPayload). */
#include "triage/rust/rust_payload.h"

#include <elf.h>
#include <string.h>

enum {
	CANARY = 32,
	OBJECT = 48,
	WORD = 8,
	TEXT_MOST = 500,
	TEXT_LEAST = 4,
	BLOCKS_MOST = 1 << 22,
	WORDS_MOST = 1 << 13, /* of the handler's stack */
};

static const uint64_t CLASS = UINT64_C(0x54535552005a4f4d);

static bool peek(const struct xc_crash_context *crash, xc_addr addr, uint64_t *out)
{
	return xc_space_peek_uint(crash->process->space, addr, WORD, out);
}

static const char *read_text(const struct xc_crash_context *crash, xc_addr at, uint64_t length)
{
	char text[TEXT_MOST];
	if (!length || length > sizeof text ||
	    xc_space_peek(crash->process->space, at, text, (size_t)length) != length ||
	    xc_text_readable_length(text, (size_t)length) != length)
		return NULL;
	return xc_arena_strndup(&crash->report->arena, text, (size_t)length);
}

/* The text of a String: it has a block of its own, which is as large as its capacity at least. */
static const char *read_string(const struct xc_crash_context *crash, xc_addr at)
{
	const struct xc_blocks *blocks = &crash->heap->blocks;
	uint64_t words[3] = {0};
	for (size_t i = 0; i < XC_COUNT(words); i++)
		if (!peek(crash, at + i * WORD, &words[i]))
			return NULL;
	for (unsigned text = 0; text < 2; text++) {
		uint64_t capacity = words[1 - text];
		uint32_t block = xc_blocks_find(blocks, words[text]);
		if (capacity >= words[2] && block != XC_NO_BLOCK && xc_block_addr(blocks, block) == words[text] &&
		    xc_block_state(blocks, block) == XC_BLOCK_LIVE && xc_block_size(blocks, block) >= capacity)
			return read_text(crash, words[text], words[2]);
	}
	return NULL;
}

/* ---- in flight ---- */

const char *xc_rust_payload_boxed(const struct xc_crash_context *crash, xc_addr at)
{
	enum { STR = 16, STRING = 24 };
	uint64_t object, vtable, size, text, length;
	if (!peek(crash, at, &object) || !peek(crash, at + WORD, &vtable) || !peek(crash, vtable + WORD, &size))
		return NULL;
	const struct xc_mapping *m = xc_process_mapping(crash->process, vtable);
	if (!m || (m->writable && !xc_process_module(crash->process, vtable)))
		return NULL;
	if (size == STR && peek(crash, object, &text) && peek(crash, object + WORD, &length))
		return read_text(crash, text, length);
	return size == STRING && crash->heap ? read_string(crash, object) : NULL;
}

const char *xc_rust_payload_in_flight(const struct xc_crash_context *crash)
{
	const struct xc_blocks *blocks = crash->heap ? &crash->heap->blocks : NULL;
	xc_addr found = 0;
	uint64_t word;
	if (!blocks || crash->process->arch->machine != EM_X86_64 || blocks->count > BLOCKS_MOST)
		return NULL;
	for (uint32_t i = 0; i < blocks->count; i++) {
		xc_addr at = xc_block_addr(blocks, i);
		if (xc_block_size(blocks, i) < OBJECT || xc_block_size(blocks, i) > 2 * OBJECT ||
		    xc_block_state(blocks, i) != XC_BLOCK_LIVE || !peek(crash, at, &word) || word != CLASS)
			continue;
		if (found)
			return NULL;
		found = at;
	}
	const char *text = found ? xc_rust_payload_boxed(crash, found + CANARY + WORD) : NULL;
	return text || !found ? text : xc_rust_payload_boxed(crash, found + CANARY);
}

/* ---- formatted ---- */

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

const char *xc_rust_payload_formatted(const struct xc_crash_context *crash, size_t end, const char *with)
{
	const int sp = crash->process->arch->sp;
	const char *found = NULL;
	uint64_t at, until;
	if (!crash->heap || crash->process->arch->machine != EM_X86_64 || end >= crash->frame_count ||
	    !xc_regs_get(&crash->frames[0].regs, sp, &at) || !xc_regs_get(&crash->frames[end].regs, sp, &until))
		return NULL;
	for (unsigned i = 0; at < until && i < WORDS_MOST; i++, at += WORD) {
		const char *text = read_string(crash, at);
		if (!text || strlen(text) < TEXT_LEAST || (found && strcmp(found, text) == 0) ||
		    (with && !begins(text, with)))
			continue;
		if (found)
			return NULL;
		found = text;
	}
	return found;
}
