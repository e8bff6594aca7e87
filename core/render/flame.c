/* flame: a stack tree as folded lines and as a flame graph in SVG.
 *
 * The picture: x is the share of the whole (percent, so that it follows the window's width), y the depth, root at the
 * bottom. A node starts where its parent starts plus the widths of the siblings before it; one "next free place" per
 * depth is all that the depth-first walk must keep. Frames deeper than MAX_DEPTH and narrower than a fraction that
 * leaves at most MAX_FRAMES are omitted, so a hostile or huge tree still gives a page that opens.
 *
 * The picture is complete without its script (flame.js). With it a click zooms, Ctrl-F or the search field finds by
 * regular expression, and labels are cut to the available width. The script keeps the position of each frame as
 * fractions of the whole width, read from the rectangles once, so a zoom is one linear map: x' = (x - zoom.x) /
 * zoom.w. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/embed.h"
#include "core/base/say.h"
#include "core/base/text.h"
#include "core/report/stacktree.h"
#include "core/text/xmltext.h"

XC_EMBED(xc_flame_style, "core/render/flame.css"); /* light and dark */
XC_EMBED(xc_flame_script, "core/render/flame.js"); /* contains no "]]>" */

enum {
	MAX_DEPTH = 256,
	MAX_FRAMES = 30000,
	ROW = 17,            /* px per depth */
	TOP = 64,            /* px above the frames */
	BOTTOM = 34,         /* px below, for the details */
	STATIC_WIDTH = 1176, /* px that labels are cut for before the script measures */
	STATIC_LETTER = 7,
	MAX_NAME = 2000, /* bytes of a name */
	ELEMENT_DEPTH = 64,
	ELEMENT_FRAMES = 2000,
};

static struct xc_error *finish(FILE *out)
{
	if (fflush(out) || ferror(out))
		return xc_error_errno(errno ? errno : EIO, "writing the flame graph");
	return NULL;
}

/* Folded */

static void fold_name(struct xc_text *text, const char *name)
{
	size_t start = text->len;
	xc_say_clean(text, name, XC_SAY_NAME);
	/* The separator is not a part of names; "::" stays as it is. */
	for (size_t i = start; i < text->len; i++)
		if (text->bytes[i] == ';')
			text->bytes[i] = ':';
}

struct xc_error *xc_flame_folded(const struct xc_stacktree *tree, FILE *out)
{
	struct xc_text line = {0}, whole = {0};
	size_t depth = 0, capacity = 0;
	size_t *ends = NULL; /* end of the line after the name of each depth */
	for (const struct xc_stacktree_node *node = &tree->root; (node = xc_stacktree_next(node, &depth));) {
		while (capacity <= depth)
			ends = xc_grow(ends, capacity, &capacity, sizeof *ends);
		line.len = depth > 1 ? ends[depth - 1] : 0;
		if (depth > 1)
			xc_text_char(&line, ';');
		fold_name(&line, node->name);
		ends[depth] = line.len;
		if (node->self || node->other) {
			whole.len = 0;
			xc_text_addn(&whole, line.bytes, line.len);
			xc_text_disarm(&whole, 0);
			if (tree->compares)
				xc_text_printf(&whole, " %" PRIu64, tree->by_earlier ? node->self : node->other);
			xc_text_printf(&whole, " %" PRIu64 "\n", tree->by_earlier ? node->other : node->self);
			fwrite(whole.bytes, 1, whole.len, out);
		}
	}
	xc_text_fini(&line);
	xc_text_fini(&whole);
	free(ends);
	return finish(out);
}

/* SVG */

/* Bytes of name that are at most `limit` and end between characters. */
static size_t whole_characters(const char *name, size_t limit)
{
	size_t n = strnlen(name, limit + 1);
	if (n <= limit)
		return n;
	for (n = limit; n && ((unsigned char)name[n] & 0xc0) == 0x80;)
		n--;
	return n;
}

static void xml_cut_as(struct xc_text *text, const char *string, size_t limit, enum xc_say_kind kind)
{
	xc_auto(xc_text_fini) struct xc_text clean = {0};
	xc_say_redacted(&clean, string, kind);
	const char *name = xc_text_string(&clean);
	size_t n = whole_characters(name, limit);
	xc_auto(xc_freep) char *front = xc_asprintf("%.*s%s", (int)n, name, name[n] ? "…" : "");
	xc_xmltext(text, front);
}

static void xml_cut(struct xc_text *text, const char *name, size_t limit)
{
	xml_cut_as(text, name, limit, XC_SAY_NAME);
}

struct picture {
	const struct xc_stacktree *tree;
	FILE *out;
	struct xc_text text;
	size_t most_depth, most_frames;
	double least;   /* share below which a frame is omitted */
	size_t deepest; /* depth shown */
	size_t left_out;
};

static double share(const struct picture *pic, uint64_t weight)
{
	return pic->tree->root.total ? (double)weight / (double)pic->tree->root.total : 0;
}

/* Choose the smallest width. Determines the depth and the number of omitted frames. */
static void plan(struct picture *pic)
{
	size_t shown;
	do {
		size_t depth = 0;
		shown = pic->deepest = pic->left_out = 0;
		for (const struct xc_stacktree_node *node = &pic->tree->root;
		     (node = xc_stacktree_next(node, &depth));) {
			if (depth > pic->most_depth || share(pic, node->total) < pic->least) {
				pic->left_out++;
				continue;
			}
			shown++;
			pic->deepest = depth > pic->deepest ? depth : pic->deepest;
		}
		pic->least *= 2;
	} while (shown > pic->most_frames && pic->least < 1);
	pic->least /= 2;
}

/* Of a tree that compares: by how much the share of a node grew, from -1 (it is gone) to 1 (it is new). The closer to
 * what chance may do, the less: a part of 1 - e^(-z/2), where z is the change in units of its standard error. */
static double growth(const struct xc_stacktree *tree, const struct xc_stacktree_node *node)
{
	const double all = (double)tree->root.total, others = (double)tree->root.others;
	if (all <= 0 || others <= 0)
		return 0;
	const double now = (double)node->total / all, then = (double)node->others / others;
	const double more = now - then, error = sqrt(now / all + then / others);
	if (more == 0)
		return 0;
	const double grown = more / fmax(now, then) * (1 - exp(-fabs(more) / (2 * error)));
	return tree->by_earlier ? -grown : grown;
}

/* Red: it grew; blue: it shrank. */
static void add_growth_color(struct xc_text *text, double grown)
{
	xc_text_printf(text, "hsl(%u,%u%%,%u%%)", grown > 0 ? 4 : 214, 18 + (unsigned)(66 * fabs(grown)),
		       90 - (unsigned)(26 * fabs(grown)));
}

/* A wait or a remark. A function without a name is "[module]", which may be any word. */
static bool is_no_function(const char *name)
{
	static const char *const remarks[] = {"[torn]", "[native]", "[runs]", "[no stack]"};
	bool is_one = xc_begins_with(name, "[waits: ");
	for (size_t i = 0; i < XC_COUNT(remarks); i++)
		is_one |= strcmp(name, remarks[i]) == 0;
	return is_one;
}

/* First hue of each kind of frame, in degrees: warm for functions of the program; blue for those of the kernel, which
 * the end of the name shows; green for frames that are no function. */
static unsigned first_hue(const char *name)
{
	return xc_ends_with(name, "_[k]") ? 195 : is_no_function(name) ? 135 : 12;
}

/* Colours that stay the same for the same name, light enough for dark letters. */
static void add_name_color(struct xc_text *text, const char *name)
{
	uint32_t hash = 2166136261u;
	for (const unsigned char *p = (const unsigned char *)name; *p; p++)
		hash = (hash ^ *p) * 16777619u;
	xc_text_printf(text, "hsl(%u,%u%%,%u%%)", first_hue(name) + hash % 40, 72 + hash / 40 % 20,
		       62 + hash / 800 % 12);
}

static void add_color(struct picture *pic, const struct xc_stacktree_node *node)
{
	if (pic->tree->compares)
		add_growth_color(&pic->text, growth(pic->tree, node));
	else
		add_name_color(&pic->text, node->name);
}

static void add_value(struct picture *pic, uint64_t value)
{
	const char *unit = pic->tree->unit ? pic->tree->unit : "";
	if (!strcmp(unit, "bytes")) {
		xc_text_size(&pic->text, value);
		return;
	}
	xc_text_printf(&pic->text, "%" PRIu64 " ", value);
	xc_xmltext(&pic->text, unit);
}

static void add_title(struct picture *pic, const struct xc_stacktree_node *node, size_t depth)
{
	xc_text_add(&pic->text, "<title>");
	xml_cut(&pic->text, node->name, MAX_NAME);
	xc_text_add(&pic->text, " (");
	add_value(pic, node->total);
	if (pic->tree->things) {
		xc_text_printf(&pic->text, ", %" PRIu64 " ", node->items);
		xc_xmltext(&pic->text, pic->tree->things);
	}
	if (pic->tree->compares)
		xc_text_printf(&pic->text, ", %s %.2f%%", pic->tree->by_earlier ? "later" : "earlier",
			       pic->tree->root.others ? 100 * (double)node->others / (double)pic->tree->root.others
						      : 0);
	xc_text_printf(&pic->text, ", %.2f%%)%s</title>", 100 * share(pic, node->total),
		       depth == pic->most_depth && node->children ? "; deeper frames are left out" : "");
}

/* Where the script finds what it needs. */
static void draw_node(struct picture *pic, const struct xc_stacktree_node *node, size_t depth, uint64_t x)
{
	struct xc_text *text = &pic->text;
	double left = 100 * share(pic, x), width = 100 * share(pic, node->total);
	size_t y = (pic->deepest - depth) * ROW;
	size_t letters = (size_t)(width / 100 * STATIC_WIDTH / STATIC_LETTER);
	xc_text_printf(text, "<g data-depth=\"%zu\" data-name=\"", depth);
	xml_cut(text, node->name, MAX_NAME);
	xc_text_add(text, "\">");
	add_title(pic, node, depth);
	xc_text_printf(text, "<rect x=\"%.5f%%\" y=\"%zu\" width=\"%.5f%%\" height=\"%d\" rx=\"2\" fill=\"", left, y,
		       width, ROW - 1);
	add_color(pic, node);
	xc_text_printf(text, "\"/><text x=\"%.5f%%\" dx=\"3\" y=\"%zu\">", left, y + 12);
	if (letters > 3)
		xml_cut(text, node->name, letters - 1);
	xc_text_add(text, "</text></g>\n");
	fwrite(text->bytes, 1, text->len, pic->out);
	text->len = 0;
}

/* A nested SVG, which clips its label at any width of the page. */
static void draw_clipped(struct picture *pic, const struct xc_stacktree_node *node, size_t depth, uint64_t x)
{
	struct xc_text *text = &pic->text;
	xc_text_printf(text, "<svg x=\"%.4f%%\" y=\"%zu\" width=\"%.4f%%\" height=\"%d\">", 100 * share(pic, x),
		       (pic->deepest - depth) * ROW, 100 * share(pic, node->total), ROW - 1);
	add_title(pic, node, depth);
	xc_text_add(text, "<rect width=\"100%\" height=\"100%\" fill=\"");
	add_color(pic, node);
	xc_text_add(text, "\"></rect><text x=\"3\" y=\"12\">");
	xml_cut(text, node->name, (size_t)(share(pic, node->total) * STATIC_WIDTH * 2 / STATIC_LETTER));
	xc_text_add(text, "</text></svg>\n");
	fwrite(text->bytes, 1, text->len, pic->out);
	text->len = 0;
}

typedef void draw_fn(struct picture *pic, const struct xc_stacktree_node *node, size_t depth, uint64_t x);

static void draw_frames(struct picture *pic, draw_fn *draw)
{
	uint64_t next[MAX_DEPTH + 2] = {0}; /* next free place per depth, in the tree's unit */
	size_t depth = 0;
	draw(pic, &pic->tree->root, 0, 0);
	for (const struct xc_stacktree_node *node = &pic->tree->root; (node = xc_stacktree_next(node, &depth));) {
		if (depth > pic->most_depth)
			continue;
		uint64_t x = next[depth];
		next[depth] +=
			node->total; /* within the parent's total, unless sums were capped: then it only looks odd */
		next[depth + 1] = x;
		if (share(pic, node->total) >= pic->least)
			draw(pic, node, depth, x);
	}
}

void xc_flame_element(const struct xc_stacktree *tree, FILE *out)
{
	struct picture pic = {
		.tree = tree, .out = out, .most_depth = ELEMENT_DEPTH, .most_frames = ELEMENT_FRAMES, .least = 0.0005};
	plan(&pic);
	fprintf(out, "<svg class=\"flame\" width=\"100%%\" height=\"%zu\">\n", (pic.deepest + 1) * ROW);
	draw_frames(&pic, draw_clipped);
	fprintf(out, "</svg>\n");
	xc_text_fini(&pic.text);
}

static void draw_head(struct picture *pic, size_t height)
{
	struct xc_text *text = &pic->text;
	xc_text_printf(text,
		       "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		       "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"100%%\" height=\"%zu\">\n<title>",
		       height);
	xml_cut_as(text, pic->tree->title ? pic->tree->title : "flame graph", MAX_NAME, XC_SAY_PROSE);
	xc_text_add(text, "</title>\n<style>\n");
	xc_text_add(text, xc_flame_style);
	xc_text_add(text, "</style>\n<text class=\"chrome title\" x=\"1%\" y=\"26\">");
	xml_cut_as(text, pic->tree->title ? pic->tree->title : "flame graph", MAX_NAME, XC_SAY_PROSE);
	xc_text_add(text, "</text>\n<text class=\"quiet\" x=\"1%\" y=\"46\">");
	add_value(pic, pic->tree->root.total);
	if (pic->left_out)
		xc_text_printf(text, "; %zu frames too narrow or too deep to show", pic->left_out);
	xc_text_add(text,
		    "</text>\n<text id=\"matched\" class=\"chrome\" x=\"99%\" y=\"52\" text-anchor=\"end\"></text>\n"
		    "<text id=\"probe\" x=\"-900\" y=\"-90\">abcdefghijklmnopqrstuvwxyz</text>\n"
		    "<foreignObject x=\"50%\" y=\"10\" width=\"49%\" height=\"30\">"
		    "<div xmlns=\"http://www.w3.org/1999/xhtml\" class=\"bar\">"
		    "<input id=\"search\" type=\"search\" placeholder=\"search (regex, Ctrl-F)\"/>"
		    "<button id=\"reset\" disabled=\"disabled\">reset zoom</button></div></foreignObject>\n");
	xc_text_printf(text, "<svg id=\"frames\" x=\"1%%\" y=\"%d\" width=\"98%%\" height=\"%zu\">\n", TOP,
		       (pic->deepest + 1) * ROW);
	fwrite(text->bytes, 1, text->len, pic->out);
	text->len = 0;
}

struct xc_error *xc_flame_svg(const struct xc_stacktree *tree, FILE *out)
{
	struct picture pic = {
		.tree = tree, .out = out, .most_depth = MAX_DEPTH, .most_frames = MAX_FRAMES, .least = 0.00005};
	plan(&pic);
	size_t height = TOP + (pic.deepest + 1) * ROW + BOTTOM;
	draw_head(&pic, height);
	draw_frames(&pic, draw_node);
	fprintf(out, "</svg>\n<text id=\"details\" class=\"chrome\" x=\"1%%\" y=\"%zu\"></text>\n", height - 12);
	fprintf(out, "<script><![CDATA[\n%s]]></script>\n</svg>\n", xc_flame_script);
	xc_text_fini(&pic.text);
	return finish(out);
}

/* Formats */

const char *const xc_flame_kinds[] = {"folded", "svg", "speedscope", "pprof", NULL};

static const struct {
	const char *end; /* of a file's name */
	struct xc_error *(*write)(const struct xc_stacktree *tree, FILE *out);
} formats[] = {
	{".folded", xc_flame_folded},
	{".svg", xc_flame_svg},
	{".speedscope.json", xc_flame_speedscope},
	{".pb.gz", xc_flame_pprof},
};

const char *xc_flame_kind_of(const char *file)
{
	for (size_t i = 0; i < XC_COUNT(formats); i++)
		if (xc_ends_with(file, formats[i].end))
			return xc_flame_kinds[i];
	return xc_ends_with(file, ".pprof") || xc_ends_with(file, ".pb") ? "pprof" : NULL;
}

bool xc_flame_is_binary(const char *kind)
{
	return strcmp(kind, "pprof") == 0;
}

struct xc_error *xc_flame_write(const struct xc_stacktree *tree, const char *kind, FILE *out)
{
	size_t i = 0;
	while (strcmp(xc_flame_kinds[i], kind) != 0)
		i++;
	return formats[i].write(tree, out);
}
