/* source: a mapped file, or a zstd file inflated into an unlinked temporary one.
 *
 * Mapping makes every later read free of system calls, at one price: when the file is cut by somebody
 * else, touching the lost pages raises SIGBUS. The handler below looks the address up in a list of
 * guards (one per mapping, never freed, so the walk is safe in a signal), maps zero pages over the lost
 * rest and marks the source as changed. Anything else gets the default action.
 *
 * The temporary file is written in full, never mapped sparse: a hole would be allocated on first touch on
 * tmpfs, and a full one would raise SIGBUS where a write fails cleanly.
 * zstd frames: RFC 8878. */
#include "source.h"

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
#include <zstd.h>
#include <zstd_errors.h>

#include "cursor.h"
#include "progress.h"

static const uint64_t DEFAULT_MAX_SIZE = UINT64_C(256) << 30;
enum {
	WINDOW_LOG_MAX = 27, /* 128 MiB: what zstd itself accepts without being asked for more */
	MAX_SKIPPED = 64,
	BLOCK_HEADER = 3,
};
static const size_t HEADROOM = 8 << 20, TAIL = 64 << 10; /* TAIL: at least a page */
#ifdef XC_HOSTILE
enum { OUT_SIZE = 509, STEP_MAX = 7, NEXT_FRAME = 1 };
#else
enum { OUT_SIZE = 1 << 20, STEP_MAX = 1 << 20, NEXT_FRAME = 16 };
#endif

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
	signal(number, SIG_DFL); /* not ours: the faulting instruction runs again and dies as it should */
}

/* At every mapping: somebody else in the process may have taken the signal since. */
static void install_handler(void)
{
	struct sigaction action = {.sa_sigaction = on_sigbus, .sa_flags = SA_SIGINFO | SA_NODEFER};
	sigemptyset(&action.sa_mask);
	sigaction(SIGBUS, &action, NULL);
}

/* Not called from several threads at once: sources are opened by the main thread. */
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

/* A file that lost less than a page raises no SIGBUS: the rest of its last page reads as zeros. */
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

static struct xc_error *map_fd(int fd, uint64_t size, struct xc_source *source)
{
	source->size = size;
	if (size == 0)
		return NULL;
	if (size > SIZE_MAX / 2)
		return xc_error_new(XC_ERR_LIMIT, "%s: %" PRIu64 " bytes cannot be mapped", source->path, size);
	/* Headroom first, then the file over the rest of the same range, but for a tail of zeros: libraries that look for
	 * the end of a string find one, wherever the file stops. Pages that are not touched cost nothing. */
	size_t whole = HEADROOM + (size_t)size + TAIL;
	uint8_t *map = mmap(NULL, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (map == MAP_FAILED)
		return xc_error_errno(errno, "%s: mapping it", source->path);
	if (mmap(map + HEADROOM, (size_t)size, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0) == MAP_FAILED) {
		int number = errno;
		munmap(map, whole);
		return xc_error_errno(number, "%s: mapping it", source->path);
	}
	source->map = map;
	source->map_size = whole;
	source->headroom = HEADROOM;
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
				     .compressed = true, /* no file of its own that could shrink */
				     .map = map,
				     .map_size = whole,
				     .headroom = HEADROOM};
	return source;
}

void *xc_source_headroom(struct xc_source *source, size_t size)
{
	size_t rounded = (size + 63) & ~(size_t)63;
	if (rounded < size || rounded > source->headroom)
		return NULL;
	source->headroom -= rounded;
	return (uint8_t *)source->map + source->headroom;
}

/* ---- compression ---- */

static const char *other_compression(const uint8_t *bytes, uint64_t size)
{
	static const struct {
		const char *name, *magic;
		size_t len;
	} known[] = {{"gzip", "\x1f\x8b", 2},
		     {"xz",
		      "\xfd"
		      "7zXZ",
		      6},
		     {"lz4", "\x04\x22\x4d\x18", 4},
		     {"bzip2", "BZh", 3}};
	for (size_t i = 0; i < XC_COUNT(known); i++)
		if (size >= known[i].len && !memcmp(bytes, known[i].magic, known[i].len))
			return known[i].name;
	return NULL;
}

/* The first frame that is not a skippable one (pzstd begins with those; lz4 has them too) must be zstd's. */
static bool is_zstd(const uint8_t *bytes, uint64_t size)
{
	uint64_t at = 0;
	if (size >= 16 && !memcmp(bytes + 8, "XCOREPCK", 8))
		return false; /* a pack: archive.h reads it */
	for (int skipped = 0; skipped < MAX_SKIPPED && size - at >= 8; skipped++) {
		uint64_t magic = xc_load_uint(bytes + at, 4, false), len = xc_load_uint(bytes + at + 4, 4, false);
		if ((magic & ~UINT64_C(15)) != ZSTD_MAGIC_SKIPPABLE_START || len > size - at - 8)
			break;
		at += 8 + len;
	}
	return size - at >= 4 && xc_load_uint(bytes + at, 4, false) == ZSTD_MAGICNUMBER;
}

static struct xc_error *temporary_file(int *fd_out)
{
	const char *dir = getenv("TMPDIR");
	if (!dir || !*dir)
		dir = "/var/tmp"; /* large files: /tmp is often in memory */
	int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd < 0) {
		xc_auto(xc_freep) char *name = xc_asprintf("%s/xcore-XXXXXX", dir);
		fd = mkostemp(name, O_CLOEXEC);
		if (fd < 0)
			return xc_error_hint(xc_error_errno(errno, "making a temporary file in %s", dir),
					     "set TMPDIR to a directory with room for the inflated core");
		unlink(name);
	}
	*fd_out = fd;
	return NULL;
}

static struct xc_error *write_all(int fd, const char *bytes, size_t len, const char *path)
{
	while (len) {
		ssize_t n = write(fd, bytes, len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return xc_error_hint(xc_error_errno(n ? errno : ENOSPC, "inflating %s", path),
					     "set TMPDIR to a directory with more room");
		bytes += n;
		len -= (size_t)n;
	}
	return NULL;
}

/* Zeros become a hole in the file: most of a large core is zeros, and of a bomb that would fill the disk all of it. */
static struct xc_error *append(int fd, const char *bytes, size_t len, const char *path)
{
	bool zeros = len && !bytes[0] && !memcmp(bytes, bytes + 1, len - 1);
	if (!zeros)
		return write_all(fd, bytes, len, path);
	return lseek(fd, (off_t)len, SEEK_CUR) < 0 ? xc_error_errno(errno, "inflating %s", path) : NULL;
}

struct inflation {
	ZSTD_DStream *stream;
	char *out;
	int fd;
	uint64_t written, limit;
};

static struct xc_error *not_inflated(const char *path, size_t code)
{
	if (ZSTD_getErrorCode(code) == ZSTD_error_frameParameter_windowTooLarge)
		return xc_error_hint(xc_error_new(XC_ERR_LIMIT, "%s: zstd: made with a window of more than %d MiB",
						  path, 1 << (WINDOW_LOG_MAX - 20)),
				     "unpack it first (zstd -d --long=31)");
	return xc_error_new(XC_ERR_FORMAT, "%s: zstd: %s", path, ZSTD_getErrorName(code));
}

/* What to offer zstd next: the one block that it waits for, without the header of the block after it, which its hint
 * includes. An error discards all that a call decoded, so with more a damaged block would cost the one before. */
static size_t step_end(size_t at, size_t hint, size_t size)
{
	size_t step = hint > BLOCK_HEADER ? hint - BLOCK_HEADER : hint ? hint : NEXT_FRAME;
	if (step > STEP_MAX)
		step = STEP_MAX;
	return step < size - at ? at + step : size;
}

/* Decode until the input ends or is found damaged; what was decoded before stays. */
static struct xc_error *inflate_loop(struct inflation *f, const struct xc_source *packed, bool *cut,
				     struct xc_progress *progress)
{
	ZSTD_inBuffer in = {packed->bytes, 0, 0};
	size_t size = (size_t)packed->size, left = NEXT_FRAME;
	while (in.pos < size || left != 0) {
		ZSTD_outBuffer out = {f->out, OUT_SIZE, 0};
		size_t before = in.pos;
		in.size = step_end(in.pos, left, size);
		left = ZSTD_decompressStream(f->stream, &out, &in);
		bool failed = ZSTD_isError(left) != 0;
		if (failed && f->written == 0)
			return not_inflated(packed->path, left);
		if (out.pos > f->limit - f->written)
			return xc_error_new(XC_ERR_LIMIT, "%s: inflates to more than %" PRIu64 " bytes", packed->path,
					    f->limit);
		struct xc_error *err = append(f->fd, f->out, out.pos, packed->path);
		if (err)
			return err;
		f->written += out.pos;
		xc_progress_step(progress, in.pos, size);
		if (failed || (out.pos == 0 && in.pos == before)) {
			*cut = true; /* damaged, or the input ended inside a frame */
			return NULL;
		}
	}
	return NULL;
}

/* Replace the mapping of a zstd file by one of its content. */
static struct xc_error *inflate(struct xc_source *source, const struct xc_source_options *options)
{
	struct xc_progress *progress = options ? options->progress : NULL;
	struct inflation f = {.fd = -1, .limit = options && options->max_size ? options->max_size : DEFAULT_MAX_SIZE};
	struct xc_error *err = temporary_file(&f.fd);
	if (err)
		return err;
	f.stream = ZSTD_createDStream();
	f.out = xc_alloc(OUT_SIZE);
	ZSTD_DCtx_setParameter(f.stream, ZSTD_d_windowLogMax, WINDOW_LOG_MAX);
	bool cut = false;
	err = inflate_loop(&f, source, &cut, progress);
	if (!err && ftruncate(f.fd, (off_t)f.written) < 0)
		err = xc_error_errno(errno, "inflating %s", source->path);
	xc_progress_end(progress);
	ZSTD_freeDStream(f.stream);
	free(f.out);
	if (!err) {
		if (source->map) { /* not when inflating bytes of the caller's */
			atomic_store(&source->guard->hi, 0);
			munmap(source->map, source->map_size);
		}
		source->map = NULL;
		source->guard = NULL;
		source->bytes = NULL;
		source->compressed = true;
		source->cut = cut;
		err = map_fd(f.fd, f.written, source);
	}
	close(f.fd);
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
	struct xc_error *err = map_fd(fd, (uint64_t)st.st_size, source);
	if (err)
		return err;
	bool zstd = is_zstd(source->bytes, source->size), as_is = options && options->as_is;
	if (zstd && !as_is)
		return inflate(source, options);
	const char *other = zstd ? "zstd" : other_compression(source->bytes, source->size);
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
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
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
	struct xc_error *err = inflate(source, options);
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
	if (source->guard)
		atomic_store(&source->guard->hi, 0);
	if (source->map)
		munmap(source->map, source->map_size);
	free((void *)(uintptr_t)source->path);
	free(source);
}

void xc_source_closep(struct xc_source **source)
{
	xc_source_close(*source);
}
