/* shard: which of the inputs belong to one of several machines. */
#ifndef XC_SHARD_H
#define XC_SHARD_H

#include "core/base/base.h"

struct xc_shard {
	unsigned index, of; /* of 0: there are no shards, and everything belongs here */
};

enum { XC_SHARDS_MAX = 1 << 20 };

/* Does the input with this path belong to the shard? By a hash of the path, so shards need no communication. */
bool xc_shard_has(const struct xc_shard *shard, const char *path);

#endif
