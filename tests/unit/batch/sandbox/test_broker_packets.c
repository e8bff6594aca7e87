/* layer: batch tier: check */
/* broker: a client that breaks every rule gets nothing it should not have, and never stops or ends the parent. */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "batch/sandbox/broker.h"
#include "tests/unit/batch/sandbox/talk.h"

static void packets_of_another_form_end_the_talk(void **state)
{
	struct packet packet;
	struct talk t = begin();
	(void)state;
	assert_true(serve(&t)); /* nothing waits */
	assert_int_equal(broker_status->refused, XC_BROKER_STATUS_OBEYS);
	send_bytes(&t, "", 1);
	assert_false(serve(&t));
	assert_int_equal(broker_status->refused, XC_BROKER_STATUS_FOUL);
	size_t size = fill(&packet, FILES, NULL, "/bin/true");
	send_bytes(&t, &packet, size - 1); /* without its terminator */
	assert_false(serve(&t));
	send_bytes(&t, &packet, size + 1); /* with data after it */
	assert_false(serve(&t));
	send_bytes(&t, &packet, offsetof(struct packet, texts) + 1); /* only one text */
	assert_false(serve(&t));
	packet.kind = 77;
	send_bytes(&t, &packet, size);
	assert_false(serve(&t));
	packet.kind = -1;
	send_bytes(&t, &packet, size);
	assert_false(serve(&t));
	memset(packet.texts, 'a', sizeof packet.texts);
	send_bytes(&t, &packet, sizeof packet);
	assert_false(serve(&t));
	char large[64 << 10] = {0};
	send_bytes(&t, large, sizeof large); /* truncated to fit, with more than two texts */
	assert_false(serve(&t));
	broker_status->refused = XC_BROKER_STATUS_OBEYS;
	send_bytes(&t, "", 0); /* this is also read as an empty request */
	assert_false(serve(&t));
	assert_int_equal(broker_status->refused, XC_BROKER_STATUS_FOUL);
	broker_status->refused = XC_BROKER_STATUS_OBEYS;
	close(t.client);
	t.client = -1;
	assert_false(serve(&t));
	assert_int_equal(broker_status->refused, XC_BROKER_STATUS_OBEYS); /* it has ended, like all of them */
	end(&t);
}

/* Random requests: nothing is opened, and the parent survives. */
static void random_packets_do_no_harm(void **state)
{
	struct packet packet;
	struct talk t = begin();
	const size_t before = open_descriptors();
	(void)state;
	srandom(7);
	for (int i = 0; i < 20000; i++) {
		size_t size = fill(&packet, (int)(random() % 5), random() % 2 ? "" : NULL, "/bin/true");
		for (long damage = random() % 4; damage > 0; damage--)
			((char *)&packet)[random() % (long)size] = (char)random();
		send_bytes(&t, &packet, random() % 3 ? size : 1 + (size_t)(random() % (long)sizeof packet));
		t.broker.requests = 0;
		serve(&t);
		char bytes[64];
		while (recv(t.client, bytes, sizeof bytes, MSG_DONTWAIT) >= 0)
			;
	}
	xc_broker_fini(&t.broker);
	assert_int_equal(open_descriptors(), before);
	end(&t);
}

static void a_flood_that_takes_no_answers_does_not_stop_the_parent(void **state)
{
	struct packet packet;
	struct talk t = begin();
	const size_t before = open_descriptors(), size = fill(&packet, FILES, NULL, "/bin/true");
	unsigned served = 0;
	bool goes_on = true;
	(void)state;
	while (goes_on && served < 10 * XC_BROKER_REQUESTS) {
		while (send(t.client, &packet, size, MSG_DONTWAIT) >= 0)
			;
		goes_on = serve(&t);
		served += goes_on;
	}
	assert_int_equal(served, XC_BROKER_REQUESTS);
	assert_int_equal(open_descriptors(), before);
	end(&t);
}

/* Only that is reported, not a lack of the machine. */
static void asking_for_too_much_is_the_cores_own(void **state)
{
	struct packet packet;
	struct talk t = begin();
	struct xc_broker_statuses *shared = xc_broker_status_map();
	int status;
	(void)state;
	send_bytes(&t, &packet, fill(&packet, FILES, NULL, "/bin/true"));
	t.broker.requests = XC_BROKER_REQUESTS;
	t.broker.status = &shared->statuses[0];
	const pid_t pid = fork();
	if (pid == 0) {
		t.broker.finder = &t.finder;
		xc_broker_live(&t.broker, t.parent, 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	assert_int_equal(shared->statuses[0].refused, XC_BROKER_STATUS_TOO_MUCH);
	xc_broker_status_unmap(shared);
	end(&t);
}

static void descriptors_that_a_worker_sends_are_not_taken(void **state)
{
	struct packet packet;
	struct talk t = begin();
	const size_t before = open_descriptors();
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr header;
	} control = {.header = {.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof(int))}};
	struct iovec piece = {&packet, fill(&packet, FILES, NULL, "/bin/true")};
	const struct msghdr message = {.msg_iov = &piece,
				       .msg_iovlen = 1,
				       .msg_control = control.bytes,
				       .msg_controllen = sizeof control.bytes};
	(void)state;
	memcpy(CMSG_DATA(&control.header), &t.client, sizeof t.client);
	for (int i = 0; i < 100; i++) {
		assert_true(sendmsg(t.client, &message, 0) > 0);
		assert_true(serve(&t));
		assert_true(given(answer(&t)));
	}
	assert_int_equal(open_descriptors(), before);
	end(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packets_of_another_form_end_the_talk),
		cmocka_unit_test(random_packets_do_no_harm),
		cmocka_unit_test(a_flood_that_takes_no_answers_does_not_stop_the_parent),
		cmocka_unit_test(asking_for_too_much_is_the_cores_own),
		cmocka_unit_test(descriptors_that_a_worker_sends_are_not_taken),
	};
	return cmocka_run_group_tests_name("broker_packets", tests, NULL, NULL);
}
