/* layer: batch tier: check */
/* worker: it knows nothing of its parent, of the environment and of other cores, and the terminal's signals do not reach
 * it. */
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "batch/run/batch.h"
#include "batch/sandbox/fork_server.h"
#include "tests/unit/batch/sandbox/compromised.h"

/* ---- attacks ---- */

/* It has files for reading, the unnamed one that it may write, and nothing of its parent's. */
static void looks_for_descriptors(void)
{
	struct stat st;
	for (int fd = RESULT; fd < 4096; fd++)
		if (fd != RESULT && fd != BROKER && !fstat(fd, &st) &&
		    (!S_ISREG(st.st_mode) || (st.st_nlink && (fcntl(fd, F_GETFL) & O_ACCMODE) != O_RDONLY)))
			spin();
}

static const char *secret; /* its address when this program started */
static size_t secret_size;

static void looks_for_secrets(void)
{
	for (size_t i = 0; i < secret_size; i++)
		if (secret[i])
			spin();
	if (environ && *environ)
		spin();
}

static char told[32]; /* in the parent's memory: of finished cores */

static void looks_for_other_cores(void)
{
	for (size_t i = 0; i < sizeof told; i++)
		if (told[i])
			spin();
}

/* ---- outcomes ---- */

static void a_worker_that_is_none_gives_a_record(void **state)
{
	struct xc_arena arena = {0};
	(void)state;
	assert_int_equal(after(goes_on, &arena)->status, XC_RECORD_OK);
	assert_int_equal(after(looks_for_descriptors, &arena)->status, XC_RECORD_OK);
	xc_arena_fini(&arena);
}

static void it_does_not_know_the_environment(void **state)
{
	struct xc_arena arena = {0};
	(void)state;
	assert_true(secret_size > 0 && *secret);
	assert_int_equal(after(looks_for_secrets, &arena)->status, XC_RECORD_OK);
	assert_true(*secret); /* the parent's own is unchanged */
	xc_arena_fini(&arena);
}

static struct xc_error *tell(void *user, const struct xc_input *of, struct xc_record *record)
{
	strcpy(told, "what the first one has told");
	return take(user, of, record);
}

static void it_does_not_know_what_others_told(void **state)
{
	const struct xc_input *inputs[] = {&input, &input, &input};
	struct xc_arena arena = {0};
	struct taken taken = {NULL};
	const struct xc_batch batch = {.worker = {.finder = &finder, .seconds = LONG, .memory = 64 << 20},
				       .jobs = 1,
				       .arena = &arena,
				       .take = tell,
				       .user = &taken};
	size_t done;
	(void)state;
	attack = looks_for_other_cores;
	assert_null(xc_batch_run(&batch, inputs, XC_COUNT(inputs), &done));
	assert_int_equal(done, XC_COUNT(inputs));
	assert_true(*told);
	assert_int_equal(taken.record->status, XC_RECORD_OK);
	xc_arena_fini(&arena);
}

/* ---- surroundings ---- */

static void works_a_moment(void)
{
	const double from = now();
	while (now() - from < 0.3)
		;
}

/* The user's ^C is for the parent: a worker killed by it would otherwise become a record of the core. */
static int interrupted(void)
{
	struct xc_arena arena = {0};
	struct xc_worker_options options = {.finder = &finder, .seconds = LONG};
	struct xc_worker *worker;
	attack = works_a_moment;
	setpgid(0, 0);
	signal(SIGINT, SIG_IGN);
	if (xc_fork_server_start(&options, &options.fork_server) || xc_worker_start(&input, &options, &worker))
		return 2;
	const double from = now();
	while (now() - from < 0.1)
		;
	kill(0, SIGINT);
	while (!xc_worker_serve(worker))
		;
	const bool good = xc_worker_finish(worker, &arena)->status == XC_RECORD_OK;
	xc_fork_server_end(options.fork_server);
	return !good;
}

static void a_signal_to_the_terminal_is_not_the_workers(void **state)
{
	int status;
	(void)state;
	pid_t pid = fork();
	if (pid == 0)
		_exit(interrupted());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_worker_that_is_none_gives_a_record),
		cmocka_unit_test(it_does_not_know_the_environment),
		cmocka_unit_test(it_does_not_know_what_others_told),
		cmocka_unit_test(a_signal_to_the_terminal_is_not_the_workers),
	};
	secret = *environ;
	secret_size = secret ? strlen(secret) : 0;
	return cmocka_run_group_tests_name("isolation", tests, NULL, NULL);
}
