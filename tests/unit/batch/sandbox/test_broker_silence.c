/* layer: batch */
/* broker: files that do not answer are given up, and all that was looked for is in the log. */
#include <elf.h>
#include <errno.h>
#include <malloc.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "batch/sandbox/broker_client.h"
#include "batch/sandbox/broker.h"
#include "batch/util/fd_passing.h"
#include "core/io/opener.h"
#include "tests/support/scratch.h"
#include "tests/unit/batch/sandbox/talk.h"

static void a_directory_that_did_not_answer_is_not_asked_again(void **state)
{
	struct talk t = begin();
	const char *one = elf_file("silent/one.so", ELFDATA2LSB, ET_DYN, 0);
	const char *two = elf_file("silent/two.so", ELFDATA2LSB, ET_DYN, 0);
	const char *deeper = elf_file("silent/deeper/three.so", ELFDATA2LSB, ET_DYN, 0);
	const char *beside = elf_file("silent.so", ELFDATA2LSB, ET_DYN, 0);
	(void)state;
	atomic_store(&broker_statuses.silent_count, 0);
	t.broker.statuses = &broker_statuses;
	assert_true(given(ask(&t, FILES, NULL, one)));
	assert_string_equal(broker_status->place.path, one);
	assert_int_equal(broker_status->since_ns, 0); /* it is done */
	xc_broker_status_give_up_place(&broker_statuses, broker_status);
	assert_true(broker_status->silent);
	broker_status->silent = false;
	assert_int_equal(ask(&t, FILES, NULL, two), -ETIMEDOUT);
	assert_true(broker_status->silent);
	assert_int_equal(ask(&t, FILES, NULL, deeper), -ETIMEDOUT);
	assert_true(given(ask(&t, FILES, NULL, beside)));
	const struct xc_input input = {.path = "a", .file = elf_file("silent/core", ELFDATA2LSB, ET_CORE, 0)};
	t.broker.core = &input;
	assert_int_equal(ask(&t, CORE, NULL, ""), -EIO);
	assert_true(broker_status->core_failed && broker_status->hindered);
	t.finder.sysroot = scratch_dir();
	assert_true(given(ask(&t, FILES, scratch_dir(), "silent/one.so"))); /* a root is a separate place, */
	xc_broker_status_give_up_place(&broker_statuses, broker_status);
	assert_int_equal(ask(&t, FILES, scratch_dir(), "silent.so"), -ETIMEDOUT); /* and a single one */
	for (int i = 0; i < 3 * XC_BROKER_STATUS_SILENT; i++) { /* the memory of given-up places is bounded */
		char path[64];
		snprintf(path, sizeof path, "/%d/lib", i);
		xc_broker_status_set_place(broker_status, NULL, path);
		xc_broker_status_give_up_place(&broker_statuses, broker_status);
	}
	assert_int_equal(broker_statuses.silent_count, XC_BROKER_STATUS_SILENT);
	end(&t);
}

static void what_a_worker_makes_up_is_no_place(void **state)
{
	struct talk t = begin();
	(void)state;
	atomic_store(&broker_statuses.silent_count, 0);
	t.broker.statuses = &broker_statuses;
	t.finder.cache_dir = scratch_path("cache");
	t.finder.sysroot = scratch_dir();
	elf_file("made-up.so", ELFDATA2LSB, ET_DYN, 0);
	assert_int_equal(ask(&t, KEPT, scratch_dir(), "a"), -ENOENT);
	xc_broker_status_give_up_place(&broker_statuses, broker_status);
	assert_true(ask(&t, SCRATCH, scratch_dir(), "a") < 0);
	xc_broker_status_give_up_place(&broker_statuses, broker_status);
	assert_int_equal(ask(&t, CORE, NULL, "/bin/true"), -EACCES);
	xc_broker_status_give_up_place(&broker_statuses, broker_status);
	assert_int_equal(broker_statuses.silent_count, 0);
	assert_true(given(ask(&t, FILES, scratch_dir(), "made-up.so")));
	end(&t);
}

static void what_was_looked_for_is_in_the_log(void **state)
{
	struct talk t = begin();
	struct xc_file_dependency_list list = {.count = 0};
	(void)state;
	atomic_store(&broker_statuses.silent_count, 0);
	t.broker.statuses = &broker_statuses;
	t.finder.sysroot = scratch_dir();
	elf_file("logged.so", ELFDATA2LSB, ET_DYN, 0);
	assert_true(given(ask(&t, FILES, scratch_dir(), "logged.so")));
	assert_int_equal(ask(&t, FILES, scratch_dir(), ""), -ENOENT);
	const struct xc_file_dependency rootless = {.path = "/a", .was = ""};
	xc_broker_status_log(&broker_statuses, broker_status, &rootless);
	xc_broker_status_dependencies(&broker_statuses, broker_status, &list);
	assert_int_equal(list.count, 3);
	assert_string_equal(list.files[0].path, "logged.so");
	assert_string_equal(list.files[1].path, "");
	for (size_t i = 0; i < 2; i++)
		assert_string_equal(list.files[i].root, scratch_dir());
	assert_non_null(list.files[0].was);
	assert_null(list.files[1].was);
	assert_int_equal(xc_file_dependency_compare(&list.files[2], &rootless), 0);
	for (unsigned i = 0; i < XC_BROKER_STATUS_LOG / 4; i++) /* then it is full, and the first entries stay */
		xc_broker_status_log(&broker_statuses, broker_status, &rootless);
	assert_in_range(broker_status->log_size, XC_BROKER_STATUS_LOG - 16, XC_BROKER_STATUS_LOG);
	assert_int_equal(broker_statuses.logs[1][0], 0);
	assert_false(list.cut);
	xc_file_dependency_fini(&list);
	xc_broker_status_dependencies(&broker_statuses, broker_status, &list);
	assert_string_equal(list.files[0].path, "logged.so");
	assert_true(list.cut);
	xc_file_dependency_fini(&list);
	end(&t);
}

/* A hostile worker requests endlessly many long names. */
static void what_was_looked_for_takes_no_memory_of_its_own(void **state)
{
	enum { LONG = 4000, TIMES = 2000, MOST = 1 << 20 };
	struct talk t = begin();
	char path[LONG + 1] = "";
	(void)state;
	memset(path, 'a', LONG);
	t.broker.statuses = &broker_statuses;
	t.finder.sysroot = scratch_dir();
	const struct mallinfo2 before = mallinfo2();
	for (int i = 0; i < TIMES; i++)
		assert_int_equal(ask(&t, FILES, scratch_dir(), path), -ENAMETOOLONG);
	const struct mallinfo2 after = mallinfo2();
	assert_true(after.uordblks + after.hblkhd < before.uordblks + before.hblkhd + MOST);
	end(&t);
}

static void who_takes_the_place_of_another_answers_first(void **state)
{
	struct talk t = begin();
	struct packet packet;
	int status;
	(void)state;
	const size_t size = fill(&packet, FILES, NULL, "/bin/true");
	packet.number = 8;
	assert_int_equal(send(t.client, &packet, size, 0), size);
	const pid_t pid = fork();
	if (pid == 0) {
		close(t.client);
		t.broker.finder = &t.finder;
		xc_broker_live(&t.broker, t.parent, 7);
	}
	poll(&(struct pollfd){.fd = t.client, .events = POLLIN}, 1, -1);
	assert_int_equal(answer(&t), -ETIMEDOUT);
	poll(&(struct pollfd){.fd = t.client, .events = POLLIN}, 1, -1);
	assert_true(given(answer(&t)));
	close(t.client);
	t.client = -1;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	end(&t);
}

/* One that was given up may have answered after all. */
static void answers_to_another_request_are_not_taken(void **state)
{
	int pair[2];
	bool special;
	struct reply late = {.error = 0, .number = 77}, right = {.error = ENOTDIR, .number = 1};
	const size_t before = open_descriptors();
	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	assert_int_equal(xc_fd_passing_send(pair[0], &late, sizeof late, pair, 1, 0), sizeof late);
	assert_int_equal(xc_fd_passing_send(pair[0], &right, sizeof right, NULL, 0, 0), sizeof right);
	xc_broker_client_begin(pair[1]);
	assert_int_equal(xc_opener_regular(NULL, "/bin/true", &special), -1);
	assert_int_equal(errno, ENOTDIR);
	xc_opener_use(NULL);
	close(pair[0]);
	close(pair[1]);
	assert_int_equal(open_descriptors(), before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_directory_that_did_not_answer_is_not_asked_again),
		cmocka_unit_test(what_a_worker_makes_up_is_no_place),
		cmocka_unit_test(what_was_looked_for_is_in_the_log),
		cmocka_unit_test(what_was_looked_for_takes_no_memory_of_its_own),
		cmocka_unit_test(who_takes_the_place_of_another_answers_first),
		cmocka_unit_test(answers_to_another_request_are_not_taken),
	};
	return cmocka_run_group_tests_name("broker_silence", tests, NULL, NULL);
}
