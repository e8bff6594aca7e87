/* export_html: a self-contained page. Without its script it has the table of clusters and the flame graph; the script
 * (export_html*.js) adds filters, stacks and cores from the data at the end of the page.
 *
 * The markup is ours. Every string of a core passes through xc_html_name or xc_html_text, or is part of the data, which
 * no markup parser sees. As a second barrier, the page's policy permits only its own scripts and style, identified by
 * their hashes; nothing else can run or be fetched, and no text can become markup later. */
#include "batch/export/export_html.h"

#include <errno.h>
#include <sha2.h>
#include <string.h>

#include "core/base/embed.h"
#include "core/render/render_html.h"
#include "batch/export/export_cluster.h"

XC_EMBED(xc_export_html_style, "batch/export/html/export_html.css");
XC_EMBED(xc_export_html_base, "batch/export/html/export_html_base.js");
XC_EMBED(xc_export_html_cluster, "batch/export/html/export_html_cluster.js");
XC_EMBED(xc_export_html_flame, "batch/export/html/export_html_flame.js");
XC_EMBED(xc_export_html_table, "batch/export/html/export_html.js");

/* Suppresses the layout of table rows that the script is about to remove: with 20,000 rows it would take seconds. */
static const char early_script[] = "document.documentElement.className = 'loading';";

static const char *const scripts[] = {xc_export_html_base, xc_export_html_cluster, xc_export_html_flame,
				      xc_export_html_table};

/* ---- head ---- */

/* The hash by which browsers identify an inline element: base64 (RFC 4648) of its text's SHA-256, in quotes. */
static void put_hash(struct xc_html *html, const char *first, const char *second)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	uint8_t digest[SHA256_DIGEST_LENGTH + 1] = {0}; /* 33 bytes give 44 letters; the last one is padding */
	SHA2_CTX hash;
	SHA256Init(&hash);
	SHA256Update(&hash, (const uint8_t *)first, strlen(first));
	SHA256Update(&hash, (const uint8_t *)second, strlen(second));
	SHA256Final(digest, &hash);
	xc_html_put(html, "'sha256-");
	for (size_t i = 0; i < sizeof digest; i += 3) {
		unsigned bits = (unsigned)digest[i] << 16 | (unsigned)digest[i + 1] << 8 | digest[i + 2];
		for (int shift = 18; shift >= (i + 3 < sizeof digest ? 0 : 6); shift -= 6)
			xc_text_char(&html->page, letters[bits >> shift & 63]);
	}
	xc_html_put(html, "='");
}

static void put_script(struct xc_html *html, const char *script)
{
	xc_html_put(html, "<script>");
	xc_html_put(html, script);
	xc_html_put(html, "</script>\n");
}

static void put_head(struct xc_html *html, const char *totals)
{
	xc_html_put(html, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
			  "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src ");
	put_hash(html, xc_html_style, xc_export_html_style);
	xc_html_put(html, "; script-src ");
	put_hash(html, early_script, "");
	for (size_t i = 0; i < XC_COUNT(scripts); i++) {
		xc_text_char(&html->page, ' ');
		put_hash(html, scripts[i], "");
	}
	xc_html_put(html, "; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; "
			  "trusted-types 'none'\">\n"
			  "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
			  "<title>xcore triage: ");
	xc_html_text(html, totals);
	xc_html_put(html, "</title>\n<style>");
	xc_html_put(html, xc_html_style);
	xc_html_put(html, xc_export_html_style);
	xc_html_put(html, "</style>");
	put_script(html, early_script);
	xc_html_put(html, "</head><body><main>\n");
}

static void put_missing(struct xc_html *html, const struct xc_problems *problems)
{
	if (!problems->missing_part_count)
		return;
	xc_html_put(html, "<div class=\"message\"><span class=\"tag problem\">not whole</span> parts are missing: ");
	for (size_t i = 0; i < problems->missing_part_count; i++) {
		xc_html_put(html, i ? ", " : "");
		xc_html_name(html, problems->missing_parts[i]);
	}
	xc_html_put(html, "</div>\n");
}

/* The first question of a reader: are there new problems, and how severe? Problems are already in that order. */
static void put_news(struct xc_html *html, const struct xc_problems *problems, const struct xc_export_options *options)
{
	size_t cores = 0, count = problems->counts[XC_PROBLEM_NEW];
	const char *worst = "info";
	if (!count)
		return;
	for (size_t i = 0; i < problems->count; i++) {
		struct xc_export_cluster c = xc_export_cluster(&problems->problems[i], options);
		if (c.problem->state == XC_PROBLEM_NEW) {
			cores += c.problem->member_count;
			worst = xc_severity_rank(c.severity) > xc_severity_rank(worst) ? c.severity : worst;
		}
		xc_export_cluster_fini(&c);
	}
	xc_html_put(html, "<p class=\"news\"><strong>");
	xc_render_count(&html->page, count);
	xc_html_put(html, count == 1 ? " new cluster</strong> with " : " new clusters</strong> with ");
	xc_render_count(&html->page, cores);
	xc_text_printf(&html->page, " %s, severity <span class=\"tag %s\">%s</span>%s</p>\n",
		       cores == 1 ? "core" : "cores", worst, worst, count == 1 ? "" : " at worst");
}

static void put_header(struct xc_html *html, const struct xc_problems *problems,
		       const struct xc_export_options *options, const char *totals)
{
	xc_html_put(html, "<header><h1>");
	xc_html_text(html, totals);
	xc_html_put(html, "</h1>\n");
	put_news(html, problems, options);
	put_missing(html, problems);
	xc_html_put(html, "</header>\n");
}

/* ---- clusters ---- */

/* The line number is never separated from a break. */
static void put_place(struct xc_html *html, const struct xc_export_cluster *c)
{
	struct xc_text place = {0};
	xc_export_place(&place, c);
	const char *text = xc_text_string(&place), *colon = c->file && c->line ? strrchr(text, ':') : NULL;
	xc_auto(xc_freep) char *file = colon ? xc_asprintf("%.*s", (int)(colon - text), text) : NULL;
	xc_html_put(html, "<td class=\"place\">");
	xc_html_text(html, file ? file : text);
	if (colon)
		xc_html_element(html, "span", "line", colon);
	xc_html_put(html, "</td>");
	xc_text_fini(&place);
}

static void put_cluster(struct xc_html *html, const struct xc_export_cluster *c)
{
	xc_text_printf(&html->page,
		       "<tr><td><span class=\"tag state-%s\">%s</span></td><td><span class=\"tag %s\">%s</span></td>"
		       "<td class=\"right\">",
		       c->state, c->state, c->severity, c->severity);
	xc_render_count(&html->page, c->problem->member_count);
	xc_html_put(html, "</td>");
	xc_html_element(html, "td", "id", c->problem->id);
	xc_html_put(html, "<td>");
	xc_html_name(html, c->class_name);
	if (c->record && c->record->kind)
		xc_html_element(html, "div", "quiet", c->record->kind);
	xc_html_put(html, "</td>");
	xc_html_put(html, "<td>");
	xc_html_element(html, "span", "fn", xc_export_names(c));
	if (c->record && c->record->headline)
		xc_html_element(html, "div", "quiet", c->record->headline);
	xc_html_put(html, "</td>");
	put_place(html, c);
	xc_html_put(html, "</tr>\n");
}

static void put_clusters(struct xc_html *html, const struct xc_problems *problems,
			 const struct xc_export_options *options)
{
	size_t shown = xc_export_shown(problems, options);
	xc_html_put(
		html,
		"<section id=\"clusters\"><div id=\"filters\" hidden>"
		"<input id=\"search\" type=\"search\" aria-label=\"search\" "
		"placeholder=\"search signatures, frames, paths, messages   ( / )\">"
		"<select id=\"class\" aria-label=\"class\"></select>"
		"<select id=\"program\" aria-label=\"program\"></select>"
		"<span id=\"states\" role=\"group\" aria-label=\"state\"></span>"
		"<span id=\"severities\" role=\"group\" aria-label=\"severity\"></span>"
		"<button id=\"clear\" type=\"button\">clear</button>"
		"<div id=\"found\" class=\"quiet\" role=\"status\"></div></div>\n"
		"<table id=\"table\"><thead><tr><th data-by=\"state\">STATE</th><th data-by=\"severity\">SEVERITY</th>"
		"<th class=\"right\" data-by=\"cores\">CORES</th><th data-by=\"id\">CLUSTER</th>"
		"<th data-by=\"class\">CLASS</th><th data-by=\"names\">CRASHED IN</th>"
		"<th data-by=\"place\">WHERE</th></tr></thead>\n<tbody>");
	for (size_t i = 0; i < shown; i++) {
		struct xc_export_cluster c = xc_export_cluster(&problems->problems[i], options);
		put_cluster(html, &c);
		xc_export_cluster_fini(&c);
		xc_html_flush(html, false);
	}
	xc_html_put(html, "</tbody></table><button id=\"more\" type=\"button\" hidden></button>");
	if (shown < problems->count)
		xc_text_printf(&html->page, "<p class=\"quiet\">%zu more clusters are left out: --limit</p>",
			       problems->count - shown);
	xc_html_put(html, "</section>\n");
}

/* ---- around the clusters ---- */

static void put_failed(struct xc_html *html, const struct xc_problems *problems)
{
	struct xc_text failures = {0};
	if (!problems->failed_count)
		return;
	xc_export_failures(&failures, problems);
	xc_html_put(html, "<section><details id=\"failed\"><summary><strong>");
	xc_render_count(&html->page, problems->failed_count);
	xc_html_put(html, problems->failed_count == 1 ? " core gave no verdict:</strong> "
						      : " cores gave no verdict:</strong> ");
	xc_html_text(html, xc_text_string(&failures));
	xc_html_put(html, "</summary><table><thead><tr><th>CORE</th><th></th><th>WHY</th></tr></thead>\n<tbody>");
	for (size_t i = 0; i < problems->failed_count; i++) {
		const struct xc_record *r = problems->failed[i];
		xc_html_put(html, "<tr>");
		xc_html_element(html, "td", NULL, r->path ? xc_record_shown(r) : "");
		xc_html_element(html, "td", "state", xc_record_status_name(r->status));
		xc_html_element(html, "td", NULL, r->why ? r->why : "");
		xc_html_put(html, "</tr>\n");
		xc_html_flush(html, false);
	}
	xc_html_put(html, "</tbody></table><button type=\"button\" hidden></button></details></section>\n");
	xc_text_fini(&failures);
}

#define GAP "…"

/* A recursion appears as one round and a gap; otherwise one deep stack would dwarf the others. A core counts once: of
 * several threads' stacks, only the one with the first frame that counts is added. */
static void add_crash(struct xc_stacktree *tree, const struct xc_problem_member *member)
{
	const struct xc_record *r = member->record;
	const struct xc_signature *s = member->signature;
	const char *names[XC_RECORD_FRAMES + 2];
	size_t count = 0, first = s->kept_count ? xc_record_stack_start(r, s->kept[0]) : 0;
	names[count++] = r->program ? r->program : "?";
	for (size_t i = xc_record_stack_end(r, first); i-- > first;) {
		bool repeated = s->frames[i].fate == XC_FRAME_REPEATED;
		if (!repeated)
			names[count++] = s->frames[i].shown;
		if ((repeated || (r->elided && i == r->elided_at)) && strcmp(names[count - 1], GAP))
			names[count++] = GAP;
	}
	xc_stacktree_add(tree, names, count, 1);
}

void xc_html_crashes(const struct xc_problems *problems, struct xc_stacktree *tree)
{
	for (size_t i = 0; i < problems->count; i++)
		for (size_t k = 0; k < problems->problems[i].member_count; k++)
			add_crash(tree, &problems->problems[i].members[k]);
}

static void put_flame(struct xc_html *html, const struct xc_problems *problems)
{
	struct xc_stacktree tree;
	xc_stacktree_init(&tree, "crash stacks", "cores");
	xc_html_crashes(problems, &tree);
	xc_stacktree_finish(&tree);
	if (tree.root.total) {
		xc_html_put(html,
			    "<section><details id=\"flame\"><summary><strong>Flame graph</strong> of all crash stacks: "
			    "width is cores, the outermost functions are at the bottom</summary>\n"
			    "<div id=\"flamebar\" hidden><button id=\"whole\" type=\"button\" disabled>whole"
			    "</button><button id=\"find\" type=\"button\" disabled>clusters with it</button>"
			    "<span id=\"flamename\" class=\"mono\"></span></div>\n");
		xc_html_flush(html, true);
		xc_flame_element(&tree, html->out);
		xc_html_put(html, "</details></section>\n");
	}
	xc_stacktree_fini(&tree);
}

static void put_foot(struct xc_html *html, const struct xc_problems *problems)
{
	xc_html_put(html, "<footer>made by xcore ");
	xc_html_name(html, problems->version ? problems->version : XC_VERSION);
	xc_html_put(html, "; the whole data: --format json<span id=\"keys\" hidden>; keys: <kbd>/</kbd> search, "
			  "<kbd>j</kbd> <kbd>k</kbd> next and previous cluster, <kbd>Enter</kbd> open, "
			  "<kbd>Esc</kbd> close</span></footer>\n</main>\n");
}

static struct xc_error *write_page(const struct xc_problems *problems, const struct xc_export_options *options,
				   FILE *out)
{
	struct xc_html html = {.out = out};
	struct xc_text totals = {0};
	xc_export_totals(&totals, problems);
	put_head(&html, xc_text_string(&totals));
	put_header(&html, problems, options, xc_text_string(&totals));
	put_failed(&html, problems);
	put_flame(&html, problems);
	put_clusters(&html, problems, options);
	put_foot(&html, problems);
	xc_html_put(&html, "<script type=\"application/json\" id=\"data\">");
	xc_html_flush(&html, true);
	struct xc_error *err = xc_html_data(problems, options, out);
	xc_html_put(&html, "</script>\n");
	for (size_t i = 0; i < XC_COUNT(scripts); i++)
		put_script(&html, scripts[i]);
	xc_html_put(&html, "</body></html>\n");
	xc_html_flush(&html, true);
	xc_text_fini(&html.page);
	xc_text_fini(&html.scratch);
	xc_text_fini(&totals);
	if (!err && (fflush(out) || ferror(out)))
		err = xc_error_errno(errno ? errno : EIO, "writing the page");
	return err;
}

const struct xc_export xc_export_html = {"html", ".html", "a page to look at, filter and search in", write_page};
