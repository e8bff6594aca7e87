/* journal: both formats are read as streams, because an entry may contain a whole core; unwanted fields are never
 * stored.
 *
 * The export format (systemd's "Journal Export Formats"): NAME=text; a value with control characters is NAME, a
 * newline, a 64-bit length (little-endian), the bytes, and a newline; an empty line ends an entry. JSON: one object per
 * line; a value is a string, a list of bytes, or a list of these. */
#include "batch/input/journal.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/cursor.h"
#include "core/text/jsonvalue.h"
#include "core/base/text.h"
#include "batch/util/digest.h"
#include "batch/util/textfile.h"

enum {
	NAME_MAX_BYTES = 64,
	VALUE_MAX = 4096,
	LINE_MAX_BYTES = 16 << 20,
	BEFORE_MAX = 16, /* bytes before the object in a line */
	ENTRIES_MAX = 1000 * 1000
};

enum wanted { FILENAME, COMM, UNIT, USER_UNIT, WANTED };

static const char *const names[WANTED] = {"COREDUMP_FILENAME", "COREDUMP_COMM", "COREDUMP_UNIT", "COREDUMP_USER_UNIT"};

struct reading {
	FILE *file;
	struct xc_journal *journal;
	size_t capacity;
	size_t number;              /* of the entry, from 1 */
	const char *fields[WANTED]; /* of the current entry */
};

/* ---- entries ---- */

static struct xc_error *end_entry(struct reading *r)
{
	const char *f[WANTED];
	struct xc_journal *j = r->journal;
	memcpy(f, r->fields, sizeof f);
	memset(r->fields, 0, sizeof r->fields);
	r->number++;
	if (!f[FILENAME] && !f[COMM])
		return NULL;
	if (j->count == ENTRIES_MAX)
		return xc_error_new(XC_ERR_LIMIT, "more than %d crashes", ENTRIES_MAX);
	const char *slash = f[FILENAME] ? strrchr(f[FILENAME], '/') : NULL;
	j->entries = xc_grow(j->entries, j->count, &r->capacity, sizeof *j->entries);
	j->entries[j->count++] = (struct xc_journal_entry){
		.file = slash ? slash + 1 : f[FILENAME],
		.comm = f[COMM],
		.unit = f[UNIT] ? f[UNIT] : f[USER_UNIT],
	};
	return NULL;
}

static int wanted(const char *name)
{
	for (int i = 0; i < WANTED; i++)
		if (!strcmp(name, names[i]))
			return i;
	return WANTED;
}

/* The first of several values counts: systemd's own fields precede those that others can add. */
static void keep(struct reading *r, int which, const char *value)
{
	if (which < WANTED && !r->fields[which] && *value)
		r->fields[which] = which == FILENAME ? xc_arena_strdup(&r->journal->arena, value)
						     : xc_jsonvalue_clean(value, &r->journal->arena);
}

static struct xc_error *no_journal(const struct reading *r)
{
	return xc_error_new(XC_ERR_FORMAT, "entry %zu is not a journal entry (journalctl -o export, or -o json)",
			    r->number + 1);
}

/* ---- the export format ---- */

/* Reads a field's name. Returns its delimiter: '=', '
 * ', EOF, or 0 if it is not a name. */
static int read_name(struct reading *r, char name[NAME_MAX_BYTES + 1])
{
	static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
	size_t len = 0;
	int c;
	while ((c = getc_unlocked(r->file)) != EOF && c != '=' && c != '\n') {
		if (len == NAME_MAX_BYTES || !c || !strchr(allowed, c))
			return 0;
		name[len++] = (char)c;
	}
	name[len] = '\0';
	return c;
}

static void read_line_value(struct reading *r, char value[VALUE_MAX + 1])
{
	size_t len = 0;
	for (int c; (c = getc_unlocked(r->file)) != EOF && c != '\n';)
		if (len < VALUE_MAX)
			value[len++] = (char)c;
	value[len] = '\0';
}

/* Reads a value with a length; false if the file ends inside. */
static bool read_counted_value(struct reading *r, char value[VALUE_MAX + 1])
{
	uint8_t bytes[8];
	if (fread(bytes, 1, sizeof bytes, r->file) != sizeof bytes)
		return false;
	uint64_t left = xc_load_uint(bytes, sizeof bytes, false);
	const size_t kept = left < VALUE_MAX ? (size_t)left : VALUE_MAX;
	bool good = fread(value, 1, kept, r->file) == kept;
	value[kept] = '\0';
	for (left -= kept; good && left; left--)
		good = getc_unlocked(r->file) != EOF;
	return good && getc_unlocked(r->file) == '\n';
}

static struct xc_error *read_export(struct reading *r)
{
	char name[NAME_MAX_BYTES + 1], value[VALUE_MAX + 1];
	struct xc_error *err = NULL;
	while (!err) {
		const int end = read_name(r, name);
		if (end == EOF)
			return *name ? no_journal(r) : end_entry(r);
		if (!end || (end == '=' && !*name))
			return no_journal(r);
		if (!*name) {
			err = end_entry(r);
			continue;
		}
		if (end == '=')
			read_line_value(r, value);
		else if (!read_counted_value(r, value))
			return xc_error_new(XC_ERR_FORMAT, "it ends inside entry %zu", r->number + 1);
		keep(r, wanted(name), value);
	}
	return err;
}

/* ---- JSON ---- */

static void keep_json(struct reading *r, int which, const json_t *value)
{
	char bytes[VALUE_MAX + 1];
	size_t len = 0;
	const json_t *first = json_array_get(value, 0);
	if (json_is_string(value)) {
		keep(r, which, json_string_value(value));
	} else if (json_is_integer(first)) {
		for (size_t i = 0; i < json_array_size(value) && len < VALUE_MAX; i++)
			bytes[len++] = (char)json_integer_value(json_array_get(value, i));
		bytes[len] = '\0';
		keep(r, which, bytes);
	} else if (json_is_string(first)) {
		keep(r, which, json_string_value(first));
	}
}

/* Reads one line, without its end; false at the end of the file. Keeps nothing of a line that is too long, and only the
 * beginning of one that does not begin with an object, because it may never end. */
static bool read_line(struct reading *r, struct xc_text *line)
{
	int c = EOF;
	bool any = false, whole = true;
	line->len = 0;
	while ((c = getc_unlocked(r->file)) != EOF && c != '\n') {
		any = true;
		whole = whole && line->len < LINE_MAX_BYTES;
		if (whole)
			xc_text_char(line, (char)c);
		if (line->len == BEFORE_MAX && !memchr(line->bytes, '{', BEFORE_MAX))
			return true;
	}
	if (!whole)
		line->len = 0;
	return any || c == '\n';
}

/* `journalctl -o json-seq` and `json-sse` put a prefix before the object. */
static struct xc_error *read_object(struct reading *r, const struct xc_text *line)
{
	const char *object = memchr(line->bytes, '{', line->len);
	json_t *entry =
		object ? json_loadb(object, line->len - (size_t)(object - line->bytes), JSON_ALLOW_NUL, NULL) : NULL;
	if (!json_is_object(entry)) {
		json_decref(entry);
		return no_journal(r);
	}
	for (int i = 0; i < WANTED; i++)
		keep_json(r, i, json_object_get(entry, names[i]));
	json_decref(entry);
	return end_entry(r);
}

static struct xc_error *read_json(struct reading *r)
{
	struct xc_text line = {0};
	struct xc_error *err = NULL;
	while (!err && read_line(r, &line))
		if (line.len)
			err = read_object(r, &line);
	xc_text_fini(&line);
	return err;
}

/* ---- both formats ---- */

static int by_text(const char *left, const char *right)
{
	return strcmp(left ? left : "", right ? right : "");
}

static int by_file(const void *a, const void *b)
{
	const struct xc_journal_entry *left = a, *right = b;
	return by_text(left->file, right->file);
}

static int by_all(const void *a, const void *b)
{
	const struct xc_journal_entry *left = a, *right = b;
	int order = by_file(a, b);
	order = order ? order : by_text(left->unit, right->unit);
	return order ? order : by_text(left->comm, right->comm);
}

static struct xc_error *read_journal(struct reading *r)
{
	const int first = getc(r->file);
	ungetc(first, r->file);
	const bool fields = first == EOF || first == '_' || isupper(first);
	struct xc_error *err = fields ? read_export(r) : read_json(r);
	if (!err && ferror(r->file))
		err = xc_error_errno(errno, "reading it");
	if (!err && r->journal->count)
		qsort(r->journal->entries, r->journal->count, sizeof *r->journal->entries, by_all);
	return err;
}

struct xc_error *xc_journal_read(const char *path, struct xc_journal **journal_out)
{
	struct reading r = {.file = NULL};
	struct xc_error *err = xc_textfile_open(path, &r.file);
	if (err)
		return err;
	r.journal = xc_alloc(sizeof *r.journal);
	err = read_journal(&r);
	xc_textfile_close(r.file);
	if (err) {
		xc_journal_free(r.journal);
		return xc_error_wrap(err, "%s", xc_textfile_name(path));
	}
	*journal_out = r.journal;
	return NULL;
}

const char *xc_journal_digest(const struct xc_journal *journal, struct xc_arena *arena)
{
	char hex[SHA256_DIGEST_STRING_LENGTH];
	SHA2_CTX hash;
	SHA256Init(&hash);
	for (size_t i = 0; i < journal->count; i++) {
		xc_digest_text(&hash, journal->entries[i].file);
		xc_digest_text(&hash, journal->entries[i].comm);
		xc_digest_text(&hash, journal->entries[i].unit);
	}
	SHA256End(&hash, hex);
	return xc_arena_strdup(arena, hex);
}

void xc_journal_free(struct xc_journal *journal)
{
	if (!journal)
		return;
	free(journal->entries);
	xc_arena_fini(&journal->arena);
	free(journal);
}

/* ---- hints ---- */

static const struct xc_journal_entry *entry_named(const struct xc_journal *journal, const char *name)
{
	const struct xc_journal_entry key = {.file = name};
	return journal->count ? bsearch(&key, journal->entries, journal->count, sizeof key, by_file) : NULL;
}

/* The core may have been stored compressed and unpacked later. */
static const struct xc_journal_entry *entry_of(const struct xc_journal *journal, const char *name)
{
	static const char *const stored_as[] = {"", ".zst", ".lz4", ".xz"};
	const struct xc_journal_entry *found = NULL;
	for (size_t i = 0; i < XC_COUNT(stored_as) && !found; i++) {
		xc_auto(xc_freep) char *stored = xc_asprintf("%s%s", name, stored_as[i]);
		found = entry_named(journal, stored);
	}
	return found;
}

size_t xc_journal_hint(const struct xc_journal *journal, struct xc_inputs *inputs)
{
	size_t count = 0;
	for (size_t i = 0; i < inputs->count; i++) {
		struct xc_input *input = &inputs->inputs[i];
		const char *slash = strrchr(input->file, '/');
		const struct xc_journal_entry *entry = entry_of(journal, slash ? slash + 1 : input->file);
		if (!entry)
			continue;
		count++;
		input->unit = xc_arena_strdup(&inputs->arena, entry->unit);
		if (entry->comm)
			input->comm = xc_arena_strdup(&inputs->arena, entry->comm);
	}
	return count;
}
