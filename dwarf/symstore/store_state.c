/* store_state: reads and writes the whole store.
 *
 *	DIR/dull    "XCDULL01"   u32 CRC-32 of the rest   u32 zero   pairs of u64: tree, file
 *
 * A damaged file of dull files is dropped: those files are then read again. */
#include "dwarf/symstore/store_state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "core/io/source.h"
#include "core/store/store_layout.h"
#include "core/base/userdir.h"

static const char dull_magic[8] = {'X', 'C', 'D', 'U', 'L', 'L', '0', '1'};
enum { DULL_HEAD = 16, LOCK_STEP_MS = 20 };

/* ---- order and equality ---- */

int xc_store_entry_order(const void *a, const void *b)
{
	return strcmp(((const struct xc_store_entry *)a)->file.path, ((const struct xc_store_entry *)b)->file.path);
}

int xc_store_dull_order(const void *a, const void *b)
{
	const struct xc_store_dull *x = a, *y = b;
	if (x->tree != y->tree)
		return x->tree < y->tree ? -1 : 1;
	return x->file < y->file ? -1 : x->file > y->file;
}

const struct xc_store_entry *xc_store_state_find(const struct xc_store_state *state, const char *path)
{
	const struct xc_store_entry key = {.file.path = path};
	return state->entry_count ? bsearch(&key, state->entries, state->entry_count, sizeof key, xc_store_entry_order)
				  : NULL;
}

bool xc_store_state_is_dull(const struct xc_store_state *state, struct xc_store_dull dull)
{
	return state->dull_count &&
	       bsearch(&dull, state->dull, state->dull_count, sizeof dull, xc_store_dull_order) != NULL;
}

struct xc_store_root *xc_store_state_root(struct xc_store_state *state, const char *path)
{
	for (size_t i = 0; i < state->root_count; i++)
		if (!strcmp(state->roots[i].path, path))
			return &state->roots[i];
	return NULL;
}

bool xc_store_unchanged(const struct xc_store_file *file, const struct stat *st)
{
	return file->dev == (uint64_t)st->st_dev && file->ino == (uint64_t)st->st_ino &&
	       file->size == (uint64_t)st->st_size && file->mtime_ns == xc_store_mtime(st);
}

bool xc_store_gone(const struct xc_store_file *file)
{
	struct stat st;
	return lstat(file->path, &st) < 0 || !S_ISREG(st.st_mode) || !xc_store_unchanged(file, &st);
}

/* Two files share a number with a probability of 2^-64; then one of them is not read until it changes. */
static uint64_t mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ (hash >> 29);
}

struct xc_store_dull xc_store_dull_of(const char *root, const struct stat *st)
{
	uint64_t tree = XC_STORE_VERSION, file = XC_STORE_VERSION;
	for (const char *c = root; *c; c++)
		tree = mix(tree, (uint8_t)*c);
	file = mix(mix(file, (uint64_t)st->st_dev), (uint64_t)st->st_ino);
	file = mix(mix(file, (uint64_t)st->st_size), (uint64_t)xc_store_mtime(st));
	return (struct xc_store_dull){tree, file};
}

bool xc_store_below(const char *path, const char *root)
{
	size_t len = strlen(root);
	if (len && root[len - 1] == '/') /* "/" itself */
		len--;
	return !strncmp(path, root, len) && (path[len] == '/' || !path[len]);
}

/* ---- reading ---- */

/* Split units by file: counted first, then assigned. */
static void read_splits(struct xc_store_state *state, const uint32_t *entry_of, size_t files)
{
	struct xc_store_split split;
	size_t count = xc_store_split_count(state->store);
	for (int deal = 0; deal < 2; deal++) {
		for (size_t i = 0; i < count; i++) {
			if (!xc_store_split(state->store, i, &split) || split.file >= files ||
			    entry_of[split.file] == UINT32_MAX)
				continue;
			struct xc_store_entry *e = &state->entries[entry_of[split.file]];
			if (deal) /* the memory is this function's own */
				((uint64_t *)(uintptr_t)e->dwo_ids)[e->dwo_count] = split.dwo_id;
			e->dwo_count++;
		}
		for (size_t i = 0; !deal && i < state->entry_count; i++) {
			struct xc_store_entry *e = &state->entries[i];
			if (e->dwo_count)
				e->dwo_ids = xc_arena_alloc(&state->arena, e->dwo_count * sizeof *e->dwo_ids);
			e->dwo_count = 0;
		}
	}
}

static void read_entries(struct xc_store_state *state)
{
	size_t files = xc_store_file_count(state->store), roots = xc_store_root_count(state->store);
	xc_auto(xc_freep) uint32_t *entry_of = xc_alloc((files + 1) * sizeof *entry_of);
	for (size_t i = 0; i < files; i++) {
		struct xc_store_entry e = {.dwo_count = 0};
		entry_of[i] = UINT32_MAX;
		if (!xc_store_file(state->store, i, &e.file))
			continue;
		state->entries =
			xc_grow(state->entries, state->entry_count, &state->entry_capacity, sizeof *state->entries);
		entry_of[i] = (uint32_t)state->entry_count;
		state->entries[state->entry_count++] = e;
	}
	for (size_t i = 0; i < roots; i++) {
		struct xc_store_root root;
		if (!xc_store_root(state->store, i, &root))
			continue;
		state->roots = xc_grow(state->roots, state->root_count, &state->root_capacity, sizeof *state->roots);
		state->roots[state->root_count++] = root;
	}
	read_splits(state, entry_of, files);
	state->damaged = xc_store_damaged(state->store);
}

/* Sort, and remove duplicates, which a forged file may have: searching and merging rely on both. */
static void tidy(struct xc_store_state *state)
{
	size_t kept = 0;
	if (state->entry_count)
		qsort(state->entries, state->entry_count, sizeof *state->entries, xc_store_entry_order);
	for (size_t i = 0; i < state->entry_count; i++)
		if (!kept || xc_store_entry_order(&state->entries[kept - 1], &state->entries[i]) != 0)
			state->entries[kept++] = state->entries[i];
	state->entry_count = kept;
}

static void read_dull(const char *dir, struct xc_store_state *state)
{
	xc_auto(xc_freep) char *path = xc_asprintf("%s/dull", dir);
	xc_auto(xc_source_closep) struct xc_source *source = NULL;
	const struct xc_source_options plain = {.as_is = true};
	uint32_t told;
	struct xc_error *err = xc_source_open(path, &plain, &source);
	xc_error_free(err);
	if (err || source->size < DULL_HEAD || memcmp(source->bytes, dull_magic, sizeof dull_magic) != 0)
		return;
	size_t size = (size_t)source->size - DULL_HEAD;
	memcpy(&told, source->bytes + sizeof dull_magic, sizeof told);
	if (size % sizeof *state->dull || told != xc_store_crc(source->bytes + DULL_HEAD, size))
		return;
	state->dull = xc_alloc(size);
	memcpy(state->dull, source->bytes + DULL_HEAD, size);
	state->dull_count = state->dull_capacity = size / sizeof *state->dull;
}

struct xc_error *xc_store_state_read(const char *dir, struct xc_store_state *state_out)
{
	struct xc_store_state state = {.entry_count = 0};
	struct xc_error *err = xc_store_open(dir, &state.store);
	if (err && err->code != XC_ERR_NOT_FOUND && err->code != XC_ERR_FORMAT && err->code != XC_ERR_UNSUPPORTED)
		return err;
	state.damaged = err && err->code != XC_ERR_NOT_FOUND;
	xc_error_free(err);
	if (state.store)
		read_entries(&state);
	tidy(&state);
	read_dull(dir, &state);
	*state_out = state;
	return NULL;
}

void xc_store_state_fini(struct xc_store_state *state)
{
	free(state->entries);
	free(state->dull);
	free(state->roots);
	xc_store_close(state->store);
	xc_arena_fini(&state->arena);
	*state = (struct xc_store_state){.entry_count = 0};
}

/* ---- writing ---- */

static struct xc_error *write_dull(const char *dir, const struct xc_store_state *state)
{
	size_t size = state->dull_count * sizeof *state->dull;
	xc_auto(xc_freep) uint8_t *bytes = xc_alloc(DULL_HEAD + size);
	memcpy(bytes, dull_magic, sizeof dull_magic);
	if (size)
		memcpy(bytes + DULL_HEAD, state->dull, size);
	uint32_t crc = xc_store_crc(bytes + DULL_HEAD, size);
	memcpy(bytes + sizeof dull_magic, &crc, sizeof crc);
	return xc_store_replace(dir, "dull", bytes, DULL_HEAD + size);
}

/* Writes the index first. A file that is in neither is read again; one that is wrongly listed as dull would be lost. */
struct xc_error *xc_store_state_write(const char *dir, const struct xc_store_state *state)
{
	size_t splits = 0;
	for (size_t i = 0; i < state->entry_count; i++)
		splits += state->entries[i].dwo_count;
	struct xc_store_file *files = xc_alloc((state->entry_count + 1) * sizeof *files);
	struct xc_store_split *out = xc_alloc((splits + 1) * sizeof *out);
	splits = 0;
	for (size_t i = 0; i < state->entry_count; i++) {
		const struct xc_store_entry *e = &state->entries[i];
		files[i] = e->file;
		for (size_t k = 0; k < e->dwo_count; k++)
			out[splits++] = (struct xc_store_split){.dwo_id = e->dwo_ids[k], .file = (uint32_t)i};
	}
	const struct xc_store_content content = {.files = files,
						 .file_count = state->entry_count,
						 .splits = out,
						 .split_count = splits,
						 .roots = state->roots,
						 .root_count = state->root_count};
	struct xc_error *err = xc_store_write(dir, &content);
	free(files);
	free(out);
	return err ? err : write_dull(dir, state);
}

/* ---- the lock ---- */

/* Creates parents too, with mode 0777 as mkdir(1) does: the user's umask decides who may read. */
static struct xc_error *make_directory(const char *dir)
{
	struct stat st;
	if (!xc_userdir_make(dir, 0777))
		return xc_error_errno(errno, "%s", dir);
	if (stat(dir, &st) < 0)
		return xc_error_errno(errno, "%s", dir);
	return S_ISDIR(st.st_mode) ? NULL : xc_error_errno(ENOTDIR, "%s", dir);
}

/* The lock is held only while two files are written. A process that holds it for seconds is stopped or hangs. */
struct xc_error *xc_store_lock(const char *dir, int wait_ms, int *lock_out)
{
	xc_auto(xc_freep) char *path = xc_asprintf("%s/lock", dir);
	struct xc_error *err = xc_store_check(dir);
	if (err && err->code == XC_ERR_NOT_FOUND) {
		xc_error_free(err);
		err = make_directory(dir);
		err = err ? err : xc_store_check(dir);
	}
	if (err)
		return err;
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
	if (fd < 0)
		return xc_error_errno(errno, "%s", path);
	for (int waited = 0; flock(fd, LOCK_EX | LOCK_NB) < 0; waited += LOCK_STEP_MS) {
		int error = errno;
		if ((error != EWOULDBLOCK && error != EINTR) || waited >= wait_ms) {
			close(fd);
			return error == EWOULDBLOCK ? xc_error_new(XC_ERR_IO, "%s: another xcore has held it for %d ms",
								   path, wait_ms)
						    : xc_error_errno(error, "%s", path);
		}
		nanosleep(&(struct timespec){.tv_nsec = LOCK_STEP_MS * 1000000L}, NULL);
	}
	*lock_out = fd;
	return NULL;
}
