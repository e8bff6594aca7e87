/* layer: heap tier: long */
/* C++ containers: the type requested from the allocator is the type found for the block. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/allocation_log.h"
#include "tests/support/compared.h"
#include "tests/support/grid.h"

/* An allocator that records the types that containers request: their nodes and buffers. */
static const char noting[] =
	"#include <cxxabi.h>\n#include <typeinfo>\n#include <string>\n#include <vector>\n#include <list>\n#include "
	"<map>\n"
	"#include <set>\n#include <deque>\n#include <forward_list>\n#include <unordered_map>\n#include "
	"<unordered_set>\n"
	"#include <memory>\n#include <optional>\n#include <variant>\n#include <functional>\n#include <any>\n#include "
	"<tuple>\n"
	"template <class T> const char *name_of() {\n"
	"  static const char *name = abi::__cxa_demangle(typeid(T).name(), 0, 0, 0); return name; }\n"
	"template <class T> struct noting { using value_type = T;\n"
	"  noting() {} template <class U> noting(const noting<U> &) {}\n"
	"  T *allocate(size_t n) { return note((T *)malloc(n * sizeof(T)), name_of<T>(), n); }\n"
	"  void deallocate(T *p, size_t) {\n"
	"    for (size_t i = 0; i < book_count; i++) if (book[i].block == (size_t)p) book[i] = book[--book_count];\n"
	"    free(p); }\n"
	"  template <class U> bool operator==(const noting<U> &) const { return true; }\n"
	"  template <class U> bool operator!=(const noting<U> &) const { return false; } };\n"
	"template <class T> T *fresh() { return note(new T(), name_of<T>()); }\n"
	"using text = std::basic_string<char, std::char_traits<char>, noting<char>>;\n"
	"template <class T> using vec = std::vector<T, noting<T>>;\n"
	"template <class K, class V> using map = std::map<K, V, std::less<K>, noting<std::pair<const K, V>>>;\n"
	"template <class K, class V> using multimap = std::multimap<K, V, std::less<K>, noting<std::pair<const K, "
	"V>>>;\n"
	"template <class K> using set = std::set<K, std::less<K>, noting<K>>;\n"
	"struct text_hash { size_t operator()(const text &t) const { return t.size() * 31 + t[0]; } };\n"
	"template <class K, class V, class H = std::hash<K>> using hash =\n"
	"  std::unordered_map<K, V, H, std::equal_to<K>, noting<std::pair<const K, V>>>;\n"
	"template <class K, class H = std::hash<K>> using hash_set = std::unordered_set<K, H, std::equal_to<K>, "
	"noting<K>>;\n"
	"template <class T> using list = std::list<T, noting<T>>;\n"
	"template <class T> using deque = std::deque<T, noting<T>>;\n"
	"static text longer(int i) { return text(40 + i, 'a' + i % 26); }\n"
	"struct leaf { int number; void *nothing; long more; };\n"
	"struct node { node *left, *right; leaf *own; text name; };\n";

static const char containers[] =
	"struct holder { vec<leaf *> leaves; map<int, text> names; list<vec<int>> lists; hash<long, leaf *> index;\n"
	"  holder *next; };\n"
	"text a_text = longer(1), short_text = \"short\";\n"
	"vec<int> numbers; vec<leaf> leaves; vec<leaf *> pointers; vec<vec<text>> nested; vec<bool> bits;\n"
	"map<int, leaf *> a_map; map<text, vec<leaf>> deep_map; multimap<char, double> many; set<text> texts; "
	"set<long> longs;\n"
	"hash<int, leaf *> a_hash; hash<text, text, text_hash> text_hash_map; hash_set<long> long_set;\n"
	"hash_set<text, text_hash> text_set;\n"
	"list<leaf> a_list; list<text> text_list; std::forward_list<leaf *, noting<leaf *>> chain;\n"
	"deque<leaf *> a_deque; deque<text> text_deque; deque<int> long_deque;\n"
	"holder *holders; node *tree;\n"
	"static node *grow(int depth) {\n"
	"  if (!depth) return 0;\n"
	"  node *n = fresh<node>(); n->own = fresh<leaf>(); n->name = longer(depth);\n"
	"  n->left = grow(depth - 1); n->right = grow(depth - 1); return n; }\n"
	"static void fill() {\n"
	"  for (int i = 0; i < 20; i++) {\n"
	"    numbers.push_back(i); leaves.push_back({i, 0, 2}); pointers.push_back(fresh<leaf>()); bits.push_back(i & "
	"1);\n"
	"    nested.push_back({longer(i), longer(i + 1)}); a_map[i * 7] = fresh<leaf>(); "
	"deep_map[longer(i)].push_back({i, 0, 9});\n"
	"    many.insert({(char)i, i / 2.0}); texts.insert(longer(i)); longs.insert(i * 1000L);\n"
	"    a_hash[i] = fresh<leaf>(); text_hash_map[longer(i)] = longer(i); long_set.insert(i); "
	"text_set.insert(longer(i));\n"
	"    a_list.push_back({i, 0, 3}); text_list.push_back(longer(i)); chain.push_front(fresh<leaf>());\n"
	"    a_deque.push_back(fresh<leaf>()); text_deque.push_back(longer(i));\n"
	"    holder *h = fresh<holder>(); h->next = holders; holders = h; h->leaves.push_back(fresh<leaf>());\n"
	"    h->names[i] = longer(i); h->lists.push_back({1, 2, i}); h->index[i] = fresh<leaf>();\n"
	"  }\n"
	"  for (int i = 0; i < 1000; i++) long_deque.push_back(i);\n"
	"  tree = grow(5); }\n"
	"int main() { fill(); abort(); }\n";

static const char holders[] =
	"struct shape { virtual ~shape() {} leaf *l = fresh<leaf>(); };\n"
	"struct disc : shape { vec<leaf *> parts; disc() { parts.push_back(fresh<leaf>()); } };\n"
	"struct pack { text name = longer(3); vec<leaf *> all; pack() { all.push_back(fresh<leaf>()); } };\n"
	"struct with_end { text t = longer(2); ~with_end() { book_count = 0; } };\n"
	"struct many { std::optional<text> some, none; std::variant<int, text, vec<leaf *>> one, two, three;\n"
	"  std::tuple<int, text, leaf *> three_things; std::pair<text, leaf *> two_things; };\n"
	"std::unique_ptr<leaf> single; std::unique_ptr<leaf[]> several; std::unique_ptr<with_end[]> ends;\n"
	"std::shared_ptr<pack> made, taken; std::shared_ptr<shape> base; std::weak_ptr<pack> weak;\n"
	"std::vector<std::unique_ptr<shape>> shapes; std::vector<std::shared_ptr<pack>> packs; many *a_many;\n"
	"std::optional<pack> maybe; std::string standard(100, 's'); std::map<int, pack> standard_map;\n"
	"template <class C> static void note_nodes(C &c, size_t head, const char *name) {\n"
	"  for (auto &one : c) note((char *)&one - head, name); }\n"
	"struct large { leaf *l = fresh<leaf>(); text t = longer(7); long pad[3]; int operator()() const { return 1; } "
	"};\n"
	"struct small { leaf *l = fresh<leaf>(); int operator()() const { return 2; } };\n"
	"struct counted { std::shared_ptr<leaf> l{fresh<leaf>()}; int operator()() const { return 3; } };\n"
	"std::function<int()> calls[4]; std::any anys[3];\n"
	"int main() {\n"
	"  calls[0] = large(); if (sizeof calls[0] == 32) note(*(void **)&calls[0], name_of<large>());\n"
	"  calls[1] = small(); calls[2] = counted(); anys[0] = pack(); anys[1] = fresh<leaf>();\n"
	"  if (sizeof calls[0] == 32) note(*(void **)&calls[2], name_of<counted>());\n"
	"  note(((void **)&anys[0])[1], name_of<pack>());\n"
	"  single.reset(fresh<leaf>()); several.reset(note(new leaf[7], \"leaf\", 7));\n"
	"  ends.reset(new with_end[3]); note((char *)ends.get() - 8, \"with_end\", 3);\n"
	"  made = std::allocate_shared<pack>(noting<pack>()); taken.reset(fresh<pack>()); weak = taken;\n"
	"  base.reset(fresh<disc>()); maybe.emplace();\n"
	"  for (int i = 0; i < 10; i++) { shapes.emplace_back(i & 1 ? (shape *)fresh<disc>() : fresh<shape>());\n"
	"    packs.push_back(std::make_shared<pack>()); standard_map[i]; }\n"
	"  note(shapes.data(), name_of<std::unique_ptr<shape>>()); note(packs.data(), "
	"name_of<std::shared_ptr<pack>>());\n"
	"  note(&standard[0], \"char\");\n"
	"  a_many = fresh<many>(); a_many->some = longer(9); a_many->one = 5; a_many->two = longer(8);\n"
	"  a_many->three = vec<leaf *>{fresh<leaf>(), fresh<leaf>()};\n"
	"  std::get<1>(a_many->three_things) = longer(4); std::get<2>(a_many->three_things) = fresh<leaf>();\n"
	"  a_many->two_things = {longer(6), fresh<leaf>()};\n"
	"  abort(); }\n";

static void check(const char *compiler, const char *program, unsigned least)
{
	struct xc_text all = {0};
	xc_text_add(&all, noting);
	xc_text_add(&all, program);
	struct booked b = booked_open(compiler, xc_text_string(&all));
	xc_text_fini(&all);
	compared_check(&b, compiler, least);
	booked_close(&b);
}

/* The first case is gcc's, the second clang's. */
static const char *const compilers[] = {"g++ -std=c++17 -g -O0 -x c++", "clang++ -std=c++17 -g -O0 -x c++",
					"g++ -std=c++17 -g -O2 -x c++", "clang++ -std=c++17 -g -O2 -x c++"};

static void gnu_containers(void **state)
{
	(void)state;
	GRID(i, XC_COUNT(compilers))
		check(compilers[i], containers, 100);
}

static void gnu_pointers_and_holders(void **state)
{
	(void)state;
	GRID(i, XC_COUNT(compilers))
		check(compilers[i], holders, 100);
}

/* LLVM's library may be unpacked somewhere: XCORE_LIBCXX is the directory with its include and lib. */
static void check_llvm(const char *program, unsigned least)
{
	const char *root = getenv("XCORE_LIBCXX");
	if (!root)
		check_skip("XCORE_LIBCXX names no folder of LLVM's library");
	GRID(i, 2) {
		xc_auto(xc_freep) char *compiler =
			xc_asprintf("clang++ -std=c++17 -g -O%d -nostdinc++ -isystem %s/include/c++/v1 -nostdlib++ "
				    "-L%s/lib -Wl,-rpath,%s/lib -lc++ -lc++abi -x c++",
				    i ? 2 : 0, root, root, root);
		check(compiler, program, least);
	}
}

static void llvm_containers(void **state)
{
	(void)state;
	check_llvm(containers, 100);
}

static void llvm_pointers_and_holders(void **state)
{
	(void)state;
	check_llvm(holders, 99); /* a small function's object is not examined */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gnu_containers),
		cmocka_unit_test(gnu_pointers_and_holders),
		cmocka_unit_test(llvm_containers),
		cmocka_unit_test(llvm_pointers_and_holders),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
