/* layer: core
 *
 * A report as sent by a child: whatever is read can be shown in every format, and can be sent again. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/render/render.h"
#include "core/report/report_wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void show(const struct xc_report *report)
{
	const struct xc_render_options options = {.stats = true};
	FILE *out = fopen("/dev/null", "w");
	if (!out)
		abort();
	xc_error_free(xc_render_text(report, &options, out));
	xc_error_free(xc_render_json(report, &options, out));
	xc_error_free(xc_render_html(report, &options, out));
	fclose(out);
}

/* Sent and read again, it is unchanged. */
static char *json_of(const struct xc_report *report)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	if (!out || xc_render_json(report, &(struct xc_render_options){0}, out))
		abort();
	fclose(out);
	return text;
}

static void send_again(const struct xc_report *report)
{
	char *bytes = NULL;
	size_t size;
	struct xc_report *copy = xc_report_new("fuzz");
	FILE *out = open_memstream(&bytes, &size);
	if (!out || xc_report_write(report, out))
		abort();
	fclose(out);
	if (xc_report_read(bytes, size, copy))
		abort();
	char *left = json_of(report), *right = json_of(copy);
	if (strcmp(left, right) != 0)
		abort();
	free(left);
	free(right);
	free(bytes);
	xc_report_free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct xc_report *report = xc_report_new("fuzz");
	struct xc_error *err = xc_report_read(data, size, report);
	xc_report_finish_trees(report);
	show(report);
	if (!err)
		send_again(report);
	xc_error_free(err);
	xc_report_free(report);
	return 0;
}
