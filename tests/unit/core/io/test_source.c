/* layer: core */
#include "tests/support/check.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/io/source.h"
#include "tests/support/scratch.h"
#include "tests/support/zst.h"

enum { PAGE = 4096, BIG = 1 << 20 };

static uint8_t noise[BIG]; /* incompressible: its zstd blocks are raw, 128 KiB each */

static int make_noise(void **state)
{
	(void)state;
	uint32_t x = 12345;
	for (size_t i = 0; i < BIG; i++) {
		x = x * 1664525 + 1013904223;
		noise[i] = (uint8_t)(x >> 24);
	}
	return 0;
}

static struct xc_source *open_ok(const char *path)
{
	struct xc_source *source = NULL;
	CHECK_OK(xc_source_open(path, NULL, &source));
	return source;
}

static struct xc_source *open_text(const char *name, struct xc_text *text)
{
	struct xc_source *source = open_ok(scratch_file(name, text->bytes, text->len));
	xc_text_fini(text);
	return source;
}

static void check_refused(const char *path, enum xc_error_code code, const char *part)
{
	struct xc_source *source = NULL;
	CHECK_ERROR(xc_source_open(path, NULL, &source), code, part);
	assert_null(source);
}

/* ---- plain files ---- */

static void a_plain_file_is_what_it_is(void **state)
{
	(void)state;
	struct xc_source *s = open_ok(scratch_file("plain.zst", noise, 10001)); /* the name is irrelevant */
	struct stat st;
	assert_int_equal(stat(s->path, &st), 0);
	assert_true(s->size == 10001 && s->stored_size == 10001);
	assert_memory_equal(s->bytes, noise, 10001);
	assert_false(s->compressed || s->cut || xc_source_changed(s));
	assert_true(s->ino == st.st_ino && s->dev == st.st_dev && s->mtime == st.st_mtime);
	xc_source_close(s);
}

static void an_empty_file_opens_with_no_bytes(void **state)
{
	(void)state;
	struct xc_source *s = open_ok(scratch_file("empty", "", 0));
	assert_true(s->size == 0 && s->bytes == NULL);
	assert_false(xc_source_changed(s));
	xc_source_close(s);
	xc_source_close(NULL);
}

static void files_of_three_bytes_are_not_looked_at_past_their_end(void **state)
{
	(void)state;
	for (size_t len = 1; len < 12; len++) {
		struct xc_source *s =
			open_ok(scratch_file("short", "\x5a\x2a\x4d\x18\xff\xff\xff\xff\x28\xb5\x2f", len));
		assert_int_equal(s->size, len);
		assert_false(s->compressed);
		xc_source_close(s);
	}
}

static void zeros_stand_behind_a_file_of_whole_pages(void **state)
{
	(void)state;
	static char text[8192];
	struct xc_source *source = NULL;
	memset(text, 'x', sizeof text);
	scratch_file("pages", text, sizeof text);
	CHECK_OK(xc_source_open(scratch_path("pages"), NULL, &source));
	assert_int_equal(source->size, sizeof text);
	assert_int_equal(strlen((const char *)source->bytes), sizeof text);
	xc_source_close(source);
}

static void what_is_no_regular_file_is_an_error_at_once(void **state)
{
	(void)state;
	const char *fifo = scratch_path("fifo"), *sock = scratch_path("socket");
	assert_int_equal(mkfifo(fifo, 0600), 0);
	check_refused(fifo, XC_ERR_UNSUPPORTED, "is a FIFO, not a regular file"); /* and does not wait for a writer */
	check_refused(scratch_dir(), XC_ERR_UNSUPPORTED, "is a directory");
	check_refused("/dev/zero", XC_ERR_UNSUPPORTED, "is a device");
	check_refused(scratch_path("missing"), XC_ERR_NOT_FOUND, "No such file");
	struct sockaddr_un name = {.sun_family = AF_UNIX};
	strncpy(name.sun_path, sock, sizeof name.sun_path - 1);
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	if (fd >= 0 && bind(fd, (struct sockaddr *)&name, sizeof name) == 0)
		check_refused(sock, XC_ERR_IO, sock);
	close(fd);
}

static void open_fd_takes_the_descriptor_also_on_failure(void **state)
{
	(void)state;
	struct xc_source *s = NULL;
	int dir = open(scratch_dir(), O_RDONLY | O_DIRECTORY);
	CHECK_ERROR(xc_source_open_fd(dir, "thing", NULL, &s), XC_ERR_UNSUPPORTED, "thing: is a directory");
	assert_true(fcntl(dir, F_GETFD) < 0 && errno == EBADF);
	int fd = open(scratch_file("fd", "abc", 3), O_RDONLY);
	CHECK_OK(xc_source_open_fd(fd, "thing", NULL, &s));
	assert_true(fcntl(fd, F_GETFD) < 0 && errno == EBADF);
	assert_string_equal(s->path, "thing");
	assert_memory_equal(s->bytes, "abc", 3);
	xc_source_close(s);
}

static void another_compression_is_named(void **state)
{
	(void)state;
	check_refused(scratch_file("c", "BZh91AY&", 8), XC_ERR_UNSUPPORTED, "compressed with bzip2");
}

static void bytes_of_the_callers_make_a_source(void **state)
{
	(void)state;
	struct xc_source *s = xc_source_over("vdso", 4, "[vdso]");
	assert_int_equal(s->size, 4);
	assert_string_equal(s->path, "[vdso]");
	assert_false(xc_source_changed(s));
	xc_source_closep(&s);
}

/* ---- zstd ---- */

static void zstd_is_known_by_content(void **state)
{
	(void)state;
	struct xc_text t = {0};
	zst_frame(&t, noise, 50000, 3, false);
	size_t stored = t.len;
	struct xc_source *s = open_text("core.1234", &t);
	assert_true(s->compressed && !s->cut);
	assert_true(s->size == 50000 && s->stored_size == stored);
	assert_memory_equal(s->bytes, noise, 50000);
	xc_source_close(s);
}

static void frames_follow_each_other_and_skippable_ones_are_skipped(void **state)
{
	(void)state;
	struct xc_text t = {0};
	zst_skippable(&t, 4); /* as at the start of pzstd's output */
	zst_skippable(&t, 0);
	zst_frame(&t, noise, 300000, 1, true);
	zst_frame(&t, "", 0, 1, true);
	zst_skippable(&t, 33);
	zst_frame(&t, noise + 300000, 1000, 19, false);
	struct xc_source *s = open_text("frames", &t);
	assert_true(s->compressed && !s->cut);
	assert_int_equal(s->size, 301000);
	assert_memory_equal(s->bytes, noise, 301000);
	xc_source_close(s);
}

static void a_file_of_skippable_frames_alone_is_plain(void **state)
{
	(void)state;
	struct xc_text t = {0};
	zst_skippable(&t, 40);
	struct xc_source *s = open_text("skippable", &t);
	assert_false(s->compressed);
	assert_int_equal(s->size, 48);
	xc_source_close(s);
}

static void an_empty_frame_is_an_empty_file(void **state)
{
	(void)state;
	struct xc_text t = {0};
	zst_frame(&t, "", 0, 3, false);
	struct xc_source *s = open_text("none", &t);
	assert_true(s->compressed && !s->cut && s->size == 0);
	xc_source_close(s);
}

static void the_cap_is_exact(void **state)
{
	(void)state;
	struct xc_text t = {0};
	struct xc_source *s = NULL;
	zst_frame(&t, noise, 70000, 3, false);
	const char *path = scratch_file("cap", t.bytes, t.len);
	xc_text_fini(&t);
	CHECK_OK(xc_source_open(path, &(struct xc_source_options){.max_size = 70000}, &s));
	xc_source_close(s);
	CHECK_ERROR(xc_source_open(path, &(struct xc_source_options){.max_size = 69999}, &s), XC_ERR_LIMIT,
		    "inflates to more than 69999 bytes");
}

static void a_bomb_stops_at_the_cap(void **state)
{
	(void)state;
	struct xc_text t = {0};
	struct xc_source *s = NULL;
	uint8_t *zeros = calloc(1, 64 << 20);
	for (int i = 0; i < 4; i++)
		zst_frame(&t, zeros, 64 << 20, 3, false);
	free(zeros);
	const char *path = scratch_file("bomb", t.bytes, t.len);
	xc_text_fini(&t);
	CHECK_ERROR(xc_source_open(path, &(struct xc_source_options){.max_size = 3 << 20}, &s), XC_ERR_LIMIT,
		    "3145728");
}

static void a_huge_window_is_refused_with_a_way_out(void **state)
{
	(void)state;
	/* RFC 8878, 3.1.1.1: no content size, window descriptor 21 << 3 is 2 GiB; one raw block */
	static const char frame[] = "\x28\xb5\x2f\xfd\x00\xa8\x29\x00\x00hello";
	struct xc_source *s = NULL;
	struct xc_error *err = xc_source_open(scratch_file("long", frame, sizeof frame - 1), NULL, &s);
	assert_non_null(err);
	assert_non_null(strstr(err->hint, "--long"));
	check_error(err, XC_ERR_LIMIT, "window of more than 128 MiB", "open");
	char small[sizeof frame];
	memcpy(small, frame, sizeof frame);
	small[5] = '\x88'; /* 128 MiB */
	s = open_ok(scratch_file("short-window", small, sizeof small - 1));
	assert_memory_equal(s->bytes, "hello", 5);
	xc_source_close(s);
}

static void damage_keeps_every_block_before_it(void **state)
{
	(void)state;
	enum { BLOCK = 128 << 10 };
	for (size_t block = 1; block < 8; block++) {
		struct xc_text t = {0};
		zst_frame(&t, noise, BIG, 3, false);
		/* header of the block: 3 bytes, type 3 is reserved; raw blocks are BLOCK bytes and their header */
		size_t at = t.len - (8 - block) * (BLOCK + 3);
		while (at + 3 < t.len && memcmp(t.bytes + at + 3, noise + block * BLOCK, 64) != 0)
			at++;
		t.bytes[at] |= 6;
		struct xc_source *s = open_text("damaged", &t);
		assert_true(s->compressed && s->cut);
		assert_int_equal(s->size, block * BLOCK);
		assert_memory_equal(s->bytes, noise, block * BLOCK);
		xc_source_close(s);
	}
}

static void garbage_after_a_frame_keeps_the_frame(void **state)
{
	(void)state;
	struct xc_text t = {0};
	zst_frame(&t, noise, 5000, 3, true);
	xc_text_add(&t, "and then something else");
	struct xc_source *s = open_text("tail", &t);
	assert_true(s->cut);
	assert_int_equal(s->size, 5000);
	assert_memory_equal(s->bytes, noise, 5000);
	xc_source_close(s);
}

static void damage_in_the_first_block_is_an_error(void **state)
{
	(void)state;
	struct xc_text t = {0};
	zst_frame(&t, noise, 500, 3, false);
	t.bytes[4] |= 8; /* a reserved bit of the frame header */
	check_refused(scratch_file("header", t.bytes, t.len), XC_ERR_FORMAT, "zstd: ");
	xc_text_fini(&t);
}

static void nothing_is_inflated_when_asked_for_as_it_is(void **state)
{
	(void)state;
	struct xc_source_options as_is = {.as_is = true};
	struct xc_source *s = NULL;
	for (int skippable = 0; skippable < 2; skippable++) {
		struct xc_text t = {0};
		if (skippable)
			zst_skippable(&t, 5);
		zst_frame(&t, noise, 500, 3, false);
		CHECK_ERROR(xc_source_open(scratch_file("as-is", t.bytes, t.len), &as_is, &s), XC_ERR_UNSUPPORTED,
			    "compressed with zstd");
		xc_text_fini(&t);
	}
	CHECK_OK(xc_source_open(scratch_file("as-is", noise, 500), &as_is, &s));
	xc_source_close(s);
}

static void frames_among_the_callers_bytes_inflate(void **state)
{
	(void)state;
	struct xc_text t = {0};
	struct xc_source *s = NULL;
	zst_frame(&t, noise, 9000, 3, false);
	CHECK_OK(xc_source_inflate(t.bytes, t.len, "member", NULL, &s));
	xc_text_fini(&t); /* no longer needed */
	assert_true(s->compressed && !s->cut && s->size == 9000);
	assert_memory_equal(s->bytes, noise, 9000);
	xc_source_close(s);
	CHECK_ERROR(xc_source_inflate("no frame at all", 15, "member", NULL, &s), XC_ERR_FORMAT, "member: zstd: ");
}

static void no_room_for_the_inflated_file_gives_a_hint(void **state)
{
	(void)state;
	struct xc_text t = {0};
	struct xc_source *s = NULL;
	zst_frame(&t, noise, 9000, 3, false);
	const char *path = scratch_file("packed", t.bytes, t.len);
	xc_text_fini(&t);
	xc_auto(xc_freep) char *before = xc_strdup(getenv("TMPDIR") ? getenv("TMPDIR") : "");
	setenv("TMPDIR", scratch_path("nowhere"), 1);
	struct xc_error *err = xc_source_open(path, NULL, &s);
	if (*before)
		setenv("TMPDIR", before, 1);
	else
		unsetenv("TMPDIR");
	assert_non_null(err);
	assert_non_null(strstr(err->hint, "TMPDIR"));
	check_error(err, XC_ERR_NOT_FOUND, "temporary file", "open");
}

/* ---- files that shrink ---- */

static void a_file_cut_while_mapped_does_not_kill_us(void **state)
{
	(void)state;
	const char *path = scratch_file("shrinks", noise, 10 * PAGE + 100);
	struct xc_source *s = open_ok(path);
	assert_int_equal(truncate(path, 3 * PAGE), 0);
	assert_memory_equal(s->bytes, noise, 3 * PAGE);
	volatile uint8_t sum = 0;
	for (size_t i = 10 * PAGE + 100; i-- > 3 * PAGE;) /* from the end, so that every page faults separately */
		sum |= s->bytes[i];
	assert_int_equal(sum, 0);
	assert_true(xc_source_changed(s));
	assert_memory_equal(s->bytes, noise, 3 * PAGE);
	xc_source_close(s);
}

static void only_the_source_that_shrank_is_changed(void **state)
{
	(void)state;
	const char *path = scratch_file("other", noise, 4 * PAGE);
	struct xc_source *still = open_ok(scratch_file("still", noise, 4 * PAGE)), *s = open_ok(path);
	assert_int_equal(truncate(path, 0), 0);
	assert_int_equal(((volatile const uint8_t *)s->bytes)[PAGE], 0);
	assert_true(xc_source_changed(s));
	assert_false(xc_source_changed(still));
	xc_source_close(s);
	s = open_ok(scratch_file("again", noise, 4 * PAGE)); /* takes over the guard, not its mark */
	assert_false(xc_source_changed(s));
	xc_source_close(s);
	xc_source_close(still);
}

static void a_file_that_lost_less_than_a_page_is_changed_too(void **state)
{
	(void)state;
	const char *path = scratch_file("bitten", noise, 2 * PAGE + 500);
	struct xc_source *s = open_ok(path);
	assert_int_equal(truncate(path, 2 * PAGE + 10), 0);
	assert_true(xc_source_changed(s));
	xc_source_close(s);
}

static void a_removed_or_replaced_file_is_still_whole(void **state)
{
	(void)state;
	const char *path = scratch_file("replaced", noise, 2 * PAGE);
	struct xc_source *s = open_ok(path);
	assert_int_equal(unlink(path), 0);
	scratch_file("replaced", "new", 3);
	assert_memory_equal(s->bytes, noise, 2 * PAGE);
	assert_false(xc_source_changed(s));
	xc_source_close(s);
}

/* A SIGBUS that no source explains must still end the program. */
static void a_foreign_bus_error_is_not_swallowed(void **state)
{
	(void)state;
	int status;
	xc_source_close(open_ok(scratch_file("guarded", noise, PAGE))); /* the handler is installed */
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		int fd = open(scratch_path("guarded"), O_RDWR);
		volatile uint8_t *map = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0);
		if (ftruncate(fd, 0) == 0)
			_exit(map[0] ? 2 : 3);
		_exit(4);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_plain_file_is_what_it_is),
		cmocka_unit_test(an_empty_file_opens_with_no_bytes),
		cmocka_unit_test(files_of_three_bytes_are_not_looked_at_past_their_end),
		cmocka_unit_test(zeros_stand_behind_a_file_of_whole_pages),
		cmocka_unit_test(what_is_no_regular_file_is_an_error_at_once),
		cmocka_unit_test(open_fd_takes_the_descriptor_also_on_failure),
		cmocka_unit_test(another_compression_is_named),
		cmocka_unit_test(bytes_of_the_callers_make_a_source),
		cmocka_unit_test(zstd_is_known_by_content),
		cmocka_unit_test(frames_follow_each_other_and_skippable_ones_are_skipped),
		cmocka_unit_test(a_file_of_skippable_frames_alone_is_plain),
		cmocka_unit_test(an_empty_frame_is_an_empty_file),
		cmocka_unit_test(the_cap_is_exact),
		cmocka_unit_test(a_bomb_stops_at_the_cap),
		cmocka_unit_test(a_huge_window_is_refused_with_a_way_out),
		cmocka_unit_test(damage_keeps_every_block_before_it),
		cmocka_unit_test(garbage_after_a_frame_keeps_the_frame),
		cmocka_unit_test(damage_in_the_first_block_is_an_error),
		cmocka_unit_test(nothing_is_inflated_when_asked_for_as_it_is),
		cmocka_unit_test(frames_among_the_callers_bytes_inflate),
		cmocka_unit_test(no_room_for_the_inflated_file_gives_a_hint),
		cmocka_unit_test(a_file_cut_while_mapped_does_not_kill_us),
		cmocka_unit_test(only_the_source_that_shrank_is_changed),
		cmocka_unit_test(a_file_that_lost_less_than_a_page_is_changed_too),
		cmocka_unit_test(a_removed_or_replaced_file_is_still_whole),
		cmocka_unit_test(a_foreign_bus_error_is_not_swallowed),
	};
	return cmocka_run_group_tests(tests, make_noise, NULL);
}
