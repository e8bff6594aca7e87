/* corename: names are parsed from the end, where fields are numbers, because a program's name may contain dots. */
#include "batch/input/corename.h"

#include <ctype.h>
#include <string.h>

enum { BOOT_HEX = 32, TIME_DIGITS = 9 };

static const char *const compressions[] = {".zst", ".zstd", ".lz4", ".xz", ".gz", ".pack"};
static const char *const archives[] = {".tar", ".tgz", ".txz", ".tzst"};

static size_t ends_with_any(const char *name, size_t len, const char *const *ends, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const size_t n = strlen(ends[i]);
		if (len > n && !memcmp(name + len - n, ends[i], n))
			return n;
	}
	return 0;
}

static size_t uncompressed_length(const char *name)
{
	const size_t len = strlen(name);
	return len - ends_with_any(name, len, compressions, XC_COUNT(compressions));
}

bool xc_corename_is(const char *name)
{
	const size_t len = uncompressed_length(name);
	if (ends_with_any(name, len, archives, XC_COUNT(archives)))
		return false;
	for (const char *at = name; (at = strstr(at, "core")); at++)
		if ((at == name || !isalnum((unsigned char)at[-1])) && !isalpha((unsigned char)at[4]))
			return true;
	return false;
}

/* ---- fields, from the end ---- */

/* The last field, after a '.' or '-'; *len becomes the length before it. NULL if there is none. */
static const char *last_field(const char *name, size_t *len, char separator, size_t *field_len)
{
	for (size_t i = *len; i-- > 0;)
		if (name[i] == separator) {
			*field_len = *len - i - 1;
			*len = i;
			return name + i + 1;
		}
	return NULL;
}

static bool is_number(const char *field, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!isdigit((unsigned char)field[i]))
			return false;
	return len > 0;
}

bool xc_corename_is_plain(const char *name)
{
	const char *pid = !strncmp(name, "core.", 5) ? name + 5 : NULL;
	return !strcmp(name, "core") || (pid && is_number(pid, strlen(pid)));
}

/* Takes a number of at least this many digits from the end. */
static bool take_number(const char *name, size_t *len, char separator, size_t digits)
{
	size_t left = *len, n;
	const char *field = last_field(name, &left, separator, &n);
	if (!field || n < digits || !is_number(field, n))
		return false;
	*len = left;
	return true;
}

/* Takes a boot id: 32 hex digits; apport's form has dashes. */
static bool take_boot(const char *name, size_t *len)
{
	size_t left = *len, n, hex = 0;
	const char *field = last_field(name, &left, '.', &n);
	for (size_t i = 0; field && i < n; i++) {
		if (!isxdigit((unsigned char)field[i]) && field[i] != '-')
			return false;
		hex += field[i] != '-';
	}
	if (hex != BOOT_HEX)
		return false;
	*len = left;
	return true;
}

/* ---- the naming schemes ---- */

static int hex_digit(char c)
{
	return isdigit((unsigned char)c) ? c - '0' : tolower((unsigned char)c) - 'a' + 10;
}

static const char *unescaped(const char *text, size_t len, struct xc_arena *arena)
{
	char *out = xc_arena_strndup(arena, text, len), *to = out;
	for (const char *at = out; *at; to++) {
		const bool escape = at[0] == '\\' && at[1] == 'x' && isxdigit((unsigned char)at[2]) &&
				    isxdigit((unsigned char)at[3]);
		const char byte = escape ? (char)(hex_digit(at[2]) * 16 + hex_digit(at[3])) : *at;
		*to = byte ? byte : '?';
		at += escape ? 4 : 1;
	}
	*to = '\0';
	return out;
}

/* apport writes the path with '_' for '/' and '.': the name follows the first "bin_". */
static const char *behind_bin(const char *path, size_t len, struct xc_arena *arena)
{
	const char *copy = xc_arena_strndup(arena, path, len), *bin = strstr(copy, "bin_");
	return bin && bin[4] ? bin + 4 : NULL;
}

static const char *of_handler(const char *fields, size_t len, struct xc_arena *arena)
{
	if (!take_number(fields, &len, '.', 1) || !take_number(fields, &len, '.', 1) || !take_boot(fields, &len) ||
	    !take_number(fields, &len, '.', 1) || !len)
		return NULL;
	return fields[0] == '_' ? behind_bin(fields, len, arena) : unescaped(fields, len, arena);
}

/* COMM.PID or COMM.PID.TIME, also with '-'; a time has at least nine digits. */
static const char *of_pattern(const char *fields, size_t len, char separator, struct xc_arena *arena)
{
	const bool timed = take_number(fields, &len, separator, TIME_DIGITS);
	const bool numbered = take_number(fields, &len, separator, 1);
	if ((!timed && !numbered) || !len || is_number(fields, len))
		return NULL;
	return xc_arena_strndup(arena, fields, len);
}

const char *xc_corename_comm(const char *name, struct xc_arena *arena)
{
	const size_t len = uncompressed_length(name);
	if (strncmp(name, "core", 4) != 0 || len < 6 || (name[4] != '.' && name[4] != '-'))
		return NULL;
	const char *comm = name[4] == '.' ? of_handler(name + 5, len - 5, arena) : NULL;
	return comm || name[5] == '_' ? comm : of_pattern(name + 5, len - 5, name[4], arena);
}
