/* ledger: read once into a sorted list; then only appended to. What a killed run left of its last line is cut off. */
#include "ledger.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../core/jsonvalue.h"
#include "../core/userdir.h"
#include "lines.h"
#include "rawtext.h"
#include "soughtbook.h"

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

struct xc_ledger {
	int fd;
	struct xc_soughtbook book;
	struct entry *entries; /* by path and identity, the last line first */
	size_t count, capacity;
	bool broken; /* it ends in half a line */
};

/* ---- reading ---- */

static bool is_head(const json_t *line, const char *config)
{
	const char *schema = json_string_value(json_object_get(line, "schema"));
	const char *theirs = json_string_value(json_object_get(line, "config"));
	return schema && theirs && !strcmp(schema, SCHEMA) && !strcmp(theirs, config);
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

/* *whole_out: bytes of the lines that are whole and ours; 0: another configuration's, or no ledger. */
static struct xc_error *read_lines(struct xc_ledger *ledger, struct xc_lines *lines, const char *config,
				   struct xc_arena *arena, off_t *whole_out)
{
	struct xc_pool pool = {.arena = arena};
	uint64_t whole = 0;
	bool good = true;
	while (good && xc_lines_next(lines)) {
		json_t *object = json_loadb(lines->text, lines->len, 0, NULL);
		good = whole ? take_entry(ledger, object, &pool) : is_head(object, config);
		json_decref(object);
		whole = good ? lines->whole : whole;
	}
	struct xc_error *err = ferror(lines->file) ? xc_error_errno(errno, "reading it") : NULL;
	xc_pool_fini(&pool);
	*whole_out = (off_t)whole;
	return err;
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

static struct xc_error *resume_from(struct xc_ledger *ledger, const char *path, const char *config,
				    struct xc_arena *arena, off_t *whole_out)
{
	struct xc_lines lines = {.file = fdopen(dup(ledger->fd), "r")};
	if (!lines.file)
		return xc_error_errno(errno, "%s: reading it", path);
	struct xc_error *err = read_lines(ledger, &lines, config, arena, whole_out);
	xc_lines_close(&lines);
	if (ledger->count)
		qsort(ledger->entries, ledger->count, sizeof *ledger->entries, by_identity_and_line);
	return err ? xc_error_wrap(err, "%s", path) : NULL;
}

/* ---- writing ---- */

static struct xc_error *write_line(struct xc_ledger *ledger, json_t *object)
{
	char *text = json_dumps(object, JSON_COMPACT);
	xc_auto(xc_freep) char *line = xc_asprintf("%s\n", text);
	const size_t len = strlen(line);
	free(text);
	json_decref(object);
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

static struct xc_error *start(struct xc_ledger *ledger, const char *config)
{
	return write_line(ledger, json_pack("{s:s, s:s}", "schema", SCHEMA, "config", config));
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
	struct xc_error *err = write_line(ledger, line);
	if (!err)
		xc_soughtbook_learn(&ledger->book, record);
	return err;
}

/* ---- opening ---- */

static int open_file(const char *path)
{
	xc_auto(xc_freep) char *directory = xc_strdup(path);
	char *slash = strrchr(directory, '/');
	if (slash && slash != directory) {
		*slash = '\0';
		xc_userdir_make(directory, 0700);
	}
	return open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
}

/* Where no file can be locked, two runs would write into one another. */
static struct xc_error *lock(int fd, const char *path)
{
	if (!flock(fd, LOCK_EX | LOCK_NB))
		return NULL;
	if (errno != EWOULDBLOCK)
		return xc_error_errno(errno, "%s: locking it", path);
	return xc_error_hint(xc_error_new(XC_ERR_LIMIT, "%s: another run of the same inputs is under way", path),
			     "wait for it, or give --no-cache");
}

static struct xc_error *check_and_lock(int fd, const char *path)
{
	struct stat st;
	if (fd < 0 || fstat(fd, &st))
		return xc_error_errno(errno, "%s", path);
	if (!S_ISREG(st.st_mode))
		return xc_error_new(XC_ERR_UNSUPPORTED, "%s: not a regular file", path);
	return lock(fd, path);
}

/* Was it removed (ledgerdir.h) before we had its lock? */
static bool is_gone(int fd)
{
	struct stat st;
	return !fstat(fd, &st) && !st.st_nlink;
}

static struct xc_error *open_locked(const char *path, int *fd_out)
{
	struct xc_error *err;
	bool again;
	do {
		*fd_out = open_file(path);
		err = check_and_lock(*fd_out, path);
		again = !err && is_gone(*fd_out);
		if (again)
			close(*fd_out);
	} while (again);
	return err;
}

struct xc_error *xc_ledger_open(const char *path, const char *config, bool resume, struct xc_arena *arena,
				struct xc_ledger **ledger_out)
{
	struct xc_ledger *ledger = xc_alloc(sizeof *ledger);
	struct xc_error *err = open_locked(path, &ledger->fd);
	off_t whole = 0;
	ledger->book.arena = arena;
	if (!err && resume)
		err = resume_from(ledger, path, config, arena, &whole);
	if (!err && (ftruncate(ledger->fd, whole) || futimens(ledger->fd, NULL)))
		err = xc_error_errno(errno, "%s", path);
	if (!err && !whole)
		err = start(ledger, config);
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

void xc_ledger_close(struct xc_ledger *ledger)
{
	if (!ledger)
		return;
	if (ledger->fd >= 0)
		close(ledger->fd);
	xc_soughtbook_fini(&ledger->book);
	free(ledger->entries);
	free(ledger);
}
