/* store_report: tables of the contents of the store. */
#include "dwarf/symstore/store_report.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/base/text.h"
#include "dwarf/symstore/store_scan.h"
#include "dwarf/symstore/store_state.h"

enum { MAX_NAMED = 8, TIME_TEXT = 24 };

/* "code, symbols, DWARF"; in the report's arena. */
static const char *has_text(struct xc_arena *arena, uint32_t has)
{
	static const struct {
		uint32_t bit;
		const char *text;
	} words[] = {{XC_STORE_CODE, "code"},
		     {XC_STORE_SYMBOLS, "symbols"},
		     {XC_STORE_DWARF, "DWARF"},
		     {XC_STORE_ALT, "dwz common"},
		     {XC_STORE_WANTS_ALT, "wants dwz common"},
		     {XC_STORE_DWO, "split"},
		     {XC_STORE_DWP, "split package"},
		     {XC_STORE_MINI, "mini"},
		     {XC_STORE_KEPT, "kept"}};
	xc_auto(xc_text_fini) struct xc_text text = {0};
	for (size_t i = 0; i < XC_COUNT(words); i++)
		if (has & words[i].bit)
			xc_text_printf(&text, "%s%s", text.len ? ", " : "", words[i].text);
	return xc_arena_strdup(arena, xc_text_string(&text));
}

static struct xc_cell time_cell(int64_t seconds, char text[TIME_TEXT])
{
	struct tm broken;
	time_t t = (time_t)seconds;
	if (!seconds || !gmtime_r(&t, &broken) || !strftime(text, TIME_TEXT, "%Y-%m-%dT%H:%M:%SZ", &broken))
		return xc_cell_null("never");
	return xc_cell_text(text);
}

/* ---- index ---- */

static void warn_of(struct xc_section *s, const struct xc_store_indexed *row)
{
	const struct xc_store_totals *t = &row->totals;
	if (t->packages)
		xc_section_message(
			s, XC_WARNING,
			"unpack them and index the result: dpkg-deb -x FILE DIR, or rpm2cpio FILE | cpio -idm",
			"%s: %" PRIu64 " packages (.deb, .rpm) were not searched", row->root, t->packages);
	if (t->unreadable)
		xc_section_message(s, XC_WARNING, NULL, "%s: %" PRIu64 " files or directories could not be read: %s%s",
				   row->root, t->unreadable, t->first_unreadable, t->unreadable > 1 ? ", …" : "");
	if (t->not_kept)
		xc_section_message(s, XC_WARNING, "give --copy to copy what cannot be linked",
				   "%s: %" PRIu64 " files could not be kept in the store: %s%s", row->root, t->not_kept,
				   t->first_not_kept, t->not_kept > 1 ? ", …" : "");
	if (t->damaged)
		xc_section_message(
			s, XC_WARNING, "also index the other trees again",
			"the store was damaged and has been repaired; the entries of the damaged part are lost");
}

void xc_store_report_index(struct xc_report *report, const char *dir, const struct xc_store_indexed *rows, size_t count)
{
	static const struct xc_column columns[] = {
		{"tree", "TREE", XC_FIELD_TEXT, false},         {"files", "FILES", XC_FIELD_COUNT, false},
		{"read", "READ", XC_FIELD_COUNT, false},        {"found", "USEFUL", XC_FIELD_COUNT, false},
		{"added", "NEW", XC_FIELD_COUNT, false},        {"dropped", "GONE", XC_FIELD_COUNT, false},
		{"linked", "LINKED", XC_FIELD_COUNT, true},     {"copied", "COPIED", XC_FIELD_COUNT, true},
		{"not_kept", "NOT KEPT", XC_FIELD_COUNT, true},
	};
	struct xc_section *s = xc_report_section(report, "index", "Indexed");
	xc_section_text(s, "store", "store", dir);
	struct xc_table *table = xc_section_table(s, "trees", columns, XC_COUNT(columns));
	for (size_t i = 0; i < count; i++) {
		const struct xc_store_totals *t = &rows[i].totals;
		const struct xc_cell cells[] = {
			xc_cell_text(rows[i].root), xc_cell_count(t->files),  xc_cell_count(t->read),
			xc_cell_count(t->found),    xc_cell_count(t->added),  xc_cell_count(t->dropped),
			xc_cell_count(t->linked),   xc_cell_count(t->copied), xc_cell_count(t->not_kept),
		};
		xc_table_row(s, table, cells);
		warn_of(s, &rows[i]);
	}
}

/* ---- find ---- */

static struct xc_error *parse_digits(const char *digits, struct xc_build_id *id)
{
	size_t len = strlen(digits);
	if (!len || len > 2 * XC_BUILD_ID_MAX || strspn(digits, "0123456789abcdefABCDEF") != len)
		return xc_error_new(XC_ERR_USAGE, "'%s' is not a build-id: expected 1 to %d hexadecimal digits", digits,
				    2 * XC_BUILD_ID_MAX);
	for (size_t i = 0; i < len; i++) {
		unsigned value = isdigit((unsigned char)digits[i])
					 ? (unsigned)(digits[i] - '0')
					 : (unsigned)(tolower((unsigned char)digits[i]) - 'a' + 10);
		id->bytes[i / 2] |= (uint8_t)(i % 2 ? value : value << 4);
	}
	id->size = (uint8_t)((len + 1) / 2);
	return NULL;
}

/* The present state of the file: "there", "gone" or "changed". */
static const char *state_of(const struct xc_store_file *file)
{
	struct xc_arena arena = {NULL};
	struct xc_store_scan scan;
	struct stat st;
	const char *state = "gone";
	if (xc_store_scan_at(AT_FDCWD, file->path, &arena, &st, &scan)) {
		bool same = file->id.size ? xc_build_id_equal(&scan.id, &file->id) : scan.dwo_count > 0;
		state = !same ? "changed" : "there";
	}
	xc_arena_fini(&arena);
	return state;
}

static struct xc_table *file_table(struct xc_section *s, bool with_state)
{
	static const struct xc_column columns[] = {
		{"state", "NOW", XC_FIELD_TEXT, false},   {"build_id", "BUILD-ID", XC_FIELD_TEXT, false},
		{"has", "HAS", XC_FIELD_TEXT, false},     {"size", "SIZE", XC_FIELD_BYTES, false},
		{"seen", "INDEXED", XC_FIELD_TEXT, true}, {"path", "PATH", XC_FIELD_TEXT, false},
	};
	return xc_section_table(s, "files", columns + !with_state, XC_COUNT(columns) - !with_state);
}

static void file_row(struct xc_section *s, struct xc_table *table, const struct xc_store_file *file, bool with_state)
{
	char hex[2 * XC_BUILD_ID_MAX + 1], seen[TIME_TEXT];
	const struct xc_cell cells[] = {
		xc_cell_text(with_state ? state_of(file) : NULL),
		file->id.size ? xc_cell_text(xc_build_id_hex(&file->id, hex)) : xc_cell_null("none"),
		xc_cell_text(has_text(&s->report->arena, file->has)),
		xc_cell_bytes(file->size),
		time_cell(file->seen, seen),
		xc_cell_text(file->path),
	};
	xc_table_row(s, table, cells + !with_state);
}

/* The number of different build-ids among files that are sorted by build-id. */
static size_t count_ids(struct xc_store *store, const uint32_t *numbers, size_t count, struct xc_text *names)
{
	char hex[2 * XC_BUILD_ID_MAX + 1];
	struct xc_build_id last = {0};
	size_t ids = 0;
	for (size_t i = 0; i < count; i++) {
		struct xc_store_file file;
		if (!xc_store_file(store, numbers[i], &file) || xc_build_id_equal(&file.id, &last))
			continue;
		if (ids++ < MAX_NAMED)
			xc_text_printf(names, "%s%s", ids > 1 ? ", " : "", xc_build_id_hex(&file.id, hex));
		last = file.id;
	}
	if (ids > MAX_NAMED)
		xc_text_add(names, ", …");
	return ids;
}

/* Numbers of the files that match the digits; malloc'ed. */
static uint32_t *find_numbers(struct xc_store *store, const struct xc_build_id *id, const char *digits, size_t *count,
			      size_t *with_id)
{
	size_t nibbles = strlen(digits), split = 0;
	uint64_t dwo_id = strtoull(digits, NULL, 16);
	*with_id = xc_store_find(store, id, nibbles, NULL, 0);
	if (nibbles == 16)
		split = xc_store_find_split(store, dwo_id, NULL, 0);
	uint32_t *numbers = xc_alloc((*with_id + split + 1) * sizeof *numbers);
	xc_store_find(store, id, nibbles, numbers, *with_id);
	if (split)
		xc_store_find_split(store, dwo_id, numbers + *with_id, split);
	*count = *with_id + split;
	return numbers;
}

struct xc_error *xc_store_report_find(struct xc_report *report, struct xc_store *store, const char *digits)
{
	struct xc_build_id id = {0};
	size_t count, with_id;
	struct xc_store_file file;
	struct xc_error *err = parse_digits(digits, &id);
	if (err)
		return err;
	xc_auto(xc_freep) uint32_t *numbers = find_numbers(store, &id, digits, &count, &with_id);
	xc_auto(xc_text_fini) struct xc_text names = {0};
	size_t ids = count_ids(store, numbers, with_id, &names);
	if (ids > 1)
		return xc_error_hint(xc_error_new(XC_ERR_MISMATCH, "%s: %zu build-ids begin with it: %s", digits, ids,
						  xc_text_string(&names)),
				     "give more digits");
	struct xc_section *s = xc_report_section(report, "found", "Found");
	struct xc_table *table = file_table(s, true);
	for (size_t i = 0; i < count; i++)
		if (xc_store_file(store, numbers[i], &file))
			file_row(s, table, &file, true);
	if (table->row_count)
		return NULL;
	return xc_error_hint(xc_error_new(XC_ERR_NOT_FOUND, "%s: no file with this build-id was indexed", digits),
			     "`xcore symbols index DIR` searches a tree for it");
}

/* ---- list ---- */

static void list_roots(struct xc_section *s, struct xc_store *store)
{
	static const struct xc_column columns[] = {
		{"tree", "TREE", XC_FIELD_TEXT, false},
		{"files", "FILES", XC_FIELD_COUNT, false},
		{"indexed", "INDEXED", XC_FIELD_TEXT, false},
	};
	char indexed[TIME_TEXT];
	struct xc_table *table = xc_section_table(s, "trees", columns, XC_COUNT(columns));
	for (size_t i = 0; i < xc_store_root_count(store); i++) {
		struct xc_store_root root;
		if (!xc_store_root(store, i, &root))
			continue;
		const struct xc_cell cells[] = {
			xc_cell_text(root.path),
			root.indexed ? xc_cell_count(root.files) : xc_cell_null("indexed only in part"),
			time_cell(root.indexed, indexed),
		};
		xc_table_row(s, table, cells);
	}
}

static void list_files(struct xc_section *s, struct xc_store *store)
{
	struct xc_table *table = file_table(s, false);
	struct xc_store_file file;
	for (size_t i = 0; i < xc_store_file_count(store); i++)
		if (xc_store_file(store, i, &file))
			file_row(s, table, &file, false);
}

/* The build-id of a cached file: in the name of a name index (index_key.h), in the ELF file of inflated sections.
 * hex: 2 * XC_BUILD_ID_MAX + 1 bytes. */
static struct xc_cell id_of_cached(const char *dir, const struct xc_cached_file *file, char *hex)
{
	struct xc_arena arena = {NULL};
	struct xc_store_scan scan = {.kind = XC_STORE_DULL};
	struct stat st;
	size_t len = strlen(file->name);
	if (!strcmp(file->kind, "index"))
		return strspn(file->name, "0123456789abcdef") == len ? xc_cell_text(file->name) : xc_cell_null(NULL);
	xc_auto(xc_freep) char *path = xc_asprintf("%s/%s/%s", dir, file->kind, file->name);
	bool known = xc_store_scan_at(AT_FDCWD, path, &arena, &st, &scan) && scan.id.size;
	xc_arena_fini(&arena);
	return known ? xc_cell_text(xc_build_id_hex(&scan.id, hex)) : xc_cell_null(NULL);
}

static void list_caches(struct xc_section *s, const struct xc_cachelist *caches)
{
	static const struct xc_column columns[] = {
		{"kind", "CACHE", XC_FIELD_TEXT, false},       {"name", "NAME", XC_FIELD_TEXT, false},
		{"build_id", "BUILD-ID", XC_FIELD_TEXT, true}, {"size", "SIZE", XC_FIELD_BYTES, false},
		{"used", "LAST USE", XC_FIELD_TEXT, false},
	};
	char used[TIME_TEXT], hex[2 * XC_BUILD_ID_MAX + 1];
	uint64_t bytes = 0;
	struct xc_table *table = xc_section_table(s, "caches", columns, XC_COUNT(columns));
	for (size_t i = 0; i < caches->count; i++) {
		const struct xc_cached_file *f = &caches->files[i];
		const struct xc_cell cells[] = {
			xc_cell_text(!strcmp(f->kind, "index") ? "name index" : "inflated sections"),
			xc_cell_text(f->name),
			id_of_cached(caches->dir, f, hex),
			xc_cell_bytes(f->size),
			time_cell(f->used, used),
		};
		xc_table_row(s, table, cells);
		bytes += f->size;
	}
	xc_section_bytes(s, "bytes", "total size", bytes);
}

void xc_store_report_list(struct xc_report *report, const char *dir, struct xc_store *store,
			  const struct xc_cachelist *caches)
{
	struct xc_section *s = xc_report_section(report, "store", "Symbol store");
	xc_section_text(s, "store", "store", dir);
	xc_section_count(s, "file_count", "files", store ? xc_store_file_count(store) : 0);
	if (store) {
		list_roots(s, store);
		list_files(s, store);
	} else {
		xc_section_message(s, XC_INFO, "`xcore symbols index DIR` fills it", "nothing was indexed yet");
	}
	if (store && xc_store_damaged(store))
		xc_section_message(s, XC_PROBLEM, "index the trees above again, and any that are missing from the list",
				   "the store is damaged: only part of it could be read");
	struct xc_section *c = xc_report_section(report, "caches", "Caches");
	xc_section_text(c, "directory", "directory", caches->dir);
	list_caches(c, caches);
}

/* ---- clean ---- */

void xc_store_report_clean(struct xc_report *report, const char *dir, const struct xc_store_cleaned *cleaned,
			   uint64_t caches, uint64_t cache_bytes)
{
	struct xc_section *s = xc_report_section(report, "clean", "Cleaned");
	xc_section_text(s, "store", "store", dir);
	xc_section_count(s, "dropped", "references forgotten", cleaned->dropped);
	xc_section_count(s, "trees", "trees forgotten", cleaned->roots);
	xc_section_count(s, "removed", "files removed from the store", cleaned->removed);
	xc_section_bytes(s, "removed_bytes", "their size", cleaned->bytes);
	xc_section_count(s, "caches", "cache files removed", caches);
	xc_section_bytes(s, "cache_bytes", "their size", cache_bytes);
}
