/* layer: dwarf */
/* The store: walking trees, caching files, cleaning. */
#include "tests/integration/dwarf/symstore/indexed_tree.h"

#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "dwarf/symstore/store_clean.h"

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
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
