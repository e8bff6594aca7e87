/* store_write: builds the whole index in memory, writes it under a temporary name and renames it. */
#include "core/store/store.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/io/tempfile.h"
#include "core/store/store_layout.h"

struct image {
	struct xc_store_header header;
	uint8_t *bytes; /* all of the file */
	size_t size;
	uint64_t path_at; /* where the next path goes, from the start of the paths */
};

/* ---- order ---- */

static int by_id(const void *a, const void *b, void *files)
{
	uint32_t i, k;
	memcpy(&i, a, sizeof i);
	memcpy(&k, b, sizeof k);
	const struct xc_build_id *x = &((const struct xc_store_file *)files)[i].id;
	const struct xc_build_id *y = &((const struct xc_store_file *)files)[k].id;
	int order = memcmp(x->bytes, y->bytes, x->size < y->size ? x->size : y->size);
	if (!order)
		order = x->size - y->size;
	return order ? order : i < k ? -1 : i > k;
}

static int by_dwo_id(const void *a, const void *b)
{
	const struct xc_store_disk_split *x = a, *y = b;
	if (x->dwo_id != y->dwo_id)
		return x->dwo_id < y->dwo_id ? -1 : 1;
	return x->file < y->file ? -1 : x->file > y->file;
}

/* ---- layout ---- */

static uint64_t place(struct xc_store_table *table, uint64_t at, uint64_t count, uint64_t item)
{
	*table = (struct xc_store_table){at, count};
	return (at + count * item + 7) & ~(uint64_t)7;
}

static uint64_t path_bytes(const struct xc_store_content *c)
{
	uint64_t bytes = 0;
	for (size_t i = 0; i < c->file_count; i++)
		bytes += strlen(c->files[i].path) + 1;
	for (size_t i = 0; i < c->root_count; i++)
		bytes += strlen(c->roots[i].path) + 1;
	return bytes;
}

static size_t count_ids(const struct xc_store_content *c)
{
	size_t count = 0;
	for (size_t i = 0; i < c->file_count; i++)
		count += c->files[i].id.size != 0;
	return count;
}

static void lay_out(struct image *image, const struct xc_store_content *c)
{
	struct xc_store_header *h = &image->header;
	memcpy(h->magic, XC_STORE_MAGIC, sizeof h->magic);
	h->order = XC_STORE_ORDER;
	h->version = XC_STORE_VERSION;
	uint64_t at = place(&h->files, XC_STORE_BLOCK, c->file_count, sizeof(struct xc_store_disk_file));
	at = place(&h->ids, at, count_ids(c), sizeof(uint32_t));
	at = place(&h->splits, at, c->split_count, sizeof(struct xc_store_disk_split));
	at = place(&h->roots, at, c->root_count, sizeof(struct xc_store_disk_root));
	at = place(&h->paths, at, path_bytes(c), 1);
	uint64_t blocks = (at - XC_STORE_BLOCK + XC_STORE_BLOCK - 1) / XC_STORE_BLOCK;
	image->size = (size_t)place(&h->crcs, at, blocks, sizeof(uint32_t));
}

static uint32_t put_path(struct image *image, const char *path)
{
	size_t len = strlen(path);
	uint32_t at = (uint32_t)image->path_at;
	memcpy(image->bytes + image->header.paths.at + at, path, len + 1);
	image->path_at += len + 1;
	return at;
}

static void put_files(struct image *image, const struct xc_store_content *c)
{
	struct xc_store_disk_file *out = (void *)(image->bytes + image->header.files.at);
	uint32_t *ids = (void *)(image->bytes + image->header.ids.at);
	for (size_t i = 0; i < c->file_count; i++) {
		const struct xc_store_file *f = &c->files[i];
		out[i] = (struct xc_store_disk_file){.dev = f->dev,
						     .ino = f->ino,
						     .size = f->size,
						     .mtime_ns = f->mtime_ns,
						     .seen = f->seen,
						     .has = f->has,
						     .path_at = put_path(image, f->path),
						     .path_len = (uint16_t)strlen(f->path),
						     .id_size = f->id.size};
		memcpy(out[i].id, f->id.bytes, f->id.size);
		if (f->id.size)
			*ids++ = (uint32_t)i;
	}
	qsort_r(image->bytes + image->header.ids.at, (size_t)image->header.ids.count, sizeof(uint32_t), by_id,
		(void *)(uintptr_t)c->files);
}

static void put_splits(struct image *image, const struct xc_store_content *c)
{
	struct xc_store_disk_split *out = (void *)(image->bytes + image->header.splits.at);
	for (size_t i = 0; i < c->split_count; i++)
		out[i] = (struct xc_store_disk_split){.dwo_id = c->splits[i].dwo_id, .file = c->splits[i].file};
	qsort(out, c->split_count, sizeof *out, by_dwo_id);
}

static void put_roots(struct image *image, const struct xc_store_content *c)
{
	struct xc_store_disk_root *out = (void *)(image->bytes + image->header.roots.at);
	for (size_t i = 0; i < c->root_count; i++)
		out[i] = (struct xc_store_disk_root){.indexed = c->roots[i].indexed,
						     .files = c->roots[i].files,
						     .path_at = put_path(image, c->roots[i].path),
						     .path_len = (uint16_t)strlen(c->roots[i].path)};
}

static void seal(struct image *image)
{
	struct xc_store_header *h = &image->header;
	uint32_t *crcs = (void *)(image->bytes + h->crcs.at);
	for (uint64_t i = 0; i < h->crcs.count; i++) {
		uint64_t begin = (i + 1) * XC_STORE_BLOCK, left = h->crcs.at - begin;
		crcs[i] = xc_store_crc(image->bytes + begin, left < XC_STORE_BLOCK ? (size_t)left : XC_STORE_BLOCK);
	}
	h->crcs_crc = xc_store_crc(crcs, (size_t)h->crcs.count * sizeof *crcs);
	h->crc = xc_store_crc(h, offsetof(struct xc_store_header, crc));
	memcpy(image->bytes, h, sizeof *h);
}

struct xc_error *xc_store_write(const char *dir, const struct xc_store_content *content)
{
	struct image image = {.size = 0};
	if (path_bytes(content) > UINT32_MAX || content->file_count > UINT32_MAX)
		return xc_error_new(XC_ERR_LIMIT, "%s: more paths than one store can hold (4 GiB)", dir);
	lay_out(&image, content);
	image.bytes = xc_alloc(image.size);
	put_files(&image, content);
	put_splits(&image, content);
	put_roots(&image, content);
	seal(&image);
	struct xc_error *err = xc_store_replace(dir, "index", image.bytes, image.size);
	free(image.bytes);
	return err;
}

/* ---- files ---- */

/* The file is synced before it is renamed: after a power failure there is either the old one or the new one. */
struct xc_error *xc_store_replace(const char *dir, const char *name, const void *bytes, size_t size)
{
	xc_auto(xc_freep) char *path = xc_asprintf("%s/%s", dir, name);
	char *temporary;
	int fd = xc_tempfile_open(path, 0666, &temporary);
	bool good = fd >= 0 && xc_tempfile_write(fd, bytes, size) && fsync(fd) == 0;
	int failed = good ? 0 : errno;
	if (fd >= 0 && close(fd) < 0 && !failed)
		failed = errno;
	if (!failed && xc_tempfile_rename(&temporary, path) < 0)
		failed = errno;
	xc_tempfile_remove(&temporary);
	return failed ? xc_error_errno(failed, "%s", path) : NULL;
}

void xc_store_remove_parts(const char *dir)
{
	DIR *d = opendir(dir);
	for (struct dirent *e; d && (e = readdir(d));) {
		const char *name = e->d_name; /* with '-' of versions before core/io/tempfile.h was used */
		bool ours = xc_begins_with(name, ".index.") || xc_begins_with(name, ".index-") ||
			    xc_begins_with(name, ".dull.") || xc_begins_with(name, ".dull-");
		if (ours && xc_ends_with(e->d_name, ".part"))
			unlinkat(dirfd(d), e->d_name, 0);
	}
	if (d)
		closedir(d);
}
