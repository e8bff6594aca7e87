/* layer: dwarf */
/* Containers in any state. Real ones are compared with what programs say in tests/diff/views; here are containers
 * with the names and members of the GNU library's, laid out by hand, so that everything that may be wrong with one
 * can be. */
#include "compiled.h"

#include "../../dwarf/view.h"

/* Of the library's types only what is looked at; nodes are as they lie in memory. */
static const char source[] =
	"namespace std {\n"
	"template <class T> struct allocator {};\n"
	"template <class T, class A = allocator<T>> struct vector {\n"
	"  struct { T *_M_start, *_M_finish, *_M_end_of_storage; } _M_impl; };\n"
	"struct _List_node_base { _List_node_base *_M_next, *_M_prev; };\n"
	"struct _List_header : _List_node_base { unsigned long _M_size; };\n"
	"inline namespace __cxx11 {\n"
	"template <class T> struct list { struct { _List_header _M_node; } _M_impl; };\n"
	"template <class C> struct basic_string { struct { C *_M_p; } _M_dataplus; unsigned long _M_string_length;\n"
	"  union { C _M_local_buf[16]; unsigned long _M_allocated_capacity; }; }; }\n"
	"struct _Fwd_list_node_base { _Fwd_list_node_base *_M_next; };\n"
	"template <class T> struct forward_list { struct { _Fwd_list_node_base _M_head; } _M_impl; };\n"
	"struct _Rb_tree_node_base { int _M_color; _Rb_tree_node_base *_M_parent, *_M_left, *_M_right; };\n"
	"template <class K, class V> struct _Rb_tree {\n"
	"  struct { _Rb_tree_node_base _M_header; unsigned long _M_node_count; } _M_impl; };\n"
	"template <class K> struct set { _Rb_tree<K, K> _M_t; };\n"
	"struct _Hash_node_base { _Hash_node_base *_M_nxt; };\n"
	"template <class K, class V> struct _Hashtable { _Hash_node_base **_M_buckets; unsigned long _M_bucket_count;\n"
	"  _Hash_node_base _M_before_begin; unsigned long _M_element_count; };\n"
	"template <class K> struct unordered_set { _Hashtable<K, K> _M_h; };\n"
	"template <class T> struct optional { struct { T _M_payload; bool _M_engaged; } _M_payload; };\n"
	"template <class A, class B> struct variant { union { A a; B b; } _M_u; unsigned char _M_index; };\n"
	"struct _Sp { void *_vptr; int _M_use_count, _M_weak_count; };\n"
	"template <class T> struct shared_ptr { T *_M_ptr; struct { _Sp *_M_pi; } _M_refcount; };\n"
	"template <class T> struct unknown_thing { T x; };\n"
	"}\n"
	"using namespace std;\n"
	"extern \"C\" {\n"
	"int three[4] = {1, 2, 3, 4};\n"
	"vector<int> good{{three, three + 3, three + 4}}, none{}, swapped{{three + 2, three, three + 4}};\n"
	"vector<int> beyond{{three, three + 4, three + 3}}, far{{three, (int *)0x7000000000, (int *)0x7000000000}};\n"
	"vector<int> odd{{three, (int *)((char *)three + 6), three + 4}}, at_null{{0, three, three}};\n"
	"vector<int> no_room{{three, three, three}}, wild{{(int *)~15ul, (int *)~7ul, (int *)~3ul}};\n"
	"}\n";

static const char nodes[] =
	"struct list_node { _List_node_base base; int value; };\n"
	"extern \"C\" {\n"
	"extern list_node r1, r2, w1, w2, c1, l1, l2, l3, l4;\n"
	"#define B(x) ((_List_node_base *)&x)\n"
	"list<int> ring{{{{B(r1), B(r2)}, 2}}}, no_ring{{{{B(no_ring), B(no_ring)}, 0}}}, unset{};\n"
	"list<int> one_way{{{{B(w1), B(w2)}, 2}}}, cut{{{{B(c1), B(c1)}, 1}}}, loop{{{{B(l1), B(l4)}, 9}}};\n"
	"list_node r1{{B(r2), B(ring)}, 7}, r2{{B(ring), B(r1)}, 8};\n"
	"list_node w1{{B(w2), B(one_way)}, 1}, w2{{B(one_way), B(r1)}, 2};\n"
	"list_node c1{{(_List_node_base *)0x7000000000, B(cut)}, 1};\n"
	"list_node l1{{B(l2), B(loop)}, 1}, l2{{B(l3), B(l1)}, 2}, l3{{B(l2), B(l2)}, 3};\n"
	"list_node l4{{B(loop), B(l3)}, 4};\n"
	"struct chain_node { _Fwd_list_node_base base; short value; };\n"
	"extern chain_node f1, f2, f3, g1, g2, g3;\n"
	"#define F(x) ((_Fwd_list_node_base *)&x)\n"
	"chain_node f1{{F(f2)}, 1}, f2{{F(f3)}, 2}, f3{{0}, 3}, g1{{F(g2)}, 1}, g2{{F(g3)}, 2}, g3{{F(g1)}, 3};\n"
	"forward_list<short> chain{{{F(f1)}}}, no_chain{}, circle{{{F(g1)}}}, stray{{{(_Fwd_list_node_base *)8}}};\n"
	"}\n";

static const char trees[] =
	"struct tree_node { _Rb_tree_node_base base; int value; };\n"
	"extern \"C\" {\n"
	"#define T(x) ((_Rb_tree_node_base *)&x)\n"
	"extern tree_node a, b, c, d, e, f, t1, t2, o1;\n"
	"set<int> tree{{{{0, T(b), T(a), T(c)}, 3}}}, tree_short{{{{0, T(e), T(d), T(f)}, 4}}};\n"
	"set<int> tree_torn{{{{0, T(t1), T(t1), T(t2)}, 2}}}, tree_loop{{{{0, T(o1), T(o1), T(o1)}, 1000000}}};\n"
	"set<int> tree_wrong{{{{0, T(b), T(a), T(c)}, 3}}}, tree_unset{{{{0, 0, 0, 0}, 0}}};\n"
	"set<int> tree_rootless{{{{0, 0, T(tree_rootless), T(tree_rootless)}, 3}}};\n"
	/* b over a and c; the same again for a tree that says it has four */
	"tree_node a{{0, T(b), 0, 0}, 1}, b{{1, T(tree), T(a), T(c)}, 2}, c{{0, T(b), 0, 0}, 3};\n"
	"tree_node d{{0, T(e), 0, 0}, 1}, e{{1, T(tree_short), T(d), T(f)}, 2}, f{{0, T(e), 0, 0}, 3};\n"
	/* a right child that thinks another one is its parent; a node that is its own right child */
	"tree_node t1{{1, T(tree_torn), 0, T(t2)}, 1}, t2{{0, T(a), 0, 0}, 2}, o1{{1, T(tree_loop), 0, T(o1)}, 1};\n"
	"struct hash_node { _Hash_node_base base; long value; };\n"
	"extern hash_node h1, h2, i1, i2;\n"
	"hash_node h1{{(_Hash_node_base *)&h2}, 5}, h2{{0}, 6}, i1{{(_Hash_node_base *)&i2}, 5},\n"
	"  i2{{(_Hash_node_base *)&i1}, 6};\n"
	"_Hash_node_base *buckets[3];\n"
	"unordered_set<long> hashed{{buckets, 3, {(_Hash_node_base *)&h1}, 2}},\n"
	"  hash_short{{buckets, 3, {(_Hash_node_base *)&h1}, 3}}, hash_circle{{buckets, 3, {(_Hash_node_base *)&i1}, "
	"99}},\n"
	"  hash_wild{{buckets, 1ul << 60, {(_Hash_node_base *)&h1}, 2}}, hash_unset{}, hash_none{{buckets, 3, {0}, "
	"0}};\n"
	"}\n";

static const char holders[] =
	"extern \"C\" {\n"
	"char heap_text[8] = \"long\"; char unended[8] = {'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'};\n"
	"basic_string<char> local{{local._M_local_buf}, 2, {'h', 'i'}}, text{{heap_text}, 4, {._M_allocated_capacity = "
	"7}},\n"
	"  too_long{{heap_text}, 9, {7}}, no_nul{{unended}, 4, {._M_allocated_capacity = 7}},\n"
	"  gone{{(char *)0x7000000000}, 3, {._M_allocated_capacity = 7}};\n"
	"optional<int> some{{5, true}}, empty{{5, false}}; \n"
	"variant<int, short> second{{.b = 4}, 1}, neither{{}, 255}, third{{}, 2};\n"
	"_Sp counts{0, 2, 3}, negative{0, -5, 1};\n"
	"shared_ptr<int> shared{three, {&counts}}, unshared{}, bad_counts{three, {&negative}},\n"
	"  lost_counts{three, {(_Sp *)0x7000000000}};\n"
	"unknown_thing<int> other{1};\n"
	"}\n"
	"extern \"C\" void _start() {}\n";

static struct compiled *compile_all(void)
{
	char *text = xc_asprintf("%s%s%s%s", source, nodes, trees, holders);
	struct compiled *c = compile("g++ -x c++ -std=c++17 -g -O0 -fpermissive", text);
	free(text);
	return c;
}

/* `want` up to its *, and what follows at the end; without one, all. */
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
	       {"odd", "<not a valid std::vector: no whole number of elements> {*"},
	       {"at_null", "<not a valid std::vector: *"},
	       {"no_room", "<not a valid std::vector: room for 0 elements at 0x*"},
	       {"wild", "<not a valid std::vector: elements at 0xfffffffffffffff0: not mapped> {*"});
}

static void nodes_of_a_list_lead_back(void **state)
{
	EXPECT({"ring", "std::list = {[0] = 7, [1] = 8}"}, {"no_ring", "empty std::list"},
	       {"one_way", "std::list = {[0] = 1, <node 0x* does not lead back>}"},
	       {"cut", "<not a valid std::list: its last node does not lead back> {*"},
	       {"unset", "<not a valid std::list: its first node does not lead back> {*"});
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
	assert_non_null(strstr(view.why, "does not lead back"));
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
	assert_string_equal(view.why, "its nodes go in a circle");
}

static void trees_are_walked_in_order_and_checked(void **state)
{
	EXPECT({"tree", "std::set with 3 elements = {[0] = 1, [1] = 2, [2] = 3}"},
	       {"tree_short", "std::set with 4 elements = {[0] = 1, [1] = 2, [2] = 3, <3 nodes of 4>}"},
	       {"tree_torn", "std::set with 2 elements = {[0] = 1, <node 0x* does not lead back>}"},
	       {"tree_loop", "std::set with 1000000 elements = {[0] = 1, <node 0x* does not lead back>}"},
	       {"tree_wrong", "<not a valid std::set: its root does not lead back> {*"},
	       {"tree_unset", "<not a valid std::set: its ends do not agree> {*"},
	       {"tree_rootless", "<not a valid std::set: 3 elements, but no root> {*"});
}

static void hash_tables_hold_what_they_count(void **state)
{
	EXPECT({"hashed", "std::unordered_set with 2 elements = {[0] = 5, [1] = 6}"},
	       {"hash_none", "std::unordered_set with 0 elements"},
	       {"hash_short", "std::unordered_set with 3 elements = {[0] = 5, [1] = 6, <2 nodes of 3>}"},
	       {"hash_circle",
		"std::unordered_set with 99 elements = {[0] = 5, [1] = 6, [2] = 5, <its nodes go in a circle>}"},
	       {"hash_wild", "<not a valid std::unordered_set: 1152921504606846976 buckets at 0x*"},
	       {"hash_unset", "<not a valid std::unordered_set: 0 buckets at 0x0> {*"});
}

static void holders_are_checked(void **state)
{
	EXPECT({"local", "\"hi\""}, {"text", "\"long\""},
	       {"no_nul", "<not a valid std::basic_string: no NUL behind its 4 characters> {*"},
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
	struct compiled *c = compile_all();
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
	*state = compile_all();
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
		cmocka_unit_test(ends_of_a_vector_agree),
		cmocka_unit_test(nodes_of_a_list_lead_back),
		cmocka_unit_test(a_list_that_goes_in_circles_ends),
		cmocka_unit_test(a_chain_that_goes_in_circles_ends),
		cmocka_unit_test(trees_are_walked_in_order_and_checked),
		cmocka_unit_test(hash_tables_hold_what_they_count),
		cmocka_unit_test(holders_are_checked),
		cmocka_unit_test(raw_shows_innards),
		cmocka_unit_test(a_view_may_be_copied_in_the_middle),
		cmocka_unit_test(a_hook_that_is_added_comes_first),
		cmocka_unit_test(unmapped_containers_are_not_judged),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
