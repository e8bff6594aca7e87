/* layer: profile
 *
 * The tables of a profile's file: whatever is read can be shown in every form, compared, and written and read again. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/text.h"
#include "core/render/render.h"
#include "profile/data/profile_file.h"
#include "profile/view/profile_by.h"
#include "profile/view/profile_diff.h"
#include "profile/export/profile_formats.h"
#include "profile/view/profile_report.h"
#include "profile/view/profile_tree.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static FILE *nowhere(void)
{
	FILE *out = fopen("/dev/null", "w");
	if (!out)
		abort();
	return out;
}

static void show(const struct xc_profile_data *d)
{
	const struct xc_render_options options = {.width = 80};
	struct xc_report *report = xc_report_new("fuzz");
	struct xc_stacktree tree;
	FILE *out = nowhere();
	xc_profile_tree(&tree, d);
	xc_profile_report_target(report, d);
	xc_profile_report(report, d, &tree, 0);
	xc_error_free(xc_render_text(report, &options, out));
	xc_error_free(xc_render_json(report, &options, out));
	for (const char *const *kind = xc_profile_kinds; *kind; kind++)
		xc_error_free(xc_profile_write(d, *kind, out));
	fclose(out);
	xc_stacktree_fini(&tree);
	xc_report_free(report);
}

static void compare(const struct xc_profile_data *d, const struct xc_profile_data *other)
{
	struct xc_profile_pair pair;
	struct xc_report *report = xc_report_new("fuzz");
	FILE *out = nowhere();
	xc_profile_pair_init(&pair, d, other);
	xc_profile_diff(report, &pair, 20);
	for (const char *const *kind = xc_profile_diff_kinds; *kind; kind++)
		xc_error_free(xc_profile_diff_write(&pair, *kind, false, out));
	fclose(out);
	xc_report_free(report);
	xc_profile_pair_fini(&pair);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct xc_profile_data *d = NULL, *again = NULL;
	struct xc_text bytes = {0}, other = {0};
	struct xc_error *err = xc_profile_file_unpack(data, size, &d);
	xc_error_free(err);
	if (err)
		return 0;
	xc_profile_file_pack(d, &bytes);
	if (xc_profile_file_unpack(bytes.bytes, bytes.len, &again))
		abort();
	xc_profile_file_pack(again, &other);
	if (bytes.len != other.len || memcmp(bytes.bytes, other.bytes, bytes.len) != 0)
		abort();
	show(d);
	compare(d, again);
	xc_error_free(xc_profile_by(d, "process"));
	xc_profile_root(d);
	show(d);
	xc_text_fini(&bytes);
	xc_text_fini(&other);
	xc_profile_data_free(d);
	xc_profile_data_free(again);
	return 0;
}
