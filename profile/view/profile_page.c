/* profile_page: the markup and the script are constant (profile/view/page); the data is JSON inside script elements of
 * a type that browsers do not run. Its texts are redacted and escaped like all that is printed, and hold no '<'. */
#include "profile/view/profile_page.h"

#include <errno.h>
#include <inttypes.h>

#include "core/base/embed.h"
#include "core/base/say.h"
#include "core/render/render.h"
#include "core/report/scrub.h"
#include "profile/data/profile_tables.h"

XC_EMBED(xc_page_style, "profile/view/page/page.css");
XC_EMBED(xc_page_body, "profile/view/page/page.html");
XC_EMBED(xc_page_model, "profile/view/page/model.js"); /* no "</script" in any of them */
XC_EMBED(xc_page_draw, "profile/view/page/draw.js");
XC_EMBED(xc_page_time, "profile/view/page/time.js");
XC_EMBED(xc_page_script, "profile/view/page/page.js");
extern const char xc_html_style[]; /* render_html.c: colours, letters, tables */

static void put_text(FILE *out, const char *text)
{
	xc_auto(xc_text_fini) struct xc_text clean = {0};
	xc_say_clean(&clean, text, XC_SAY_NAME);
	putc('"', out);
	for (const char *at = xc_text_string(&clean); *at; at++) {
		if (*at == '"' || *at == '\\')
			putc('\\', out);
		if (*at == '<')
			fputs("\\u003c", out);
		else
			putc(*at, out);
	}
	putc('"', out);
}

static void put_texts(FILE *out, const struct xc_profile_data *d)
{
	xc_auto(xc_freep) bool *wanted = xc_profile_texts_of_views(d);
	fputs("\"texts\":[", out);
	for (size_t i = 0; i < d->texts.count; i++) {
		fputs(i ? ",\n" : "", out);
		put_text(out, wanted[i] ? d->texts.texts[i] : "");
	}
	fputs("]", out);
}

static void put_table(FILE *out, const struct xc_profile_data *d, const struct xc_profile_table *table)
{
	for (size_t c = 0; c < table->column_count; c++) {
		fprintf(out, "%s\"%s\":[", c ? ",\n" : "", table->columns[c].name);
		for (size_t row = 0; row < xc_profile_table_rows(table, d); row++)
			fprintf(out, "%s%" PRIu64, row ? "," : "",
				xc_profile_table_get(table, d, row, &table->columns[c]));
		putc(']', out);
	}
}

static void put_data(FILE *out, const struct xc_profile_data *d, const uint32_t *split)
{
	bool more = false;
	fputs("<script type=\"application/json\" id=\"data\">{", out);
	if (split)
		fprintf(out, "\"compares\":true,\"split\":%" PRIu32 ",", *split);
	put_texts(out, d);
	fputs(",\n\"tables\":{", out);
	for (size_t t = 0; t < xc_profile_table_count; t++) {
		if (xc_profile_table_is_facts(&xc_profile_tables[t]))
			continue;
		fprintf(out, "%s\"%s\":{", more ? ",\n" : "", xc_profile_tables[t].name);
		put_table(out, d, &xc_profile_tables[t]);
		putc('}', out);
		more = true;
	}
	fputs("}}</script>\n", out);
}

static void put_pair(FILE *out, const char *label, const char *value, bool *more)
{
	fputs(*more ? ",\n[" : "[", out);
	put_text(out, label);
	putc(',', out);
	put_text(out, value);
	putc(']', out);
	*more = true;
}

static void put_facts(FILE *out, const struct xc_profile_data *d)
{
	static const char *const words[] = {"note", "warning", "problem"};
	struct xc_report *report = xc_report_new("profile");
	struct xc_section *s = xc_report_section(report, "profile", "Profile");
	bool more = false;
	xc_profile_facts_show(&d->account, &d->texts, s);
	fputs("<script type=\"application/json\" id=\"shown\">[", out);
	for (const struct xc_item *item = s->items; item; item = item->next) {
		xc_auto(xc_text_fini) struct xc_text text = {0};
		if (item->kind == XC_ITEM_MESSAGE) {
			put_pair(out, words[item->message.severity], item->message.text, &more);
		} else if (item->kind == XC_ITEM_FIELD && !item->field.quiet) {
			xc_render_cell(&text, &item->field.cell, xc_say_redacts());
			put_pair(out, item->field.label, xc_text_string(&text), &more);
		}
	}
	fputs("]</script>\n", out);
	xc_report_free(report);
}

/* split: NULL of one profile. */
static struct xc_error *put_page(const struct xc_profile_data *d, const uint32_t *split, FILE *out)
{
	fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
	      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
	      "script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n"
	      "<meta name=\"viewport\" content=\"width=device-width, "
	      "initial-scale=1\">\n<title>profile</title>\n<style>\n",
	      out);
	fprintf(out, "%s%s</style></head><body><main>\n%s", xc_html_style, xc_page_style, xc_page_body);
	fputs("<footer>made by xcore " XC_VERSION "</footer></main>\n", out);
	put_data(out, d, split);
	put_facts(out, d);
	fprintf(out, "<script>(function () {\n'use strict';\n%s%s%s%s})();</script>\n</body></html>\n", xc_page_model,
		xc_page_draw, xc_page_time, xc_page_script);
	return fflush(out) || ferror(out) ? xc_error_errno(errno ? errno : EIO, "writing the page") : NULL;
}

struct xc_error *xc_profile_page(const struct xc_profile_data *d, FILE *out)
{
	return put_page(d, NULL, out);
}

struct xc_error *xc_profile_page_of_two(const struct xc_profile_data *d, uint32_t split, FILE *out)
{
	return put_page(d, &split, out);
}
