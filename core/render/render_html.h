/* render_html: shared by the files of the HTML renderer. All text passes through xc_html_text. */
#ifndef XC_RENDER_HTML_H
#define XC_RENDER_HTML_H

#include "core/render/render.h"

struct xc_html {
	FILE *out;
	const struct xc_render_options *options;
	struct xc_text page;    /* not written yet */
	struct xc_text scratch; /* for the caller, between two calls */
};

extern const char xc_html_style[]; /* CSS, light and dark */

void xc_html_put(struct xc_html *html, const char *markup); /* ours, as it is */
void xc_html_text(struct xc_html *html,
		  const char *escaped_text); /* escapes < > & " ; control characters were escaped before */
void xc_html_name(struct xc_html *html, const char *string); /* a string of the target, raw */
void xc_html_element(struct xc_html *html, const char *tag, const char *class_name,
		     const char *string);             /* one around such a string; class_name is ours or NULL */
void xc_html_flush(struct xc_html *html, bool force); /* write when the page is large, or anyway */

/* render_html_stacks.c */
void xc_html_stacks(struct xc_html *html, const struct xc_stacks *stacks);

#endif
