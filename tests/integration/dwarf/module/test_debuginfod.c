/* layer: dwarf */
/* debuginfod: nothing connects unless asked. */
#include "tests/integration/dwarf/module/split_file.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dwarf/elf/symbol.h"

/* ---- the network ---- */

struct server {
	int listener;
	pid_t pid;
};

/* Answers every request with the bytes of DIR/served. */
static void serve(int listener)
{
	struct xc_source *file = NULL;
	CHECK_OK(xc_source_open(scratch_path("served"), NULL, &file));
	for (;;) {
		char request[4096];
		int fd = accept(listener, NULL, NULL);
		if (fd < 0 || read(fd, request, sizeof request) <= 0)
			_exit(1);
		dprintf(fd, "HTTP/1.0 200 OK\r\nContent-Length: %lu\r\nConnection: close\r\n\r\n",
			(unsigned long)file->size);
		for (size_t at = 0; at < file->size;) {
			ssize_t n = write(fd, file->bytes + at, (size_t)file->size - at);
			if (n <= 0)
				break;
			at += (size_t)n;
		}
		close(fd);
	}
}

static struct server start_server(void)
{
	struct server s = {.listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0)};
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof at;
	char url[64];
	assert_int_equal(bind(s.listener, (struct sockaddr *)&at, len), 0);
	assert_int_equal(listen(s.listener, 16), 0);
	assert_int_equal(getsockname(s.listener, (struct sockaddr *)&at, &len), 0);
	snprintf(url, sizeof url, "http://127.0.0.1:%d", ntohs(at.sin_port));
	setenv("DEBUGINFOD_URLS", url, 1);
	setenv("DEBUGINFOD_CACHE_PATH", scratch_path("debuginfod-cache"), 1);
	setenv("DEBUGINFOD_TIMEOUT", "5", 1);
	return s;
}

static void nothing_connects_unless_asked(void **state)
{
	(void)state;
	struct mapped m;
	split(ID, "");
	struct server s = start_server();
	struct pollfd waiting = {.fd = s.listener, .events = POLLIN};
	struct xc_debugfile *df = begin(&m, "a.so", true);
	expect_why(df, "--debuginfod");
	assert_int_equal(xc_symtab_named(xc_debugfile_symbols(df), "hidden") != NULL, false);
	assert_null(getenv("DEBUGINFOD_URLS"));
	assert_int_equal(poll(&waiting, 1, 0), 0);
	end(&m);
	close(s.listener);
}

static void debuginfod_is_asked_when_told_to(void **state)
{
	(void)state;
	struct mapped m;
	split(ID, "");
	shell("cp a.debug served");
	struct server s = start_server();
	s.pid = fork();
	if (s.pid == 0) {
		fcntl(s.listener, F_SETFL, 0); /* wait */
		serve(s.listener);
	}
	finder.debuginfod = true;
	struct xc_debugfile *df = begin(&m, "a.so", true);
	Dwarf *dwarf = xc_debugfile_dwarf(df);
	const char *why = xc_debugfile_why(df);
	kill(s.pid, SIGKILL);
	waitpid(s.pid, NULL, 0);
	close(s.listener);
	if (!dwarf && strstr(why, "libdebuginfod.so.1")) {
		end(&m);
		check_skip("there is no libdebuginfod here");
	}
	if (!knows_pair(dwarf))
		fail_msg("%s", why);
	end(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(nothing_connects_unless_asked, use_nothing),
		cmocka_unit_test_setup(debuginfod_is_asked_when_told_to, use_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
