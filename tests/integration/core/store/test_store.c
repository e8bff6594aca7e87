/* layer: core */
#include "core/store/store.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/process/finder.h"
#include "core/io/source.h"
#include "core/store/store_layout.h"
#include "tests/support/mapped_fixture.h"

enum { FILES = 300, SPLITS = 40 };

/* The content written by these tests: file i has build-id i/2 (so each id twice), but every tenth has none. */
static struct xc_store_file file_of(size_t i)
{
	struct xc_store_file file = {.has = XC_STORE_CODE,
				     .dev = 7,
				     .ino = 1000 + i,
				     .size = 100 * i,
				     .mtime_ns = (int64_t)i,
				     .seen = 5 + (int64_t)i};
	char path[64];
	snprintf(path, sizeof path, "/files/%04zu/program", i);
	file.path = scratch_path(path); /* any string that stays valid */
	if (i % 10) {
		file.id.size = 20;
		memset(file.id.bytes, 0x5a, 20);
		file.id.bytes[0] = (uint8_t)(i / 2);
		file.id.bytes[1] = (uint8_t)(i / 2 >> 8);
	}
	return file;
}

static uint64_t dwo_of(size_t i)
{
	return (i % 7) * UINT64_C(0x123456789abcdef) + i / 2;
}

static struct xc_error *write_store(const char *dir)
{
	static struct xc_store_file files[FILES];
	static struct xc_store_split splits[SPLITS];
	struct xc_store_root roots[] = {{.path = "/files", .indexed = 99, .files = 12345}, {.path = "/other"}};
	for (size_t i = 0; i < FILES; i++)
		files[i] = file_of(i);
	for (size_t i = 0; i < SPLITS; i++)
		splits[i] = (struct xc_store_split){dwo_of(i), (uint32_t)(i * 5)};
	const struct xc_store_content content = {files, FILES, splits, SPLITS, roots, XC_COUNT(roots)};
	return xc_store_write(dir, &content);
}

static const char *new_store(void)
{
	shell("rm -rf store && mkdir store");
	CHECK_OK(write_store(scratch_path("store")));
	return scratch_path("store");
}

static struct xc_store *opened(const char *dir)
{
	struct xc_store *store = NULL;
	CHECK_OK(xc_store_open(dir, &store));
	return store;
}

static bool is_file(const struct xc_store_file *got, size_t i)
{
	struct xc_store_file file = file_of(i);
	return !strcmp(got->path, file.path) && got->id.size == file.id.size &&
	       !memcmp(got->id.bytes, file.id.bytes, file.id.size) && got->has == file.has && got->dev == file.dev &&
	       got->ino == file.ino && got->size == file.size && got->mtime_ns == file.mtime_ns &&
	       got->seen == file.seen;
}

/* Every answer of the store is right; false if some are missing. */
static bool all_right(struct xc_store *store)
{
	struct xc_store_file file;
	struct xc_store_root root;
	struct xc_store_split split;
	size_t missing = 0;
	for (size_t i = 0; i < FILES; i++) {
		struct xc_build_id id = file_of(i).id;
		uint32_t numbers[8];
		if (!xc_store_file(store, i, &file))
			missing++;
		else if (!is_file(&file, i))
			fail_msg("file %zu is wrong: %s", i, file.path);
		size_t found = xc_store_find(store, &id, 2 * (size_t)id.size, numbers, XC_COUNT(numbers));
		bool pair = i / 2 * 2 % 10 != 0; /* both files of this id have one */
		missing += id.size && found != (pair ? 2 : 1);
		for (size_t k = 0; k < found && k < XC_COUNT(numbers); k++)
			if (xc_store_file(store, numbers[k], &file) && !xc_build_id_equal(&file.id, &id))
				fail_msg("a look-up gives a foreign file: %s", file.path);
		assert_true(found <= 2);
	}
	for (size_t i = 0; i < SPLITS; i++) {
		uint32_t numbers[8];
		size_t found = xc_store_find_split(store, dwo_of(i), numbers, XC_COUNT(numbers));
		bool met = false;
		for (size_t k = 0; k < found && k < XC_COUNT(numbers); k++)
			met |= numbers[k] == i * 5;
		missing += !met;
		missing += !xc_store_split(store, i, &split);
	}
	missing += !xc_store_root(store, 0, &root) || strcmp(root.path, "/files") || root.files != 12345;
	missing += !xc_store_root(store, 1, &root) || strcmp(root.path, "/other") || root.indexed;
	return missing == 0;
}

/* ---- reading ---- */

static void what_was_written_is_read(void **state)
{
	(void)state;
	struct xc_store *store = opened(new_store());
	assert_int_equal(xc_store_file_count(store), FILES);
	assert_int_equal(xc_store_root_count(store), 2);
	assert_int_equal(xc_store_split_count(store), SPLITS);
	assert_true(all_right(store));
	assert_false(xc_store_damaged(store));
	xc_store_close(store);
}

static void an_empty_store_has_nothing(void **state)
{
	(void)state;
	const struct xc_store_content nothing = {.file_count = 0};
	shell("rm -rf store && mkdir store");
	CHECK_OK(xc_store_write(scratch_path("store"), &nothing));
	struct xc_store *store = opened(scratch_path("store"));
	struct xc_build_id id = file_of(1).id;
	assert_int_equal(xc_store_find(store, &id, 40, NULL, 0), 0);
	assert_int_equal(xc_store_find_split(store, 1, NULL, 0), 0);
	assert_int_equal(xc_store_file_count(store), 0);
	xc_store_close(store);
	assert_int_equal(xc_store_find(NULL, &id, 40, NULL, 0), 0);
}

static void ids_are_found_by_their_first_digits(void **state)
{
	(void)state;
	struct xc_store *store = opened(new_store());
	struct xc_build_id id = {.size = 2, .bytes = {0x21, 0x00}};
	uint32_t numbers[FILES];
	assert_int_equal(xc_store_find(store, &id, 4, numbers, FILES), 2); /* files 66 and 67 */
	assert_int_equal(numbers[0] + numbers[1], 66 + 67);
	size_t low = 0;
	for (size_t i = 0; i < FILES; i++)
		low += i % 10 && (i / 2 & 0xf0) == 0x20;
	assert_int_equal(xc_store_find(store, &id, 1, numbers, FILES), low);
	assert_int_equal(xc_store_find(store, &id, 1, numbers, 1), low); /* room for fewer */
	id.size = 21;                                                    /* longer than any */
	id.bytes[2] = 0x5a;
	assert_int_equal(xc_store_find(store, &id, 42, numbers, FILES), 0);
	assert_int_equal(xc_store_find(store, &id, 0, numbers, FILES), 0);
	xc_store_close(store);
}

/* ---- damage ---- */

static void keep_bytes(uint8_t **bytes, size_t *size)
{
	struct xc_source *source = NULL;
	CHECK_OK(xc_source_open(scratch_path("store/index"), NULL, &source));
	*size = (size_t)source->size;
	*bytes = malloc(*size);
	memcpy(*bytes, source->bytes, *size);
	xc_source_close(source);
}

/* One byte at a time, throughout the file: the data read is right, or it is missing and the damage is reported. */
static void a_flipped_byte_never_gives_a_wrong_answer(void **state)
{
	(void)state;
	uint8_t *bytes;
	size_t size, noticed = 0, cases = 0;
	const char *dir = new_store();
	keep_bytes(&bytes, &size);
	for (size_t at = 0; at < size; at += at < 160 ? 1 : 997) {
		struct xc_store *store = NULL;
		bytes[at] ^= 0x10;
		scratch_file("store/index", bytes, size);
		bytes[at] ^= 0x10;
		struct xc_error *err = xc_store_open(dir, &store);
		cases++;
		if (err) {
			assert_int_equal(err->code, XC_ERR_FORMAT);
			noticed++;
			xc_error_free(err);
			continue;
		}
		if (!all_right(store)) {
			assert_true(xc_store_damaged(store));
			noticed++;
		}
		xc_store_close(store);
	}
	free(bytes);
	assert_true(noticed > cases / 3); /* unused bytes of the first block are no loss */
}

static void a_cut_store_is_refused(void **state)
{
	(void)state;
	uint8_t *bytes;
	size_t size;
	const char *dir = new_store();
	keep_bytes(&bytes, &size);
	for (size_t left = 0; left < size; left += left < 160 ? 1 : 499) {
		struct xc_store *store = NULL;
		scratch_file("store/index", bytes, left);
		struct xc_error *err = xc_store_open(dir, &store);
		if (!err)
			fail_msg("opens with %zu of %zu bytes", left, size);
		assert_true(err->code == XC_ERR_FORMAT);
		xc_error_free(err);
	}
	free(bytes);
}

static void another_version_or_byte_order_is_refused(void **state)
{
	(void)state;
	uint8_t *bytes;
	size_t size;
	struct xc_store *store = NULL;
	const char *dir = new_store();
	keep_bytes(&bytes, &size);
	bytes[12]++;
	scratch_file("store/index", bytes, size);
	CHECK_ERROR(xc_store_open(dir, &store), XC_ERR_FORMAT, "another version");
	bytes[12]--;
	bytes[8] = 1;
	bytes[11] = 4;
	scratch_file("store/index", bytes, size);
	CHECK_ERROR(xc_store_open(dir, &store), XC_ERR_FORMAT, "another machine");
	free(bytes);
}

/* Correct checksums over wrong numbers: tables past the end, paths without an end. */
static void a_forged_store_is_read_within_its_bounds(void **state)
{
	(void)state;
	uint8_t *bytes;
	size_t size;
	const char *dir = new_store();
	keep_bytes(&bytes, &size);
	struct xc_store_header *h = (void *)bytes;
	const struct xc_store_header whole = *h;
	uint64_t *const fields[] = {&h->files.at,  &h->files.count,  &h->ids.at,   &h->ids.count,
				    &h->splits.at, &h->splits.count, &h->roots.at, &h->roots.count,
				    &h->paths.at,  &h->paths.count,  &h->crcs.at,  &h->crcs.count};
	const uint64_t values[] = {0, 1, 8, 4096, 4104, size - 8, size, UINT64_MAX, UINT64_MAX - 7, UINT32_MAX};
	for (size_t i = 0; i < XC_COUNT(fields); i++)
		for (size_t k = 0; k < XC_COUNT(values); k++) {
			struct xc_store *store = NULL;
			struct xc_store_file file;
			uint32_t numbers[4];
			struct xc_build_id id = file_of(3).id;
			*h = whole;
			*fields[i] = values[k];
			h->crc = xc_store_crc(h, offsetof(struct xc_store_header, crc));
			scratch_file("store/index", bytes, size);
			struct xc_error *err = xc_store_open(dir, &store);
			for (size_t n = 0; !err && n < FILES && n < xc_store_file_count(store); n++)
				if (xc_store_file(store, n, &file))
					assert_int_equal(file.path[0], '/');
			xc_store_find(store, &id, 40, numbers, XC_COUNT(numbers));
			xc_store_find_split(store, dwo_of(1), numbers, XC_COUNT(numbers));
			xc_error_free(err);
			xc_store_close(store);
		}
	free(bytes);
}

static void a_store_that_shrinks_while_it_is_read_loses_answers_only(void **state)
{
	(void)state;
	struct xc_store *store = opened(new_store());
	assert_int_equal(truncate(scratch_path("store/index"), 2 * XC_STORE_BLOCK), 0);
	assert_false(all_right(store));
	assert_true(xc_store_damaged(store));
	xc_store_close(store);
}

/* ---- writing ---- */

/* A file size limit simulates a full disk. */
static void a_full_disk_leaves_the_old_store(void **state)
{
	(void)state;
	const char *dir = new_store();
	int status;
	pid_t pid = fork();
	if (pid == 0) {
		signal(SIGXFSZ, SIG_IGN);
		setrlimit(RLIMIT_FSIZE, &(struct rlimit){5000, 5000});
		struct xc_error *err = write_store(dir);
		_exit(!err ? 1 : err->code != XC_ERR_IO ? 2 : strstr(err->message, "store/index: ") ? 0 : 3);
	}
	waitpid(pid, &status, 0);
	assert_int_equal(status, 0);
	struct xc_store *store = opened(dir);
	assert_true(all_right(store));
	xc_store_close(store);
	shell("test \"$(ls -A store)\" = index"); /* no temporary file is left */
}

static void what_killed_writers_left_is_removed(void **state)
{
	(void)state;
	const char *dir = new_store();
	shell("touch store/.index-77.part store/.dull-1.part store/.index.8-0.part store/.dull.8-1.part store/.mine "
	      "store/index-1.part");
	xc_store_remove_parts(dir);
	shell("test \"$(ls -A store | tr '\\n' ' ')\" = '.mine index index-1.part '");
}

static void no_index_is_not_found(void **state)
{
	(void)state;
	struct xc_store *store = NULL;
	shell("rm -rf store && mkdir store");
	CHECK_ERROR(xc_store_open(scratch_path("store"), &store), XC_ERR_NOT_FOUND, "index");
	CHECK_ERROR(xc_store_open(scratch_path("none"), &store), XC_ERR_NOT_FOUND, "index");
	shell("mkdir store/index");
	CHECK_ERROR(xc_store_open(scratch_path("store"), &store), XC_ERR_UNSUPPORTED, "not a regular file");
}

/* ---- where it is ---- */

static void expect_place(const char *given, const char *place)
{
	char *got = xc_store_locate(given);
	if (place)
		assert_string_equal(got, place);
	else
		assert_null(got);
	free(got);
}

static void the_place_is_the_option_the_variable_or_the_users_data(void **state)
{
	(void)state;
	unsetenv("XCORE_SYMBOLS");
	unsetenv("XDG_DATA_HOME");
	setenv("HOME", "/h", 1);
	expect_place(NULL, "/h/.local/share/xcore/symbols");
	setenv("XDG_DATA_HOME", "/d", 1);
	expect_place(NULL, "/d/xcore/symbols");
	setenv("XDG_DATA_HOME", "relative", 1); /* by the specification it then counts as unset */
	expect_place(NULL, "/h/.local/share/xcore/symbols");
	setenv("XCORE_SYMBOLS", "/s", 1);
	expect_place(NULL, "/s");
	expect_place("given", "given");
	setenv("XCORE_SYMBOLS", "", 1);
	expect_place(NULL, NULL);
	unsetenv("XCORE_SYMBOLS");
	unsetenv("XDG_DATA_HOME");
	unsetenv("HOME");
	expect_place(NULL, NULL);
}

/* ---- modules ---- */

#define ID_A "-Wl,--build-id=0xaaaaaaaaaaaaaaaaaaaa"
#define ID_B "-Wl,--build-id=0xbbbbbbbbbbbbbbbbbbbb"
static const char TEXT_A[] = "int answer(void) { return 42; }\n";

/* A store with this entry: the file at path has id aaaa… and code. */
static struct xc_store *claim(const char *const *paths, size_t count)
{
	static struct xc_store_file files[4];
	for (size_t i = 0; i < count; i++) {
		files[i] = (struct xc_store_file){.path = paths[i], .has = XC_STORE_CODE, .id.size = 10};
		memset(files[i].id.bytes, 0xaa, 10);
	}
	const struct xc_store_content content = {.files = files, .file_count = count};
	shell("rm -rf store && mkdir store");
	CHECK_OK(xc_store_write(scratch_path("store"), &content));
	return opened(scratch_path("store"));
}

static void find_with(struct xc_store *store, const char *sysroot, struct mapped *m)
{
	const struct xc_finder finder = {.store = store, .sysroot = sysroot};
	xc_finder_module(&finder, m->process, m->module);
}

static void a_module_is_found_in_the_store_before_its_own_path(void **state)
{
	(void)state;
	const char *image = build("a.so", ID_A, TEXT_A);
	shell("cp a.so elsewhere");
	const char *paths[] = {scratch_path("elsewhere")};
	struct xc_store *store = claim(paths, 1);
	struct mapped m = map_file(image, image, true);
	find_with(store, NULL, &m);
	assert_int_equal(m.module->identity, XC_VERIFIED);
	assert_string_equal(m.module->file_path, paths[0]);
	assert_true(m.module->file_from_store);
	unmap(&m);
	shell("mkdir -p root/%s && cp a.so root/%s/", scratch_word(scratch_dir()), scratch_word(scratch_dir()));
	m = map_file(image, image, true); /* --sysroot requests its files for this very run */
	find_with(store, scratch_path("root"), &m);
	assert_false(m.module->file_from_store);
	unmap(&m);
	xc_store_close(store);
}

/* The store lists these files with the id; one is another build, one a debug file, one a FIFO, one is gone. */
static void the_store_is_never_trusted(void **state)
{
	(void)state;
	const char *image = build("a.so", ID_A " -g", TEXT_A);
	build("b.so", ID_B, TEXT_A);
	shell("rm -f fifo && mkfifo fifo && objcopy --only-keep-debug a.so a.debug");
	const char *paths[] = {scratch_path("a.debug"), scratch_path("b.so"), scratch_path("fifo"),
			       scratch_path("gone")};
	struct xc_store *store = claim(paths, XC_COUNT(paths));
	alarm(120);
	struct mapped m = map_file(image, image, true);
	find_with(store, NULL, &m);
	alarm(0);
	assert_int_equal(m.module->identity, XC_VERIFIED); /* by its path */
	assert_string_equal(m.module->file_path, image);
	assert_null(m.module->why);
	assert_false(m.module->file_from_store);
	unmap(&m);
	m = map_file(image, "/nowhere/a.so", true);
	find_with(store, NULL, &m);
	assert_null(m.module->file);
	unmap(&m);
	xc_store_close(store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_written_is_read),
		cmocka_unit_test(an_empty_store_has_nothing),
		cmocka_unit_test(ids_are_found_by_their_first_digits),
		cmocka_unit_test(a_flipped_byte_never_gives_a_wrong_answer),
		cmocka_unit_test(a_cut_store_is_refused),
		cmocka_unit_test(another_version_or_byte_order_is_refused),
		cmocka_unit_test(a_forged_store_is_read_within_its_bounds),
		cmocka_unit_test(a_store_that_shrinks_while_it_is_read_loses_answers_only),
		cmocka_unit_test(a_full_disk_leaves_the_old_store),
		cmocka_unit_test(what_killed_writers_left_is_removed),
		cmocka_unit_test(no_index_is_not_found),
		cmocka_unit_test(the_place_is_the_option_the_variable_or_the_users_data),
		cmocka_unit_test(a_module_is_found_in_the_store_before_its_own_path),
		cmocka_unit_test(the_store_is_never_trusted),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
