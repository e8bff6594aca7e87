/* glob: after a mismatch the last '*' takes one more character; earlier ones need no retry. */
#include "batch/util/glob.h"

bool xc_glob_matches(const char *pattern, size_t len, const char *text)
{
	size_t p = 0, star = len;
	const char *resume = text;
	while (*text) {
		if (p < len && pattern[p] == '*') {
			star = p++;
			resume = text;
		} else if (p < len && pattern[p] == *text) {
			p++;
			text++;
		} else if (star < len) {
			p = star + 1;
			text = ++resume;
		} else {
			return false;
		}
	}
	while (p < len && pattern[p] == '*')
		p++;
	return p == len;
}
