/* suggest: edit distance in which swapping two neighbours costs one, because people mistype that way. */
#include "core/text/suggest.h"

#include <string.h>

enum { LONGEST = 32 }; /* no word of ours is longer */

static size_t min3(size_t a, size_t b, size_t c)
{
	size_t least = a < b ? a : b;
	return least < c ? least : c;
}

/* Optimal string alignment distance; rows are prefixes of a, columns prefixes of b. */
static size_t distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
	size_t rows[LONGEST + 1][LONGEST + 1];
	for (size_t j = 0; j <= b_len; j++)
		rows[0][j] = j;
	for (size_t i = 1; i <= a_len; i++) {
		rows[i][0] = i;
		for (size_t j = 1; j <= b_len; j++) {
			size_t change = rows[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
			rows[i][j] = min3(rows[i - 1][j] + 1, rows[i][j - 1] + 1, change);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    rows[i - 2][j - 2] + 1 < rows[i][j])
				rows[i][j] = rows[i - 2][j - 2] + 1;
		}
	}
	return rows[a_len][b_len];
}

struct xc_suggestion xc_suggest(const char *wrong)
{
	return (struct xc_suggestion){.wrong = wrong, .distance = SIZE_MAX};
}

size_t xc_suggest_distance(const char *wrong, const char *word)
{
	size_t wrong_len = strlen(wrong), len = strlen(word);
	size_t limit = len < 6 ? 1 : len / 3;
	/* A long common prefix is a word typed in part; vector<int> begins vector<int, std::allocator<int> >. */
	size_t stem = wrong_len > 0 && wrong[wrong_len - 1] == '>' ? wrong_len - 1 : wrong_len;
	if (stem >= 3 && strncmp(wrong, word, stem) == 0)
		return strcmp(wrong, word) == 0 ? 0 : stem == wrong_len || word[stem] == ',' ? 1 : 2;
	if (wrong_len == 0 || wrong_len > LONGEST || len > LONGEST)
		return SIZE_MAX;
	if (wrong_len > len + limit || len > wrong_len + limit)
		return SIZE_MAX;
	size_t far = distance(wrong, wrong_len, word, len);
	return far <= limit ? far : SIZE_MAX;
}

void xc_suggest_consider(struct xc_suggestion *suggestion, const char *word)
{
	size_t far = xc_suggest_distance(suggestion->wrong, word);
	if (far < suggestion->distance) {
		suggestion->best = word;
		suggestion->distance = far;
	}
}
