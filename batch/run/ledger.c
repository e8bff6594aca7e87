/* ledger: read once into a sorted list; then only appended to. What a killed run left of its last line is cut off. What is damaged further in
 * front is laid over with blanks in place, so that nothing else is moved or lost if that, too, is interrupted. */
#include "batch/run/ledger.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/text/jsonvalue.h"
#include "batch/run/ledgerdir.h"
#include "batch/record/lines.h"
#include "batch/util/rawtext.h"
#include "batch/util/sealed.h"
#include "batch/run/soughtbook.h"

#define SCHEMA "xcore.ledger/4"

/* Which file it was, by numbers. */
struct identity {
	uint64_t size, mtime, ctime, ino;
};

struct entry {
	const char *path;
	struct identity identity;
	size_t number; /* of its line */
	struct xc_record *record;
};

/* Bytes of lines that follow one another, without the last one's end. */
struct stretch {
	uint64_t at, end;
};

struct xc_ledger {
	int fd;
	const char *config;
	struct xc_soughtbook book;
	struct entry *entries; /* by path and identity, the last line first */
	size_t count, capacity;
	bool broken; /* it ends in half a line */
	struct stretch *lost;
	size_t lost_count, lost_capacity, lost_lines;
};

/* ---- reading ---- */

/* The first line, without its end; malloc'ed. */
static char *head_of(const char *config)
{
	json_t *head = json_pack("{s:s, s:s}", "schema", SCHEMA, "config", config);
	char *text = json_dumps(head, JSON_COMPACT);
	json_decref(head);
	return text;
}

static bool read_number(const json_t *line, const char *key, uint64_t *number_out)
{
	const char *text = json_string_value(json_object_get(line, key));
	char *end;
	if (!text || !*text)
		return false;
	*number_out = strtoull(text, &end, 10);
	return !*end;
}

static bool take_entry(struct xc_ledger *ledger, const json_t *line, struct xc_pool *pool)
{
	struct entry e = {.number = ledger->count};
	e.path = xc_rawtext_parse(json_object_get(line, "path"), pool->arena);
	if (!e.path || !read_number(line, "size", &e.identity.size) || !read_number(line, "mtime", &e.identity.mtime) ||
	    !read_number(line, "ctime", &e.identity.ctime) || !read_number(line, "ino", &e.identity.ino))
		return false;
	struct xc_error *err = xc_record_parse(json_object_get(line, "record"), pool, &e.record);
	if (err) {
		xc_error_free(err);
		return false;
	}
	if (!xc_soughtbook_read(&ledger->book, json_object_get(line, "sought"), pool, e.record))
		return false;
	ledger->entries = xc_grow(ledger->entries, ledger->count, &ledger->capacity, sizeof e);
	ledger->entries[ledger->count++] = e;
	return true;
}

static bool is_blank(const char *text, size_t len)
{
	while (len && text[len - 1] == ' ')
		len--;
	return !len;
}

static bool is_our_head(const struct xc_lines *lines, const char *config)
{
	char *head = head_of(config);
	const size_t len = strlen(head);
	const bool ours =
		lines->len >= len && !memcmp(lines->text, head, len) && is_blank(lines->text + len, lines->len - len);
	free(head);
	return ours;
}

static bool is_a_head(const struct xc_lines *lines)
{
	json_t *object = json_loadb(lines->text, lines->len, 0, NULL);
	const bool head = json_object_get(object, "schema") != NULL;
	json_decref(object);
	return head;
}

static bool take_line(struct xc_ledger *ledger, const struct xc_lines *lines, struct xc_pool *pool)
{
	json_t *object = xc_sealed_parse(lines->text, lines->len, ledger->config);
	const bool good = object && take_entry(ledger, object, pool);
	json_decref(object);
	return good;
}

static void lose(struct xc_ledger *ledger, uint64_t at, uint64_t end)
{
	struct stretch *last = ledger->lost_count ? &ledger->lost[ledger->lost_count - 1] : NULL;
	ledger->lost_lines++;
	if (last && last->end + 1 == at) {
		last->end = end;
		return;
	}
	ledger->lost = xc_grow(ledger->lost, ledger->lost_count, &ledger->lost_capacity, sizeof *ledger->lost);
	ledger->lost[ledger->lost_count++] = (struct stretch){at, end};
}

/* A line that ends, also one that is too long to be read: its beginning, which is none of ours. */
static bool next_line(struct xc_lines *lines)
{
	return xc_lines_next(lines) || (lines->too_long && xc_lines_skip(lines));
}

/* Bytes up to the end of the last line that counts. Where none does and it begins as ledgers do, it is another configuration's. */
static uint64_t read_lines(struct xc_ledger *ledger, struct xc_lines *lines, struct xc_pool *pool)
{
	uint64_t whole = 0, at = 0;
	bool other = false;
	for (; next_line(lines); at = lines->whole) {
		other = at ? other : is_a_head(lines);
		if (at ? take_line(ledger, lines, pool) : is_our_head(lines, ledger->config))
			whole = lines->whole;
		else if (!is_blank(lines->text, lines->len))
			lose(ledger, at, lines->whole - 1);
	}
	if (other && !whole)
		ledger->lost_count = ledger->lost_lines = 0;
	return whole;
}

static int by_number(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int by_identity(const void *a, const void *b)
{
	const struct entry *left = a, *right = b;
	const struct identity *l = &left->identity, *r = &right->identity;
	int order = strcmp(left->path, right->path);
	order = order ? order : by_number(l->size, r->size);
	order = order ? order : by_number(l->mtime, r->mtime);
	order = order ? order : by_number(l->ctime, r->ctime);
	return order ? order : by_number(l->ino, r->ino);
}

static int by_identity_and_line(const void *a, const void *b)
{
	const struct entry *left = a, *right = b;
	int order = by_identity(a, b);
	return order ? order : by_number(right->number, left->number);
}

/* ---- mending ---- */

static bool write_at(int fd, const char *bytes, size_t len, uint64_t at)
{
	return pwrite(fd, bytes, len, (off_t)at) == (ssize_t)len;
}

static void blank_out(int fd, const struct stretch *lost)
{
	static char blanks[1 << 12];
	bool good = true;
	memset(blanks, ' ', sizeof blanks);
	for (uint64_t at = lost->at; good && at < lost->end; at += sizeof blanks) {
		const uint64_t left = lost->end - at;
		good = write_at(fd, blanks, left < sizeof blanks ? (size_t)left : sizeof blanks, at);
	}
}

/* The first line anew, before what is behind it is blanked out: what a kill leaves can be told for a ledger (ledgerdir.h) at any time. False
 * when it had not as many bytes. */
static bool write_head(const struct xc_ledger *ledger, struct stretch *lost)
{
	char *head = head_of(ledger->config);
	const size_t len = strlen(head);
	const bool good = len <= lost->end && write_at(ledger->fd, head, len, 0);
	free(head);
	lost->at = len;
	return good;
}

static bool mend_each(struct xc_ledger *ledger, uint64_t whole)
{
	if (!ledger->lost->at && !write_head(ledger, ledger->lost))
		return false;
	for (size_t i = 0; i < ledger->lost_count && ledger->lost[i].at < whole; i++)
		blank_out(ledger->fd, &ledger->lost[i]);
	return true;
}

/* Nothing of what is behind `whole`, which is cut off. What cannot be blanked out is merely lost again the next time. False when the first line
 * is not what it should be. */
static bool mend(struct xc_ledger *ledger, uint64_t whole)
{
	const int flags = fcntl(ledger->fd, F_GETFL);
	if (!ledger->lost_count || !whole)
		return true;
	if (flags < 0 || fcntl(ledger->fd, F_SETFL, flags & ~O_APPEND)) /* else pwrite, too, appends */
		return ledger->lost->at;
	const bool good = mend_each(ledger, whole);
	(void)!fcntl(ledger->fd, F_SETFL, flags); /* without that write_line goes to the end itself */
	return good;
}

static void lose_entries(struct xc_ledger *ledger)
{
	ledger->lost_lines += ledger->count;
	ledger->count = 0;
	xc_soughtbook_fini(&ledger->book);
}

/* *whole_out: bytes that stay; 0: none, as it is another configuration's, no ledger, or cannot be mended. */
static struct xc_error *resume_from(struct xc_ledger *ledger, const char *path, struct xc_arena *arena,
				    off_t *whole_out)
{
	struct xc_lines lines = {.file = fdopen(dup(ledger->fd), "r")};
	struct xc_pool pool = {.arena = arena};
	if (!lines.file)
		return xc_error_errno(errno, "%s: reading it", path);
	uint64_t whole = read_lines(ledger, &lines, &pool);
	struct xc_error *err = ferror(lines.file) ? xc_error_errno(errno, "%s: reading it", path) : NULL;
	xc_pool_fini(&pool);
	xc_lines_close(&lines);
	if (!err && !mend(ledger, whole)) {
		lose_entries(ledger);
		whole = 0;
	}
	*whole_out = (off_t)whole;
	if (ledger->count)
		qsort(ledger->entries, ledger->count, sizeof *ledger->entries, by_identity_and_line);
	return err;
}

/* ---- writing ---- */

/* Takes the line. */
static struct xc_error *write_line(struct xc_ledger *ledger, char *text)
{
	xc_auto(xc_freep) char *line = text;
	const size_t len = strlen(line);
	if (len > XC_LINES_MAX)
		return xc_error_new(XC_ERR_LIMIT, "writing what is finished: a line of %zu bytes", len);
	if (ledger->broken)
		return xc_error_new(XC_ERR_IO, "writing what is finished: the last line could not be taken back");
	const off_t end = lseek(ledger->fd, 0, SEEK_END);
	const ssize_t n = write(ledger->fd, line, len);
	if (n == (ssize_t)len)
		return NULL;
	struct xc_error *err = xc_error_errno(n < 0 ? errno : ENOSPC, "writing what is finished");
	if (n > 0 && (end < 0 || ftruncate(ledger->fd, end))) /* half a line would take the next one with it */
		ledger->broken = true;
	return err;
}

static struct xc_error *start(struct xc_ledger *ledger)
{
	xc_auto(xc_freep) char *head = head_of(ledger->config);
	return write_line(ledger, xc_asprintf("%s\n", head));
}

static struct identity identity_of(const struct xc_input *input)
{
	return (struct identity){input->size, (uint64_t)input->mtime_ns, (uint64_t)input->ctime_ns, input->ino};
}

/* As text: not all readers of JSON keep 64 bits. */
static void set_number(json_t *line, const char *key, uint64_t number)
{
	char text[32];
	snprintf(text, sizeof text, "%" PRIu64, number);
	xc_jsonvalue_set(line, key, xc_jsonvalue_text(text));
}

struct xc_error *xc_ledger_add(struct xc_ledger *ledger, const struct xc_input *input, const struct xc_record *record)
{
	const struct identity identity = identity_of(input);
	json_t *line = json_object();
	xc_jsonvalue_set(line, "path", xc_rawtext_json(input->path));
	set_number(line, "size", identity.size);
	set_number(line, "mtime", identity.mtime);
	set_number(line, "ctime", identity.ctime);
	set_number(line, "ino", identity.ino);
	xc_jsonvalue_set(line, "record", xc_record_json(record));
	xc_jsonvalue_set(line, "sought", xc_soughtbook_json(&ledger->book, record));
	struct xc_error *err = write_line(ledger, xc_sealed_line(line, ledger->config));
	if (!err)
		xc_soughtbook_learn(&ledger->book, record);
	return err;
}

/* ---- opening ---- */

struct xc_error *xc_ledger_open(const char *path, const char *config, bool resume, struct xc_arena *arena,
				struct xc_ledger **ledger_out)
{
	struct xc_ledger *ledger = xc_alloc(sizeof *ledger);
	struct xc_error *err = xc_ledgerdir_open(path, &ledger->fd);
	off_t whole = 0;
	ledger->book.arena = arena;
	ledger->config = xc_arena_strdup(arena, config);
	if (!err && resume)
		err = resume_from(ledger, path, arena, &whole);
	if (!err && (ftruncate(ledger->fd, whole) || futimens(ledger->fd, NULL)))
		err = xc_error_errno(errno, "%s", path);
	if (!err && !whole)
		err = start(ledger);
	if (err) {
		xc_ledger_close(ledger);
		return err;
	}
	*ledger_out = ledger;
	return NULL;
}

/* The first entry that is not before this one. */
static size_t place_of(const struct xc_ledger *ledger, const struct entry *key)
{
	size_t lo = 0;
	for (size_t hi = ledger->count, middle; lo < hi;) {
		middle = lo + (hi - lo) / 2;
		if (by_identity(&ledger->entries[middle], key) < 0)
			lo = middle + 1;
		else
			hi = middle;
	}
	return lo;
}

static bool is_nothing(const struct identity *identity)
{
	return !identity->mtime && !identity->ctime && !identity->ino;
}

static bool is_meant(const struct entry *e, const struct entry *key)
{
	return is_nothing(&key->identity) ? !strcmp(e->path, key->path) && e->identity.size == key->identity.size
					  : !by_identity(e, key);
}

struct xc_record *xc_ledger_find(const struct xc_ledger *ledger, const struct xc_input *input)
{
	const struct entry key = {.path = input->path, .identity = identity_of(input)}, *found = NULL;
	for (size_t at = place_of(ledger, &key); at < ledger->count && is_meant(&ledger->entries[at], &key); at++)
		if (!found || ledger->entries[at].number > found->number)
			found = &ledger->entries[at];
	return found ? found->record : NULL;
}

size_t xc_ledger_lost(const struct xc_ledger *ledger)
{
	return ledger->lost_lines;
}

void xc_ledger_close(struct xc_ledger *ledger)
{
	if (!ledger)
		return;
	if (ledger->fd >= 0)
		close(ledger->fd);
	xc_soughtbook_fini(&ledger->book);
	free(ledger->entries);
	free(ledger->lost);
	free(ledger);
}
