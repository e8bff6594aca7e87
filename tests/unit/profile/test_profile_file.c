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
		cmocka_unit_test(a_file_is_recognised_and_read),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
