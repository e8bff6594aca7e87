/* arguments: where the kernel puts them is described in scrub_learn.c: the strings in front of the environment, and
 * below them an array of their addresses with its count. The first string is found by the note, which the kernel copied
 * from there at death, and so by what the program has made of it (setproctitle). */
#include "core/facts/arguments.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/cursor.h"
#include "core/base/text.h"

enum {
	AREA = 4 << 20,  /* searched in front of the file's name: arguments and environment */
	MOST = 16 << 10, /* bytes shown */
	MOST_COUNT = 1 << 20,
	MOST_PLACES = 16, /* where the string may begin: of a damaged stack */
};

struct area {
	const struct xc_process *process;
	xc_addr lo;
	char *bytes;
	size_t len;
};

/* The part of the stack in front of the file's name. */
static bool read_area(struct area *a)
{
	uint64_t end;
	const struct xc_segment *segment = NULL;
	if (xc_process_auxv(a->process, AT_EXECFN, &end) && end)
		segment = xc_space_find(a->process->space, end - 1);
	if (!segment)
		return false;
	a->len = end - segment->lo < AREA ? (size_t)(end - segment->lo) : AREA;
	a->lo = end - a->len;
	a->bytes = xc_alloc(a->len);
	return xc_space_peek(a->process->space, a->lo, a->bytes, a->len) == a->len;
}

/* The kernel writes a space for the NUL after each argument. */
static bool begins_as(const char *bytes, const char *note, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (bytes[i] != note[i] && !(bytes[i] == '\0' && note[i] == ' '))
			return false;
	return true;
}

static bool word_at(const struct area *a, size_t at, uint64_t *value_out)
{
	const unsigned word = a->process->arch->word;
	if (at + word > a->len)
		return false;
	*value_out = xc_load_uint((const uint8_t *)a->bytes + at, word, a->process->arch->big_endian);
	return true;
}

/* The offset of the array that begins with this address: its count stands in front of it, and NULL after it. */
static size_t array_of(const struct area *a, xc_addr first, uint64_t *count_out)
{
	const unsigned word = a->process->arch->word;
	const size_t start = (size_t)(-a->lo & (word - 1)) + word;
	uint64_t value, behind;
	for (size_t at = start; a->lo + at < first; at += word)
		if (word_at(a, at, &value) && value == first && word_at(a, at - word, count_out) && *count_out &&
		    *count_out < MOST_COUNT && word_at(a, at + (size_t)*count_out * word, &behind) && !behind)
			return at;
	return 0;
}

/* The offset of a string of the array, or false: the program has set another address, which is none of the kernel's. */
static bool string_at(const struct area *a, size_t array, uint64_t index, size_t *at_out)
{
	uint64_t at;
	if (!word_at(a, array + (size_t)index * a->process->arch->word, &at) || at < a->lo || at - a->lo >= a->len)
		return false;
	*at_out = (size_t)(at - a->lo);
	return true;
}

/* The strings of an array, with a space between two. A title that was written over several of them is one. */
static char *join(const struct area *a, size_t array, uint64_t count)
{
	struct xc_text text = {0};
	size_t at, end = 0;
	for (uint64_t i = 0; i < count && text.len < MOST && string_at(a, array, i, &at) && at >= end; i++) {
		const size_t len = strnlen(a->bytes + at, a->len - at);
		if (i)
			xc_text_char(&text, ' ');
		xc_text_addn(&text, a->bytes + at, len);
		end = at + len + 1;
	}
	if (text.len >= MOST) {
		text.len = MOST;
		xc_text_add(&text, "…");
	}
	return xc_text_take(&text);
}

static char *from_stack(const struct xc_process *process, const char *note)
{
	struct area a = {.process = process};
	const size_t len = strlen(note);
	char *found = NULL;
	uint64_t count;
	unsigned places = read_area(&a) ? MOST_PLACES : 0;
	for (size_t at = 0; places && !found && at + len <= a.len; at++) {
		const bool begins = a.bytes[at] == *note && begins_as(a.bytes + at, note, len);
		places -= begins;
		const size_t array = begins ? array_of(&a, a.lo + at, &count) : 0;
		if (array)
			found = join(&a, array, count);
	}
	free(a.bytes);
	return found;
}

char *xc_arguments(const struct xc_process *process)
{
	const char *note = process->args;
	char *whole = note && process->args_cut ? from_stack(process, note) : NULL;
	if (whole || !note)
		return whole;
	return xc_asprintf("%s%s", note, process->args_cut ? "…" : "");
}
