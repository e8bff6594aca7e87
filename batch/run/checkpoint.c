/* checkpoint: read once into a sorted list, then only appended to. An incomplete last line, left by a killed run, is
 * cut off. A damaged line further up is overwritten with blanks in place: nothing else moves, and an interruption of
 * the repair loses nothing. */
#include "batch/run/checkpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/text/jsonvalue.h"
#include "batch/run/checkpoint_dir.h"
#include "batch/record/json_lines.h"
#include "batch/util/rawtext.h"
#include "batch/util/checksummed_line.h"
#include "batch/run/dependency_table.h"

#define SCHEMA "xcore.ledger/4"

/* Identifies a file by numbers. */
struct identity {
	uint64_t size, mtime, ctime, ino;
};

struct entry {
	const char *path;
	struct identity identity;
	size_t number; /* line number */
	struct xc_record *record;
};

/* A range of consecutive lines, without the end of the last one. */
struct stretch {
	uint64_t at, end;
};

struct xc_checkpoint {
	int fd;
	const char *config;
	struct xc_dependency_table table;
	struct entry *entries; /* by path and identity, the latest line first */
	size_t count, capacity;
	bool broken; /* it ends in an incomplete line */
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

static bool take_entry(struct xc_checkpoint *checkpoint, const json_t *line, struct xc_pool *pool)
{
	struct entry e = {.number = checkpoint->count};
	e.path = xc_rawtext_parse(json_object_get(line, "path"), pool->arena);
	if (!e.path || !read_number(line, "size", &e.identity.size) || !read_number(line, "mtime", &e.identity.mtime) ||
	    !read_number(line, "ctime", &e.identity.ctime) || !read_number(line, "ino", &e.identity.ino))
		return false;
	struct xc_error *err = xc_record_parse(json_object_get(line, "record"), pool, &e.record);
	if (err) {
		xc_error_free(err);
		return false;
	}
	if (!xc_dependency_table_read(&checkpoint->table, json_object_get(line, "sought"), pool, e.record))
		return false;
	checkpoint->entries = xc_grow(checkpoint->entries, checkpoint->count, &checkpoint->capacity, sizeof e);
	checkpoint->entries[checkpoint->count++] = e;
	return true;
}

static bool is_blank(const char *text, size_t len)
{
	while (len && text[len - 1] == ' ')
		len--;
	return !len;
}

static bool is_our_head(const struct xc_json_lines *lines, const char *config)
{
	char *head = head_of(config);
	const size_t len = strlen(head);
	const bool ours =
		lines->len >= len && !memcmp(lines->text, head, len) && is_blank(lines->text + len, lines->len - len);
	free(head);
	return ours;
}

static bool is_a_head(const struct xc_json_lines *lines)
{
	json_t *object = json_loadb(lines->text, lines->len, 0, NULL);
	const bool head = json_object_get(object, "schema") != NULL;
	json_decref(object);
	return head;
}

static bool take_line(struct xc_checkpoint *checkpoint, const struct xc_json_lines *lines, struct xc_pool *pool)
{
	json_t *object = xc_checksummed_line_parse(lines->text, lines->len, checkpoint->config);
	const bool good = object && take_entry(checkpoint, object, pool);
	json_decref(object);
	return good;
}

static void lose(struct xc_checkpoint *checkpoint, uint64_t at, uint64_t end)
{
	struct stretch *last = checkpoint->lost_count ? &checkpoint->lost[checkpoint->lost_count - 1] : NULL;
	checkpoint->lost_lines++;
	if (last && last->end + 1 == at) {
		last->end = end;
		return;
	}
	checkpoint->lost =
		xc_grow(checkpoint->lost, checkpoint->lost_count, &checkpoint->lost_capacity, sizeof *checkpoint->lost);
	checkpoint->lost[checkpoint->lost_count++] = (struct stretch){at, end};
}

/* Reads a complete line. For a line that is too long, only its beginning, which is none of ours. */
static bool next_line(struct xc_json_lines *lines)
{
	return xc_json_lines_next(lines) || (lines->too_long && xc_json_lines_skip(lines));
}

/* Returns the offset of the end of the last valid line. If no line is valid but the file begins like a checkpoint, it
 * has another configuration. */
static uint64_t read_lines(struct xc_checkpoint *checkpoint, struct xc_json_lines *lines, struct xc_pool *pool)
{
	uint64_t whole = 0, at = 0;
	bool other = false;
	for (; next_line(lines); at = lines->whole) {
		other = at ? other : is_a_head(lines);
		if (at ? take_line(checkpoint, lines, pool) : is_our_head(lines, checkpoint->config))
			whole = lines->whole;
		else if (!is_blank(lines->text, lines->len))
			lose(checkpoint, at, lines->whole - 1);
	}
	if (other && !whole)
		checkpoint->lost_count = checkpoint->lost_lines = 0;
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

/* ---- repairing ---- */

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

/* Writes the first line again, before blanking what follows it: so a kill at any time leaves a recognisable checkpoint
 * (checkpoint_dir.h). False if the old first line had another length. */
static bool write_head(const struct xc_checkpoint *checkpoint, struct stretch *lost)
{
	char *head = head_of(checkpoint->config);
	const size_t len = strlen(head);
	const bool good = len <= lost->end && write_at(checkpoint->fd, head, len, 0);
	free(head);
	lost->at = len;
	return good;
}

static bool mend_each(struct xc_checkpoint *checkpoint, uint64_t whole)
{
	if (!checkpoint->lost->at && !write_head(checkpoint, checkpoint->lost))
		return false;
	for (size_t i = 0; i < checkpoint->lost_count && checkpoint->lost[i].at < whole; i++)
		blank_out(checkpoint->fd, &checkpoint->lost[i]);
	return true;
}

/* Cuts off everything after `whole`. A range that cannot be blanked is found damaged again the next time. False if the
 * first line is not as expected. */
static bool mend(struct xc_checkpoint *checkpoint, uint64_t whole)
{
	const int flags = fcntl(checkpoint->fd, F_GETFL);
	if (!checkpoint->lost_count || !whole)
		return true;
	if (flags < 0 || fcntl(checkpoint->fd, F_SETFL, flags & ~O_APPEND)) /* otherwise pwrite appends, too */
		return checkpoint->lost->at;
	const bool good = mend_each(checkpoint, whole);
	(void)!fcntl(checkpoint->fd, F_SETFL, flags); /* if this fails, write_line seeks to the end itself */
	return good;
}

static void lose_entries(struct xc_checkpoint *checkpoint)
{
	checkpoint->lost_lines += checkpoint->count;
	checkpoint->count = 0;
	xc_dependency_table_fini(&checkpoint->table);
}

/* *whole_out: bytes to keep; 0: none, because the file is of another configuration, is no checkpoint, or cannot be
 * repaired. */
static struct xc_error *resume_from(struct xc_checkpoint *checkpoint, const char *path, struct xc_arena *arena,
				    off_t *whole_out)
{
	struct xc_json_lines lines = {.file = fdopen(dup(checkpoint->fd), "r")};
	struct xc_pool pool = {.arena = arena};
	if (!lines.file)
		return xc_error_errno(errno, "%s: reading it", path);
	uint64_t whole = read_lines(checkpoint, &lines, &pool);
	struct xc_error *err = ferror(lines.file) ? xc_error_errno(errno, "%s: reading it", path) : NULL;
	xc_pool_fini(&pool);
	xc_json_lines_close(&lines);
	if (!err && !mend(checkpoint, whole)) {
		lose_entries(checkpoint);
		whole = 0;
	}
	*whole_out = (off_t)whole;
	if (checkpoint->count)
		qsort(checkpoint->entries, checkpoint->count, sizeof *checkpoint->entries, by_identity_and_line);
	return err;
}

/* ---- writing ---- */

/* Takes ownership of the line. */
static struct xc_error *write_line(struct xc_checkpoint *checkpoint, char *text)
{
	xc_auto(xc_freep) char *line = text;
	const size_t len = strlen(line);
	if (len > XC_JSON_LINES_MAX)
		return xc_error_new(XC_ERR_LIMIT, "writing the checkpoint: a line of %zu bytes", len);
	if (checkpoint->broken)
		return xc_error_new(XC_ERR_IO, "writing the checkpoint: the last line could not be undone");
	const off_t end = lseek(checkpoint->fd, 0, SEEK_END);
	const ssize_t n = write(checkpoint->fd, line, len);
	if (n == (ssize_t)len)
		return NULL;
	struct xc_error *err = xc_error_errno(n < 0 ? errno : ENOSPC, "writing the checkpoint");
	/* an incomplete line would spoil the next one, too */
	if (n > 0 && (end < 0 || ftruncate(checkpoint->fd, end)))
		checkpoint->broken = true;
	return err;
}

static struct xc_error *start(struct xc_checkpoint *checkpoint)
{
	xc_auto(xc_freep) char *head = head_of(checkpoint->config);
	return write_line(checkpoint, xc_asprintf("%s\n", head));
}

static struct identity identity_of(const struct xc_input *input)
{
	return (struct identity){input->size, (uint64_t)input->mtime_ns, (uint64_t)input->ctime_ns, input->ino};
}

/* As text, because not all JSON readers keep 64 bits. */
static void set_number(json_t *line, const char *key, uint64_t number)
{
	char text[32];
	snprintf(text, sizeof text, "%" PRIu64, number);
	xc_jsonvalue_set(line, key, xc_jsonvalue_text(text));
}

struct xc_error *xc_checkpoint_add(struct xc_checkpoint *checkpoint, const struct xc_input *input,
				   const struct xc_record *record)
{
	const struct identity identity = identity_of(input);
	json_t *line = json_object();
	xc_jsonvalue_set(line, "path", xc_rawtext_json(input->path));
	set_number(line, "size", identity.size);
	set_number(line, "mtime", identity.mtime);
	set_number(line, "ctime", identity.ctime);
	set_number(line, "ino", identity.ino);
	xc_jsonvalue_set(line, "record", xc_record_json(record));
	xc_jsonvalue_set(line, "sought", xc_dependency_table_json(&checkpoint->table, record));
	struct xc_error *err = write_line(checkpoint, xc_checksummed_line_format(line, checkpoint->config));
	if (!err)
		xc_dependency_table_learn(&checkpoint->table, record);
	return err;
}

/* ---- opening ---- */

struct xc_error *xc_checkpoint_open(const char *path, const char *config, bool resume, struct xc_arena *arena,
				    struct xc_checkpoint **checkpoint_out)
{
	struct xc_checkpoint *checkpoint = xc_alloc(sizeof *checkpoint);
	struct xc_error *err = xc_checkpoint_dir_open(path, &checkpoint->fd);
	off_t whole = 0;
	checkpoint->table.arena = arena;
	checkpoint->config = xc_arena_strdup(arena, config);
	if (!err && resume)
		err = resume_from(checkpoint, path, arena, &whole);
	if (!err && (ftruncate(checkpoint->fd, whole) || futimens(checkpoint->fd, NULL)))
		err = xc_error_errno(errno, "%s", path);
	if (!err && !whole)
		err = start(checkpoint);
	if (err) {
		xc_checkpoint_close(checkpoint);
		return err;
	}
	*checkpoint_out = checkpoint;
	return NULL;
}

/* The first entry that does not sort before the key. */
static size_t place_of(const struct xc_checkpoint *checkpoint, const struct entry *key)
{
	size_t lo = 0;
	for (size_t hi = checkpoint->count, middle; lo < hi;) {
		middle = lo + (hi - lo) / 2;
		if (by_identity(&checkpoint->entries[middle], key) < 0)
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

struct xc_record *xc_checkpoint_find(const struct xc_checkpoint *checkpoint, const struct xc_input *input)
{
	const struct entry key = {.path = input->path, .identity = identity_of(input)}, *found = NULL;
	for (size_t at = place_of(checkpoint, &key); at < checkpoint->count && is_meant(&checkpoint->entries[at], &key);
	     at++)
		if (!found || checkpoint->entries[at].number > found->number)
			found = &checkpoint->entries[at];
	return found ? found->record : NULL;
}

size_t xc_checkpoint_lost(const struct xc_checkpoint *checkpoint)
{
	return checkpoint->lost_lines;
}

void xc_checkpoint_close(struct xc_checkpoint *checkpoint)
{
	if (!checkpoint)
		return;
	if (checkpoint->fd >= 0)
		close(checkpoint->fd);
	xc_dependency_table_fini(&checkpoint->table);
	free(checkpoint->entries);
	free(checkpoint->lost);
	free(checkpoint);
}
