/* shard: which of a set of inputs one of several machines looks at. */
#ifndef XC_SHARD_H
#define XC_SHARD_H

#include "core/base/base.h"

struct xc_shard {
	unsigned index, of; /* of 0: there are no shards, all is ours */
};

enum { XC_SHARDS_MAX = 1 << 20 };

/* Is an input with this path of this shard? By a hash of the path, so that shards need to know nothing of each other. */
bool xc_shard_has(const struct xc_shard *shard, const char *path);

#endif
