/* layer: core */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/support/report_fixture.h"

static char *flame(struct xc_error *(*write)(const struct xc_stacktree *, FILE *), const struct xc_stacktree *tree)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	struct xc_error *err = write(tree, out);
	fclose(out);
	assert_null(err);
	return text;
}

static size_t count_of(const char *text, const char *word)
{
	size_t count = 0;
	for (; (text = strstr(text, word)); text++)
		count++;
	return count;
}

static void folded_has_a_line_per_path_with_weight(void **state)
{
	(void)state;
	const char *const ab[] = {"main", "a b"}, *const m[] = {"main"}, *const semi[] = {"main", "x;y\n"};
	struct xc_stacktree tree;
	xc_stacktree_init(&tree, "t", "threads");
	xc_stacktree_add(&tree, ab, 2, 3);
	xc_stacktree_add(&tree, m, 1, 1);
	xc_stacktree_add(&tree, semi, 2, 2);
	xc_stacktree_finish(&tree);
	char *text = flame(xc_flame_folded, &tree);
	assert_string_equal(text, "main 1\nmain;a b 3\nmain;x:y\\x0a 2\n");
	free(text);
	xc_stacktree_fini(&tree);
}

static void svg_escapes_names_and_has_no_outside_reference(void **state)
{
	(void)state;
	const char *const path[] = {"main", HOSTILE, "\xef\xbf\xbf"};
	struct xc_stacktree tree;
	xc_stacktree_init(&tree, "stacks of <core>", "threads");
	xc_stacktree_add(&tree, path, 3, 7);
	xc_stacktree_finish(&tree);
	char *text = flame(xc_flame_svg, &tree);
	assert_false(has_control(text));
	assert_null(strstr(text, "<b>"));
	assert_null(strstr(text, "\xef\xbf\xbf"));
	assert_non_null(strstr(text, "stacks of &lt;core&gt;"));
	assert_int_equal(count_of(text, "]]>"), 1); /* the script's own end */
	assert_int_equal(count_of(text, "<script"), 1);
	assert_int_equal(count_of(text, "http"), count_of(text, "http://www.w3.org/"));
	assert_non_null(strstr(text, "(7 threads, 100.00%)</title>"));
	free(text);
	xc_stacktree_fini(&tree);
}

static void svg_places_children_side_by_side_in_the_parent(void **state)
{
	(void)state;
	const char *const a[] = {"m", "a"}, *const b[] = {"m", "b"};
	struct xc_stacktree tree;
	xc_stacktree_init(&tree, "t", "threads");
	xc_stacktree_add(&tree, a, 2, 1);
	xc_stacktree_add(&tree, b, 2, 3);
	xc_stacktree_finish(&tree);
	char *text = flame(xc_flame_svg, &tree);
	assert_non_null(
		strstr(text, "<title>a (1 threads, 25.00%)</title><rect x=\"0.00000%\" y=\"0\" width=\"25.00000%\""));
	assert_non_null(
		strstr(text, "<title>b (3 threads, 75.00%)</title><rect x=\"25.00000%\" y=\"0\" width=\"75.00000%\""));
	assert_non_null(strstr(text, "<title>all (4 threads, 100.00%)</title><rect x=\"0.00000%\" y=\"34\""));
	free(text);
	xc_stacktree_fini(&tree);
}

static void svg_of_a_deep_and_wide_tree_stays_small(void **state)
{
	(void)state;
	enum { DEEP = 5000, WIDE = 60000 };
	const char **names = calloc(DEEP, sizeof *names);
	for (size_t i = 0; i < DEEP; i++)
		names[i] = "again";
	struct xc_stacktree tree;
	xc_stacktree_init(&tree, "t", "threads");
	xc_stacktree_add(&tree, names, DEEP, 50);
	for (unsigned i = 0; i < WIDE; i++) {
		char name[16];
		snprintf(name, sizeof name, "w%u", i);
		const char *const path[] = {"wide", name};
		xc_stacktree_add(&tree, path, 2, i % 100 ? 1 : 100);
	}
	xc_stacktree_finish(&tree);
	char *text = flame(xc_flame_svg, &tree);
	size_t frames = count_of(text, "<g ");
	assert_in_range(frames, 500, 30001);
	assert_non_null(strstr(text, "frames too narrow or too deep to show"));
	assert_non_null(strstr(text, "deeper frames are left out"));
	free(text);
	free(names);
	xc_stacktree_fini(&tree);
}

/* The hue of a kind begins at 12, 135 or 195, and has 40 degrees. */
static unsigned hue_of(const char *name)
{
	struct xc_stacktree tree;
	unsigned hue = 0;
	xc_stacktree_init(&tree, "t", "samples");
	xc_stacktree_add(&tree, &name, 1, 1);
	xc_stacktree_finish(&tree);
	char *text = flame(xc_flame_svg, &tree), *at = text;
	for (char *next; (next = strstr(at, "hsl(")); at = next + 1)
		hue = (unsigned)atoi(next + strlen("hsl("));
	free(text);
	xc_stacktree_fini(&tree);
	return hue;
}

static void svg_paints_functions_without_names_as_functions(void **state)
{
	(void)state;
	assert_in_range(hue_of("main"), 12, 51);
	assert_in_range(hue_of("[sleep]"), 12, 51);
	assert_in_range(hue_of("[waits: a lock]"), 135, 174);
	assert_in_range(hue_of("[torn]"), 135, 174);
	assert_in_range(hue_of("do_sys_poll_[k]"), 195, 234);
}

static void an_empty_tree_is_a_picture_too(void **state)
{
	(void)state;
	struct xc_stacktree tree;
	xc_stacktree_init(&tree, NULL, NULL);
	xc_stacktree_finish(&tree);
	char *svg = flame(xc_flame_svg, &tree), *folded = flame(xc_flame_folded, &tree);
	assert_non_null(strstr(svg, "</svg>"));
	assert_null(strstr(svg, "nan"));
	assert_string_equal(folded, "");
	free(svg);
	free(folded);
	xc_stacktree_fini(&tree);
}

static void a_full_disk_is_an_error(void **state)
{
	(void)state;
	struct fixture f = fixture_new("core.1");
	FILE *out = fopen("/dev/full", "w");
	struct xc_error *err = xc_flame_svg(f.tree, out);
	assert_non_null(err);
	assert_int_equal(err->code, XC_ERR_IO);
	xc_error_free(err);
	fclose(out);
	fixture_free(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(folded_has_a_line_per_path_with_weight),
		cmocka_unit_test(svg_escapes_names_and_has_no_outside_reference),
		cmocka_unit_test(svg_places_children_side_by_side_in_the_parent),
		cmocka_unit_test(svg_of_a_deep_and_wide_tree_stays_small),
		cmocka_unit_test(svg_paints_functions_without_names_as_functions),
		cmocka_unit_test(an_empty_tree_is_a_picture_too),
		cmocka_unit_test(a_full_disk_is_an_error),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
