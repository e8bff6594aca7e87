/* source: a mapped file, or the mapped temporary file that a compressed one was inflated into.
 *
 * Reads of a mapping need no system calls, at one price: when another process truncates the file, touching a lost page
 * raises SIGBUS. The handler below looks the address up in a list of guards (one per mapping, never freed, so the walk
 * is safe in a signal handler), maps zero pages over the lost rest and marks the source as changed. Any other SIGBUS
 * gets the default action. */
#include "core/io/source.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/io/decompress.h"
#include "core/io/opener.h"

static const uint64_t DEFAULT_MAX_SIZE = UINT64_C(256) << 30;
static const size_t HEADROOM = 8 << 20, TAIL = 64 << 10; /* TAIL: at least a page */
static const size_t UNLOCKED = 256 << 10;                /* headroom becomes writable in pieces of this size */

/* ---- the SIGBUS guard ---- */

struct xc_source_guard {
	struct xc_source_guard *next; /* set once, before the guard is published */
	_Atomic uintptr_t lo, hi;     /* hi is exclusive; both 0 when the guard is free for reuse */
	atomic_bool changed;
};

static _Atomic(struct xc_source_guard *) guards;

static void on_sigbus(int number, siginfo_t *info, void *context)
{
	(void)context;
	int saved = errno;
	uintptr_t at = (uintptr_t)info->si_addr, page = (uintptr_t)sysconf(_SC_PAGESIZE);
	for (struct xc_source_guard *g = atomic_load(&guards); g; g = g->next) {
		uintptr_t hi = atomic_load(&g->hi);
		if (at < atomic_load(&g->lo) || at >= hi)
			continue;
		uintptr_t from = at & ~(page - 1);
		if (mmap((void *)from, hi - from, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
		    MAP_FAILED)
			break;
		atomic_store(&g->changed, true);
		errno = saved;
		return;
	}
	signal(number, SIG_DFL); /* not a guarded address: the instruction runs again and kills the process */
}

/* Called for each mapping, because other code of the process may have replaced the handler. */
static void install_handler(void)
{
	struct sigaction action = {.sa_sigaction = on_sigbus, .sa_flags = SA_SIGINFO | SA_NODEFER};
	sigemptyset(&action.sa_mask);
	sigaction(SIGBUS, &action, NULL);
}

/* Not thread-safe: the main thread opens all sources. */
static struct xc_source_guard *guard_map(void *map, size_t size)
{
	install_handler();
	struct xc_source_guard *g = atomic_load(&guards);
	while (g && atomic_load(&g->hi))
		g = g->next;
	bool fresh = !g;
	if (fresh)
		g = xc_alloc(sizeof *g);
	atomic_store(&g->changed, false);
	atomic_store(&g->lo, (uintptr_t)map);
	atomic_store(&g->hi, (uintptr_t)map + size);
	if (fresh) {
		g->next = atomic_load(&guards);
		atomic_store(&guards, g);
	}
	return g;
}

/* A file that lost less than a page raises no SIGBUS: the rest of its last page is zeros. */
static bool shrunk(const struct xc_source *source)
{
	struct stat st;
	return source->map && !source->compressed && stat(source->path, &st) == 0 && st.st_dev == source->dev &&
	       st.st_ino == source->ino && (uint64_t)st.st_size < source->stored_size;
}

bool xc_source_changed(const struct xc_source *source)
{
	return (source->guard && atomic_load(&source->guard->changed)) || shrunk(source);
}

/* ---- mapping ---- */

/* `from` is page-aligned. */
static struct xc_error *map_fd(int fd, uint64_t from, uint64_t size, struct xc_source *source)
{
	source->size = size;
	if (size == 0)
		return NULL;
	if (size > SIZE_MAX / 2)
		return xc_error_new(XC_ERR_LIMIT, "%s: %" PRIu64 " bytes cannot be mapped", source->path, size);
	/* Headroom first, then the file, then a tail of zeros: libraries that look for the end of a string find one,
	 * wherever the file ends. Untouched pages cost nothing. No page is writable before it is needed, because
	 * RLIMIT_DATA counts writable ones. */
	size_t whole = HEADROOM + (size_t)size + TAIL;
	uint8_t *map = mmap(NULL, whole, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (map == MAP_FAILED)
		return xc_error_errno(errno, "%s: mapping it", source->path);
	if (mmap(map + HEADROOM, (size_t)size, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, (off_t)from) == MAP_FAILED) {
		int number = errno;
		munmap(map, whole);
		return xc_error_errno(number, "%s: mapping it", source->path);
	}
	source->map = map;
	source->map_size = whole;
	source->headroom = source->locked = HEADROOM;
	source->bytes = map + HEADROOM;
	source->guard = guard_map(map + HEADROOM, (size_t)size);
	return NULL;
}

struct xc_source *xc_source_blank(uint64_t size, const char *name)
{
	if (size == 0 || size > SIZE_MAX / 2)
		return NULL;
	size_t whole = HEADROOM + (size_t)size + TAIL;
	uint8_t *map = mmap(NULL, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (map == MAP_FAILED)
		return NULL;
	madvise(map + HEADROOM, (size_t)size, MADV_HUGEPAGE);
	struct xc_source *source = xc_alloc(sizeof *source);
	*source = (struct xc_source){.bytes = map + HEADROOM,
				     .size = size,
				     .stored_size = size,
				     .path = xc_strdup(name),
				     .compressed = true, /* no file on disk that could shrink */
				     .map = map,
				     .map_size = whole,
				     .headroom = HEADROOM};
	return source;
}

/* Make the headroom writable from here on, and a piece before it. */
static bool unlock(struct xc_source *source, size_t from)
{
	const size_t start = from & ~(UNLOCKED - 1);
	if (mprotect((uint8_t *)source->map + start, source->locked - start, PROT_READ | PROT_WRITE))
		return false;
	source->locked = start;
	return true;
}

void *xc_source_headroom(struct xc_source *source, size_t size)
{
	size_t rounded = (size + 63) & ~(size_t)63;
	if (rounded < size || rounded > source->headroom)
		return NULL;
	if (source->headroom - rounded < source->locked && !unlock(source, source->headroom - rounded))
		return NULL;
	source->headroom -= rounded;
	return (uint8_t *)source->map + source->headroom;
}

/* ---- compressed files ---- */

static const char *compression_of(const struct xc_source *source, const struct xc_decoder *decoder)
{
	const bool bzip2 = source->size >= 4 && !memcmp(source->bytes, "BZh", 3);
	return decoder ? decoder->name : bzip2 ? "bzip2" : NULL;
}

static void unmap(struct xc_source *source)
{
	if (source->guard)
		atomic_store(&source->guard->hi, 0);
	if (source->map) /* the caller's bytes have none */
		munmap(source->map, source->map_size);
	source->map = NULL;
	source->guard = NULL;
	source->bytes = NULL;
}

/* Replace the mapping of a compressed file by that of its content. */
static struct xc_error *inflate(struct xc_source *source, const struct xc_decoder *decoder,
				const struct xc_source_options *options)
{
	struct xc_decompression expansion = {.bytes = source->bytes,
					     .size = source->size,
					     .path = source->path,
					     .limit = options && options->max_size ? options->max_size
										   : DEFAULT_MAX_SIZE,
					     .room = options ? options->room : 0,
					     .progress = options ? options->progress : NULL};
	struct xc_error *err = xc_decompress(decoder, &expansion);
	if (err)
		return err;
	unmap(source);
	source->compressed = true;
	source->compression = decoder->name;
	source->cut = expansion.cut;
	err = map_fd(expansion.fd, expansion.from, expansion.written, source);
	close(expansion.fd);
	return err;
}

/* ---- opening ---- */

static const char *kind_of_file(mode_t mode)
{
	return S_ISDIR(mode) ? "a directory" : S_ISFIFO(mode) ? "a FIFO" : S_ISSOCK(mode) ? "a socket" : "a device";
}

static struct xc_error *fill(int fd, struct xc_source *source, const struct xc_source_options *options)
{
	struct stat st;
	if (fstat(fd, &st) < 0)
		return xc_error_errno(errno, "%s", source->path);
	if (!S_ISREG(st.st_mode))
		return xc_error_new(XC_ERR_UNSUPPORTED, "%s: is %s, not a regular file", source->path,
				    kind_of_file(st.st_mode));
	source->dev = st.st_dev;
	source->ino = st.st_ino;
	source->mtime = st.st_mtime;
	source->mtime_ns = st.st_mtim.tv_sec * INT64_C(1000000000) + st.st_mtim.tv_nsec;
	source->ctime_ns = st.st_ctim.tv_sec * INT64_C(1000000000) + st.st_ctim.tv_nsec;
	source->stored_size = (uint64_t)st.st_size;
	struct xc_error *err = map_fd(fd, 0, (uint64_t)st.st_size, source);
	if (err)
		return err;
	const struct xc_decoder *decoder = xc_decoder_of(source->bytes, source->size);
	const bool as_is = options && options->as_is;
	if (decoder && !as_is)
		return inflate(source, decoder, options);
	const char *other = compression_of(source, decoder);
	if (!other)
		return NULL;
	err = xc_error_new(XC_ERR_UNSUPPORTED, "%s: compressed with %s", source->path, other);
	return as_is ? err : xc_error_hint(err, "unpack it first, or store cores with zstd");
}

struct xc_error *xc_source_open_fd(int fd, const char *path, const struct xc_source_options *options,
				   struct xc_source **source_out)
{
	struct xc_source *source = xc_alloc(sizeof *source);
	source->path = xc_strdup(path);
	struct xc_error *err = fill(fd, source, options);
	close(fd);
	if (err) {
		xc_source_close(source);
		return err;
	}
	*source_out = source;
	return NULL;
}

struct xc_error *xc_source_open(const char *path, const struct xc_source_options *options,
				struct xc_source **source_out)
{
	bool special;
	xc_auto(xc_freep) char *full = xc_opener() ? xc_opener_full(path) : NULL;
	int fd = full ? xc_opener_regular(NULL, full, &special)
		      : open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return xc_error_errno(errno, "%s", path);
	return xc_source_open_fd(fd, path, options, source_out);
}

struct xc_source *xc_source_over(const void *bytes, size_t size, const char *name)
{
	struct xc_source *source = xc_alloc(sizeof *source);
	source->bytes = bytes;
	source->size = source->stored_size = size;
	source->path = xc_strdup(name);
	return source;
}

struct xc_error *xc_source_inflate(const void *bytes, uint64_t size, const char *path,
				   const struct xc_source_options *options, struct xc_source **source_out)
{
	struct xc_source *source = xc_source_over(bytes, (size_t)size, path);
	const struct xc_decoder *decoder = xc_decoder_of(bytes, size);
	struct xc_error *err = inflate(source, decoder ? decoder : &xc_decoder_zstd, options);
	if (err) {
		xc_source_close(source);
		return err;
	}
	*source_out = source;
	return NULL;
}

void xc_source_close(struct xc_source *source)
{
	if (!source)
		return;
	unmap(source);
	free((void *)(uintptr_t)source->path);
	free(source);
}

void xc_source_closep(struct xc_source **source)
{
	xc_source_close(*source);
}
