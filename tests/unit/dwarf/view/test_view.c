/* layer: dwarf */
/* Containers in any state. tests/diff/views compares real containers with the programs' own output. The containers here
 * have the names and members of the GNU library's, but are laid out by hand, so that each kind of damage can occur. */
#include "tests/support/containers.h"

#include "dwarf/view/view.h"
#include "dwarf/view/view_part.h"

/* `want` up to its *, and the rest at the end; without a *, all of it. */
static bool fits(const char *text, const char *want)
{
	const char *star = strchr(want, '*');
	if (!star)
		return strcmp(text, want) == 0;
	size_t head = (size_t)(star - want), tail = strlen(star + 1), len = strlen(text);
	return len >= head + tail && strncmp(text, want, head) == 0 && strcmp(text + len - tail, star + 1) == 0;
}

static void expect(struct compiled *c, const char *const pairs[][2], size_t count)
{
	struct xc_format_options options = xc_format_defaults();
	options.symbols = false;
	for (size_t i = 0; i < count; i++) {
		struct xc_value value = value_of(c, pairs[i][0]);
		struct xc_text text = {0};
		xc_format_value(&text, &value, &options);
		if (!fits(xc_text_string(&text), pairs[i][1]))
			fail_msg("%s: got %s, want %s", pairs[i][0], xc_text_string(&text), pairs[i][1]);
		xc_text_fini(&text);
	}
}

#define EXPECT(...)                                                                                                    \
	do {                                                                                                           \
		static const char *const pairs[][2] = {__VA_ARGS__};                                                   \
		expect(*state, pairs, XC_COUNT(pairs));                                                                \
	} while (0)

static void ends_of_a_vector_agree(void **state)
{
	EXPECT({"good", "std::vector of length 3, capacity 4 = {1, 2, 3}"},
	       {"none", "std::vector of length 0, capacity 0"},
	       {"swapped", "<not a valid std::vector: end before begin> {_M_impl = {*"},
	       {"beyond", "<not a valid std::vector: end of storage before end> {*"},
	       {"far", "<not a valid std::vector: the last element at 0x6fffffffff: not mapped> {*"},
	       {"odd", "<not a valid std::vector: not a whole number of elements> {*"},
	       {"at_null", "<not a valid std::vector: *"},
	       {"no_room", "<not a valid std::vector: room for 0 elements at 0x*"},
	       {"wild", "<not a valid std::vector: elements at 0xfffffffffffffff0: not mapped> {*"});
}

/* Types that matter only by name. */
static void check_brief(const char *name, bool rust, const char *expected)
{
	struct xc_type type = {.kind = XC_TYPE_STRUCT, .name = name, .is_rust = rust};
	struct xc_text text = {0};
	bool shorter = xc_view_brief_name(&text, &type);
	assert_int_equal(shorter, expected != NULL);
	assert_string_equal(xc_text_string(&text), expected ? expected : "");
	xc_text_fini(&text);
}

static void types_go_by_the_names_that_people_use(void **state)
{
	(void)state;
	check_brief("std::map<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >, int, "
		    "std::less<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > >, "
		    "std::allocator<std::pair<std::__cxx11::basic_string<char, std::char_traits<char>, "
		    "std::allocator<char> > const, int> > >",
		    false, "std::map<std::string, int>");
	check_brief("std::__1::vector<int, std::__1::allocator<int> >", false, "std::vector<int>");
	check_brief("core::option::Option<alloc::vec::Vec<alloc::string::String, alloc::alloc::Global>>", true,
		    "Option<Vec<String>>");
	check_brief("std::collections::hash::map::HashMap<u8, &str, std::collections::hash::map::RandomState>", true,
		    "HashMap<u8, &str>");
	check_brief("core::ops::range::Range<mine::core::Thing>", true, "Range<mine::core::Thing>");
	check_brief("(core::time::Duration, &dyn core::fmt::Debug)", true, "(Duration, &dyn Debug)");
	check_brief("core::iter::adapters::{closure_env#0}", true, NULL);
	check_brief("core::option::Option<int>", false, NULL); /* of C++: not Rust's Option */
	check_brief("mystd::thing", false, NULL);
	check_brief("struct node", false, NULL);
}

static void nodes_of_a_list_lead_back(void **state)
{
	EXPECT({"ring", "std::list = {[0] = 7, [1] = 8}"}, {"no_ring", "empty std::list"},
	       {"one_way", "std::list = {[0] = 1, <node 0x* does not link back>}"},
	       {"cut", "<not a valid std::list: its last node does not link back> {*"},
	       {"unset", "<not a valid std::list: its first node does not link back> {*"});
}

static void a_list_that_goes_in_circles_ends(void **state)
{
	struct compiled *c = *state;
	struct xc_value value = value_of(c, "loop");
	struct xc_view view;
	struct xc_view_child child;
	unsigned count = 0;
	assert_int_equal(xc_view_open(&value, &view), XC_VIEW_FOUND);
	while (xc_view_next(&view, &child))
		assert_true(++count < 10);
	assert_int_equal(count, 3);
	assert_non_null(strstr(view.why, "does not link back"));
}

static void a_chain_that_goes_in_circles_ends(void **state)
{
	struct compiled *c = *state;
	struct xc_value value = value_of(c, "circle");
	struct xc_view view;
	struct xc_view_child child;
	unsigned count = 0;
	EXPECT({"chain", "std::forward_list = {[0] = 1, [1] = 2, [2] = 3}"}, {"no_chain", "empty std::forward_list"},
	       {"stray", "<not a valid std::forward_list: its first node at 0x8: not mapped> {*"});
	assert_int_equal(xc_view_open(&value, &view), XC_VIEW_FOUND);
	while (xc_view_next(&view, &child))
		assert_true(++count < 20);
	assert_string_equal(view.why, "its nodes form a cycle");
}

static void trees_are_walked_in_order_and_checked(void **state)
{
	EXPECT({"tree", "std::set with 3 elements = {[0] = 1, [1] = 2, [2] = 3}"},
	       {"tree_short", "std::set with 4 elements = {[0] = 1, [1] = 2, [2] = 3, <3 nodes of 4>}"},
	       {"tree_torn", "std::set with 2 elements = {[0] = 1, <node 0x* does not link back>}"},
	       {"tree_loop", "std::set with 1000000 elements = {[0] = 1, <node 0x* does not link back>}"},
	       {"tree_wrong", "<not a valid std::set: its root does not link back> {*"},
	       {"tree_unset", "<not a valid std::set: its ends are inconsistent> {*"},
	       {"tree_rootless", "<not a valid std::set: 3 elements, but no root> {*"});
}

static void hash_tables_hold_what_they_count(void **state)
{
	EXPECT({"hashed", "std::unordered_set with 2 elements = {[0] = 5, [1] = 6}"},
	       {"hash_none", "std::unordered_set with 0 elements"},
	       {"hash_short", "std::unordered_set with 3 elements = {[0] = 5, [1] = 6, <2 nodes of 3>}"},
	       {"hash_circle",
		"std::unordered_set with 99 elements = {[0] = 5, [1] = 6, [2] = 5, <its nodes form a cycle>}"},
	       {"hash_wild", "<not a valid std::unordered_set: 1152921504606846976 buckets at 0x*"},
	       {"hash_unset", "<not a valid std::unordered_set: 0 buckets at 0x0> {*"});
}

static void holders_are_checked(void **state)
{
	EXPECT({"local", "\"hi\""}, {"text", "\"long\""},
	       {"no_nul", "<not a valid std::basic_string: no NUL after its 4 characters> {*"},
	       {"too_long", "<not a valid std::basic_string: length 9 above its capacity 7> {*"},
	       {"gone", "<not a valid std::basic_string: elements at 0x7000000000: not mapped> {*"},
	       {"some", "std::optional<int> = {[contained value] = 5}"},
	       {"empty", "std::optional<int> [no contained value]"},
	       {"second", "std::variant<int, short> [index 1] = {4}"},
	       {"neither", "std::variant<int, short> [no contained value]"},
	       {"third", "<not a valid std::variant: index 2 of 2> {*"},
	       {"unshared", "std::shared_ptr<int> (empty) = {get() = 0x0}"},
	       {"bad_counts", "<not a valid std::shared_ptr: use count -5, weak count 1> {*"},
	       {"lost_counts", "<not a valid std::shared_ptr: its counts at 0x7000000000 cannot be read> {*"},
	       {"other", "{x = 1}"});
}

static void containers_publish_links_that_exist(void **state)
{
	static const struct {
		const char *name;
		enum xc_view_link_kind kind; /* of the last link */
		size_t links;
	} wanted[] = {{"good", XC_LINK_ARRAY, 1}, {"text", XC_LINK_TEXT, 1},      {"ring", XC_LINK_NODE, 2},
		      {"chain", XC_LINK_NODE, 1}, {"tree", XC_LINK_NODE, 1},      {"hashed", XC_LINK_NODE, 2},
		      {"some", XC_LINK_VALUE, 1}, {"second", XC_LINK_VARIANT, 1}, {"unshared", XC_LINK_OBJECT, 1}};
	struct compiled *c = *state;
	for (size_t i = 0; i < XC_COUNT(wanted); i++) {
		struct xc_value value = value_of(c, wanted[i].name);
		const struct xc_type *type = xc_view_plain(value.type);
		const struct xc_view_link *link = xc_view_shape_of(c->process, type)->links;
		uint64_t at;
		assert_non_null(link);
		for (size_t k = 0; k < wanted[i].links; k++, link++) {
			assert_true(xc_view_offset_of(type, link->at, &at));
			assert_true(!link->by || xc_view_offset_of(type, link->by, &at));
		}
		assert_int_equal(link[-1].kind, wanted[i].kind);
		assert_int_equal(link->kind, XC_LINK_NONE);
	}
}

static void nodes_are_known_by_their_class(void **state)
{
	static const char *const others[] = {"std::_List_node_base", "std::__detail::_Hash_node_base",
					     "mine::_List_node<int>"};
	const struct xc_type *content;
	uint64_t offset;
	struct xc_type type = {.kind = XC_TYPE_STRUCT, .name = "std::__1::__tree_node<int, void *>"};
	const struct xc_view_nodes *nodes = xc_view_nodes_of(&type, &content, &offset);
	(void)state;
	assert_non_null(nodes);
	assert_string_equal(nodes->name, "std::__1::__tree_node");
	assert_null(content); /* the debug information has no arguments */
	for (size_t i = 0; i < XC_COUNT(others); i++) {
		type.name = others[i];
		assert_null(xc_view_nodes_of(&type, &content, &offset));
	}
}

static void raw_shows_innards(void **state)
{
	struct compiled *c = *state;
	struct xc_format_options options = xc_format_defaults();
	struct xc_value value = value_of(c, "tree");
	struct xc_text text = {0};
	options.raw = true;
	xc_format_value(&text, &value, &options);
	assert_non_null(strstr(xc_text_string(&text), "_M_node_count = 3"));
	assert_null(strstr(xc_text_string(&text), "with 3 elements"));
	xc_text_fini(&text);
}

static void a_view_may_be_copied_in_the_middle(void **state)
{
	struct compiled *c = *state;
	struct xc_value value = value_of(c, "tree");
	struct xc_view view, copy;
	struct xc_view_child child, again;
	uint64_t first, second;
	assert_int_equal(xc_view_open(&value, &view), XC_VIEW_FOUND);
	assert_true(view.count_known && view.count == 3 && view.kind == XC_VIEW_LIST && view.numbered);
	assert_true(xc_view_next(&view, &child));
	copy = view;
	assert_true(xc_view_next(&view, &child) && xc_view_next(&copy, &again));
	assert_true(xc_value_load(&child.value, &first) && xc_value_load(&again.value, &second));
	assert_int_equal(first, second);
	assert_int_equal(first, 2);
}

/* ---- hooks from elsewhere ---- */

static bool open_number(struct xc_view *view)
{
	view->kind = XC_VIEW_PLAIN;
	view->state[0] = 42;
	return true;
}

static void summary_of_number(const struct xc_view *view, struct xc_text *text)
{
	xc_text_printf(text, "the answer %llu", (unsigned long long)view->state[0]);
}

static void a_hook_that_is_added_comes_first(void **state)
{
	static struct xc_view_hook hook = {
		.name = "std::unknown_thing", .open = open_number, .summary = summary_of_number};
	struct compiled *c = compile_containers();
	struct xc_format_options options = xc_format_defaults();
	struct xc_value value = value_of(c, "other");
	(void)state;
	xc_view_add(c->process, &hook);
	expect_text(&value, &options, "other", "the answer 42");
	release(c);
}

static void unmapped_containers_are_not_judged(void **state)
{
	struct compiled *c = *state;
	struct xc_value value = value_of(c, "good");
	struct xc_view view;
	value.addr = 0x10;
	assert_int_equal(xc_view_open(&value, &view), XC_VIEW_NONE);
	value = xc_value_absent(c->process, value.type, "optimized out");
	assert_int_equal(xc_view_open(&value, &view), XC_VIEW_NONE);
}

static int setup(void **state)
{
	*state = compile_containers();
	return 0;
}

static int teardown(void **state)
{
	release(*state);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(types_go_by_the_names_that_people_use),
		cmocka_unit_test(ends_of_a_vector_agree),
		cmocka_unit_test(nodes_of_a_list_lead_back),
		cmocka_unit_test(a_list_that_goes_in_circles_ends),
		cmocka_unit_test(a_chain_that_goes_in_circles_ends),
		cmocka_unit_test(trees_are_walked_in_order_and_checked),
		cmocka_unit_test(hash_tables_hold_what_they_count),
		cmocka_unit_test(holders_are_checked),
		cmocka_unit_test(containers_publish_links_that_exist),
		cmocka_unit_test(nodes_are_known_by_their_class),
		cmocka_unit_test(raw_shows_innards),
		cmocka_unit_test(a_view_may_be_copied_in_the_middle),
		cmocka_unit_test(a_hook_that_is_added_comes_first),
		cmocka_unit_test(unmapped_containers_are_not_judged),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
