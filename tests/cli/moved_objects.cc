// Programs that use what they have moved away, or that seem to. moved_objects.bats says which verdict each must get.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

struct Node {
	std::string host;
	int port = 0, weight = 1;
};

struct Topology {
	unsigned long epoch = 0;
	std::string name;
	std::vector<Node> nodes;
};

struct Ring {
	int *begin = nullptr, *end = nullptr;
};

static std::vector<Topology> history;
static std::vector<std::unique_ptr<Node>> kept;
static volatile unsigned long seed = 17;
static volatile int sink;

#define OUTSIDE __attribute__((noinline, noipa)) // as a call into another unit

OUTSIDE static void record(Topology t)
{
	history.push_back(std::move(t));
}

OUTSIDE static void keep(std::unique_ptr<Node> n)
{
	kept.push_back(std::move(n));
}

OUTSIDE static void log(const Topology &t)
{
	sink = static_cast<int>(t.epoch);
}

OUTSIDE static void fill(Topology &t)
{
	if (seed == 0)
		t.nodes.resize(3);
}

static Topology make(unsigned long count)
{
	Topology t;
	t.epoch = seed;
	t.name = "cache-eu-west-production-cluster";
	for (unsigned long i = 0; i < count; i++)
		t.nodes.push_back({"kv", static_cast<int>(i), 1});
	return t;
}

// ---- division ----

OUTSIDE static unsigned long slot(const Topology &t)
{
	unsigned long h = seed * 31;
	return h % t.nodes.size(); // the divisor
}

OUTSIDE static unsigned long of_caller(Topology &&t)
{
	record(std::move(t)); // gives it away
	return slot(t);
}

OUTSIDE static unsigned long passed_between(Topology &&t)
{
	record(std::move(t));
	log(t);
	return slot(t);
}

OUTSIDE static unsigned long set_again(Topology t)
{
	record(std::move(t));
	t = make(seed - 17);
	return slot(t);
}

OUTSIDE static unsigned long cleared(Topology t)
{
	std::string name = std::move(t.name);
	t.nodes.clear();
	sink = static_cast<int>(name.size());
	return slot(t);
}

OUTSIDE static unsigned long filled(Topology t)
{
	record(std::move(t));
	fill(t);
	return slot(t);
}

OUTSIDE static unsigned long other_branch(Topology t)
{
	if (seed == 1) {
		record(std::move(t));
	} else {
		return slot(t);
	}
	return 0;
}

OUTSIDE static unsigned long returned_before(Topology t)
{
	if (seed == 1) {
		record(std::move(t));
		return 1;
	}
	return slot(t);
}

OUTSIDE static unsigned long switched(Topology t)
{
	switch (seed) {
	case 1:
		record(std::move(t));
		break;
	default:
		return slot(t);
	}
	return 0;
}

OUTSIDE static unsigned long in_lambda(Topology t)
{
	auto give = [](Topology t) { record(std::move(t)); };
	give(make(1));
	return slot(t);
}

OUTSIDE static unsigned long other_if(Topology t)
{
	if (seed == 17) {
		record(std::move(t));
	}
	if (seed == 1)
		sink = 1;
	else
		sink = 2;
	return slot(t);
}

OUTSIDE static unsigned long of_ring(const Ring *r)
{
	return seed % static_cast<unsigned long>(r->end - r->begin);
}

OUTSIDE static unsigned long average(const std::string &text)
{
	unsigned long sum = seed;
	for (char c : text)
		sum += static_cast<unsigned char>(c);
	return sum / text.size();
}

OUTSIDE static unsigned long of_map(const std::map<int, int> &m)
{
	return seed / m.size();
}

OUTSIDE static int several(const std::vector<int> &a, const std::vector<int> &b)
{
	return static_cast<int>(seed / a.size() + seed % b.size());
}

// ---- NULL ----

OUTSIDE static int pointer(std::unique_ptr<Node> n)
{
	keep(std::move(n));
	return n->port;
}

OUTSIDE static int shared(std::shared_ptr<Node> n)
{
	std::shared_ptr<Node> other = std::move(n);
	sink = other->weight;
	return n->port;
}

OUTSIDE static int element(std::vector<Node> v)
{
	std::vector<Node> other = std::move(v);
	sink = static_cast<int>(other.size());
	return v[0].port;
}

OUTSIDE static int member(Topology *t)
{
	std::vector<Node> other(std::move(t->nodes));
	sink = static_cast<int>(other.size());
	return t->nodes[1].weight;
}

OUTSIDE static int never_set(std::unique_ptr<Node> n)
{
	std::unique_ptr<Node> other;
	if (seed == 17)
		other = std::make_unique<Node>();
	keep(std::move(other));
	return n->port;
}

OUTSIDE static int set_since(std::unique_ptr<Node> n)
{
	keep(std::move(n));
	n.reset(seed == 17 ? nullptr : new Node);
	return n->port;
}

struct Link {
	std::string name;
	Node *to = nullptr;
};

OUTSIDE static int raw_member(Link l)
{
	Link other = std::move(l);
	sink = static_cast<int>(other.name.size());
	return l.to->port;
}

// ---- ends of its own ----

OUTSIDE static int checked(std::vector<Node> v)
{
	std::vector<Node> other = std::move(v);
	sink = static_cast<int>(other.size());
	return v.at(0).port;
}

OUTSIDE static int called(std::function<int()> f)
{
	std::function<int()> g = std::move(f);
	sink = g();
	return f();
}

OUTSIDE static int checked_other(std::vector<Node> v, const std::vector<Node> &empty)
{
	std::vector<Node> other = std::move(v);
	sink = static_cast<int>(other.size());
	return empty.at(0).port;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	auto is = [how](const char *name) { return std::strcmp(how, name) == 0; };
	Topology full = make(5), empty = make(0);
	static int numbers[2];
	Ring ring = {numbers + 1, numbers + (seed == 17)};
	ring.begin = numbers + (seed == 17);
	if (is("of-caller"))
		sink = static_cast<int>(of_caller(std::move(full)));
	if (is("passed-between"))
		sink = static_cast<int>(passed_between(std::move(full)));
	if (is("set-again"))
		sink = static_cast<int>(set_again(full));
	if (is("cleared"))
		sink = static_cast<int>(cleared(full));
	if (is("filled"))
		sink = static_cast<int>(filled(full));
	if (is("other-branch"))
		sink = static_cast<int>(other_branch(empty));
	if (is("returned-before"))
		sink = static_cast<int>(returned_before(empty));
	if (is("switched"))
		sink = static_cast<int>(switched(empty));
	if (is("in-lambda"))
		sink = static_cast<int>(in_lambda(empty));
	if (is("other-if"))
		sink = static_cast<int>(other_if(full));
	if (is("of-ring"))
		sink = static_cast<int>(of_ring(&ring));
	if (is("average"))
		sink = static_cast<int>(average(seed == 17 ? "" : "text"));
	if (is("of-map"))
		sink = static_cast<int>(of_map(std::map<int, int>()));
	if (is("several"))
		sink = several({1, 2, 3}, {});
	if (is("pointer"))
		sink = pointer(std::make_unique<Node>());
	if (is("shared"))
		sink = shared(std::make_shared<Node>());
	if (is("element"))
		sink = element(full.nodes);
	if (is("member"))
		sink = member(&full);
	if (is("never-set"))
		sink = never_set(nullptr);
	if (is("set-since"))
		sink = set_since(std::make_unique<Node>());
	if (is("raw-member"))
		sink = raw_member(Link());
	if (is("checked"))
		sink = checked(full.nodes);
	if (is("called"))
		sink = called([] { return 3; });
	if (is("checked-other"))
		sink = checked_other(full.nodes, empty.nodes);
	return 0;
}
