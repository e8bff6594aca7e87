/* inflate_cache: an image, then a trailer with the key that it belongs to. The trailer also shows that the file is
 * complete:
 *
 *	"XCPLAIN1"   u64 size of the image   SHA-256 of the key                                     (48 bytes) */
#include "dwarf/elf/inflate_cache.h"

#include <errno.h>
#include <sha2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dwarf/elf/inflate.h"

enum { KEY_SIZE = SHA256_DIGEST_LENGTH, NAME_BYTES = 16 };
static const char magic[8] = {'X', 'C', 'P', 'L', 'A', 'I', 'N', '1'};
static const uint64_t least_size = 256 << 10; /* smaller images are inflated as fast as they are looked up */

struct trailer {
	char magic[sizeof magic];
	uint64_t size;
	uint8_t key[KEY_SIZE];
};

struct xc_cache xc_inflate_cache_in(const char *dir)
{
	return (struct xc_cache){.dir = dir, .kind = "debug", .capacity = UINT64_C(8) << 30};
}

/* The kernel's facts about a compressed file. */
struct facts {
	uint64_t dev, ino, size, mtime_ns, ctime_ns;
};

static void digest(const struct facts *facts, uint8_t key[KEY_SIZE])
{
	SHA2_CTX context;
	SHA256Init(&context);
	SHA256Update(&context, (const uint8_t *)facts, sizeof *facts);
	SHA256Final(key, &context);
}

static void make_key(const struct xc_source *packed, uint8_t key[KEY_SIZE])
{
	const struct facts facts = {packed->dev, packed->ino, packed->stored_size, (uint64_t)packed->mtime_ns,
				    (uint64_t)packed->ctime_ns};
	digest(&facts, key);
}

static uint64_t nanoseconds(struct timespec time)
{
	return (uint64_t)(time.tv_sec * INT64_C(1000000000) + time.tv_nsec);
}

struct name {
	char text[2 * NAME_BYTES + sizeof ".plain"];
};

static struct name name_of(const uint8_t key[KEY_SIZE])
{
	struct name name;
	for (size_t i = 0; i < NAME_BYTES; i++)
		snprintf(name.text + 2 * i, 3, "%02x", key[i]);
	memcpy(name.text + sizeof name.text - sizeof ".plain", ".plain", sizeof ".plain");
	return name;
}

bool xc_inflate_cache_name(int fd, char name[XC_INFLATE_CACHE_NAME])
{
	struct stat st;
	uint8_t key[KEY_SIZE];
	if (fstat(fd, &st))
		return false;
	const struct facts facts = {st.st_dev, st.st_ino, (uint64_t)st.st_size, nanoseconds(st.st_mtim),
				    nanoseconds(st.st_ctim)};
	digest(&facts, key);
	const struct name text = name_of(key);
	_Static_assert(sizeof text.text == XC_INFLATE_CACHE_NAME, "its size is the header's");
	memcpy(name, text.text, sizeof text.text);
	return true;
}

static bool whole(const struct xc_source *s, const uint8_t key[KEY_SIZE], size_t *size_out)
{
	struct trailer t;
	if (s->size < sizeof t)
		return false;
	memcpy(&t, s->bytes + s->size - sizeof t, sizeof t);
	*size_out = (size_t)t.size;
	return !memcmp(t.magic, magic, sizeof magic) && t.size == s->size - sizeof t && !memcmp(t.key, key, KEY_SIZE);
}

struct xc_source *xc_inflate_cache_get(const char *dir, const struct xc_source *packed, size_t *size_out)
{
	uint8_t key[KEY_SIZE];
	make_key(packed, key);
	const struct xc_cache cache = xc_inflate_cache_in(dir);
	xc_auto(xc_source_closep) struct xc_source *source = xc_cache_get(&cache, name_of(key).text);
	return source && whole(source, key, size_out) ? xc_take(source) : NULL;
}

static bool seal(int fd, const struct xc_source *packed, uint64_t size)
{
	struct trailer t = {.size = size};
	memcpy(t.magic, magic, sizeof magic);
	make_key(packed, t.key);
	return pwrite(fd, &t, sizeof t, (off_t)size) == sizeof t;
}

struct xc_error *xc_inflate_cache_write(const struct xc_source *packed, Elf *elf, int fd)
{
	uint64_t size;
	struct xc_error *err = xc_inflate_needed(elf) ? xc_inflate_size(elf, &size) : NULL;
	if (err)
		return err;
	if (!xc_inflate_needed(elf) || size < least_size)
		return xc_error_new(XC_ERR_NOT_FOUND, "nothing worth caching");
	if ((err = xc_inflate_to(elf, fd)))
		return err;
	return seal(fd, packed, size) ? NULL : xc_error_errno(errno, "writing inflated debug sections");
}

struct xc_error *xc_inflate_cache_fill(const char *dir, const struct xc_source *packed, Elf *elf,
				       struct xc_source **image_out, size_t *size_out)
{
	uint64_t size;
	uint8_t key[KEY_SIZE];
	struct xc_cache_draft draft;
	const struct xc_cache cache = xc_inflate_cache_in(dir);
	struct xc_error *err = xc_inflate_size(elf, &size);
	*image_out = NULL;
	make_key(packed, key);
	if (err || size < least_size ||
	    !xc_cache_begin(&cache, name_of(key).text, size + sizeof(struct trailer), &draft))
		return err;
	err = xc_inflate_to(elf, draft.fd);
	bool kept = xc_cache_finish(&draft, !err && seal(draft.fd, packed, size));
	if (err && err->code == XC_ERR_IO) { /* a fault of the disk, not of the file */
		xc_error_free(err);
		return NULL;
	}
	if (kept)
		*image_out = xc_inflate_cache_get(dir, packed, size_out);
	return err;
}
