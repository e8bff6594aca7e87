/* scrub: tries each rule at each character of a text, from left to right.
 *
 * A rule examines one position, returns the number of bytes to remove (0 for none) and adds their replacement. A rule
 * for a name before a value (token=…) looks back a bounded distance. It also looks ahead a bounded distance, unless it
 * removes those bytes or records that nothing is there. So the time is linear in the length of the text. */
#include "core/report/scrub.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/report/scrub_impl.h"

enum {
	NAME_MOST = 64,
	URL_MOST = 512,
	RUN_MOST = 4096,
	BEARER_LEAST = 12, /* letters that need no digit */
	LETTERS_LEAST = 5,
	LETTERS_ALWAYS = 7,
	DECIMAL_LEAST = 16, /* digits of a number of seven letters; 20 of the largest */
	DECIMAL_MOST = 20,
};

/* The position that a rule examines. */
struct place {
	const char *start, *at;
	bool code;
	const char **no_token; /* no web token begins before it */
};

static bool begins(const struct place *p)
{
	return p->at == p->start || !xc_scrub_is_word(p->at[-1]);
}

static size_t run_of(const char *at, const char *others)
{
	size_t len = 0;
	while (len < RUN_MOST && at[len] && (isalnum((unsigned char)at[len]) || strchr(others, at[len])))
		len++;
	return len;
}

bool xc_scrub_names_secret(const char *name, size_t len)
{
	static const char *const terms[] = {"TOKEN", "SECRET", "PASS", "KEY", "AUTH", "COOKIE", "CRED"};
	for (size_t i = 0; i < XC_COUNT(terms); i++) {
		size_t term = strlen(terms[i]);
		for (size_t at = 0; term <= len && at <= len - term; at++)
			if (strncasecmp(name + at, terms[i], term) == 0)
				return true;
	}
	return false;
}

static bool ends_in(const char *name, size_t len, const char *const ends[], size_t count)
{
	for (size_t i = 0; i < count; i++) {
		size_t end = strlen(ends[i]);
		if (len >= end && strncasecmp(name + len - end, ends[i], end) == 0)
			return true;
	}
	return false;
}

/* "password: x" and "X-Api-Key: x", not "protection key: 3". */
static bool is_header(const char *name, size_t len)
{
	static const char *const ends[] = {"token",  "secret",        "password", "passwd", "passphrase",
					   "cookie", "authorization", "_key",     "-key",   "credentials"};
	return ends_in(name, len, ends, XC_COUNT(ends));
}

/* PWD=/srv is a directory. */
static bool is_pwd(const char *name, size_t len, const char *value)
{
	static const char *const ends[] = {"pwd"};
	return *value != '/' && ends_in(name, len, ends, XC_COUNT(ends));
}

/* The values of these may contain blanks. */
static bool is_line(const char *name, size_t len)
{
	static const char *const ends[] = {"cookie", "authorization"};
	return ends_in(name, len, ends, XC_COUNT(ends));
}

/* The length of the value after `=` or `:`. */
static size_t value_length(const char *value, bool line)
{
	if (strncmp(value, XC_REDACTED, strlen(XC_REDACTED)) == 0)
		return 0;
	if (*value == '"' || *value == '\'') {
		size_t len = 1;
		while (value[len] && value[len] != *value)
			len += value[len] == '\\' && value[len + 1] ? 2 : 1;
		return value[len] ? len + 1 : len;
	}
	return strcspn(value, line ? "\r\n" : " \t\r\n\"'`,;&)]}|<>");
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* With blanks around the sign it may be a comparison or a sentence: then the rule is as strict as for headers. */
static size_t assigned(const struct place *p, struct xc_text *out)
{
	const char *end = p->at, *value = p->at + 1;
	if (p->code || (*p->at != '=' && *p->at != ':') || *value == *p->at)
		return 0;
	while (end > p->start && is_blank(end[-1]) && p->at - end < NAME_MOST)
		end--;
	bool strict = *p->at == ':' || end < p->at || is_blank(*value);
	if (end > p->start && (end[-1] == '"' || end[-1] == '\''))
		end--;
	const char *name = end;
	while (name > p->start && end - name < NAME_MOST &&
	       (xc_scrub_is_word(name[-1]) || name[-1] == '-' || name[-1] == '.'))
		name--;
	size_t len = (size_t)(end - name);
	if (strict ? !is_header(name, len) : !xc_scrub_names_secret(name, len) && !is_pwd(name, len, value))
		return 0;
	value += strspn(value, " \t");
	size_t taken = value_length(value, *p->at == ':' && is_line(name, len));
	if (!taken)
		return 0;
	xc_text_addn(out, p->at, (size_t)(value - p->at));
	xc_text_add(out, XC_REDACTED);
	return (size_t)(value - p->at) + taken;
}

/* "--password abc": an option. */
static size_t option(const struct place *p, struct xc_text *out)
{
	if (p->code || strncmp(p->at, "--", 2) != 0 || (p->at > p->start && xc_scrub_is_path(p->at[-1])))
		return 0;
	size_t name = 2;
	while (name < NAME_MOST && (xc_scrub_is_word(p->at[name]) || p->at[name] == '-'))
		name++;
	if (p->at[name] != ' ' || p->at[name + 1] == '-' || !is_header(p->at, name))
		return 0;
	size_t taken = value_length(p->at + name + 1, false);
	if (!taken)
		return 0;
	xc_text_addn(out, p->at, name + 1);
	xc_text_add(out, XC_REDACTED);
	return name + 1 + taken;
}

/* "Bearer abc123", "Basic am9lOng=": keeps the first word. */
static size_t credentials(const struct place *p, struct xc_text *out)
{
	size_t word = strncasecmp(p->at, "Bearer ", 7) == 0 ? 7 : strncasecmp(p->at, "Basic ", 6) == 0 ? 6 : 0;
	if (!word || !begins(p))
		return 0;
	size_t len = run_of(p->at + word, "._~+/=-");
	bool is_long = word == 7 && len >= BEARER_LEAST;
	if (len < 8 || !(is_long || xc_scrub_has_digit(p->at + word, len) || p->at[word + len - 1] == '='))
		return 0;
	xc_text_addn(out, p->at, word);
	xc_text_add(out, XC_REDACTED);
	return word + len;
}

/* "://joe:secret@host". A password may contain any of "/?#@". A port consists of digits only and is followed by
 * none. */
static size_t url_user(const struct place *p, struct xc_text *out)
{
	if (strncmp(p->at, "://", 3) != 0 || p->at[3] == '[')
		return 0;
	bool password = false;
	size_t user = 0;
	for (size_t len = 3; len < URL_MOST && p->at[len] && !strchr(" \t\r\n\"'<>`", p->at[len]); len++) {
		const char *at = p->at + len;
		if (strchr("/?#", *at) && (user || !password))
			break;
		if (*at == '@')
			user = len;
		else if (*at == ':' && !password)
			password = !strchr("/?#", at[1 + strspn(at + 1, "0123456789")]);
	}
	if (user <= 3)
		return 0;
	xc_text_add(out, "://" XC_REDACTED);
	return user;
}

static size_t pem(const struct place *p, struct xc_text *out)
{
	if (strncmp(p->at, "-----BEGIN ", 11) != 0)
		return 0;
	const char *end = strstr(p->at, "-----END "), *last = end ? strstr(end + 9, "-----") : NULL;
	xc_text_add(out, XC_REDACTED);
	return last ? (size_t)(last - p->at) + 5 : strlen(p->at);
}

/* Keys with the documented prefix of their issuer. */
static size_t maker_key(const struct place *p, struct xc_text *out)
{
	static const struct {
		const char *start, *others;
		size_t least; /* characters after the prefix */
	} keys[] = {{"AKIA", "", 16},   {"ASIA", "", 16},   {"ghp_", "", 30},   {"gho_", "", 30},
		    {"ghu_", "", 30},   {"ghs_", "", 30},   {"ghr_", "", 30},   {"github_pat_", "_", 20},
		    {"xoxa-", "-", 10}, {"xoxb-", "-", 10}, {"xoxp-", "-", 10}, {"xoxr-", "-", 10},
		    {"xoxs-", "-", 10}};
	for (size_t i = 0; begins(p) && i < XC_COUNT(keys); i++) {
		size_t start = strlen(keys[i].start);
		if (strncmp(p->at, keys[i].start, start) != 0)
			continue;
		size_t len = run_of(p->at + start, keys[i].others);
		if (len < keys[i].least)
			return 0;
		xc_text_add(out, XC_REDACTED);
		return start + len;
	}
	return 0;
}

/* Three parts of base64url separated by dots; the first begins like a JSON object. If there is no token here, none
 * begins within the examined part either. */
static size_t web_token(const struct place *p, struct xc_text *out)
{
	if (p->at < *p->no_token || !begins(p) || strncmp(p->at, "eyJ", 3) != 0)
		return 0;
	size_t len = 0;
	for (int part = 0; part < 3; part++) {
		size_t letters = run_of(p->at + len, "_-");
		bool goes_on = part < 2 && p->at[len + letters] == '.';
		if (part < 2 && letters < RUN_MOST && (letters < 4 || !goes_on)) {
			*p->no_token = p->at + len + letters;
			return 0;
		}
		len += letters + goes_on;
	}
	xc_text_add(out, XC_REDACTED);
	return len;
}

static size_t home(const struct place *p, struct xc_text *out)
{
	static const char *const above[] = {"/home/", "/Users/", "/var/home/", "/export/home/"};
	size_t len = 0;
	if (*p->at != '/' ||
	    (p->at > p->start && xc_scrub_is_path(p->at[-1]) && !(p->at[-1] == '/' && p->at - 1 > p->start)))
		return 0;
	for (size_t i = 0; i < XC_COUNT(above) && !len; i++) {
		size_t name = strlen(above[i]);
		if (strncmp(p->at, above[i], name) == 0 && run_of(p->at + name, "._-+~@%"))
			len = name + run_of(p->at + name, "._-+~@%");
	}
	if (!len && strncmp(p->at, "/root", 5) == 0 && (p->at[5] == '/' || !xc_scrub_is_path(p->at[5])))
		len = 5;
	xc_text_add(out, len ? "~" : "");
	return len;
}

static bool is_letter(unsigned char c)
{
	return (c >= 0x20 && c < 0x7f) || c == '\n' || c == '\t';
}

bool xc_scrub_is_letters(uint64_t address)
{
	unsigned len = 8, letters = 0;
	while (len > 0 && (address >> (8 * (len - 1)) & 255) == 0)
		len--;
	while (letters < len && is_letter((unsigned char)(address >> (8 * (len - 1 - letters)))))
		letters++;
	if (len >= LETTERS_ALWAYS)
		return letters >= LETTERS_LEAST;
	uint64_t top = len ? address >> (8 * (len - 1)) : 0;
	return letters >= LETTERS_LEAST && top != 'U' && top != 'V' && (letters == len || top != '~');
}

static size_t letters(const struct place *p, struct xc_text *out)
{
	if (strncmp(p->at, "0x", 2) != 0 || !begins(p))
		return 0;
	size_t digits = strspn(p->at + 2, "0123456789abcdef");
	if (digits < 2 * LETTERS_LEAST - 1 || digits > 16 || !xc_scrub_is_letters(strtoull(p->at, NULL, 16)))
		return 0;
	xc_text_add(out, XC_REDACTED);
	return 2 + digits;
}

/* The same in decimal, for seven letters and more: shorter ones may be counts. Not in code: JSON has numbers. */
static size_t letters_in_decimal(const struct place *p, struct xc_text *out)
{
	const size_t digits = !p->code && isdigit((unsigned char)*p->at) && begins(p) ? strspn(p->at, "0123456789") : 0;
	if (digits < DECIMAL_LEAST || digits > DECIMAL_MOST || xc_scrub_is_word(p->at[digits]))
		return 0;
	const uint64_t number = strtoull(p->at, NULL, 10);
	if (number >> (8 * (LETTERS_ALWAYS - 1)) == 0 || !xc_scrub_is_letters(number))
		return 0;
	xc_text_add(out, XC_REDACTED);
	return digits;
}

/* Does a rule apply at this character? */
static bool is_start(char c)
{
	return isdigit((unsigned char)c) || c == '=' || c == ':' || c == '-' || c == 'B' || c == 'b' || c == 'A' ||
	       c == 'g' || c == 'x' || c == 'e' || c == '/';
}

static size_t by_shape(const struct place *p, struct xc_text *out)
{
	static size_t (*const rules[])(const struct place *p, struct xc_text *out) = {
		assigned, option, credentials, url_user, pem, maker_key, web_token, home, letters, letters_in_decimal};
	size_t len = 0;
	if (!is_start(*p->at))
		return 0;
	for (size_t i = 0; i < XC_COUNT(rules) && !len; i++)
		len = rules[i](p, out);
	return len;
}

static bool scrub_as(const struct xc_scrub *scrub, const char *text, bool code, bool symbol, struct xc_text *out)
{
	size_t before = out->len;
	bool hides = false;
	const char *no_token = text;
	for (struct place p = {text, text, code, &no_token}; *p.at;) {
		size_t len = xc_scrub_known(scrub, text, p.at, symbol, out);
		if (!len)
			len = by_shape(&p, out);
		hides |= len > 0;
		if (!len)
			xc_text_char(out, *p.at);
		p.at += len ? len : 1;
	}
	if (!hides && out->bytes) {
		out->len = before;
		out->bytes[before] = '\0';
	}
	return hides;
}

bool xc_scrub_text(const struct xc_scrub *scrub, const char *text, bool code, struct xc_text *out)
{
	return scrub_as(scrub, text, code, false, out);
}

bool xc_scrub_symbol(const struct xc_scrub *scrub, const char *text, struct xc_text *out)
{
	return scrub_as(scrub, text, true, true, out);
}

void xc_scrub_fini(struct xc_scrub *scrub)
{
	xc_arena_fini(&scrub->arena);
}
