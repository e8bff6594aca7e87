/* worker_options: default limits. */
#include "batch/sandbox/worker_options.h"

#include "batch/sandbox/broker_status.h"

static const uint64_t SECOND = UINT64_C(1000000000);

unsigned xc_worker_options_seconds(const struct xc_worker_options *options)
{
	return options->seconds ? options->seconds : 60;
}

uint64_t xc_worker_options_memory(const struct xc_worker_options *options)
{
	return options->memory ? options->memory : UINT64_C(2) << 30;
}

uint64_t xc_worker_options_core_size(const struct xc_worker_options *options)
{
	return options->max_core_size ? options->max_core_size : UINT64_C(32) << 30;
}

bool xc_worker_options_stopped(const struct xc_worker_options *options)
{
	return options->stopped && *options->stopped;
}

uint64_t xc_worker_options_patience(const struct xc_worker_options *options)
{
	const uint64_t half = (uint64_t)xc_worker_options_seconds(options) * SECOND / 2,
		       most = XC_BROKER_STATUS_SECONDS * SECOND;
	return half < most ? half : most;
}

struct xc_worker_sandbox xc_worker_options_sandbox(const struct xc_worker_options *options)
{
	return (struct xc_worker_sandbox){
		.memory = xc_worker_options_memory(options),
		.file_size = xc_worker_options_core_size(options),
		.seconds = xc_worker_options_seconds(options) + 1, /* the parent's timer must fire first */
	};
}
