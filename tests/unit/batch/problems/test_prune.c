/* layer: batch */
/* Selection of the cores to keep, and deletion of only the others. */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "batch/problems/prune.h"
#include "tests/support/scratch.h"
#include "tests/support/problemed.h"

struct pruning {
	struct problemed *p;
	struct xc_core_retention *keep;
	struct xc_prune prune;
	const char *directory;
	struct xc_text told;
};

static void tell(void *user, const struct xc_core_spare *spare, const char *why_not)
{
	struct pruning *t = user;
	xc_text_printf(&t->told, "%s: %s\n", spare->record->path, why_not ? why_not : "deleted");
}

static void identify(struct xc_input *input)
{
	struct stat s;
	assert_int_equal(stat(input->file, &s), 0);
	input->size = (uint64_t)s.st_size;
	input->mtime_ns = (int64_t)s.st_mtim.tv_sec * 1000000000 + s.st_mtim.tv_nsec;
	input->dev = s.st_dev;
	input->ino = s.st_ino;
}

/* Three cores of one problem, the first is kept; one of another; one without a verdict. */
static struct pruning begin(const char *name)
{
	static const char *const names[] = {"a", "b", "sub/c", "d", "e"};
	struct pruning t = {.p = PROBLEMED("a null-read core=1 size=9 stored=9 parse loop run",
					   "b null-read core=1 size=9 stored=9 missing=2 parse loop run",
					   "sub/c null-read core=2 size=9 stored=99 parse loop run",
					   "d null-write save loop run", "e odd")};
	((struct xc_record *)t.p->records[4])->status = XC_RECORD_UNREADABLE;
	problemed_find(t.p);
	for (size_t i = 0; i < XC_COUNT(names); i++) {
		xc_auto(xc_freep) char *file = xc_asprintf("%s/%s", name, names[i]);
		scratch_file(file, "\177ELF core", 9);
	}
	t.directory = scratch_path(name);
	struct xc_input *inputs = xc_arena_alloc(&t.p->arena, XC_COUNT(names) * sizeof *inputs);
	const char *base = t.directory;
	static const size_t by_path[] = {0, 1, 3, 4, 2};
	for (size_t i = 0; i < XC_COUNT(names); i++) {
		inputs[i].path = names[by_path[i]];
		inputs[i].file = xc_arena_printf(&t.p->arena, "%s/%s", base, inputs[i].path);
		identify(&inputs[i]);
	}
	t.keep = xc_core_retention_new(t.p->problems);
	t.prune = (struct xc_prune){
		.keep = t.keep, .inputs = inputs, .input_count = XC_COUNT(names), .directory_count = 1, .report = tell};
	return t;
}

static struct xc_pruned prune(struct pruning *t)
{
	t->prune.directories = &t->directory;
	t->prune.user = t;
	t->told.len = 0;
	return xc_prune(&t->prune);
}

static bool there(const struct pruning *t, const char *name)
{
	struct stat s;
	xc_auto(xc_freep) char *file = xc_asprintf("%s/%s", t->directory, name);
	return !lstat(file, &s);
}

static void finish(struct pruning *t)
{
	xc_core_retention_free(t->keep);
	xc_text_fini(&t->told);
	problemed_free(t->p);
}

static void the_list_says_what_to_keep_and_what_it_saves(void **state)
{
	char *text = NULL;
	size_t len;
	(void)state;
	struct pruning t = begin("list");
	FILE *out = open_memstream(&text, &len);
	CHECK_OK(xc_core_retention_write(t.keep, out));
	fclose(out);
	xc_auto(xc_freep) char *wanted = xc_asprintf(
		"keep  %s  a\nkeep  %s  d\nspare %s  b  copy of a, 9 B\nspare %s  sub/c  like a, 99 B\n"
		"apart unreadable    e\n2 to keep (9 B), 2 to spare (108 B), 1 without a verdict\n",
		problem_of(t.p, "a")->id, problem_of(t.p, "d")->id, problem_of(t.p, "a")->id, problem_of(t.p, "a")->id);
	assert_string_equal(text, wanted);
	free(text);
	finish(&t);
}

/* The cause of such crashes is unknown: only an exact copy is redundant, and it is deleted in favour of its
 * original. */
static void without_a_stack_all_but_copies_are_kept(void **state)
{
	char *text = NULL;
	size_t len;
	(void)state;
	struct problemed *p = PROBLEMED("a null-read core=1 size=9 stored=9 ?", "b null-read core=2 size=9 stored=8 ?",
					"c null-read core=2 size=9 stored=7 missing=2 ?");
	problemed_find(p);
	assert_int_equal(p->problems->count, 1);
	struct xc_core_retention *keep = xc_core_retention_new(p->problems);
	assert_int_equal(keep->kept_count, 2);
	assert_int_equal(keep->spare_count, 1);
	assert_string_equal(keep->spare[0].instead->path, "b");
	assert_int_equal(keep->kept_bytes, 17);
	assert_int_equal(keep->spare_bytes, 7);
	FILE *out = open_memstream(&text, &len);
	CHECK_OK(xc_core_retention_write(keep, out));
	fclose(out);
	assert_non_null(strstr(text, "  b"));
	assert_non_null(strstr(text, "maybe several problems\n"));
	free(text);
	xc_core_retention_free(keep);
	problemed_free(p);
}

static void of_each_class_the_best_is_kept(void **state)
{
	char *text = NULL;
	size_t len;
	(void)state;
	struct problemed *p = PROBLEMED("a null-read one two three", "b null-read one two three",
					"c use-after-free kind=read severity=high one two three",
					"d wild-read severity=medium core=1 one two three",
					"e wild-read severity=medium core=1 one two three",
					"f wild-read severity=high one two three");
	assert_int_equal(p->problems->count, 1);
	struct xc_core_retention *keep = xc_core_retention_new(p->problems);
	FILE *out = open_memstream(&text, &len);
	CHECK_OK(xc_core_retention_write(keep, out));
	fclose(out);
	const char *id = p->problems->problems[0].id;
	xc_auto(xc_freep) char *wanted =
		xc_asprintf("keep  %s  a  null-read\nkeep  %s  c\nkeep  %s  f  wild-read\nspare %s  e  copy of d, 0 B\n"
			    "spare %s  b  like a, 0 B\nspare %s  d  like f, 0 B\n3 to keep (0 B), 3 to spare (0 B)\n",
			    id, id, id, id, id, id);
	assert_string_equal(text, wanted);
	free(text);
	xc_core_retention_free(keep);
	problemed_free(p);
}

static void a_dry_run_deletes_nothing_and_a_real_one_the_spare_only(void **state)
{
	(void)state;
	struct pruning t = begin("real");
	t.prune.dry = true;
	struct xc_pruned pruned = prune(&t);
	assert_int_equal(pruned.deleted, 2);
	assert_true(there(&t, "b") && there(&t, "sub/c"));
	t.prune.dry = false;
	pruned = prune(&t);
	assert_int_equal(pruned.deleted, 2);
	assert_int_equal(pruned.bytes, 18);
	assert_string_equal(t.told.bytes, "b: deleted\nsub/c: deleted\n");
	assert_true(there(&t, "a") && there(&t, "d") && there(&t, "e"));
	assert_false(there(&t, "b") || there(&t, "sub/c"));
	pruned = prune(&t);
	assert_int_equal(pruned.refused, 2);
	assert_non_null(strstr(t.told.bytes, "cannot be found any more"));
	finish(&t);
}

static void what_has_changed_or_is_a_link_stays(void **state)
{
	(void)state;
	struct pruning t = begin("changed");
	scratch_file("changed/b", "\177ELF other", 10);
	xc_auto(xc_freep) char *sub = xc_asprintf("%s/sub", t.directory), *moved = xc_asprintf("%s/moved", t.directory);
	assert_int_equal(rename(sub, moved), 0);
	assert_int_equal(symlink("moved", sub), 0);
	struct xc_pruned pruned = prune(&t);
	assert_int_equal(pruned.refused, 2);
	assert_string_equal(t.told.bytes, "b: it has changed since it was read\n"
					  "sub/c: its directory cannot be opened without following links\n");
	assert_true(there(&t, "moved/c"));
	finish(&t);
}

static void without_what_is_kept_all_stay(void **state)
{
	(void)state;
	struct pruning t = begin("lost");
	xc_auto(xc_freep) char *kept = xc_asprintf("%s/a", t.directory), *copy = xc_asprintf("%s/b", t.directory);
	assert_int_equal(unlink(copy), 0);
	assert_int_equal(link(kept, copy), 0);
	identify((struct xc_input *)&t.prune.inputs[1]);
	struct xc_pruned pruned = prune(&t);
	assert_int_equal(pruned.deleted, 1);
	assert_non_null(strstr(t.told.bytes, "b: it is the kept file itself\n"));
	scratch_file("lost/sub/c", "\177ELF core", 9);
	assert_int_equal(unlink(kept), 0);
	pruned = prune(&t);
	assert_int_equal(pruned.deleted, 0);
	assert_non_null(strstr(t.told.bytes, "b: the core kept of its cluster is gone"));
	finish(&t);
}

/* Same size and time, but a different file. */
static void what_was_exchanged_stays(void **state)
{
	(void)state;
	struct pruning t = begin("exchanged");
	struct stat s;
	xc_auto(xc_freep) char *file = xc_asprintf("%s/b", t.directory), *other = xc_asprintf("%s/other", t.directory);
	assert_int_equal(stat(file, &s), 0);
	scratch_file("exchanged/other", "\177ELF mine", 9);
	const struct timespec times[] = {s.st_atim, s.st_mtim};
	assert_int_equal(utimensat(AT_FDCWD, other, times, 0), 0);
	assert_int_equal(rename(other, file), 0);
	struct xc_pruned pruned = prune(&t);
	assert_int_equal(pruned.refused, 1);
	assert_string_equal(t.told.bytes, "b: it has changed since it was read\nsub/c: deleted\n");
	finish(&t);
}

static void relative(struct pruning *t, const char *from)
{
	struct xc_input *inputs = (struct xc_input *)t->prune.inputs;
	for (size_t i = 0; i < t->prune.input_count; i++)
		inputs[i].file = xc_arena_printf(&t->p->arena, "%s%s", from, inputs[i].path);
}

/* Two names of a file: its bytes are freed when both are gone. A dry run accounts for that. */
static void bytes_of_a_file_with_two_names_are_free_once(void **state)
{
	(void)state;
	struct pruning t = begin("links");
	xc_auto(xc_freep) char *one = xc_asprintf("%s/b", t.directory), *two = xc_asprintf("%s/sub/c", t.directory);
	assert_int_equal(unlink(two), 0);
	assert_int_equal(link(one, two), 0);
	for (size_t i = 0; i < t.prune.input_count; i++)
		identify((struct xc_input *)&t.prune.inputs[i]);
	t.prune.dry = true;
	const struct xc_pruned dry = prune(&t);
	t.prune.dry = false;
	const struct xc_pruned real = prune(&t);
	assert_int_equal(real.deleted, 2);
	assert_int_equal(real.bytes, 9);
	assert_int_equal(dry.bytes, real.bytes);
	finish(&t);
}

static void the_working_directory_is_one(void **state)
{
	(void)state;
	struct pruning t = begin("here");
	char *before = getcwd(NULL, 0);
	const char *directory = t.directory;
	relative(&t, "");
	assert_int_equal(chdir(directory), 0);
	t.directory = "";
	struct xc_pruned pruned = prune(&t);
	assert_int_equal(chdir(before), 0);
	assert_int_equal(pruned.deleted, 2);
	t.directory = directory;
	assert_false(there(&t, "b") || there(&t, "sub/c"));
	free(before);
	finish(&t);
}

/* A dry run reports missing write permission, too. */
static void a_dry_run_knows_what_cannot_be_deleted(void **state)
{
	(void)state;
	struct pruning t = begin("locked");
	xc_auto(xc_freep) char *sub = xc_asprintf("%s/sub", t.directory);
	const bool root = geteuid() == 0; /* who may write everywhere */
	chmod(scratch_dir(), 0755);
	chmod(t.directory, 0777);
	chmod(sub, 0555);
	t.prune.dry = true;
	const bool other = !root || seteuid(65534) == 0;
	if (!other || faccessat(AT_FDCWD, t.directory, R_OK | X_OK, AT_EACCESS) != 0) {
		assert_true(!root || seteuid(0) == 0);
		finish(&t);
		check_skip("a name space without other users, or TMPDIR is for root alone");
	}
	struct xc_pruned dry = prune(&t);
	assert_string_equal(t.told.bytes, "b: deleted\nsub/c: it cannot be deleted\n");
	t.prune.dry = false;
	struct xc_pruned real = prune(&t);
	assert_true(!root || seteuid(0) == 0);
	assert_string_equal(t.told.bytes, "b: deleted\nsub/c: it cannot be deleted\n");
	assert_int_equal(dry.bytes, real.bytes);
	chmod(sub, 0755);
	finish(&t);
}

static void what_is_outside_stays(void **state)
{
	(void)state;
	struct pruning t = begin("outside");
	xc_auto(xc_freep) char *other = xc_asprintf("%s/sub", t.directory);
	const char *all = t.directory;
	t.directory = other;
	struct xc_pruned pruned = prune(&t);
	t.directory = all;
	assert_int_equal(pruned.deleted, 1);
	assert_string_equal(t.told.bytes, "b: not in a directory that was given by name\nsub/c: deleted\n");
	assert_true(there(&t, "b"));
	finish(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_list_says_what_to_keep_and_what_it_saves),
		cmocka_unit_test(without_a_stack_all_but_copies_are_kept),
		cmocka_unit_test(of_each_class_the_best_is_kept),
		cmocka_unit_test(a_dry_run_deletes_nothing_and_a_real_one_the_spare_only),
		cmocka_unit_test(what_has_changed_or_is_a_link_stays),
		cmocka_unit_test(without_what_is_kept_all_stay),
		cmocka_unit_test(what_was_exchanged_stays),
		cmocka_unit_test(bytes_of_a_file_with_two_names_are_free_once),
		cmocka_unit_test(the_working_directory_is_one),
		cmocka_unit_test(of_each_class_the_best_is_kept),
		cmocka_unit_test(a_dry_run_knows_what_cannot_be_deleted),
		cmocka_unit_test(what_is_outside_stays),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
