/* memory_search: see memory_search.h. Searches stored pages only, without those that are unchanged copies of files. */
#include "triage/util/memory_search.h"

#include <string.h>

#include "heap/blocks/scan.h"
#include "heap/blocks/window.h"

enum { PIECE = 1 << 20 };

struct search {
	const void *needle; /* NULL: words */
	size_t len;
	uint64_t lo, span;
	unsigned word;
	xc_addr *found;
	size_t count, most;
};

static void take(struct search *s, xc_addr at)
{
	if (s->count < s->most && (!s->count || s->found[s->count - 1] < at))
		s->found[s->count++] = at;
}

static void look_for_words(struct search *s, const uint8_t *bytes, xc_addr at, uint64_t len)
{
	for (uint64_t i = (s->word - at % s->word) % s->word; i < len && len - i >= s->word; i += s->word) {
		uint64_t value = 0;
		memcpy(&value, bytes + i, s->word);
		if (value - s->lo <= s->span)
			take(s, at + i);
	}
}

static void look_for_bytes(struct search *s, const uint8_t *bytes, xc_addr at, uint64_t len)
{
	for (uint64_t i = 0; i < len && s->count < s->most;) {
		const uint8_t *hit = memmem(bytes + i, len - i, s->needle, s->len);
		if (!hit)
			return;
		take(s, at + (uint64_t)(hit - bytes));
		i = (uint64_t)(hit - bytes) + 1;
	}
}

static size_t run(const struct xc_process *p, struct search *s)
{
	struct xc_window window;
	const uint8_t *bytes;
	uint64_t len, left = XC_MEMORY_SEARCH_BYTES;
	xc_addr at = 0;
	if (p->arch->big_endian)
		return 0;
	xc_window_init(&window, p->space);
	while (s->count < s->most && left && xc_scan_next(&window, &at, UINT64_MAX, PIECE, true, &bytes, &len)) {
		if (s->needle)
			look_for_bytes(s, bytes, at, len);
		else
			look_for_words(s, bytes, at, len);
		left -= len < left ? len : left;
		if (UINT64_MAX - at < len)
			break;
		at += len;
	}
	xc_window_fini(&window);
	return s->count;
}

size_t xc_memory_search_words(const struct xc_process *p, uint64_t lo, uint64_t span, xc_addr *found, size_t most)
{
	struct search s = {.lo = lo, .span = span, .word = p->arch->word, .found = found, .most = most};
	return run(p, &s);
}

size_t xc_memory_search_bytes(const struct xc_process *p, const void *bytes, size_t len, xc_addr *found, size_t most)
{
	struct search s = {.needle = bytes, .len = len, .found = found, .most = most};
	return len ? run(p, &s) : 0;
}
