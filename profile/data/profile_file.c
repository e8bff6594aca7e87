/* profile_file: tables as columns of numbers, each number as its difference (modulo 2^64) from the one before it,
 * SLEB128: neighbours are alike, and zstd does the rest. A reader skips tables and columns that it does not know, and
 * columns that are missing are 0, so either may be added without a new version. */
#include "profile/data/profile_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "core/base/cursor.h"
#include "core/base/text.h"
#include "core/io/source.h"
#include "profile/data/profile_tables.h"

#define MAGIC "XCOREPRF"

/* Of the stacks of all sums; of their names; of the names of all nodes. */
#define MOST_FRAMES  (UINT64_C(1) << 28)
#define MOST_WRITTEN (UINT64_C(1) << 34)
#define MOST_NAMES   (UINT64_C(1) << 32)

enum {
	FRAME = 0x184D2A5D, /* one of zstd's sixteen skippable magics */
	VERSION = 1,
	HEAD = 24, /* bytes: magic, length 16, MAGIC, version, 0 */
	TEXTS = 1, /* the tag of their table */
	MOST_TEXTS = 1 << 22,
	MOST_TEXT = 1 << 16, /* bytes of one */
	MOST_BYTES = 1 << 30,
	LEVEL = 6,
};

/* ---- writing ---- */

static void put_uleb(struct xc_text *to, uint64_t n)
{
	for (; n >= 0x80; n >>= 7)
		xc_text_char(to, (char)(n | 0x80));
	xc_text_char(to, (char)n);
}

static void put_sleb(struct xc_text *to, int64_t n)
{
	for (; n < -64 || n > 63; n >>= 7)
		xc_text_char(to, (char)((n & 0x7f) | 0x80));
	xc_text_char(to, (char)(n & 0x7f));
}

static void put_table(struct xc_text *to, uint32_t tag, struct xc_text *body)
{
	put_uleb(to, tag);
	put_uleb(to, body->len);
	xc_text_addn(to, body->bytes, body->len);
	body->len = 0;
}

static void put_column(struct xc_text *to, const struct xc_profile_data *d, const struct xc_profile_table *table,
		       const struct xc_profile_column *column)
{
	uint64_t before = 0;
	for (size_t row = 0; row < xc_profile_table_rows(table, d); row++) {
		const uint64_t now = xc_profile_table_get(table, d, row, column);
		put_sleb(to, (int64_t)(now - before));
		before = now;
	}
}

static void put_string(struct xc_text *to, const char *text)
{
	xc_text_addn(to, text, strnlen(text, MOST_TEXT));
	xc_text_char(to, 0);
}

void xc_profile_file_pack(const struct xc_profile_data *d, struct xc_text *bytes)
{
	struct xc_text body = {0};
	put_uleb(&body, d->texts.count);
	for (size_t i = 0; i < d->texts.count; i++)
		put_string(&body, d->texts.texts[i]);
	put_table(bytes, TEXTS, &body);
	for (size_t t = 0; t < xc_profile_table_count; t++) {
		const struct xc_profile_table *table = &xc_profile_tables[t];
		put_uleb(&body, xc_profile_table_rows(table, d));
		for (size_t c = 0; c < table->column_count; c++)
			put_column(&body, d, table, &table->columns[c]);
		put_table(bytes, table->tag, &body);
	}
	xc_text_fini(&body);
}

static void put_head(uint8_t head[HEAD])
{
	const uint32_t words[] = {FRAME, HEAD - 8};
	memset(head, 0, HEAD);
	for (size_t i = 0; i < sizeof words; i++)
		head[i] = (uint8_t)(words[i / 4] >> 8 * (i % 4));
	memcpy(head + 8, MAGIC, 8);
	head[16] = VERSION;
}

struct xc_error *xc_profile_file_write(const struct xc_profile_data *d, FILE *out)
{
	uint8_t head[HEAD];
	struct xc_text bytes = {0};
	xc_profile_file_pack(d, &bytes);
	const size_t room = ZSTD_compressBound(bytes.len);
	xc_auto(xc_freep) char *packed = xc_alloc(room);
	ZSTD_CCtx *zstd = ZSTD_createCCtx();
	ZSTD_CCtx_setParameter(zstd, ZSTD_c_checksumFlag, 1);
	ZSTD_CCtx_setParameter(zstd, ZSTD_c_compressionLevel, LEVEL);
	const size_t len = ZSTD_compress2(zstd, packed, room, bytes.bytes, bytes.len);
	ZSTD_freeCCtx(zstd);
	xc_text_fini(&bytes);
	if (ZSTD_isError(len))
		return xc_error_new(XC_ERR_LIMIT, "compressing the profile: %s", ZSTD_getErrorName(len));
	put_head(head);
	fwrite(head, 1, HEAD, out);
	fwrite(packed, 1, len, out);
	return fflush(out) || ferror(out) ? xc_error_errno(errno ? errno : EIO, "writing the profile") : NULL;
}

/* ---- reading ---- */

/* The front of a file, which must be a regular one: opening others might wait for ever. False: it has no such front. */
static bool read_head(const char *path, uint8_t head[HEAD])
{
	struct stat st;
	const int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	const bool whole = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && pread(fd, head, HEAD, 0) == HEAD;
	if (fd >= 0)
		close(fd);
	return whole && xc_load_uint(head, 4, false) == FRAME && memcmp(head + 8, MAGIC, 8) == 0;
}

bool xc_profile_file_is(const char *path)
{
	uint8_t head[HEAD];
	return read_head(path, head);
}

/* What is being read. */
struct reading {
	struct xc_profile_data *data;
	uint32_t *texts; /* the number of each text of the file in the data, where equal ones are one; one at least */
	size_t text_count;
};

static struct xc_error *take_count(struct xc_cursor *c, uint64_t most, const char *table, uint64_t *count_out)
{
	struct xc_error *err = xc_cursor_uleb(c, count_out);
	if (!err && *count_out > most)
		return xc_error_new(XC_ERR_LIMIT, "table '%s': %" PRIu64 " rows; at most %" PRIu64 " are allowed",
				    table, *count_out, most);
	return err;
}

static struct xc_error *take_texts(struct reading *r, struct xc_cursor *c)
{
	uint64_t count;
	struct xc_error *err = take_count(c, MOST_TEXTS, "texts", &count);
	if (err)
		return err;
	if (r->text_count || count > xc_cursor_left(c))
		return xc_error_new(XC_ERR_FORMAT, "table 'texts': cut short, or there twice");
	free(r->texts);
	r->texts = xc_alloc((count + 1) * sizeof *r->texts);
	for (; r->text_count < count && !err; r->text_count++) {
		const char *text = NULL;
		if (!(err = xc_cursor_string(c, &text)) && strlen(text) > MOST_TEXT)
			err = xc_error_new(XC_ERR_LIMIT, "a text has more than %d bytes", MOST_TEXT);
		if (!err)
			r->texts[r->text_count] = xc_profile_data_add_text(r->data, text);
	}
	r->texts[0] = 0; /* none */
	return err;
}

static struct xc_error *check(const struct reading *r, const struct xc_profile_table *table,
			      const struct xc_profile_column *column, size_t row, uint64_t number)
{
	const bool all = column->means == XC_PROFILE_IS_REAL || column->most == UINT64_MAX;
	const uint64_t limit =
		column->means == XC_PROFILE_IS_TEXT ? r->text_count : xc_profile_table_limit(r->data, column, row);
	if (all || number < limit || (column->means == XC_PROFILE_IS_TEXT && !number))
		return NULL;
	return xc_error_new(XC_ERR_FORMAT, "table '%s': %s of row %zu is out of range", table->name, column->name, row);
}

static struct xc_error *take_column(struct reading *r, struct xc_cursor *c, const struct xc_profile_table *table,
				    const struct xc_profile_column *column, size_t rows)
{
	char *at = *(char **)((char *)r->data + table->rows);
	uint64_t number = 0;
	for (size_t row = 0; row < rows; row++, at += table->row_size) {
		int64_t more;
		struct xc_error *err = xc_cursor_sleb(c, &more);
		if (err)
			return err;
		number += (uint64_t)more;
		if ((err = check(r, table, column, row, number)))
			return err;
		const uint64_t kept = column->means == XC_PROFILE_IS_TEXT ? r->texts[number] : number;
		const uint32_t narrow = (uint32_t)kept;
		memcpy(at + column->offset, column->size == 8 ? (const void *)&kept : (const void *)&narrow,
		       column->size);
	}
	return NULL;
}

static struct xc_error *take_table(struct reading *r, struct xc_cursor *c, const struct xc_profile_table *table)
{
	char **rows_at = (char **)((char *)r->data + table->rows);
	size_t *count_at = (size_t *)((char *)r->data + table->count);
	uint64_t rows;
	struct xc_error *err = take_count(c, table->most, table->name, &rows);
	if (err)
		return err;
	if (rows < table->least || rows > xc_cursor_left(c)) /* a row has a byte at least */
		return xc_error_new(XC_ERR_FORMAT, "table '%s': cut short", table->name);
	free(*rows_at);
	*rows_at = xc_alloc((rows + 1) * table->row_size);
	*count_at = rows;
	for (size_t i = 0; i < table->column_count && !err && xc_cursor_left(c); i++)
		err = take_column(r, c, table, &table->columns[i], rows);
	return err;
}

/* The length of each text. */
static uint32_t *text_lengths(const struct xc_profile_data *d)
{
	uint32_t *lengths = xc_alloc(d->texts.count * sizeof *lengths);
	for (size_t i = 0; i < d->texts.count; i++)
		lengths[i] = (uint32_t)strlen(d->texts.texts[i]);
	return lengths;
}

static struct xc_error *check_sum(uint64_t sum, uint64_t most, const char *of)
{
	return sum <= most
		       ? NULL
		       : xc_error_new(XC_ERR_LIMIT, "the stacks have %" PRIu64 " %s: at most %" PRIu64 " are allowed",
				      sum, of, most);
}

/* Views write the stack of each sum in full. No sum overflows: 2^22 rows, 2^17 frames, 2^16 bytes. */
static struct xc_error *check_sums(const struct xc_profile_data *d, const uint32_t *depth, const uint64_t *bytes)
{
	uint64_t frames = 0, written = 0;
	for (size_t i = 0; i < d->sum_count; i++) {
		frames += depth[d->sums[i].stack];
		written += bytes[d->sums[i].stack];
	}
	struct xc_error *err = check_sum(frames, MOST_FRAMES, "frames");
	return err ? err : check_sum(written, MOST_WRITTEN, "bytes of names");
}

/* A caller's number is below its callee's, so one pass over the nodes finds how deep each is. */
static struct xc_error *check_depth(const struct xc_profile_data *d)
{
	xc_auto(xc_freep) uint32_t *depth = xc_alloc(d->node_count * sizeof *depth), *lengths = text_lengths(d);
	xc_auto(xc_freep) uint64_t *bytes = xc_alloc(d->node_count * sizeof *bytes);
	uint64_t names = 0; /* of nodes: a tree looks at each */
	for (size_t i = 1; i < d->node_count; i++) {
		const uint32_t length = lengths[d->functions[d->frames[d->nodes[i].frame].function].name];
		depth[i] = depth[d->nodes[i].parent] + 1;
		bytes[i] = bytes[d->nodes[i].parent] + length;
		names += length;
		if (depth[i] > XC_PROFILE_DEPTH)
			return xc_error_new(XC_ERR_LIMIT, "a stack has more than %d frames", XC_PROFILE_DEPTH);
	}
	struct xc_error *err = check_sum(names, MOST_NAMES, "bytes of names in their tree");
	return err ? err : check_sums(d, depth, bytes);
}

/* What was read can be added to. */
static void set_rooms(struct xc_profile_data *d)
{
	d->function_room = d->function_count;
	d->frame_room = d->frame_count;
	d->node_room = d->node_count;
	d->thread_room = d->thread_count;
	d->wait_room = d->wait_count;
	d->sum_room = d->sum_count;
	d->part_room = d->part_count;
}

/* One after the other; those that are known come in their order, because they refer to those before. */
static struct xc_error *take_tables(struct reading *r, struct xc_cursor *c)
{
	size_t next = 0;
	while (xc_cursor_left(c)) {
		uint64_t tag, len;
		const void *bytes;
		struct xc_error *err;
		if ((err = xc_cursor_uleb(c, &tag)) || (err = xc_cursor_uleb(c, &len)) ||
		    (err = xc_cursor_take(c, len, &bytes)))
			return err;
		struct xc_cursor body = xc_cursor(bytes, len, "a table of the profile");
		if (tag == TEXTS)
			err = take_texts(r, &body);
		else if (next < xc_profile_table_count && tag == xc_profile_tables[next].tag)
			err = take_table(r, &body, &xc_profile_tables[next++]);
		if (err)
			return err;
	}
	if (next < xc_profile_table_count)
		return xc_error_new(XC_ERR_FORMAT, "table '%s': missing", xc_profile_tables[next].name);
	xc_profile_data_sort(r->data);
	set_rooms(r->data);
	return check_depth(r->data);
}

struct xc_error *xc_profile_file_unpack(const void *bytes, size_t len, struct xc_profile_data **data_out)
{
	struct reading r = {.data = xc_profile_data_new(), .texts = xc_alloc(sizeof *r.texts)};
	struct xc_cursor c = xc_cursor(bytes, len, "the profile");
	struct xc_error *err = take_tables(&r, &c);
	free(r.texts);
	if (err)
		xc_profile_data_free(r.data);
	else
		*data_out = r.data;
	return err;
}

struct xc_error *xc_profile_file_read(const char *path, struct xc_profile_data **data_out)
{
	uint8_t head[HEAD];
	struct xc_source *source = NULL;
	const struct xc_source_options options = {.max_size = MOST_BYTES, .room = MOST_BYTES};
	if (!read_head(path, head))
		return xc_error_new(XC_ERR_FORMAT, "%s: not a profile", path);
	const uint64_t version = xc_load_uint(head + 16, 4, false);
	if (version != VERSION)
		return xc_error_hint(xc_error_new(XC_ERR_UNSUPPORTED,
						  "%s: a profile of version %" PRIu64 "; this xcore reads version %d",
						  path, version, VERSION),
				     "a later xcore made it");
	struct xc_error *err = xc_source_open(path, &options, &source);
	if (!err && source->cut)
		err = xc_error_new(XC_ERR_FORMAT, "%s: cut short or damaged", path);
	else if (!err && (err = xc_profile_file_unpack(source->bytes, source->size, data_out)))
		err = xc_error_wrap(err, "%s", path);
	xc_source_close(source);
	return err;
}
