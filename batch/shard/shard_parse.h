/* shard_parse: the value of --shard. */
#ifndef XC_SHARD_PARSE_H
#define XC_SHARD_PARSE_H

#include "core/base/error.h"
#include "batch/shard/shard.h"

/* "I/N" with I counted from 0; "auto" or "auto/N": what the batch system's environment says (scheduler.h).
 * Errors: XC_ERR_USAGE. */
XC_MUST_CHECK struct xc_error *xc_shard_parse(const char *text, struct xc_shard *shard_out);

#endif
