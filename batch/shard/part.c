/* part: JSON lines. The first line decides whether the file is a part; the others are records. */
#include "batch/shard/part.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/text/jsonvalue.h"
#include "batch/record/json_lines.h"
#include "batch/shard/shard.h"
#include "batch/util/wildcard.h"

char *xc_part_name(unsigned shard, unsigned of)
{
	return xc_asprintf("part-%05u-of-%05u.jsonl", shard, of);
}

/* ---- writing ---- */

static void set_some(json_t *head, const char *name, size_t count)
{
	if (count)
		xc_jsonvalue_set(head, name, xc_jsonvalue_count(count));
}

static json_t *head_of(const struct xc_part *part)
{
	json_t *head = json_object();
	xc_jsonvalue_set(head, "schema", xc_jsonvalue_text(XC_PART_SCHEMA));
	xc_jsonvalue_set(head, "version", xc_jsonvalue_text(part->version));
	xc_jsonvalue_set(head, "config", xc_jsonvalue_text(part->config));
	xc_jsonvalue_set(head, "manifest", xc_jsonvalue_text(part->manifest));
	xc_jsonvalue_set(head, "shard", xc_jsonvalue_count(part->shard));
	xc_jsonvalue_set(head, "of", xc_jsonvalue_count(part->of));
	xc_jsonvalue_set(head, "cores", xc_jsonvalue_count(part->count));
	if (part->run)
		xc_jsonvalue_set(head, "run", xc_jsonvalue_text(part->run));
	if (part->redacted)
		xc_jsonvalue_set(head, "redacted", json_true());
	set_some(head, "left_out", part->left_out);
	set_some(head, "unread", part->unread);
	set_some(head, "unlooked", part->unlooked);
	return head;
}

struct xc_error *xc_part_write(const struct xc_part *part, FILE *out)
{
	bool good = xc_json_lines_write(head_of(part), out);
	for (size_t i = 0; good && i < part->count; i++)
		good = xc_json_lines_write(xc_record_json(part->records[i]), out);
	return good ? NULL : xc_error_errno(errno, "writing a part");
}

/* ---- reading ---- */

/* An absent member is zero (set_some). */
static bool take_some(const json_t *head, const char *name, size_t *count_out)
{
	json_int_t count = 0;
	if (json_object_get(head, name) && !xc_json_lines_number(head, name, INT32_MAX, &count))
		return false;
	*count_out = (size_t)count;
	return true;
}

static bool parse_head(const json_t *head, struct xc_arena *arena, struct xc_part *part, size_t *cores_out)
{
	const char *schema;
	json_int_t shard, of, cores;
	if (!xc_json_lines_text(head, "schema", arena, &schema) || strcmp(schema, XC_PART_SCHEMA) != 0 ||
	    !xc_json_lines_text(head, "version", arena, &part->version) ||
	    !xc_json_lines_text(head, "config", arena, &part->config) ||
	    !xc_json_lines_text(head, "manifest", arena, &part->manifest) ||
	    !xc_json_lines_number(head, "of", XC_SHARDS_MAX, &of) ||
	    !xc_json_lines_number(head, "shard", of - 1, &shard) ||
	    !xc_json_lines_number(head, "cores", INT64_MAX, &cores) || !take_some(head, "left_out", &part->left_out) ||
	    !take_some(head, "unread", &part->unread) || !take_some(head, "unlooked", &part->unlooked))
		return false;
	if (!xc_json_lines_text(head, "run", arena, &part->run) && json_object_get(head, "run"))
		return false;
	part->redacted = json_is_true(json_object_get(head, "redacted"));
	part->shard = (unsigned)shard;
	part->of = (unsigned)of;
	*cores_out = (size_t)cores;
	return true;
}

static struct xc_error *read_head(struct xc_json_lines *lines, struct xc_arena *arena, struct xc_part *part,
				  size_t *cores_out)
{
	json_t *head = xc_json_lines_json(lines);
	bool good = parse_head(head, arena, part, cores_out);
	json_decref(head);
	return good ? NULL : xc_json_lines_wrong(lines, "not a part of a triage (" XC_PART_SCHEMA ")");
}

static struct xc_error *read_records(struct xc_json_lines *lines, struct xc_pool *pool, struct xc_part *part,
				     size_t cores)
{
	struct xc_record **records = NULL;
	struct xc_error *err = NULL;
	size_t capacity = 0;
	while (!err && part->count < cores && xc_json_lines_next(lines)) {
		records = xc_grow(records, part->count, &capacity, sizeof *records);
		err = xc_record_read_into(lines->text, lines->len, pool, &records[part->count++]);
	}
	if (err)
		err = xc_error_wrap(err, "line %u", lines->number);
	else if (part->count < cores && lines->too_long)
		err = xc_json_lines_wrong(lines, "");
	else if (part->count < cores || !xc_json_lines_at_end(lines))
		err = xc_error_new(XC_ERR_FORMAT, "it should have %zu records, but ends or continues after %zu", cores,
				   part->count);
	part->records = xc_arena_alloc(pool->arena, (part->count + 1) * sizeof *records);
	if (part->count)
		memcpy(part->records, records, part->count * sizeof *records);
	free(records);
	return err;
}

static struct xc_error *read_part(const char *path, struct xc_pool *pool, struct xc_part **part_out)
{
	const char *slash = strrchr(path, '/');
	struct xc_part *part = xc_arena_alloc(pool->arena, sizeof *part);
	struct xc_json_lines lines;
	size_t cores = 0;
	struct xc_error *err = xc_json_lines_open(&lines, path);
	if (err)
		return err;
	part->name = xc_arena_strdup(pool->arena, slash ? slash + 1 : path);
	err = read_head(&lines, pool->arena, part, &cores);
	if (!err)
		err = read_records(&lines, pool, part, cores);
	xc_json_lines_close(&lines);
	if (err)
		return xc_error_wrap(err, "%s", path);
	*part_out = part;
	return NULL;
}

struct xc_error *xc_part_read(const char *path, struct xc_arena *arena, struct xc_part **part_out)
{
	struct xc_pool pool = {.arena = arena};
	struct xc_error *err = read_part(path, &pool, part_out);
	xc_pool_fini(&pool);
	return err;
}

/* ---- all parts ---- */

struct gathering {
	struct xc_pool pool;
	struct xc_parts *parts;
	size_t capacity;
	unsigned of; /* 0: any number of shards */
	struct xc_error *unsearched;
};

static struct xc_error *gather_file(struct gathering *g, const char *path)
{
	struct xc_parts *parts = g->parts;
	parts->parts = xc_grow(parts->parts, parts->count, &g->capacity, sizeof *parts->parts);
	struct xc_error *err = read_part(path, &g->pool, &parts->parts[parts->count]);
	parts->count += !err;
	return err;
}

static int is_part(const struct dirent *d)
{
	return fnmatch("part-*-of-*.jsonl", d->d_name, 0) == 0;
}

static bool is_wanted(const struct gathering *g, const char *name)
{
	char pattern[64];
	snprintf(pattern, sizeof pattern, "part-*-of-%05u.jsonl", g->of);
	return !g->of || fnmatch(pattern, name, 0) == 0;
}

static struct xc_error *gather_directory(struct gathering *g, const char *path)
{
	struct dirent **entries;
	struct xc_error *err = NULL;
	int count = scandir(path, &entries, is_part, alphasort);
	if (count < 0)
		return xc_error_errno(errno, "%s", path);
	for (int i = 0; i < count; i++) {
		xc_auto(xc_freep) char *file = xc_asprintf("%s/%s", path, entries[i]->d_name);
		if (!err && is_wanted(g, entries[i]->d_name))
			err = gather_file(g, file);
		free(entries[i]);
	}
	free(entries);
	return err;
}

static struct xc_error *gather(struct gathering *g, const char *path)
{
	struct stat st;
	if (stat(path, &st))
		return xc_error_errno(errno, "%s", path);
	return S_ISDIR(st.st_mode) ? gather_directory(g, path) : gather_file(g, path);
}

/* It may contain parts that would be missed. */
static void unsearched(void *user, const char *directory, const char *why)
{
	struct gathering *g = user;
	if (!g->unsearched)
		g->unsearched = xc_error_new(XC_ERR_IO, "%s: %s", directory, why);
}

static struct xc_error *gather_pattern(struct gathering *g, const char *pattern)
{
	const struct xc_wildcard_visitor visitor = {g, unsearched};
	struct xc_namelist names = {0};
	bool found;
	struct xc_error *err = xc_wildcard_expand(pattern, &visitor, &names, &found);
	if (err)
		xc_error_free(g->unsearched);
	else if (g->unsearched)
		err = g->unsearched;
	else if (!found)
		err = xc_error_new(XC_ERR_NOT_FOUND, "%s: %s", pattern, XC_WILDCARD_NOTHING);
	for (size_t i = 0; i < names.count && !err; i++)
		err = gather(g, names.names[i]);
	xc_namelist_fini(&names);
	return err;
}

struct xc_error *xc_parts_read(const char *const *paths, size_t count, unsigned of, struct xc_arena *arena,
			       struct xc_parts *parts_out)
{
	struct gathering g = {.pool = {.arena = arena}, .parts = parts_out, .of = of};
	struct xc_error *err = NULL;
	*parts_out = (struct xc_parts){0};
	for (size_t i = 0; i < count && !err; i++)
		err = xc_wildcard_is(paths[i]) ? gather_pattern(&g, paths[i]) : gather(&g, paths[i]);
	struct xc_part **own = xc_arena_alloc(arena, (parts_out->count + 1) * sizeof(struct xc_part *));
	if (parts_out->count)
		memcpy(own, parts_out->parts, parts_out->count * sizeof(struct xc_part *));
	free(parts_out->parts);
	xc_pool_fini(&g.pool);
	parts_out->parts = own;
	return err;
}

/* ---- merging ---- */

static struct xc_error *differ(const struct xc_part *a, const struct xc_part *b)
{
	const char *what = strcmp(a->version, b->version)     ? "by different versions of xcore"
			   : a->of != b->of                   ? "for different numbers of shards"
			   : strcmp(a->config, b->config)     ? "with different settings"
			   : strcmp(a->manifest, b->manifest) ? "of different inputs"
			   : a->run && b->run && strcmp(a->run, b->run)
				   ? "in different runs: a shard was not started in one of them"
				   : NULL;
	return what ? xc_error_hint(xc_error_new(XC_ERR_MISMATCH, "%s and %s were made %s", a->name, b->name, what),
				    "one is of another run: make that shard again like the other, or remove the part")
		    : NULL;
}

static int by_shard(const void *a, const void *b)
{
	const struct xc_part *const *left = a, *const *right = b;
	return ((*left)->shard > (*right)->shard) - ((*left)->shard < (*right)->shard);
}

static bool same_records(const struct xc_part *a, const struct xc_part *b)
{
	bool same = a->count == b->count;
	for (size_t i = 0; same && i < a->count; i++) {
		json_t *left = xc_record_json(a->records[i]), *right = xc_record_json(b->records[i]);
		same = json_equal(left, right);
		json_decref(left);
		json_decref(right);
	}
	return same;
}

/* Sorts the parts and removes duplicates of a shard. */
static struct xc_error *sort_out(struct xc_part **parts, size_t *count)
{
	const struct xc_part *named = parts[0]; /* a part with the name of its run, if any has one */
	size_t kept = 0;
	qsort(parts, *count, sizeof(struct xc_part *), by_shard);
	for (size_t i = 0; i < *count; i++) {
		struct xc_error *err = differ(named, parts[i]);
		if (err)
			return err;
		named = named->run ? named : parts[i];
		if (!kept || parts[kept - 1]->shard != parts[i]->shard)
			parts[kept++] = parts[i];
		else if (!same_records(parts[kept - 1], parts[i]))
			return xc_error_new(XC_ERR_MISMATCH, "%s and %s are the same shard, and differ",
					    parts[kept - 1]->name, parts[i]->name);
	}
	*count = kept;
	return NULL;
}

static void name_missing(struct xc_part *const *parts, size_t count, struct xc_arena *arena, struct xc_merged *merged)
{
	const unsigned of = parts[0]->of;
	merged->missing = xc_arena_alloc(arena, (of - count + 1) * sizeof *merged->missing);
	for (unsigned shard = 0, i = 0; shard < of; shard++) {
		if (i < count && parts[i]->shard == shard) {
			i++;
			continue;
		}
		xc_auto(xc_freep) char *name = xc_part_name(shard, of);
		merged->missing[merged->missing_count++] = xc_arena_strdup(arena, name);
	}
}

static struct xc_error *put_together(struct xc_part *const *parts, size_t count, struct xc_arena *arena,
				     struct xc_merged *merged)
{
	size_t total = 0, unlooked = 0;
	merged->redacted = true;
	for (size_t i = 0; i < count; i++) {
		merged->redacted &= parts[i]->redacted;
		total += parts[i]->count;
		unlooked += parts[i]->unlooked;
		if (parts[i]->left_out > merged->left_out)
			merged->left_out = parts[i]->left_out;
		if (parts[i]->unread > merged->unread)
			merged->unread = parts[i]->unread;
	}
	merged->left_out += unlooked;
	merged->records = xc_arena_alloc(arena, (total + 1) * sizeof *merged->records);
	for (size_t i = 0; i < count; i++) {
		if (parts[i]->count)
			memcpy(merged->records + merged->count, parts[i]->records,
			       parts[i]->count * sizeof *merged->records);
		merged->count += parts[i]->count;
	}
	if (total)
		qsort(merged->records, total, sizeof *merged->records, xc_record_compare);
	for (size_t i = 1; i < total; i++)
		if (!strcmp(merged->records[i - 1]->path, merged->records[i]->path))
			return xc_error_new(XC_ERR_MISMATCH, "%s is in two parts", merged->records[i]->path);
	return NULL;
}

struct xc_error *xc_parts_merge(const struct xc_parts *parts, struct xc_arena *arena, struct xc_merged *merged_out)
{
	size_t count = parts->count;
	struct xc_merged merged = {0};
	if (!count)
		return xc_error_hint(xc_error_new(XC_ERR_NOT_FOUND, "there are no parts to merge"),
				     "`xcore triage --shard I/N DIR -o OUTDIR` makes them");
	struct xc_part **sorted = xc_arena_alloc(arena, count * sizeof(struct xc_part *));
	memcpy(sorted, parts->parts, count * sizeof(struct xc_part *));
	struct xc_error *err = sort_out(sorted, &count);
	if (err)
		return err;
	merged.version = sorted[0]->version;
	merged.config = sorted[0]->config;
	name_missing(sorted, count, arena, &merged);
	if ((err = put_together(sorted, count, arena, &merged)))
		return err;
	*merged_out = merged;
	return NULL;
}
