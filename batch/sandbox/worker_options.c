/* worker_options: the defaults. */
#include "batch/sandbox/worker_options.h"

#include "batch/sandbox/desk.h"

static const uint64_t SECOND = UINT64_C(1000000000);

unsigned xc_worker_seconds(const struct xc_worker_options *options)
{
	return options->seconds ? options->seconds : 60;
}

uint64_t xc_worker_memory(const struct xc_worker_options *options)
{
	return options->memory ? options->memory : UINT64_C(2) << 30;
}

uint64_t xc_worker_core_size(const struct xc_worker_options *options)
{
	return options->max_core_size ? options->max_core_size : UINT64_C(32) << 30;
}

bool xc_worker_stopped(const struct xc_worker_options *options)
{
	return options->stopped && *options->stopped;
}

uint64_t xc_worker_patience(const struct xc_worker_options *options)
{
	const uint64_t half = (uint64_t)xc_worker_seconds(options) * SECOND / 2, most = XC_DESK_SECONDS * SECOND;
	return half < most ? half : most;
}

struct xc_jail xc_worker_jail(const struct xc_worker_options *options)
{
	return (struct xc_jail){
		.memory = xc_worker_memory(options),
		.file_size = xc_worker_core_size(options),
		.seconds = xc_worker_seconds(options) + 1, /* the parent's clock comes first */
	};
}
