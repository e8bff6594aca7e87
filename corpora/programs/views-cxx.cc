// Dies of SIGSEGV with containers of the C++ library in main's frame, after it has written what a debugger should
// show of each: "NAME<tab>TEXT", in the spelling of gdb's printers for libstdc++. Built with libstdc++ and with
// libc++.
#include <any>
#include <array>
#include <atomic>
#include <bitset>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <deque>
#include <filesystem>
#include <forward_list>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <set>
#include <span>
#include <stack>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <variant>
#include <vector>

#include "crash.h"

namespace {

using std::string;

// ---- what is expected ----

string text(int value) { return std::to_string(value); }
string text(long value) { return std::to_string(value); }
string text(size_t value) { return std::to_string(value); }
string text(bool value) { return value ? "true" : "false"; }
string text(double value)
{
	char out[64];
	snprintf(out, sizeof out, "%.17g", value);
	return out;
}
string text(const string &value) { return '"' + value + '"'; }
string text(const void *pointer)
{
	char out[32];
	snprintf(out, sizeof out, "0x%zx", (size_t)pointer);
	return out;
}
template <typename A, typename B> string text(const std::pair<A, B> &value)
{
	return "{first = " + text(value.first) + ", second = " + text(value.second) + "}";
}
template <typename T> string length_and_capacity(const char *title, const std::vector<T> &value)
{
	return title + (" of length " + text(value.size())) + ", capacity " + text(value.capacity());
}

template <typename T> string text(const std::vector<T> &value);

string equal(const string &body) { return body == "{}" ? "" : " = " + body; }

template <typename C> string plain(const C &values)
{
	string out = "{";
	for (const auto &value : values)
		out += (out.size() > 1 ? ", " : "") + text(value);
	return out + "}";
}
template <typename T> string text(const std::vector<T> &value)
{
	return length_and_capacity("std::vector", value) + equal(plain(value));
}
template <typename C> string numbered(const C &values)
{
	string out = "{";
	size_t at = 0;
	for (const auto &value : values)
		out += (at ? ", [" : "[") + text(at) + "] = " + text(value), at++;
	return out + "}";
}
template <typename C> string keyed(const C &values)
{
	string out = "{";
	for (const auto &value : values)
		out += (out.size() > 1 ? ", [" : "[") + text(value.first) + "] = " + text(value.second);
	return out + "}";
}
template <typename C> string count(const char *title, const C &values)
{
	return title + (" with " + text(values.size())) + (values.size() == 1 ? " element" : " elements");
}

void show(const char *name, const string &expected) { printf("%s\t%s\n", name, expected.c_str()); }

// ---- what is shown ----

struct point {
	int x, y;
};

struct alignas(64) wide {
	int value;
};
string text(const wide &w) { return "{value = " + text(w.value) + "}"; }

struct nothing {};

NOINLINE int twice(int value) { return 2 * value; }

template <typename C> C pushed(C empty)
{
	for (int i = 1; i <= 3; i++)
		empty.push(i * 10);
	return empty;
}

NOINLINE void strings()
{
	string none, small = "short", large(40, 'x'), nul("a\0b", 3);
	std::wstring broad = L"w\u00e9";
	std::u16string sixteen = u"sixteen";
	std::u32string thirtytwo = U"thirty-two";
	std::string_view part = std::string_view(small).substr(1, 3), no_part;
	string quoted = "say \"hi\"\n";
	std::filesystem::path path = "/tmp/file";
	large[5] = 'y';

	show("none", "\"\"");
	show("small", "\"short\"");
	show("large", "\"xxxxxy\", 'x' <repeats 34 times>");
	show("nul", "\"a\\000b\"");
	show("broad", "L\"w\u00e9\"");
	show("sixteen", "u\"sixteen\"");
	show("thirtytwo", "U\"thirty-two\"");
	show("part", "\"hor\"");
	show("no_part", "\"\"");
	show("quoted", "\"say \\\"hi\\\"\\n\"");
	show("path", "\"/tmp/file\"");
	fflush(stdout);
	crash();
	KEEP(none), KEEP(small), KEEP(large), KEEP(nul), KEEP(broad), KEEP(sixteen), KEEP(thirtytwo), KEEP(part);
	KEEP(no_part), KEEP(quoted), KEEP(path);
}

NOINLINE void sequences()
{
	std::vector<int> empty, reserved, three{1, 2, 3}, same(30, 7);
	reserved.reserve(10);
	reserved.push_back(4);
	std::vector<string> words{"a", "bb"};
	std::vector<std::vector<int>> rows{{1}, {2, 3}};
	std::vector<bool> bits(70);
	bits[1] = bits[69] = true;
	std::array<int, 3> fixed{4, 5, 6};
	std::array<string, 2> fixed_words{"p", "q"};
	std::span<int> dynamic_span(three.data() + 1, 2);
	std::span<int, 3> static_span(fixed);
	std::initializer_list<int> initial = {8, 9};
	std::deque<int> deque, no_deque;
	for (int i = 0; i < 300; i++)
		deque.push_back(i);
	for (int i = 0; i < 250; i++)
		deque.pop_front();
	std::list<int> list{1, 2, 3}, no_list;
	std::list<string> word_list{"x", "y"};
	std::list<wide> wide_list{{1}, {2}};
	std::forward_list<double> forward{0.5, 1.5}, no_forward;
	auto stack = pushed(std::stack<int>());
	auto queue = pushed(std::queue<int>());
	auto priority = pushed(std::priority_queue<int>());
	auto list_stack = pushed(std::stack<int, std::list<int>>());

	show("empty", text(empty));
	show("reserved", text(reserved));
	show("three", text(three));
	show("same", length_and_capacity("std::vector", same) + " = {7 <repeats 30 times>}");
	show("words", text(words));
	show("rows", text(rows));
	show("bits", length_and_capacity("std::vector<bool>", bits) + equal(plain(bits)));
	show("fixed", "{4, 5, 6}");
	show("fixed_words", "{\"p\", \"q\"}");
	show("dynamic_span", "std::span of length 2 = {2, 3}");
	show("static_span", "std::span of length 3 = {4, 5, 6}");
	show("initial", "std::initializer_list of length 2 = {8, 9}");
	show("deque", count("std::deque", deque) + equal(plain(deque)));
	show("no_deque", "std::deque with 0 elements");
	show("list", "std::list" + equal(numbered(list)));
	show("no_list", "empty std::list");
	show("word_list", "std::list" + equal(numbered(word_list)));
	show("wide_list", "std::list" + equal(numbered(wide_list)));
	show("forward", "std::forward_list" + equal(numbered(forward)));
	show("no_forward", "empty std::forward_list");
	show("stack", "std::stack wrapping: std::deque with 3 elements = {10, 20, 30}");
	show("queue", "std::queue wrapping: std::deque with 3 elements = {10, 20, 30}");
	show("priority", "std::priority_queue wrapping: std::vector of length 3, capacity 4 = {30, 10, 20}");
	show("list_stack", "std::stack wrapping: std::list = {[0] = 10, [1] = 20, [2] = 30}");
	strings();
	KEEP(empty), KEEP(reserved), KEEP(three), KEEP(same), KEEP(words), KEEP(rows), KEEP(bits), KEEP(fixed);
	KEEP(fixed_words), KEEP(dynamic_span), KEEP(static_span), KEEP(initial), KEEP(deque), KEEP(no_deque);
	KEEP(list);
	KEEP(no_list), KEEP(word_list), KEEP(wide_list), KEEP(forward), KEEP(no_forward), KEEP(stack), KEEP(queue);
	KEEP(priority), KEEP(list_stack);
}

NOINLINE void maps()
{
	std::map<string, int> ages{{"ann", 30}, {"bob", 40}, {"cid", 50}}, no_ages;
	std::map<int, std::vector<int>> nested{{1, {10}}, {2, {20, 21}}};
	std::map<int, int> many;
	for (int i = 0; i < 100; i++)
		many[i * 7 % 100] = i;
	std::multimap<char, int> multi{{'a', 1}, {'a', 2}};
	std::set<int> set{3, 1, 2}, no_set;
	std::set<wide *> pointers{nullptr};
	std::multiset<string> bag{"z", "z"};
	std::unordered_map<string, int> hashed{{"one", 1}, {"two", 2}}, no_hashed;
	std::unordered_map<int, string> numbers{{1, "eins"}};
	std::unordered_multimap<int, int> hashed_multi{{5, 1}, {5, 1}};
	std::unordered_set<int> hashed_set{9, 8, 7};
	std::unordered_multiset<long> hashed_bag{4, 4};

	show("ages", count("std::map", ages) + equal(keyed(ages)));
	show("no_ages", "std::map with 0 elements");
	show("nested", count("std::map", nested) + equal(keyed(nested)));
	show("many", count("std::map", many) + equal(keyed(many)));
	show("multi", "std::multimap with 2 elements = {[97 'a'] = 1, [97 'a'] = 2}");
	show("set", count("std::set", set) + equal(numbered(set)));
	show("no_set", "std::set with 0 elements");
	show("pointers", "std::set with 1 element = {[0] = 0x0}");
	show("bag", count("std::multiset", bag) + equal(numbered(bag)));
	show("hashed", count("std::unordered_map", hashed) + equal(keyed(hashed)));
	show("no_hashed", "std::unordered_map with 0 elements");
	show("numbers", count("std::unordered_map", numbers) + equal(keyed(numbers)));
	show("hashed_multi", count("std::unordered_multimap", hashed_multi) + equal(keyed(hashed_multi)));
	show("hashed_set", count("std::unordered_set", hashed_set) + equal(numbered(hashed_set)));
	show("hashed_bag", count("std::unordered_multiset", hashed_bag) + equal(numbered(hashed_bag)));
	sequences();
	KEEP(ages), KEEP(no_ages), KEEP(nested), KEEP(many), KEEP(multi), KEEP(set), KEEP(no_set), KEEP(pointers);
	KEEP(bag), KEEP(hashed), KEEP(no_hashed), KEEP(numbers), KEEP(hashed_multi), KEEP(hashed_set), KEEP(hashed_bag);
}

NOINLINE void holders()
{
	auto unique = std::make_unique<int>(5);
	std::unique_ptr<point> no_unique;
	void (*release)(int *) = [](int *p) { delete p; };
	std::unique_ptr<int, void (*)(int *)> deleter(new int(6), release);
	std::unique_ptr<int[]> unique_array(new int[2]{1, 2});
	auto shared = std::make_shared<point>(point{1, 2});
	auto owner = shared;
	std::weak_ptr<point> weak = shared, expired;
	std::shared_ptr<int> no_shared, adopted(new int(3));
	expired = std::make_shared<point>();
	std::pair<int, string> pair{1, "one"};
	std::tuple<int, string, nothing, double> tuple{1, "two", {}, 2.5};
	std::tuple<> no_tuple;
	std::optional<int> some = 3, none;
	std::optional<string> some_word = "word";
	std::optional<std::vector<int>> some_list = std::vector<int>{1, 2};
	std::variant<int, string, double> variant = "text", number = 1.5;
	std::variant<std::monostate, std::vector<int>> list_variant = std::vector<int>{4};
	std::bitset<8> small_bits(0x81);
	std::bitset<100> large_bits;
	large_bits[99] = true;
	std::atomic<int> atomic = 7;
	std::atomic<bool> flag = true;
	std::chrono::milliseconds wait(1500);
	std::chrono::duration<double> seconds(0.25);
	std::chrono::hours hours(2);

	show("unique", "std::unique_ptr<int> = {get() = " + text(unique.get()) + "}");
	show("no_unique", "std::unique_ptr<(anonymous namespace)::point> = {get() = 0x0}");
	show("deleter", "std::unique_ptr<int> = {get() = " + text(deleter.get()) + "}");
	show("unique_array", "std::unique_ptr<int []> = {get() = " + text(unique_array.get()) + "}");
	show("shared", "std::shared_ptr<(anonymous namespace)::point> (use count 2, weak count 1) = {get() = " +
			       text(shared.get()) + "}");
	show("weak", "std::weak_ptr<(anonymous namespace)::point> (use count 2, weak count 1) = {get() = " +
			     text(shared.get()) + "}");
	show("no_shared", "std::shared_ptr<int> (empty) = {get() = 0x0}");
	show("adopted", "std::shared_ptr<int> (use count 1, weak count 0) = {get() = " + text(adopted.get()) + "}");
	show("pair", text(pair));
	show("tuple", "std::tuple containing = {[1] = 1, [2] = \"two\", [3] = {<No data fields>}, [4] = 2.5}");
	show("no_tuple", "empty std::tuple");
	show("some", "std::optional<int> = {[contained value] = 3}");
	show("none", "std::optional<int> [no contained value]");
	show("some_word", "std::optional<std::string> = {[contained value] = \"word\"}");
	show("some_list", "std::optional<std::vector<int>> containing " + text(*some_list));
	show("variant", "std::variant<int, std::string, double> [index 1] = {\"text\"}");
	show("number", "std::variant<int, std::string, double> [index 2] = {1.5}");
	show("list_variant",
	     "std::variant<std::monostate, std::vector<int>> [index 1] containing " + text(std::get<1>(list_variant)));
	show("small_bits", "std::bitset = {[0] = 1, [7] = 1}");
	show("large_bits", "std::bitset = {[99] = 1}");
	show("atomic", "std::atomic<int> = {7}");
	show("flag", "std::atomic<bool> = {true}");
	show("wait", "std::chrono::duration = {1500ms}");
	show("seconds", "std::chrono::duration = {0.25s}");
	show("hours", "std::chrono::duration = {2h}");
	maps();
	KEEP(unique), KEEP(no_unique), KEEP(deleter), KEEP(unique_array), KEEP(shared), KEEP(owner), KEEP(weak);
	KEEP(expired), KEEP(no_shared), KEEP(adopted), KEEP(pair), KEEP(tuple), KEEP(no_tuple), KEEP(some), KEEP(none);
	KEEP(some_word), KEEP(some_list), KEEP(variant), KEEP(number), KEEP(list_variant), KEEP(small_bits);
	KEEP(large_bits), KEEP(atomic), KEEP(flag), KEEP(wait), KEEP(seconds), KEEP(hours);
}

// What hides the type of its content, and memory that is no container.
NOINLINE void erased()
{
	std::any any_int = 5, any_word = string("inside"), no_any;
	std::function<int(int)> pointer = twice, no_function;
	int offset = 3;
	std::function<int(int)> closure = [offset](int value) { return value + offset; };
	alignas(16) unsigned char junk[1024];
	memset(junk, 0xa5, sizeof junk);
	auto &bad_vector = *reinterpret_cast<std::vector<int> *>(junk);
	auto &bad_string = *reinterpret_cast<string *>(junk);
	auto &bad_list = *reinterpret_cast<std::list<int> *>(junk);
	auto &bad_map = *reinterpret_cast<std::map<int, int> *>(junk);
	auto &bad_hash = *reinterpret_cast<std::unordered_map<int, string> *>(junk);
	auto &bad_deque = *reinterpret_cast<std::deque<int> *>(junk);

	show("no_any", "std::any [no contained value]");
	show("no_function", "std::function<int (int)> [no target]");
	holders();
	KEEP(any_int), KEEP(any_word), KEEP(no_any), KEEP(pointer), KEEP(no_function), KEEP(closure), KEEP(junk);
	KEEP(bad_vector), KEEP(bad_string), KEEP(bad_list), KEEP(bad_map), KEEP(bad_hash), KEEP(bad_deque);
}

} // namespace

int main()
{
	erased();
	return 0;
}
