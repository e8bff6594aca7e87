/* shard: the first 64 bits of the path's SHA-256, modulo the number of shards. */
#include "batch/shard/shard.h"

#include <sha256.h>
#include <string.h>

bool xc_shard_has(const struct xc_shard *shard, const char *path)
{
	uint8_t digest[SHA256_DIGEST_LENGTH];
	uint64_t number = 0;
	SHA2_CTX state;
	if (!shard->of)
		return true;
	SHA256Init(&state);
	SHA256Update(&state, (const uint8_t *)path, strlen(path));
	SHA256Final(digest, &state);
	for (size_t i = 0; i < sizeof number; i++)
		number = number << 8 | digest[i];
	return number % shard->of == shard->index;
}
