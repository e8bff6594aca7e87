/* program_name: suffixes after a version are skipped, and removed only if a version precedes them. */
#include "batch/util/program_name.h"

#include <string.h>

enum { BUILD_HASH = 16 }; /* hex digits */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_sign(char c)
{
	return c == '-' || c == '_' || c == '.' || c == '~';
}

/* The number of trailing characters that are all in `of`. */
static size_t tail_of(const char *name, size_t len, const char *of)
{
	size_t tail = 0;
	while (tail < len && strchr(of, name[len - 1 - tail]))
		tail++;
	return tail;
}

/* The start of the trailing number, without a dot that separates it from the name. */
static size_t number_at(const char *name, size_t len)
{
	size_t at = len - tail_of(name, len, "0123456789.");
	while (at < len && !is_digit(name[at]))
		at++;
	return at;
}

/* The length without a trailing release word: "rc" of "1.0-rc", "beta" of "1.2beta". */
static size_t without_word(const char *name, size_t len)
{
	static const char *const words[] = {"alpha", "beta", "rc"};
	for (size_t i = 0; i < XC_COUNT(words); i++) {
		size_t word = strlen(words[i]);
		if (len > word && !memcmp(name + len - word, words[i], word) &&
		    (is_sign(name[len - word - 1]) || is_digit(name[len - word - 1])))
			return len - word;
	}
	return len;
}

/* The length without the suffix of a version: "-1", "-rc1", "~beta"; len if there is none. */
static size_t without_suffix(const char *name, size_t len)
{
	size_t number = number_at(name, len), word = number;
	if (number > 1 && number < len && is_sign(name[number - 1])) /* "rc.1" */
		word = without_word(name, number - 1) < number - 1 ? without_word(name, number - 1) : number;
	if (word == number)
		word = without_word(name, number);
	if (word == len || !word)
		return len;
	if (is_sign(name[word - 1]))
		return word - 1;
	return word < number ? word : len;
}

/* The length without a trailing version number, which contains a dot, and without its separator; len if there is
 * none. */
static size_t without_number(const char *name, size_t len)
{
	size_t at = number_at(name, len);
	if (at == len || !is_digit(name[len - 1]) || !memchr(name + at, '.', len - at))
		return len;
	if (at > 1 && name[at - 1] == 'v' && is_sign(name[at - 2]))
		at--;
	return at && is_sign(name[at - 1]) ? at - 1 : at;
}

/* The length without a trailing version; len if there is none. */
static size_t without_release(const char *name, size_t len)
{
	for (size_t end = len, next; end; end = next) {
		size_t left = without_number(name, end);
		if (left < end)
			return left;
		next = without_suffix(name, end);
		if (next == end)
			break;
	}
	return len;
}

static size_t without_hash(const char *name, size_t len)
{
	if (len <= BUILD_HASH + 1 || name[len - BUILD_HASH - 1] != '-')
		return len;
	return tail_of(name, len, "0123456789abcdef") == BUILD_HASH ? len - BUILD_HASH - 1 : len;
}

const char *xc_program_name(const char *name, struct xc_arena *arena)
{
	size_t len = name ? strlen(name) : 0;
	if (!name)
		return NULL;
	for (size_t next = len; next; len = next) {
		next = without_hash(name, len);
		next = next < len ? next : without_release(name, len);
		if (!next || next == len)
			break;
	}
	return xc_arena_strndup(arena, name, len);
}
