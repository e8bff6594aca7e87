/* shard_parse: parses numbers, or asks the scheduler. */
#include "batch/shard/shard_parse.h"

#include <stdio.h>
#include <string.h>

#include "batch/shard/scheduler.h"

/* "auto" and "auto/N": from the environment. */
static bool is_auto(const char *text, unsigned *of_out)
{
	int end = 0;
	*of_out = 0;
	if (!strcmp(text, "auto"))
		return true;
	return sscanf(text, "auto/%7u%n", of_out, &end) == 1 && !text[end] && *of_out && *of_out <= XC_SHARDS_MAX;
}

struct xc_error *xc_shard_parse(const char *text, struct xc_shard *shard_out)
{
	struct xc_shard shard;
	unsigned of;
	int end = 0;
	if (is_auto(text, &of))
		return xc_scheduler_shard(of, shard_out);
	if (sscanf(text, "%9u/%9u%n", &shard.index, &shard.of, &end) != 2 || text[end] || shard.of > XC_SHARDS_MAX ||
	    shard.index >= shard.of)
		return xc_error_hint(
			xc_error_new(XC_ERR_USAGE, "--shard: '%s' is not I/N with I below N", text),
			"the first of eight shards is 0/8, the last one 7/8; auto and auto/8 ask the batch "
			"system's environment");
	*shard_out = shard;
	return NULL;
}
