/* normalise_parts: what is removed from a name before the walk, and the aliases of the rest. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/text.h"
#include "triage/dataflow/libcall.h"
#include "triage/util/names.h"
#include "batch/record/normalise_impl.h"

/* ---- Rust's legacy escapes: rustc 1.95, symbol_mangling/legacy.rs ---- */

/* Adds it as UTF-8; false if it is not a displayable character. */
static bool add_letter(struct xc_text *out, unsigned long code)
{
	static const struct {
		unsigned below, mark;
	} forms[] = {{0x80, 0}, {0x800, 0xc0}, {0x10000, 0xe0}, {0x110000, 0xf0}};
	char letter[XC_COUNT(forms)];
	size_t more = 0, len = 0;
	while (more < XC_COUNT(forms) && code >= forms[more].below)
		more++;
	if (more == XC_COUNT(forms))
		return false;
	letter[len++] = (char)(forms[more].mark | code >> 6 * more);
	while (more--)
		letter[len++] = (char)(0x80 | (code >> 6 * more & 0x3f));
	if (xc_text_plain_length(letter, len) < len)
		return false;
	xc_text_addn(out, letter, len);
	return true;
}

/* Decodes "$…$" at `at`; returns its length, 0 if it is not an escape. */
static size_t decode_escape(const char *at, struct xc_text *out)
{
	static const struct {
		const char *escape, *text;
	} escapes[] = {{"$SP$", "@"}, {"$BP$", "*"}, {"$RF$", "&"}, {"$LT$", "<"},
		       {"$GT$", ">"}, {"$LP$", "("}, {"$RP$", ")"}, {"$C$", ","}};
	for (size_t i = 0; i < XC_COUNT(escapes); i++)
		if (xc_begins_with(at, escapes[i].escape)) {
			xc_text_add(out, escapes[i].text);
			return strlen(escapes[i].escape);
		}
	char *end;
	unsigned long code = xc_begins_with(at, "$u") && isxdigit((unsigned char)at[2]) ? strtoul(at + 2, &end, 16) : 0;
	if (!code || *end != '$' || !add_letter(out, code))
		return 0;
	return (size_t)(end + 1 - at);
}

static bool has_escapes(const char *name)
{
	static const char *const words[] = {"$LT$", "$GT$", "$u", "$RF$", "$C$", NULL};
	return xc_names_in(words, name);
}

static char *decoded(const char *name)
{
	struct xc_text out = {0};
	for (size_t len; *name; name += len) {
		bool guards = *name == '_' && name[1] == '$' && (!out.len || out.bytes[out.len - 1] == ':');
		if ((len = guards)) /* a name must not begin with an escape */
			continue;
		if ((len = decode_escape(name, &out)))
			continue;
		if ((len = xc_begins_with(name, "..") ? 2 : 0)) {
			xc_text_add(&out, "::");
			continue;
		}
		len = 1;
		xc_text_char(&out, *name);
	}
	return xc_text_take(&out);
}

/* '-' is not escaped: "fn(u8) .> u8". */
char *xc_normalise_decoded(const char *name)
{
	char *plain = has_escapes(name) ? decoded(name) : xc_strdup(name);
	for (char *at = plain; (at = strstr(at, " .> "));)
		at[1] = '-';
	return plain;
}

/* ---- suffixes ---- */

static size_t digits_before(const char *name, size_t len)
{
	size_t start = len;
	while (start && isdigit((unsigned char)name[start - 1]))
		start--;
	return len - start;
}

static size_t without_word(const char *name, size_t len, const char *word)
{
	size_t word_len = strlen(word);
	return len > word_len && memcmp(name + len - word_len, word, word_len) == 0 ? len - word_len : len;
}

/* ".part.0", ".constprop.0", ".llvm.123"; only ".cold" and ".localalias" also occur without a number. */
static size_t without_clone(const char *name, size_t len)
{
	static const char *const numbered[] = {".part", ".isra",   ".constprop",   ".lto_priv",
					       ".llvm", ".__uniq", ".specialized", NULL};
	static const char *const bare[] = {".cold", ".localalias", ".abi0", ".abiinternal", NULL};
	size_t digits = digits_before(name, len), word = len;
	if (digits && digits + 1 < len && name[len - digits - 1] == '.')
		word = len - digits - 1;
	for (const char *const *w = numbered; word < len && *w; w++)
		if (without_word(name, word, *w) < word)
			return without_word(name, word, *w);
	for (const char *const *w = bare; *w; w++)
		if (without_word(name, word, *w) < word)
			return without_word(name, word, *w);
	return word < len && !memchr(name, '.', word) ? word : len;
}

/* The suffixes of Go's linker; other suffixes may be part of a function's name. */
static size_t without_abi(const char *name, size_t len)
{
	return without_word(name, without_word(name, len, ".abi0"), ".abiinternal");
}

/* "@@GLIBC_2.34", "@LIBFOO_1". "@plt" stays, because it is a stub. */
static size_t without_version(const char *name, size_t len)
{
	const char *at = memchr(name, '@', len);
	if (!at || at == name || !strcmp(at, "@plt") || memchr(at, '(', len - (size_t)(at - name)))
		return len;
	return (size_t)(at - name);
}

static size_t without_hash(const char *name, size_t len)
{
	enum { HASH = 19 }; /* "::h" and 16 digits */
	return len > HASH && memcmp(name + len - HASH, "::h", 3) == 0 &&
			       strspn(name + len - HASH + 3, "0123456789abcdef") == HASH - 3
		       ? len - HASH
		       : len;
}

size_t xc_normalise_without_tails(const char *name, bool go)
{
	size_t len = without_version(name, strlen(name)), before;
	if (go)
		return without_abi(name, len);
	do {
		before = len;
		len = without_clone(name, len);
	} while (len < before);
	return without_hash(name, len);
}

/* ---- aliases ---- */

static const char *without_prefix(const char *name)
{
	static const char *const prefixes[] = {"__GI_", "IA__", NULL};
	const char *prefix = xc_names_begin(prefixes, name);
	return prefix && name[strlen(prefix)] ? name + strlen(prefix) : name;
}

static const char *allocator(const char *name)
{
	static const char *const names[] = {"malloc",        "free",   "calloc",  "realloc",      "memalign",
					    "aligned_alloc", "valloc", "pvalloc", "reallocarray", NULL};
	const char *found = xc_begins_with(name, "__libc_") ? xc_names_find(names, name + strlen("__libc_")) : NULL;
	return found ? found : !strcmp(name, "cfree") ? "free" : !strcmp(name, "gsignal") ? "raise" : name;
}

/* "__memcpy_avx_unaligned_erms". Only for functions that have such variants: "__my_avx_kernel" is the program's. */
static const char *variant(const char *name, struct xc_arena *arena)
{
	static const char *const families[] = {"__mem", "__str",    "__wcs",   "__wmem", "__stp",
					       "__wcp", "__rawmem", "__bzero", "__bcmp", NULL};
	return xc_names_begin(families, name) ? xc_libcall_name(name, arena) : name;
}

static const char *checked(const char *name)
{
	return xc_begins_with(name, "___") && xc_ends_with(name, "_chk") ? name + 1 : name;
}

const char *xc_normalise_alias(const char *name, struct xc_arena *arena)
{
	if (strchr(name, '.') && !strstr(name, "::")) /* Go's method value */
		return xc_arena_strndup(arena, name, without_word(name, strlen(name), "-fm"));
	if (strpbrk(name, ":<( "))
		return xc_arena_strdup(arena, name);
	return xc_arena_strdup(arena, checked(variant(allocator(without_prefix(name)), arena)));
}
