/* batch: one loop over the descriptors of all workers. It blocks only in poll, which wakes for the next deadline.
 *
 * Hindered workers are postponed to the end and then retried one at a time, when nobody else uses the resources they
 * lacked (descriptors, memory, disk space). */
#include "batch/run/batch.h"

#include <poll.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "core/base/progress.h"
#include "batch/sandbox/builder.h"
#include "batch/sandbox/sandbox_probe.h"
#include "batch/sandbox/fork_server.h"

enum {
	JOBS_MAX = 256,
	WAKE_MS = 250,        /* brokers' statuses are polled, not signalled */
	LAST_BUILD_MS = 1000, /* a build that finishes now serves the next batch */
	OWN_DESCRIPTORS = 40, /* of this process: files, the store, the checkpoint, temporary ones */
	OF_ONE = 6,           /* of a worker: pipe, socket, process, scratch file, and two during its start */
};

struct run {
	const struct xc_batch *batch;
	const struct xc_input *const *inputs;
	size_t count, next, all, done; /* of the current pass; `all`: of the whole input */
	struct xc_worker *workers[JOBS_MAX];
	const struct xc_input *of[JOBS_MAX]; /* the input of each worker */
	bool again[JOBS_MAX];                /* a retry without its heap */
	size_t running, jobs;
	struct xc_worker_options worker;
	struct xc_sandbox_probe probe;
	struct xc_builder builder;
	const struct xc_input **later; /* inputs of hindered workers */
	size_t later_count;
	bool last_try;
};

/* The number of workers for which the descriptors suffice, up to the hard limit. */
static size_t affordable(void)
{
	struct rlimit files;
	if (getrlimit(RLIMIT_NOFILE, &files))
		return 1;
	const rlim_t soft = files.rlim_cur;
	files.rlim_cur = files.rlim_max;
	const rlim_t limit = setrlimit(RLIMIT_NOFILE, &files) ? soft : files.rlim_cur;
	return limit >= OWN_DESCRIPTORS + (rlim_t)JOBS_MAX * OF_ONE ? JOBS_MAX
	       : limit > OWN_DESCRIPTORS + OF_ONE                   ? (size_t)(limit - OWN_DESCRIPTORS) / OF_ONE
								    : 1;
}

static size_t jobs_of(const struct xc_batch *batch)
{
	const long processors = sysconf(_SC_NPROCESSORS_ONLN);
	const size_t jobs = batch->jobs ? batch->jobs : processors > 0 ? (size_t)processors : 1, most = affordable();
	return jobs < most ? jobs : most;
}

static bool is_stopped(const struct run *run)
{
	return xc_worker_options_stopped(&run->worker);
}

/* If no more processes can be started, the running ones suffice as long as there are any. After an interrupt, none is
 * started. */
static struct xc_error *fill(struct run *run)
{
	while (run->running < run->jobs && run->next < run->count) {
		const struct xc_input *input = run->inputs[run->next];
		struct xc_error *err = xc_worker_start(input, &run->worker, &run->workers[run->running]);
		if (err && (run->running || is_stopped(run))) {
			xc_error_free(err);
			run->jobs = run->running;
			return NULL;
		}
		if (err)
			return err;
		run->again[run->running] = false;
		run->of[run->running++] = input;
		run->next++;
	}
	return NULL;
}

/* Milliseconds to the earliest deadline. A worker without a descriptor to wait for is checked again at once. */
static int patience(const struct run *run)
{
	const uint64_t now = xc_now_ns();
	uint64_t wait = WAKE_MS;
	for (size_t i = 0; i < run->running; i++) {
		const uint64_t end = xc_worker_deadline(run->workers[i]);
		const uint64_t left = end > now ? (end - now) / 1000000 + 1 : 1;
		if (left < wait)
			wait = left;
	}
	return (int)wait;
}

static void await(const struct run *run)
{
	struct pollfd polled[JOBS_MAX * XC_WORKER_DESCRIPTORS + 2];
	int descriptors[XC_WORKER_DESCRIPTORS];
	nfds_t count = 2;
	polled[0] = (struct pollfd){.fd = run->builder.process, .events = POLLIN}; /* poll ignores -1 */
	polled[1] = (struct pollfd){.fd = xc_fork_server_wants(run->worker.fork_server), .events = POLLIN};
	for (size_t i = 0; i < run->running; i++) {
		const size_t own = xc_worker_descriptors(run->workers[i], descriptors);
		if (!own)
			return; /* done */
		for (size_t k = 0; k < own; k++)
			polled[count++] = (struct pollfd){.fd = descriptors[k], .events = POLLIN};
	}
	poll(polled, count, patience(run));
}

static void remove_worker(struct run *run, size_t i)
{
	run->running--;
	run->workers[i] = run->workers[run->running];
	run->of[i] = run->of[run->running];
	run->again[i] = run->again[run->running];
}

static void put_off(struct run *run, size_t i)
{
	run->later[run->later_count++] = run->of[i];
	xc_worker_kill(run->workers[i]);
	remove_worker(run, i);
}

/* Retries without the heap, which takes the most memory and is most often damaged. */
static struct xc_error *try_again(struct run *run, size_t i, const char *why)
{
	struct xc_worker_options less = run->worker;
	struct xc_worker *worker;
	less.heapless = why;
	struct xc_error *err = xc_worker_start(run->of[i], &less, &worker);
	if (err && !run->last_try) {
		xc_error_free(err);
		put_off(run, i);
		return NULL;
	}
	if (err)
		return err;
	xc_worker_kill(run->workers[i]);
	run->workers[i] = worker;
	run->again[i] = true;
	return NULL;
}

static struct xc_error *finish(struct run *run, size_t i)
{
	const struct xc_input *input = run->of[i];
	struct xc_record *record = xc_worker_finish(run->workers[i], run->batch->arena);
	remove_worker(run, i);
	run->done++;
	return run->batch->take(run->batch->user, input, record);
}

static struct xc_error *take(struct run *run, size_t i)
{
	if (!run->last_try && xc_worker_hindered(run->workers[i])) {
		put_off(run, i);
		return NULL;
	}
	const char *excess = run->again[i] ? NULL : xc_worker_excess(run->workers[i]);
	return excess ? try_again(run, i, excess) : finish(run, i);
}

/* Starts builds that brokers requested. */
static void have_built(struct run *run)
{
	char name[XC_FORK_SERVER_NAME];
	int fd;
	while ((fd = xc_fork_server_wanted(run->worker.fork_server, name)) >= 0) {
		xc_builder_want(&run->builder, name, fd);
		close(fd);
	}
}

static struct xc_error *serve(struct run *run)
{
	struct xc_error *err = NULL;
	xc_builder_serve(&run->builder);
	have_built(run);
	for (size_t i = run->running; !err && i-- > 0;)
		if (xc_worker_serve(run->workers[i]))
			err = take(run, i);
	return err;
}

/* After an interrupt: keeps what is done, and drops what would be retried. */
static struct xc_error *take_done(struct run *run)
{
	struct xc_error *err = NULL;
	for (size_t i = run->running; !err && i-- > 0;) {
		struct xc_worker *worker = run->workers[i];
		if (xc_worker_serve(worker) && !xc_worker_hindered(worker) &&
		    (run->again[i] || !xc_worker_excess(worker)))
			err = finish(run, i);
	}
	return err;
}

static struct xc_error *go_through(struct run *run, const struct xc_input *const *inputs, size_t count)
{
	struct xc_error *err = NULL;
	run->inputs = inputs;
	run->count = count;
	run->next = 0;
	while (!err && !is_stopped(run) && (run->next < count || run->running)) {
		err = fill(run);
		if (!err) {
			await(run);
			err = serve(run);
			xc_progress_step(run->batch->progress, run->done, run->all);
		}
	}
	if (!err && is_stopped(run))
		err = take_done(run);
	for (size_t i = 0; i < run->running; i++)
		xc_worker_kill(run->workers[i]);
	run->running = 0;
	return err;
}

/* Half of the free space on the disk of temporary files; if unknown, no limit. */
static uint64_t room(void)
{
	const char *dir = getenv("TMPDIR");
	struct statvfs fs;
	if (statvfs(dir && *dir ? dir : "/var/tmp", &fs))
		return 0;
	const uint64_t half = (uint64_t)fs.f_bavail / 2 * fs.f_frsize;
	return half ? half : 1;
}

static struct xc_error *go_through_all(struct run *run, const struct xc_input *const *inputs)
{
	struct xc_error *err = xc_sandbox_probe_run(&run->worker, &run->probe);
	if (err && is_stopped(run)) {
		xc_error_free(err);
		return NULL;
	}
	if (err)
		return err;
	xc_fork_server_use_probe(run->worker.fork_server, &run->probe);
	run->builder = (struct xc_builder){.options = &run->worker, .process = -1};
	run->worker.room = room();
	run->jobs = jobs_of(run->batch);
	err = go_through(run, inputs, run->all);
	run->last_try = run->worker.last_try = true;
	run->worker.room = room();
	run->jobs = 1;
	xc_fork_server_retry_places(run->worker.fork_server);
	if (!err)
		err = go_through(run, run->later, run->later_count);
	xc_builder_finish(&run->builder, is_stopped(run) || err ? 0 : LAST_BUILD_MS);
	xc_sandbox_probe_fini(&run->probe);
	return err;
}

struct xc_error *xc_batch_run(const struct xc_batch *batch, const struct xc_input *const *inputs, size_t count,
			      size_t *done_out)
{
	struct run *run = xc_alloc(sizeof *run);
	*run = (struct run){.batch = batch, .worker = batch->worker, .all = count};
	run->later = xc_alloc((count + 1) * sizeof(struct xc_input *));
	struct xc_fork_server *own = NULL;
	struct xc_error *err = count && !run->worker.fork_server ? xc_fork_server_start(&run->worker, &own) : NULL;
	if (own)
		run->worker.fork_server = own;
	if (count && !err)
		err = go_through_all(run, inputs);
	xc_fork_server_end(own);
	*done_out = run->done;
	free(run->later);
	free(run);
	return err;
}
