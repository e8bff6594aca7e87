/* containers: a program with hand-built containers of the GNU C++ library, valid and invalid: only the members that
 * views read, and nodes as they are laid out in memory. */
#ifndef XC_TEST_CONTAINERS_H
#define XC_TEST_CONTAINERS_H

#include "tests/support/compile_program.h"

static const char containers_source[] =
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

static const char containers_nodes[] =
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

static const char containers_trees[] =
	"struct tree_node { _Rb_tree_node_base base; int value; };\n"
	"extern \"C\" {\n"
	"#define T(x) ((_Rb_tree_node_base *)&x)\n"
	"extern tree_node a, b, c, d, e, f, t1, t2, o1;\n"
	"set<int> tree{{{{0, T(b), T(a), T(c)}, 3}}}, tree_short{{{{0, T(e), T(d), T(f)}, 4}}};\n"
	"set<int> tree_torn{{{{0, T(t1), T(t1), T(t2)}, 2}}}, tree_loop{{{{0, T(o1), T(o1), T(o1)}, 1000000}}};\n"
	"set<int> tree_wrong{{{{0, T(b), T(a), T(c)}, 3}}}, tree_unset{{{{0, 0, 0, 0}, 0}}};\n"
	"set<int> tree_rootless{{{{0, 0, T(tree_rootless), T(tree_rootless)}, 3}}};\n"
	/* b over a and c; then the same with a claimed size of four */
	"tree_node a{{0, T(b), 0, 0}, 1}, b{{1, T(tree), T(a), T(c)}, 2}, c{{0, T(b), 0, 0}, 3};\n"
	"tree_node d{{0, T(e), 0, 0}, 1}, e{{1, T(tree_short), T(d), T(f)}, 2}, f{{0, T(e), 0, 0}, 3};\n"
	/* a right child with a wrong parent pointer; a node that is its own right child */
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

static const char containers_holders[] =
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

static inline struct compiled *compile_containers(void)
{
	char *text = xc_asprintf("%s%s%s%s", containers_source, containers_nodes, containers_trees, containers_holders);
	struct compiled *c = compile("g++ -x c++ -std=c++17 -g -O0 -fpermissive", text);
	free(text);
	return c;
}

#endif
