/* layer: dwarf */
#include "dwarf/symstore/store_index.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/io/source.h"
#include "dwarf/symstore/store_clean.h"
#include "dwarf/symstore/store_keep.h"
#include "dwarf/symstore/store_state.h"
#include "tests/support/mapped_fixture.h"

static volatile sig_atomic_t stop;

static struct xc_store_totals index_with(const struct xc_store_index_options *options, const char *tree)
{
	struct xc_store_totals totals;
	CHECK_OK(xc_store_index(options, tree, &totals));
	return totals;
}

static struct xc_store_totals index_tree(const char *name)
{
	const struct xc_store_index_options options = {.dir = scratch_path("store"), .jobs = 3, .stop = &stop};
	return index_with(&options, scratch_path(name));
}

/* DIR/path: a library with a build-id of twenty times this byte; overwrites the template's id. */
static void make(const char *path, unsigned byte)
{
	static uint8_t *bytes;
	static size_t size, at;
	if (!bytes) {
		struct xc_source *s = NULL;
		const char *id = "\x5a\x5b\x5c\x5d\x5a\x5b\x5c\x5d\x5a\x5b\x5c\x5d\x5a\x5b\x5c\x5d\x5a\x5b\x5c\x5d";
		CHECK_OK(xc_source_open(build("template.so",
					      "-g -Wl,--build-id=0x5a5b5c5d5a5b5c5d5a5b5c5d5a5b5c5d5a5b5c5d",
					      "int f(void) { return 1; }\n"),
					NULL, &s));
		size = (size_t)s->size;
		bytes = malloc(size);
		memcpy(bytes, s->bytes, size);
		xc_source_close(s);
		const uint8_t *found = memmem(bytes, size, id, 20);
		assert_non_null(found);
		at = (size_t)(found - bytes);
	}
	memset(bytes + at, (int)byte, 20);
	scratch_file(path, bytes, size);
}

static int start(void **state)
{
	(void)state;
	stop = 0;
	shell("rm -rf tree tree2 store && mkdir -p tree/a/b tree2");
	make("tree/a/one", 0xa1);
	make("tree/a/b/two", 0xa2);
	shell("echo text >tree/a/text && echo a longer text, longer than the shortest ELF file can be at all "
	      ">tree/a/b/long && "
	      "ln -s one tree/a/link && ln -s .. tree/a/b/up && mkfifo tree/fifo");
	return 0;
}

static struct xc_build_id id_of(unsigned byte)
{
	struct xc_build_id id = {.size = 20};
	memset(id.bytes, (int)byte, 20);
	return id;
}

/* The number of files that the store has for this id, and the path of the first. */
static size_t known(unsigned byte, char *path)
{
	struct xc_store *store = NULL;
	struct xc_store_file file;
	uint32_t numbers[8];
	struct xc_build_id id = id_of(byte);
	CHECK_OK(xc_store_open(scratch_path("store"), &store));
	size_t found = xc_store_find(store, &id, 40, numbers, 8);
	if (found && path) {
		assert_true(xc_store_file(store, numbers[0], &file));
		strcpy(path, file.path);
	}
	assert_false(xc_store_damaged(store));
	xc_store_close(store);
	return found;
}

static size_t all_known(void)
{
	struct xc_store *store = NULL;
	CHECK_OK(xc_store_open(scratch_path("store"), &store));
	size_t count = xc_store_file_count(store);
	xc_store_close(store);
	return count;
}

/* ---- walking ---- */

static void a_tree_is_gone_through_once(void **state)
{
	(void)state;
	char path[512];
	struct xc_store_totals t = index_tree("tree");
	assert_int_equal(t.files, 4);
	assert_int_equal(t.found, 2);
	assert_int_equal(t.added, 2);
	assert_int_equal(t.unreadable, 0);
	assert_false(t.interrupted);
	assert_int_equal(known(0xa1, path), 1);
	assert_string_equal(path, scratch_path("tree/a/one"));
	assert_int_equal(known(0xa2, NULL), 1);
	assert_int_equal(all_known(), 2);
}

static void what_did_not_change_is_not_read_again(void **state)
{
	(void)state;
	assert_int_equal(index_tree("tree").read, 3); /* the shortest file is no ELF file by its size */
	struct xc_store_totals t = index_tree("tree");
	assert_int_equal(t.read, 0);
	assert_int_equal(t.found, 2);
	assert_int_equal(t.added + t.dropped, 0);
	shell("touch -d '1 hour ago' tree/a/b/long");
	assert_int_equal(index_tree("tree").read, 1);
	shell("truncate -s 0 store/dull"); /* lost: read again */
	assert_int_equal(index_tree("tree").read, 1);
	shell("printf 'XCDULL01\\1\\2\\3\\4....................' >store/dull");
	assert_int_equal(index_tree("tree").read, 1);
	assert_int_equal(index_tree("tree").read, 0);
}

static void changed_and_vanished_files_are_followed(void **state)
{
	(void)state;
	index_tree("tree");
	make("tree/a/one", 0xa3);
	shell("rm tree/a/b/two");
	make("tree/c/new", 0xa4);
	struct xc_store_totals t = index_tree("tree");
	assert_int_equal(t.read, 2);
	assert_int_equal(t.dropped, 1);
	assert_int_equal(t.added, 1); /* the changed one was known by its path */
	assert_int_equal(known(0xa1, NULL) + known(0xa2, NULL), 0);
	assert_int_equal(known(0xa3, NULL), 1);
	assert_int_equal(known(0xa4, NULL), 1);
}

static void trees_do_not_disturb_each_other(void **state)
{
	(void)state;
	make("tree2/other", 0xa5);
	index_tree("tree");
	index_tree("tree2");
	shell("rm tree/a/one tree2/other");
	index_tree("tree");
	assert_int_equal(known(0xa1, NULL), 0);
	assert_int_equal(known(0xa5, NULL), 1); /* not examined */
	assert_int_equal(index_tree("tree/a/b").found, 1);
	assert_int_equal(known(0xa2, NULL), 1);
}

static void one_file_can_be_indexed_and_a_package_cannot(void **state)
{
	(void)state;
	const struct xc_store_index_options options = {.dir = scratch_path("store")};
	struct xc_store_totals t = index_with(&options, scratch_path("tree/a/one"));
	assert_int_equal(t.found, 1);
	assert_int_equal(known(0xa1, NULL), 1);
	scratch_file("p.rpm", "\xed\xab\xee\xdb\3\0\0\0\0\0\0\0", 12);
	CHECK_ERROR(xc_store_index(&options, scratch_path("p.rpm"), &t), XC_ERR_UNSUPPORTED, "package");
	CHECK_ERROR(xc_store_index(&options, scratch_path("tree/a/text"), &t), XC_ERR_FORMAT, "not an ELF file");
	CHECK_ERROR(xc_store_index(&options, scratch_path("nowhere"), &t), XC_ERR_NOT_FOUND, "nowhere");
	CHECK_ERROR(xc_store_index(&options, scratch_path("tree/fifo"), &t), XC_ERR_UNSUPPORTED, "regular");
	assert_int_equal(all_known(), 1);
}

static void packages_and_what_cannot_be_read_are_told(void **state)
{
	(void)state;
	char deb[80] = "!<arch>\ndebian-binary";
	scratch_file("tree/x.deb", deb, sizeof deb);
	struct xc_store_totals t = index_tree("tree");
	assert_int_equal(t.packages, 1);
	assert_int_equal(index_tree("tree").packages, 1); /* and reported again */
	if (geteuid() != 0) {
		shell("touch -d '2 hours ago' tree/a/one && chmod 0 tree/a/b tree/a/one"); /* changed: to be read */
		t = index_tree("tree");
		shell("chmod 755 tree/a/b");
		assert_int_equal(t.unreadable, 2);
		assert_non_null(strstr(t.first_unreadable, "Permission denied"));
		xc_store_totals_fini(&t);
	}
}

static void the_store_itself_and_the_cache_are_not_entered(void **state)
{
	(void)state;
	make("tree/store/inside", 0xa6);
	make("tree/cache/inside", 0xa7);
	const struct xc_store_index_options options = {.dir = scratch_path("tree/store"),
						       .cache_dir = scratch_path("tree/cache")};
	const struct xc_store_index_options inside = {.dir = options.dir};
	struct xc_store_totals t = index_with(&inside, scratch_path("tree/cache"));
	assert_int_equal(t.found, 1);
	t = index_with(&options, scratch_path("tree"));
	assert_int_equal(t.found, 2);
	assert_int_equal(t.dropped, 0); /* not scanned, but there: as if another process had just added it */
}

/* ---- caching ---- */

static void links_outlive_their_tree(void **state)
{
	(void)state;
	char path[512];
	struct stat there, kept;
	shell("objcopy --only-keep-debug tree/a/b/two tree/a/b/two.debug");
	const struct xc_store_index_options options = {.dir = scratch_path("store"), .link = true};
	struct xc_store_totals t = index_with(&options, scratch_path("tree"));
	assert_int_equal(t.linked, 3);
	assert_int_equal(t.not_kept, 0);
	const char *link = scratch_path("store/kept/.build-id/a1/a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1");
	assert_int_equal(stat(link, &kept), 0);
	assert_int_equal(stat(scratch_path("tree/a/one"), &there), 0);
	assert_int_equal(there.st_ino, kept.st_ino);
	assert_int_equal(
		access(scratch_path("store/kept/.build-id/a2/a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2.debug"), F_OK), 0);
	assert_int_equal(known(0xa1, NULL), 2);
	assert_int_equal(known(0xa2, NULL), 4);
	t = index_with(&options, scratch_path("tree"));
	assert_int_equal(t.linked + t.copied + t.not_kept, 0);
	shell("rm -r tree/a");
	index_tree("tree");
	assert_int_equal(known(0xa1, path), 1);
	assert_non_null(strstr(path, "/store/kept/.build-id/a1/"));
}

static void copies_are_made_where_links_cannot(void **state)
{
	(void)state;
	struct stat there, kept;
	const struct xc_store_index_options copy = {.dir = scratch_path("store"), .copy = true};
	struct xc_store_totals t = index_with(&copy, scratch_path("tree"));
	assert_int_equal(t.copied, 2);
	const char *name = scratch_path("store/kept/.build-id/a1/a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1");
	assert_int_equal(stat(name, &kept), 0);
	assert_int_equal(stat(scratch_path("tree/a/one"), &there), 0);
	assert_int_not_equal(there.st_ino, kept.st_ino);
	shell("cmp tree/a/one %s", scratch_word(name));
	t = index_with(&copy, scratch_path("tree"));
	assert_int_equal(t.copied, 0); /* cached before */
	/* another file system, if there is one */
	struct stat shm;
	if (stat("/dev/shm", &shm) == 0 && shm.st_dev != there.st_dev && access("/dev/shm", W_OK) == 0) {
		char dir[] = "/dev/shm/xcore-test-XXXXXX";
		assert_non_null(mkdtemp(dir));
		const struct xc_store_index_options link = {.dir = dir, .link = true},
						    both = {.dir = dir, .link = true, .copy = true};
		t = index_with(&link, scratch_path("tree"));
		assert_int_equal(t.not_kept, 2);
		assert_non_null(strstr(t.first_not_kept, "link"));
		xc_store_totals_fini(&t);
		t = index_with(&both, scratch_path("tree"));
		assert_int_equal(t.copied, 2);
		shell("rm -r %s", dir);
	}
}

static void a_richer_file_takes_the_place_of_a_poorer_one(void **state)
{
	(void)state;
	const struct xc_store_index_options options = {.dir = scratch_path("store"), .copy = true};
	const char *name = "store/kept/.build-id/a1/a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1";
	shell("strip tree/a/one -o tree2/one");
	index_with(&options, scratch_path("tree2"));
	shell("cmp tree2/one %s", name);
	index_with(&options, scratch_path("tree"));
	shell("cmp tree/a/one %s", name);
	index_with(&options, scratch_path("tree2"));
	shell("cmp tree/a/one %s", name);
}

/* ---- cleaning ---- */

static struct xc_store_cleaned clean_with(struct xc_store_clean_options options)
{
	struct xc_store_cleaned cleaned;
	CHECK_OK(xc_store_clean(scratch_path("store"), &options, &cleaned));
	return cleaned;
}

static void cleaning_forgets_what_is_gone(void **state)
{
	(void)state;
	make("tree2/other", 0xa5);
	index_tree("tree");
	index_tree("tree2");
	shell("rm -r tree2 && rm tree/a/one && touch store/.index-7.part");
	struct xc_store_cleaned c = clean_with((struct xc_store_clean_options){.all = false});
	assert_int_equal(c.dropped, 2);
	assert_int_equal(c.roots, 1);
	assert_int_equal(known(0xa2, NULL), 1);
	assert_int_equal(all_known(), 1);
	shell("test ! -e store/.index-7.part");
	c = clean_with((struct xc_store_clean_options){.used_before = (int64_t)time(NULL) + 1000});
	assert_int_equal(c.dropped, 1);
}

static void cleaning_all_removes_kept_files_and_nothing_else(void **state)
{
	(void)state;
	const struct xc_store_index_options options = {.dir = scratch_path("store"), .link = true};
	index_with(&options, scratch_path("tree"));
	shell("mkdir store/mine && touch store/mine/file && truncate -s 0 store/index"); /* also if the index is lost */
	struct xc_store_cleaned c = clean_with((struct xc_store_clean_options){.all = true});
	assert_int_equal(c.removed, 2);
	assert_true(c.bytes > 1000);
	assert_int_equal(all_known(), 0);
	shell("test -f tree/a/one && test -f store/mine/file && test -z \"$(find store/kept -type f)\"");
	CHECK_OK(xc_store_clean(scratch_path("no-store"), &(struct xc_store_clean_options){.all = true}, &c));
	assert_int_equal(access(scratch_path("no-store"), F_OK), -1); /* nothing is created */
}

static void old_kept_files_go_by_their_last_use(void **state)
{
	(void)state;
	const struct xc_store_index_options options = {.dir = scratch_path("store"), .copy = true};
	index_with(&options, scratch_path("tree"));
	shell("touch -a -d '40 days ago' store/kept/.build-id/a1/*");
	struct xc_store_cleaned c =
		clean_with((struct xc_store_clean_options){.used_before = (int64_t)time(NULL) - 30 * 86400});
	assert_int_equal(c.removed, 1);
	assert_int_equal(known(0xa1, NULL), 1); /* in its tree */
	assert_int_equal(known(0xa2, NULL), 2);
}

/* ---- accidents ---- */

static void an_interrupted_walk_keeps_what_it_found(void **state)
{
	(void)state;
	index_tree("tree");
	make("tree/c/new", 0xa4);
	stop = SIGINT; /* from the start: nothing more is found, and no known file is lost */
	struct xc_store_totals t = index_tree("tree");
	assert_true(t.interrupted || t.found == 3);
	assert_int_equal(known(0xa1, NULL), 1);
	assert_int_equal(known(0xa2, NULL), 1);
	stop = 0;
	index_tree("tree");
	assert_int_equal(known(0xa4, NULL), 1);
}

/* All start together, when the pipe is closed, and each adds one file. */
static void many_processes_lose_nothing_of_each_other(void **state)
{
	(void)state;
	enum { PROCESSES = 8, ROUNDS = 12 };
	pid_t children[PROCESSES];
	char name[64];
	for (int i = 0; i < PROCESSES; i++) {
		snprintf(name, sizeof name, "tree2/%d/program", i);
		make(name, 0xc0 + (unsigned)i);
	}
	for (int round = 0; round < ROUNDS; round++) {
		int gate[2], status;
		char byte;
		shell("rm -rf store");
		assert_int_equal(pipe(gate), 0);
		for (int i = 0; i < PROCESSES; i++) {
			const struct xc_store_index_options options = {
				.dir = scratch_path("store"), .jobs = 2, .link = i % 2};
			snprintf(name, sizeof name, "tree2/%d", i);
			const char *tree = scratch_path(name);
			if ((children[i] = fork()) == 0) {
				struct xc_store_totals t;
				close(gate[1]);
				_exit(read(gate[0], &byte, 1) || xc_store_index(&options, tree, &t));
			}
		}
		close(gate[0]);
		close(gate[1]);
		for (int i = 0; i < PROCESSES; i++) {
			waitpid(children[i], &status, 0);
			assert_int_equal(status, 0);
		}
		for (unsigned i = 0; i < PROCESSES; i++)
			assert_int_equal(known(0xc0 + i, NULL), 1 + i % 2);
		shell("test -z \"$(find store -name '*.part')\"");
	}
}

/* Killed at any moment: the existing files open completely, and the next run adds the rest. */
static void a_killed_process_leaves_a_whole_store(void **state)
{
	(void)state;
	char name[64];
	for (int i = 0; i < 16; i++) {
		snprintf(name, sizeof name, "tree/many/%d", i);
		make(name, 0xd0 + (unsigned)i);
	}
	index_tree("tree/a");
	for (long wait_us = 0; wait_us < 12000; wait_us += 400) {
		const struct xc_store_index_options options = {.dir = scratch_path("store"), .jobs = 2, .copy = true};
		int status;
		pid_t child = fork();
		if (child == 0) {
			for (;;) {
				struct xc_store_totals t;
				struct xc_store_cleaned c;
				if (xc_store_index(&options, scratch_path("tree/many"), &t) ||
				    xc_store_clean(options.dir, &(struct xc_store_clean_options){.all = true}, &c) ||
				    xc_store_index(&options, scratch_path("tree/a"), &t))
					_exit(1);
			}
		}
		nanosleep(&(struct timespec){.tv_nsec = wait_us * 1000 % 1000000000}, NULL);
		kill(child, SIGKILL);
		waitpid(child, &status, 0);
		assert_true(WIFSIGNALED(status));
		all_known();
	}
	index_tree("tree/many");
	for (unsigned i = 0; i < 16; i++)
		assert_in_range(known(0xd0 + i, NULL), 1, 2);
}

static void a_full_disk_is_an_error_and_changes_nothing(void **state)
{
	(void)state;
	int status;
	index_tree("tree");
	make("tree/c/new", 0xa4);
	pid_t child = fork();
	if (child == 0) {
		const struct xc_store_index_options options = {.dir = scratch_path("store"), .copy = true};
		struct xc_store_totals t;
		signal(SIGXFSZ, SIG_IGN);
		setrlimit(RLIMIT_FSIZE, &(struct rlimit){4200, 4200});
		struct xc_error *err = xc_store_index(&options, scratch_path("tree"), &t);
		_exit(err && err->code == XC_ERR_IO ? 0 : 1);
	}
	waitpid(child, &status, 0);
	assert_int_equal(status, 0);
	assert_int_equal(known(0xa1, NULL), 1);
	assert_int_equal(known(0xa4, NULL), 0);
	assert_int_equal(index_tree("tree").added, 1);
}

/* Room for the index, but not for the copy: the reference is stored, the copy is reported as missing. */
static void a_disk_too_full_for_copies_keeps_references(void **state)
{
	(void)state;
	int status;
	pid_t child = fork();
	if (child == 0) {
		const struct xc_store_index_options options = {.dir = scratch_path("store"), .copy = true};
		struct xc_store_totals t;
		signal(SIGXFSZ, SIG_IGN);
		setrlimit(RLIMIT_FSIZE, &(struct rlimit){6000, 6000});
		struct xc_error *err = xc_store_index(&options, scratch_path("tree"), &t);
		_exit(err ? 1 : t.not_kept != 2 ? 2 : strstr(t.first_not_kept, "File too large") ? 0 : 3);
	}
	waitpid(child, &status, 0);
	assert_int_equal(status, 0);
	assert_int_equal(known(0xa1, NULL), 1);
	shell("test -z \"$(find store/kept -type f)\"");
}

static void a_damaged_store_is_mended(void **state)
{
	(void)state;
	make("tree2/other", 0xa5);
	index_tree("tree");
	index_tree("tree2");
	shell("printf XX | dd of=store/index bs=1 seek=4100 conv=notrunc status=none");
	struct xc_store_totals t = index_tree("tree");
	assert_true(t.damaged);
	assert_int_equal(known(0xa1, NULL), 1); /* known() checks for damage */
	assert_int_equal(known(0xa2, NULL), 1);
	shell("printf XX | dd of=store/index bs=1 seek=20 conv=notrunc status=none");
	assert_true(index_tree("tree").damaged);
	assert_false(index_tree("tree").damaged);
	assert_int_equal(known(0xa1, NULL), 1);
}

static void a_held_lock_is_told_not_waited_for_without_end(void **state)
{
	(void)state;
	int lock, status;
	CHECK_OK(xc_store_lock(scratch_path("store"), 0, &lock));
	pid_t child = fork();
	if (child == 0) {
		int other;
		alarm(120);
		close(lock);
		struct xc_error *err = xc_store_lock(scratch_path("store"), 100, &other);
		_exit(err && strstr(err->message, "another xcore") ? 0 : 1);
	}
	waitpid(child, &status, 0);
	assert_int_equal(status, 0);
	close(lock);
}

/* The store may be another user's. */
static void nothing_outside_the_store_is_written_or_removed(void **state)
{
	(void)state;
	const struct xc_store_index_options options = {.dir = scratch_path("store"), .copy = true};
	shell("mkdir -p store/kept/.build-id victim && echo it > victim/file && ln -s ../../victim store/kept/.dwo");
	static const char *const paths[] = {"store/kept/../../victim/file", "store/kept/.dwo/file", "store/kept",
					    "victim/file"};
	for (size_t i = 0; i < XC_COUNT(paths); i++) {
		assert_false(xc_store_unkeep(scratch_path("store"), scratch_path(paths[i])));
		assert_int_equal(access(scratch_path("victim/file"), F_OK), 0);
	}
	shell("rmdir store/kept/.build-id && ln -s ../../victim store/kept/.build-id");
	struct xc_store_totals t = index_with(&options, scratch_path("tree"));
	assert_int_equal(t.copied, 0);
	assert_true(t.not_kept > 0);
	xc_store_totals_fini(&t);
	shell("test \"$(ls victim)\" = file");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_tree_is_gone_through_once, start),
		cmocka_unit_test_setup(what_did_not_change_is_not_read_again, start),
		cmocka_unit_test_setup(changed_and_vanished_files_are_followed, start),
		cmocka_unit_test_setup(trees_do_not_disturb_each_other, start),
		cmocka_unit_test_setup(one_file_can_be_indexed_and_a_package_cannot, start),
		cmocka_unit_test_setup(packages_and_what_cannot_be_read_are_told, start),
		cmocka_unit_test_setup(the_store_itself_and_the_cache_are_not_entered, start),
		cmocka_unit_test_setup(links_outlive_their_tree, start),
		cmocka_unit_test_setup(copies_are_made_where_links_cannot, start),
		cmocka_unit_test_setup(a_richer_file_takes_the_place_of_a_poorer_one, start),
		cmocka_unit_test_setup(cleaning_forgets_what_is_gone, start),
		cmocka_unit_test_setup(cleaning_all_removes_kept_files_and_nothing_else, start),
		cmocka_unit_test_setup(old_kept_files_go_by_their_last_use, start),
		cmocka_unit_test_setup(an_interrupted_walk_keeps_what_it_found, start),
		cmocka_unit_test_setup(many_processes_lose_nothing_of_each_other, start),
		cmocka_unit_test_setup(a_killed_process_leaves_a_whole_store, start),
		cmocka_unit_test_setup(a_full_disk_is_an_error_and_changes_nothing, start),
		cmocka_unit_test_setup(a_disk_too_full_for_copies_keeps_references, start),
		cmocka_unit_test_setup(a_damaged_store_is_mended, start),
		cmocka_unit_test_setup(a_held_lock_is_told_not_waited_for_without_end, start),
		cmocka_unit_test_setup(nothing_outside_the_store_is_written_or_removed, start),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
