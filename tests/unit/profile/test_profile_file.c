/* layer: profile
 *
 * Data that is written is read back, and gives the same report; damaged files are refused or harmless. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/base/text.h"
#include "core/render/render.h"
#include "profile/data/profile_file.h"
#include "profile/view/profile_report.h"
#include "profile/view/profile_tree.h"
#include "tests/unit/profile/random_profile.h"

/* The report of the data, and its flame graph. Malloc'ed. */
static char *shown(const struct xc_profile_data *d)
{
	char *bytes = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&bytes, &len);
	struct xc_report *report = xc_report_new("profile");
	struct xc_stacktree tree;
	const struct xc_render_options options = {.width = 100};
	xc_profile_facts_show(&d->target, &d->texts, xc_report_target(report));
	xc_profile_tree(&tree, d);
	xc_profile_report(report, d, &tree, 0);
	assert_null(xc_render_json(report, &options, out));
	assert_null(xc_render_text(report, &options, out));
	assert_null(xc_flame_folded(&tree, out));
	fclose(out);
	xc_stacktree_fini(&tree);
	xc_report_free(report);
	return bytes;
}

static void add_account(struct xc_profile_data *d)
{
	struct xc_report *report = xc_report_new("profile");
	struct xc_section *s = xc_report_section(report, "profile", "Profile");
	xc_section_text(s, "how", "sampled by", "a test");
	xc_section_text(s, "empty", "empty", "");
	xc_section_count(s, "samples", "samples", 17)->quiet = true;
	xc_section_seconds(s, "seconds", "for", 1.0 / 3);
	xc_section_unknown(s, "cpu", "CPU time", "nobody knows");
	xc_section_unknown(s, "none", "none", NULL);
	xc_section_message(s, XC_WARNING, "more of it", "%s", "there is little");
	xc_section_message(s, XC_INFO, NULL, "%s", "a note");
	xc_profile_facts_keep(&d->account, &d->texts, s);
	xc_section_text(s, "arguments", "arguments", "secret words")->cell.secret = true;
	xc_profile_facts_keep(&d->target, &d->texts, s);
	xc_report_free(report);
}

static void what_is_written_is_read_back(void **state)
{
	(void)state;
	srand(5);
	for (size_t sums = 0; sums < 200; sums += 1 + sums / 2) {
		struct xc_profile_data *d = random_profile(sums), *again = NULL;
		struct xc_text bytes = {0}, other = {0};
		add_account(d);
		xc_profile_file_pack(d, &bytes);
		assert_null(xc_profile_file_unpack(bytes.bytes, bytes.len, &again));
		xc_profile_file_pack(again, &other);
		assert_int_equal(bytes.len, other.len);
		assert_memory_equal(bytes.bytes, other.bytes, bytes.len);
		xc_auto(xc_freep) char *one = shown(d), *two = shown(again);
		assert_string_equal(one, two);
		xc_text_fini(&bytes);
		xc_text_fini(&other);
		xc_profile_data_free(d);
		xc_profile_data_free(again);
	}
}

/* Each byte in turn is another one, or the last. */
static void damage_is_refused_or_harmless(void **state)
{
	struct xc_text bytes = {0};
	(void)state;
	srand(6);
	struct xc_profile_data *d = random_profile(20);
	add_account(d);
	xc_profile_file_pack(d, &bytes);
	for (size_t i = 0; i < bytes.len; i++) {
		struct xc_profile_data *again = NULL;
		const char kept = bytes.bytes[i];
		xc_error_free(xc_profile_file_unpack(bytes.bytes, i, &again));
		assert_null(again); /* every table is there, so a shorter file lacks one */
		bytes.bytes[i] = (char)(rand() % 3 ? rand() : kept ^ 1);
		struct xc_error *err = xc_profile_file_unpack(bytes.bytes, bytes.len, &again);
		bytes.bytes[i] = kept;
		if (!err)
			free(shown(again));
		xc_error_free(err);
		xc_profile_data_free(again);
	}
	xc_text_fini(&bytes);
	xc_profile_data_free(d);
}

/* Its bytes 16 to 19, the lowest first. */
static void is_of_version(const char *path, unsigned version)
{
	FILE *file = fopen(path, "r+");
	assert_non_null(file);
	assert_int_equal(fseek(file, 16, SEEK_SET), 0);
	for (unsigned i = 0; i < 4; i++)
		fputc((int)(version >> 8 * i & 0xff), file);
	assert_int_equal(fclose(file), 0);
}

/* Refused, and why. */
static void is_refused(const struct xc_profile_data *d, const char *why)
{
	struct xc_profile_data *again = NULL;
	struct xc_text bytes = {0};
	xc_profile_file_pack(d, &bytes);
	struct xc_error *err = xc_profile_file_unpack(bytes.bytes, bytes.len, &again);
	assert_non_null(err);
	assert_non_null(strstr(err->message, why));
	xc_error_free(err);
	xc_text_fini(&bytes);
}

/* A chain of nodes, each with a sum: of n (n + 1) / 2 frames. */
static void too_many_frames_are_refused(void **state)
{
	struct xc_profile_data *d = random_profile(0);
	(void)state;
	const uint32_t thread = xc_profile_data_add_thread(d, 1, 1, "it");
	const uint32_t frame = xc_profile_data_add_frame(d, xc_profile_data_add_function(d, "f", NULL, NULL), NULL, 0,
							 XC_PROFILE_NATIVE);
	struct xc_profile_sum sum = {.thread = thread, .samples = 1, .squares = 1};
	for (int i = 0; i < 30000; i++) {
		sum.stack = xc_profile_data_add_node(d, sum.stack, frame);
		(void)xc_profile_data_add_sum(d, &sum);
	}
	is_refused(d, "the stacks have 450015000 frames");
	xc_profile_data_free(d);
}

/* One name of 60,000 bytes on 100,000 nodes. */
static void too_many_bytes_of_names_are_refused(void **state)
{
	enum { LONG = 60000, NODES = 100000 };
	struct xc_profile_data *d = random_profile(0);
	xc_auto(xc_freep) char *name = xc_alloc(LONG + 1);
	(void)state;
	memset(name, 'x', LONG);
	const uint32_t function = xc_profile_data_add_function(d, name, NULL, NULL);
	for (unsigned i = 0; i < NODES; i++)
		(void)xc_profile_data_add_node(d, 0,
					       xc_profile_data_add_frame(d, function, NULL, i, XC_PROFILE_NATIVE));
	is_refused(d, "the stacks have 6000000000 bytes of names in their tree");
	xc_profile_data_free(d);
}

/* Written cut; a longer one in a file is refused. */
static void long_texts_are_cut(void **state)
{
	enum { MOST = 1 << 16 };
	/* A table of texts, of 2^16 + 3 bytes: one of 2^16 + 1 bytes. */
	static const uint8_t head[] = {1, 0x83, 0x80, 0x04, 1};
	struct xc_profile_data *d = random_profile(9), *again = NULL;
	struct xc_text bytes = {0};
	xc_auto(xc_freep) char *name = xc_alloc(2 * MOST + 1);
	(void)state;
	memset(name, 'x', 2 * MOST);
	const uint32_t text = xc_profile_data_add_text(d, name);
	d->head->title = text;
	xc_profile_file_pack(d, &bytes);
	assert_null(xc_profile_file_unpack(bytes.bytes, bytes.len, &again));
	assert_int_equal(strlen(xc_profile_data_text(again, again->head->title)), MOST);
	xc_profile_data_free(again);
	again = NULL;
	name[MOST + 1] = 0;
	bytes.len = 0;
	xc_text_addn(&bytes, (const char *)head, sizeof head);
	xc_text_addn(&bytes, name, MOST + 2);
	struct xc_error *err = xc_profile_file_unpack(bytes.bytes, bytes.len, &again);
	assert_non_null(err);
	assert_non_null(strstr(err->message, "more than 65536 bytes"));
	xc_error_free(err);
	xc_text_fini(&bytes);
	xc_profile_data_free(d);
}

/* Names of 60 KiB on thousands of nodes are there once each, with their marks. */
static void long_names_are_kept_once(void **state)
{
	enum { LONG = 60000, NODES = 3000 };
	struct xc_profile_data *d = random_profile(0);
	struct xc_stacktree tree;
	xc_auto(xc_freep) char *name = xc_alloc(LONG + 1);
	(void)state;
	memset(name, 'x', LONG);
	const uint32_t function = xc_profile_data_add_function(d, name, NULL, NULL);
	struct xc_profile_sum sum = {.samples = 1, .squares = 1};
	(void)xc_profile_data_add_thread(d, 1, 1, "it");
	for (unsigned i = 0; i < NODES; i++)
		sum.stack = xc_profile_data_add_node(
			d, sum.stack, xc_profile_data_add_frame(d, function, "a.c", i, XC_PROFILE_KERNEL));
	(void)xc_profile_data_add_sum(d, &sum);
	xc_profile_tree(&tree, d);
	const struct xc_stacktree_node *node = tree.root.children;
	assert_int_equal(strlen(node->name), LONG + strlen("_[k]"));
	assert_true(xc_ends_with(node->name, "_[k]"));
	for (; node->children; node = node->children)
		assert_ptr_equal(node->name, node->children->name);
	xc_stacktree_fini(&tree);
	xc_profile_data_free(d);
}

static void a_file_is_recognised_and_read(void **state)
{
	char path[] = "/tmp/xcore-test-profile-XXXXXX";
	struct xc_profile_data *d = random_profile(30), *again = NULL;
	(void)state;
	FILE *out = fdopen(mkstemp(path), "w");
	assert_false(xc_profile_file_is(path)); /* it is empty */
	assert_null(xc_profile_file_write(d, out));
	fclose(out);
	assert_true(xc_profile_file_is(path));
	assert_null(xc_profile_file_read(path, &again));
	xc_auto(xc_freep) char *one = shown(d), *two = shown(again);
	assert_string_equal(one, two);
	struct xc_profile_data *cut = NULL;
	is_of_version(path, 257);
	struct xc_error *err = xc_profile_file_read(path, &cut);
	assert_non_null(err);
	assert_int_equal(err->code, XC_ERR_UNSUPPORTED);
	assert_non_null(strstr(err->message, "version 257"));
	xc_error_free(err);
	is_of_version(path, 1);
	assert_int_equal(truncate(path, 40), 0);
	err = xc_profile_file_read(path, &cut);
	assert_non_null(err);
	assert_non_null(strstr(err->message, path));
	xc_error_free(err);
	unlink(path);
	assert_false(xc_profile_file_is(path));
	xc_profile_data_free(d);
	xc_profile_data_free(again);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_is_read_back),
		cmocka_unit_test(damage_is_refused_or_harmless),
		cmocka_unit_test(too_many_frames_are_refused),
		cmocka_unit_test(too_many_bytes_of_names_are_refused),
		cmocka_unit_test(long_texts_are_cut),
		cmocka_unit_test(long_names_are_kept_once),
		cmocka_unit_test(a_file_is_recognised_and_read),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
