/* layer: batch */
/* builder: the cached image is the file's, and only files opened by the broker get one. */
#include "tests/support/grid.h"
#include "tests/support/check.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "batch/sandbox/broker_client.h"
#include "batch/sandbox/broker.h"
#include "batch/sandbox/builder.h"
#include "batch/util/fd_passing.h"
#include "batch/sandbox/fork_server.h"
#include "core/io/opener.h"
#include "dwarf/elf/elffile.h"
#include "dwarf/elf/inflate.h"
#include "dwarf/elf/inflate_cache.h"
#include "tests/support/scratch.h"

static struct xc_finder finder = {.quiet = true};
static struct xc_worker_options options = {.finder = &finder, .host_files = true, .seconds = 10};

/* This program, with compressed debug information. */
static const char *packed(void)
{
	static const char *path;
	char self[4096] = "";
	check_needs("objcopy");
	if (path)
		return path;
	assert_true(readlink("/proc/self/exe", self, sizeof self - 1) > 0);
	path = scratch_path("packed");
	xc_auto(xc_freep) char *line =
		xc_asprintf("objcopy --compress-debug-sections=zlib %s %s", scratch_word(self), scratch_word(path));
	assert_int_equal(system(line), 0);
	return path;
}

/* A copy of it that may be changed. */
static const char *packed_copy(void)
{
	const char *path = scratch_path("copy");
	xc_auto(xc_freep) char *line = xc_asprintf("cp %s %s", scratch_word(packed()), scratch_word(path));
	assert_int_equal(system(line), 0);
	return path;
}

/* A separate cache for each test. */
static struct xc_builder fresh(const char *cache)
{
	finder.cache_dir = scratch_path(cache);
	return (struct xc_builder){.options = &options, .process = -1};
}

static size_t kept(void)
{
	char *path = xc_asprintf("%s/debug", finder.cache_dir);
	DIR *dir = opendir(path);
	size_t count = 0;
	for (const struct dirent *d; dir && (d = readdir(dir));)
		count += *d->d_name != '.';
	if (dir)
		closedir(dir);
	free(path);
	return count;
}

static void build(struct xc_builder *builder, const char *path)
{
	char name[XC_INFLATE_CACHE_NAME];
	const int fd = open(path, O_RDONLY);
	assert_true(xc_inflate_cache_name(fd, name));
	xc_builder_want(builder, name, fd);
	close(fd);
}

static void what_is_kept_is_the_files_image(void **state)
{
	struct xc_builder builder = fresh("image");
	const char *path = packed();
	size_t size = 0;
	struct xc_elffile file = {0};
	struct xc_source *plain, *source;
	const struct xc_source_options as_is = {.as_is = true};
	(void)state;
	assert_null(xc_source_open_fd(open(path, O_RDONLY), path, &as_is, &source));
	assert_null(xc_inflate_cache_get(finder.cache_dir, source, &size));
	build(&builder, path);
	assert_true(builder.process >= 0);
	xc_builder_finish(&builder, 10000);
	assert_int_equal(kept(), 1);
	struct xc_source *image = xc_inflate_cache_get(finder.cache_dir, source, &size);
	assert_non_null(image);
	assert_true(xc_elffile_open(&file, source, true));
	assert_null(xc_inflate_sections(file.elf, &plain));
	assert_int_equal(size, plain->size);
	assert_memory_equal(image->bytes, plain->bytes, size);
	xc_source_close(plain);
	xc_source_close(image);
	xc_elffile_close(&file);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), 0); /* no child is left but the fork server */
}

static void what_is_damaged_or_not_worth_it_is_not_kept(void **state)
{
	struct xc_builder builder = fresh("damaged");
	const char *path = packed_copy();
	struct xc_elffile file = {0};
	struct xc_source *source;
	const struct xc_source_options as_is = {.as_is = true};
	(void)state;
	assert_null(xc_source_open_fd(open(path, O_RDONLY), path, &as_is, &source));
	assert_true(xc_elffile_open(&file, source, true));
	const Elf_Data *info = xc_elffile_section(file.elf, ".debug_info");
	assert_non_null(info);
	const long at = (const uint8_t *)info->d_buf - source->bytes;
	xc_elffile_close(&file);
	FILE *stream = fopen(path, "r+");
	assert_int_equal(fseek(stream, at + 200, SEEK_SET), 0);
	assert_int_equal(fwrite("damaged damaged damaged", 1, 23, stream), 23);
	fclose(stream);
	const char *const paths[] = {path, "/bin/true", "README.md", "/dev/null"};
	for (size_t i = 0; i < XC_COUNT(paths); i++) {
		build(&builder, paths[i]);
		assert_true(builder.process >= 0);
		poll(&(struct pollfd){.fd = builder.process, .events = POLLIN}, 1, 10000);
		xc_builder_serve(&builder);
		assert_int_equal(builder.process, -1);
		assert_int_equal(kept(), 0);
	}
	xc_builder_finish(&builder, 0);
}

/* The cache limits the output for a file, whatever size a core may have when decompressed. */
static void it_writes_no_more_than_the_cache_takes(void **state)
{
	struct xc_builder builder = fresh("bounded");
	const struct xc_cache cache = xc_inflate_cache_in(finder.cache_dir);
	struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
	(void)state;
	build(&builder, packed());
	assert_true(builder.process >= 0);
	const uint64_t until = xc_now_ns() + UINT64_C(5000000000);
	while (limit.rlim_cur == RLIM_INFINITY && xc_now_ns() < until &&
	       !prlimit(builder.pid, RLIMIT_FSIZE, NULL, &limit))
		;
	xc_builder_finish(&builder, 10000);
	if (limit.rlim_cur == RLIM_INFINITY)
		check_skip("the builder had ended before, or its limits may not be asked for");
	assert_int_equal(limit.rlim_cur, xc_cache_largest(&cache));
}

static void each_is_tried_once_and_one_at_a_time(void **state)
{
	struct xc_builder builder = fresh("once");
	const char *path = packed();
	(void)state;
	build(&builder, path);
	const int first = builder.process;
	build(&builder, "/bin/true");
	assert_int_equal(builder.process, first);
	assert_int_equal(builder.tried_count, 1);
	poll(&(struct pollfd){.fd = first, .events = POLLIN}, 1, 10000);
	xc_builder_serve(&builder);
	build(&builder, path);
	assert_int_equal(builder.process, -1);
	xc_builder_finish(&builder, 0);
	builder = fresh("ended");
	build(&builder, path);
	xc_builder_finish(&builder, 0); /* it is killed */
	assert_true(kept() <= 1);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), 0);
}

/* ---- through the broker ---- */

static int client, wants[2];
static struct xc_broker broker;
static struct xc_broker_status broker_status;

/* A worker that opens a file and requests an image. */
static int worker(const char *path, const char *name)
{
	bool special;
	xc_broker_client_begin(client);
	if (path) {
		const int fd = xc_opener_regular(NULL, path, &special);
		char own[XC_INFLATE_CACHE_NAME];
		if (fd < 0 || !xc_inflate_cache_name(fd, own))
			return 1;
		return xc_opener()->kept(xc_opener()->user, "debug", name ? name : own) >= 0;
	}
	return xc_opener()->kept(xc_opener()->user, "debug", name) >= 0;
}

static void serve(struct xc_builder *builder, const char *path, const char *name)
{
	int pair[2], status;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	client = pair[1];
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, wants), 0);
	broker = (struct xc_broker){
		.finder = &finder, .host_files = true, .scratch = -1, .wants = wants[1], .status = &broker_status};
	const pid_t pid = fork();
	if (pid == 0)
		_exit(worker(path, name));
	while (waitpid(pid, &status, WNOHANG) == 0)
		xc_broker_serve(&broker, pair[0]);
	assert_int_equal(status, 0);
	char wanted[XC_BROKER_NAME];
	int fd;
	while (xc_fd_passing_receive(wants[0], wanted, sizeof wanted, &fd, 1, MSG_DONTWAIT) > 0) {
		xc_builder_want(builder, wanted, fd);
		close(fd);
	}
	close(wants[0]);
	close(wants[1]);
	close(pair[0]);
	close(pair[1]);
	xc_broker_fini(&broker);
}

static void a_broker_has_built_what_it_opened_and_nothing_else(void **state)
{
	struct xc_builder builder = fresh("asked");
	const char *path = packed();
	char name[XC_INFLATE_CACHE_NAME];
	(void)state;
	const int fd = open(path, O_RDONLY);
	assert_true(xc_inflate_cache_name(fd, name));
	close(fd);
	serve(&builder, NULL, name); /* it did not open it */
	serve(&builder, "/bin/true", name);
	serve(&builder, path, "0123456789abcdef0123456789abcdef.plain");
	serve(&builder, path, "../../evil");
	assert_int_equal(builder.tried_count, 0);
	serve(&builder, path, NULL);
	assert_int_equal(builder.tried_count, 1);
	xc_builder_finish(&builder, 10000);
	assert_int_equal(kept(), 1);
}

int main(void)
{
	struct xc_fork_server *server;
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_kept_is_the_files_image),
		cmocka_unit_test(what_is_damaged_or_not_worth_it_is_not_kept),
		cmocka_unit_test(it_writes_no_more_than_the_cache_takes),
		cmocka_unit_test(each_is_tried_once_and_one_at_a_time),
		cmocka_unit_test(a_broker_has_built_what_it_opened_and_nothing_else),
	};
	if (xc_fork_server_start(&options, &server))
		return 1;
	options.fork_server = server;
	const int failed = cmocka_run_group_tests_name("builder", tests, NULL, NULL);
	xc_fork_server_end(server);
	return failed;
}
