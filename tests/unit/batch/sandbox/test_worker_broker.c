/* layer: batch */
/* worker: what its broker lacked, refused or waited for in vain is not taken for an answer of the core. */
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "batch/run/batch.h"
#include "batch/sandbox/fork_server.h"
#include "batch/sandbox/worker_impl.h"
#include "tests/unit/batch/sandbox/worked.h"

static void what_the_broker_lacked_is_no_timeout(void **state)
{
	struct xc_arena arena = {0};
	struct xc_broker_status broker_status = {.number = 0};
	const struct xc_input input = {.path = "the core"};
	struct xc_worker worker = {.input = &input, .pair = {.status = &broker_status}, .late = true, .ended = true};
	(void)state;
	assert_int_equal(xc_worker_outcome(&worker, &arena)->status, XC_RECORD_TIMEOUT);
	worker.trouble = ETOOMANYREFS;
	worker.what = "giving it a file";
	const struct xc_record *record = xc_worker_outcome(&worker, &arena);
	assert_true(record->unlooked);
	assert_string_equal(record->why, "not examined: giving it a file: Too many references: cannot splice");
	xc_arena_fini(&arena);
}

static void give_up(void)
{
}

static void end_well(void)
{
	_exit(0);
}

/* A worker that would never end, without its own time limit, is served beside a broker that does this, until it has
 * ended. */
static struct xc_worker ended_beside(void (*broker)(void), const struct xc_input *input,
				     struct xc_broker_status *broker_status)
{
	struct xc_worker worker = {.input = input, .pair = {.status = broker_status}, .result = -1, .process = -1};
	worker.pair.scratch = -1;
	worker.deadline_ns = UINT64_MAX;
	worker.pair.worker_pid = child(wait_for_ever);
	worker.pair.broker_pid = child(broker);
	alarm(120);
	while (!xc_worker_serve(&worker))
		usleep(1000);
	alarm(0);
	return worker;
}

static void without_its_broker_a_worker_is_ended(void **state)
{
	struct xc_arena arena = {0};
	struct xc_broker_status broker_status = {.number = 0};
	const struct xc_input input = {.path = "the core"};
	(void)state;
	struct xc_worker worker = ended_beside(give_up, &input, &broker_status);
	assert_false(worker.late);
	const struct xc_record *record = xc_worker_outcome(&worker, &arena);
	assert_true(record->unlooked);
	assert_string_equal(record->why, "not examined: its broker gave up: Input/output error");
	xc_arena_fini(&arena);
}

/* Its own fault, however its broker ended: it is killed immediately, and that is its record. */
static void a_worker_that_was_refused_is_ended(void **state)
{
	static const struct {
		enum xc_broker_status_refusal refused;
		enum xc_record_status status;
		const char *why;
	} cases[] = {
		{XC_BROKER_STATUS_TOO_MUCH, XC_RECORD_LIMIT, "it names more files than may be opened for a core"},
		{XC_BROKER_STATUS_FOUL, XC_RECORD_DIED, "the worker sent a malformed request for a file"},
	};
	const struct xc_input input = {.path = "the core"};
	(void)state;
	for (size_t i = 0; i < XC_COUNT(cases); i++) {
		struct xc_arena arena = {0};
		struct xc_broker_status broker_status = {.refused = cases[i].refused};
		struct xc_worker worker = ended_beside(end_well, &input, &broker_status);
		assert_false(xc_worker_hindered(&worker));
		assert_null(xc_worker_excess(&worker));
		const struct xc_record *record = xc_worker_outcome(&worker, &arena);
		assert_int_equal(record->status, cases[i].status);
		assert_string_equal(record->why, cases[i].why);
		assert_false(record->unlooked || record->passing);
		xc_arena_fini(&arena);
	}
}

/* ---- files that did not answer ---- */

/* A fork server with a broker that has been opening this file since time 1, and was given up at state `judged`. Returns
 * the first status. */
static struct xc_broker_status *given_up(struct xc_worker_options *options, const char *file, uint64_t judged)
{
	struct xc_fork_server_pair pair = {.scratch = -1};
	int sockets[2];
	assert_null(xc_fork_server_start(options, &options->fork_server));
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets), 0);
	pair.broker = sockets[0];
	pair.status = xc_fork_server_take_status(options->fork_server);
	xc_broker_status_set_place(pair.status, NULL, file);
	atomic_store(&pair.status->since_ns, 1);
	assert_null(xc_fork_server_replace(options->fork_server, &pair, judged));
	close(sockets[0]);
	close(sockets[1]);
	assert_int_equal(waitpid(pair.broker_pid, NULL, 0), pair.broker_pid);
	return pair.status;
}

static void only_the_place_that_was_waited_for_is_given_up(void **state)
{
	struct xc_worker_options options = {.finder = &finder, .host_files = true};
	(void)state;
	for (uint64_t judged = 1; judged <= 2; judged++) {
		const struct xc_broker_status *broker_status = given_up(&options, "/made/up/a.so", judged);
		const struct xc_broker_statuses *broker_statuses = (const struct xc_broker_statuses *)broker_status;
		assert_true(broker_status->silent); /* it was not opened, regardless of the time */
		assert_int_equal(xc_broker_status_is_silent(broker_statuses, NULL, "/made/up/b.so"), judged == 1);
		xc_fork_server_end(options.fork_server);
	}
}

static void what_was_silent_is_asked_once_more_at_the_end(void **state)
{
	struct xc_arena arena = {0};
	struct taken taken = {0};
	struct xc_worker_options options = {.finder = &finder, .host_files = true, .seconds = 20};
	const struct xc_input input = {.path = "the core", .file = "corpora/golden/assert.pack"};
	const struct xc_input *inputs[] = {&input};
	size_t done;
	(void)state;
	given_up(&options, "corpora/golden/other.pack", 1);
	const struct xc_batch batch = {.worker = options, .jobs = 1, .arena = &arena, .take = take, .user = &taken};
	assert_null(xc_batch_run(&batch, inputs, 1, &done));
	assert_int_equal(taken.count, 1);
	assert_int_equal(taken.records[0]->status, XC_RECORD_OK);
	xc_fork_server_end(options.fork_server);
	xc_arena_fini(&arena);
}

/* A process blocked in the kernel is not waited for, even if it cannot be watched. */
static int leaving_without_descriptors(void)
{
	struct xc_worker_options options = {.finder = &finder};
	const struct rlimit none = {0, 0};
	if (xc_fork_server_start(&options, &options.fork_server))
		return 2;
	const pid_t pid = child(wait_for_ever);
	setrlimit(RLIMIT_NOFILE, &none);
	alarm(60);
	const int status = xc_fork_server_reap(options.fork_server, pid);
	kill(pid, SIGKILL);
	xc_fork_server_end(options.fork_server);
	return status;
}

static void a_process_that_cannot_be_watched_is_left(void **state)
{
	(void)state;
	assert_int_equal(ends(leaving_without_descriptors), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_the_broker_lacked_is_no_timeout),
		cmocka_unit_test(without_its_broker_a_worker_is_ended),
		cmocka_unit_test(a_worker_that_was_refused_is_ended),
		cmocka_unit_test(a_process_that_cannot_be_watched_is_left),
		cmocka_unit_test(only_the_place_that_was_waited_for_is_given_up),
		cmocka_unit_test(what_was_silent_is_asked_once_more_at_the_end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
