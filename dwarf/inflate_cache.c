/* inflate_cache: image, then a trailer that says what it belongs to and that it is whole:
 *
 *	"XCPLAIN1"   u64 size of the image   SHA-256 of the key                                     (48 bytes) */
#include "inflate_cache.h"

#include <sha2.h>
#include <stdio.h>
#include <string.h>

#include "../core/cache.h"

enum { KEY_SIZE = SHA256_DIGEST_LENGTH, NAME_BYTES = 16 };
static const char magic[8] = {'X', 'C', 'P', 'L', 'A', 'I', 'N', '1'};
static const uint64_t least_size = 256 << 10; /* smaller ones are inflated as fast as found */

struct trailer {
	char magic[sizeof magic];
	uint64_t size;
	uint8_t key[KEY_SIZE];
};

static struct xc_cache cache_in(const char *dir)
{
	return (struct xc_cache){.dir = dir, .kind = "debug", .capacity = UINT64_C(8) << 30};
}

static void make_key(const struct xc_source *packed, uint8_t key[KEY_SIZE])
{
	const uint64_t facts[] = {packed->dev, packed->ino, packed->stored_size, (uint64_t)packed->mtime_ns,
				  (uint64_t)packed->ctime_ns};
	SHA2_CTX context;
	SHA256Init(&context);
	SHA256Update(&context, (const uint8_t *)facts, sizeof facts);
	SHA256Final(key, &context);
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
	const struct xc_cache cache = cache_in(dir);
	xc_auto(xc_source_closep) struct xc_source *source = xc_cache_get(&cache, name_of(key).text);
	return source && whole(source, key, size_out) ? xc_take(source) : NULL;
}

void xc_inflate_cache_put(const char *dir, const struct xc_source *packed, const void *image, size_t size)
{
	struct trailer t = {.size = size};
	if (size < least_size)
		return;
	memcpy(t.magic, magic, sizeof magic);
	make_key(packed, t.key);
	const struct xc_cache cache = cache_in(dir);
	const struct xc_cache_piece pieces[] = {{image, size}, {&t, sizeof t}};
	xc_cache_put(&cache, name_of(t.key).text, pieces, XC_COUNT(pieces));
}
