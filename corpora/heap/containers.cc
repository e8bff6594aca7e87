// containers: every container of the standard library, within each other. The account hears of their blocks by told/bits/c++allocator.h.
#include <array>
#include <deque>
#include <forward_list>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <set>
#include <string>
#include <typeinfo>
#include <unordered_map>
#include <unordered_set>
#include <variant>
#include <vector>
#include "account.h"

template <class T, class... A> T *made(A &&...arguments)
{
	T *one = new T(std::forward<A>(arguments)...);
	account_is(one, typeid(T).name(), 1);
	return one;
}

struct Point {
	int x, y;
};

struct Node {
	std::string name;
	std::vector<std::unique_ptr<Node>> children;
	std::weak_ptr<int> hint;
	Node *parent = nullptr;
};

struct World {
	std::vector<Point> points;
	std::vector<std::vector<int>> rows;
	std::vector<bool> bits;
	std::vector<std::string> names;
	std::list<std::string> queue;
	std::forward_list<Point *> forward;
	std::deque<std::pair<int, std::string>> deque;
	std::map<int, std::string> by_number;
	std::map<std::string, std::vector<Point>> by_name;
	std::multimap<long, std::unique_ptr<Point>> many;
	std::set<std::string> set;
	std::unordered_map<std::string, std::map<int, std::list<double>>> nested;
	std::unordered_set<const Point *> seen;
	std::unordered_multimap<int, std::shared_ptr<std::string>> shared;
	std::priority_queue<double> ordered;
	std::array<std::vector<float>, 4> four;
	std::optional<std::vector<short>> perhaps;
	std::variant<int, std::string, std::vector<Point>> one_of[30];
	std::function<int(int)> calls[10];
	std::u32string wide;
	std::unique_ptr<Node> tree;
	std::unique_ptr<Point[]> block;
	std::shared_ptr<Node> alone;
};

HELD World world;
HELD std::map<int, World *> worlds;
HELD std::shared_ptr<int> hinted;

static std::string text(const char *what, int number)
{
	return std::string(what) + " with a text that does not fit in itself, number " + std::to_string(number);
}

static PART void fill_sequences(World &at)
{
	for (int i = 0; i < 150; i++) {
		at.points.push_back({i, -i});
		at.rows.emplace_back(i % 20 + 1, i);
		at.bits.push_back(i % 3);
		at.names.push_back(text("name", i));
		at.queue.push_back(i % 2 ? text("queued", i) : "short");
		at.forward.push_front(made<Point>(Point{i, i}));
		at.deque.emplace_back(i, text("deque", i));
		at.ordered.push(i * 0.5);
		at.wide.push_back(0x430 + i);
	}
	for (int i = 0; i < 40; i++)
		at.queue.pop_front();
	for (auto &some : at.four)
		some.resize(33, 1.5f);
	at.perhaps.emplace(50, 7);
	at.block.reset(static_cast<Point *>(account_is(new Point[20](), typeid(Point).name(), 20)));
}

static PART void fill_maps(World &at)
{
	for (int i = 0; i < 150; i++) {
		at.by_number[i * 7 % 150] = text("number", i);
		at.by_name[text("key", i)] = std::vector<Point>(i % 5 + 1);
		at.many.emplace(i % 10, std::unique_ptr<Point>(made<Point>(Point{i, 1})));
		at.set.insert(text("set", i));
		at.nested[text("outer", i % 12)][i % 5].push_back(i);
		at.seen.insert(&at.points[i]);
		at.shared.emplace(i, std::make_shared<std::string>(text("shared", i)));
	}
	for (int i = 0; i < 150; i += 4)
		at.by_number.erase(i);
}

static PART void fill_choices(World &at)
{
	for (int i = 0; i < 30; i++) {
		if (i % 3 == 0)
			at.one_of[i] = i;
		else if (i % 3 == 1)
			at.one_of[i] = text("variant", i);
		else
			at.one_of[i] = std::vector<Point>(i);
	}
	for (int i = 0; i < 10; i++) {
		std::string held = text("captured", i);
		at.calls[i] = [held, i](int more) { return int(held.size()) + i + more; };
	}
}

static PART std::unique_ptr<Node> grow(int depth, Node *parent)
{
	std::unique_ptr<Node> node(made<Node>());
	node->name = depth % 2 ? text("node", depth) : "leaf";
	node->parent = parent;
	node->hint = hinted;
	for (int i = 0; depth && i < 3; i++)
		node->children.push_back(grow(depth - 1, node.get()));
	return node;
}

static PART void fill(World &at)
{
	fill_sequences(at);
	fill_maps(at);
	fill_choices(at);
	at.tree = grow(4, nullptr);
	at.alone = std::make_shared<Node>();
	at.alone->name = text("alone", 1);
}

int main()
{
	hinted = std::make_shared<int>(5);
	fill(world);
	for (int i = 0; i < 2; i++) {
		worlds[i] = made<World>();
		fill(*worlds[i]);
	}
	account_die();
}
