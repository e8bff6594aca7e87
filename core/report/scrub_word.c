/* scrub_word: compares a bounded part of each known word, so that many long words cost little. */
#include "core/report/scrub_impl.h"

#include <string.h>

enum {
	COMPARED_MOST = 256, /* compared bytes of a known word */
	CUT_LEAST = 8,       /* shortest matching prefix of a secret, if the prefix has a digit */
	CUT_ALWAYS = 15,     /* and if not: TASK_COMM_LEN of Linux' sched.h, without the NUL */
};

static size_t common(const char *a, const char *b, size_t most)
{
	size_t len = 0;
	while (len < most && a[len] && a[len] == b[len])
		len++;
	return len;
}

/* Can `word` begin at this position, and end `len` bytes later? A path may continue below. */
static bool can_begin(const char *start, const char *at, const struct xc_scrub_word *word)
{
	char before = at > start ? at[-1] : ' ';
	return !xc_scrub_is_word(before) && !(*word->text == '/' && xc_scrub_is_path(before));
}

static bool can_end(const char *at, const struct xc_scrub_word *word, size_t len)
{
	char after = at[len];
	return !xc_scrub_is_word(after) && !(*word->text == '/' && after != '/' && xc_scrub_is_path(after));
}

/* The number of bytes of the word at this position; 0 when they are too few. COMPARED_MOST equal bytes are a match,
 * whatever follows. */
static size_t stands(const char *start, const char *at, const struct xc_scrub_word *word)
{
	if (word->whole && !can_begin(start, at, word))
		return 0;
	size_t len = common(at, word->text, COMPARED_MOST);
	if (len < word->least || (word->whole && len < COMPARED_MOST && !can_end(at, word, len)))
		return 0;
	return len + common(at + len, word->text + len, word->len - len);
}

size_t xc_scrub_known(const struct xc_scrub *scrub, const char *start, const char *at, bool symbol, struct xc_text *out)
{
	const char *shown = NULL;
	size_t most = 0, i = 0;
	for (uint64_t starts = scrub->starts[(unsigned char)*at]; starts; starts >>= 1, i++) {
		size_t len = starts & 1 && !(symbol && scrub->words[i].whole) ? stands(start, at, &scrub->words[i]) : 0;
		shown = len > most ? scrub->words[i].shown : shown;
		most = len > most ? len : most;
	}
	if (shown)
		xc_text_add(out, shown);
	return most;
}

static bool is_known(const struct xc_scrub *scrub, const char *text, size_t len)
{
	for (size_t i = 0; i < scrub->count; i++)
		if (scrub->words[i].len == len && memcmp(scrub->words[i].text, text, len) == 0)
			return true;
	return false;
}

static void learn(struct xc_scrub *scrub, struct xc_scrub_word word)
{
	if (!word.len || is_known(scrub, word.text, word.len))
		return;
	if (scrub->count == XC_SCRUB_WORDS) {
		scrub->left++;
		return;
	}
	word.text = xc_arena_strndup(&scrub->arena, word.text, word.len);
	word.least = word.least < COMPARED_MOST ? word.least : COMPARED_MOST;
	scrub->starts[(unsigned char)*word.text] |= (uint64_t)1 << scrub->count;
	scrub->words[scrub->count++] = word;
}

void xc_scrub_name(struct xc_scrub *scrub, const char *text, size_t len, const char *shown)
{
	len = strnlen(text, len);
	learn(scrub, (struct xc_scrub_word){text, shown, len, len, true});
}

void xc_scrub_secret(struct xc_scrub *scrub, const char *text, size_t len)
{
	len = strnlen(text, len);
	size_t least = *text == '/' ? len : CUT_LEAST;
	while (least < len && least < CUT_ALWAYS && !xc_scrub_has_digit(text, least))
		least++;
	least = least < len ? least : len;
	learn(scrub, (struct xc_scrub_word){text, XC_REDACTED, len, least, !xc_scrub_has_digit(text, len)});
}
