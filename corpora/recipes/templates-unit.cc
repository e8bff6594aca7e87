// One unit of the recipe "templates"; templates-make replaces @N@ by its number and @NEXT@ by the next unit's.
#include <cstdint>

#include <Eigen/Dense>
#include <algorithm>
#include <boost/hana.hpp>
#include <boost/multi_index/hashed_index.hpp>
#include <boost/multi_index/member.hpp>
#include <boost/multi_index/ordered_index.hpp>
#include <boost/multi_index_container.hpp>
#include <boost/spirit/include/qi.hpp>
#include <boost/variant.hpp>
#include <deque>
#include <list>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <range/v3/all.hpp>
#include <regex>
#include <set>
#include <tuple>
#include <unordered_map>
#include <variant>

namespace unit_@N@ {

@MESSAGES@
enum class Colour : unsigned char { red, green = 7, blue };
enum Flag { flag_none = 0, flag_old = 1, flag_new = 2, flag_last_@N@ = 64 + @N@ };

struct Base {
	virtual ~Base() = default;
	virtual int weight() const { return base; }
	int base = @N@;
};

struct Mixin : virtual Base {
	unsigned low : 3, : 5, high : 9;
	long double precise = @N@.25L;
};

struct Record : Mixin {
	union {
		std::int64_t number;
		struct {
			std::int32_t low, high;
		} half;
	};
	Colour colour = Colour::green;
	Flag flags = flag_new;
	std::string name;
	std::array<std::pair<short, char>, 3 + @N@ % 5> pairs{};
	int Record::*member = nullptr;
	int weight() const override { return static_cast<int>(number) + base; }
};

using Shared = std::shared_ptr<Record>;
using Choice = std::variant<std::monostate, int, std::string, Shared, std::vector<Shared>>;
struct ByName {};
using Index = boost::multi_index_container<Shared, boost::multi_index::indexed_by<
	boost::multi_index::hashed_unique<boost::multi_index::member<Record, std::string, &Record::name>>,
	boost::multi_index::ordered_non_unique<boost::multi_index::tag<ByName>,
		boost::multi_index::member<Record, std::int64_t, &Record::number>>>>;

Index records;
std::unordered_map<std::string, std::tuple<int, double, Colour>> facts_@N@;
std::map<std::pair<int, Colour>, std::set<std::string>> tree_@N@;
static nlohmann::json document;
static int counter = @N@;
thread_local int visits_@N@;
const int answers[4] = {@N@, @N@ + 1, -@N@, 42};

template <typename T, int Level> struct Layer {
	T value;
	Layer<std::pair<T, Record *>, Level - 1> inner;
	int descend(Journey &journey) { return inner.descend(journey) + Level; }
};

template <typename T> struct Layer<T, 0> {
	std::vector<T> last;
	int descend(Journey &journey);
};

static void fill()
{
	for (int i = 0; i < 20; i++) {
		auto record = std::make_shared<Record>();
		record->number = i * @N@ % 11;
		record->name = "record " + std::to_string(i);
		record->low = i & 7;
		records.insert(record);
		facts_@N@[record->name] = {i, i / 3.0, Colour::blue};
		tree_@N@[{i % 3, Colour::red}].insert(record->name);
	}
	document = {{"unit", @N@}, {"list", {1, 2, 3}}, {"object", {{"currency", "EUR"}, {"value", 42.99}}}};
}

static int parse(const std::string &text)
{
	namespace qi = boost::spirit::qi;
	std::vector<int> numbers;
	auto at = text.begin();
	qi::phrase_parse(at, text.end(), qi::int_ % ',' >> -qi::lit(';'), qi::space, numbers);
	return std::accumulate(numbers.begin(), numbers.end(), 0);
}

static double solve()
{
	Eigen::Matrix<double, 3 + @N@ % 4, 3 + @N@ % 4> matrix;
	matrix.setIdentity();
	matrix(0, 1) = @N@;
	return (matrix * matrix.transpose()).fullPivLu().determinant();
}

static int pipeline()
{
	using namespace ranges;
	auto squares = views::ints(1, 20) | views::transform([](int i) { return i * @N@; }) |
		views::filter([](int i) { return i % 2 == 0; }) | views::take(5);
	return accumulate(squares, 0);
}

static int match(const std::string &text)
{
	std::smatch found;
	return std::regex_search(text, found, std::regex("([a-z]+) ([0-9]+)")) ? static_cast<int>(found.size()) : 0;
}

static int visit(const Choice &choice)
{
	struct Visitor {
		int operator()(std::monostate) const { return 0; }
		int operator()(int i) const { return i; }
		int operator()(const std::string &text) const { return match(text) + parse(text); }
		int operator()(const Shared &record) const { return record->weight(); }
		int operator()(const std::vector<Shared> &list) const
		{
			return std::accumulate(list.begin(), list.end(), 0, [](int sum, const Shared &one) { return sum + one->weight(); });
		}
	};
	return std::visit(Visitor(), choice);
}

template <typename T> int Layer<T, 0>::descend(Journey &journey)
{
	auto parts = boost::hana::make_tuple(1, std::string("two"), 3.0);
	auto sizes = boost::hana::transform(parts, [](const auto &part) { return sizeof(part); });
	boost::variant<int, std::string, Layer *> here = this;
	std::function<int(int)> onward = [&](int steps) {
		return boost::apply_visitor([&](auto &) { return steps > 0 ? unit_@NEXT@::enter(journey) : journey.last(); }, here);
	};
	std::vector<int> order = {2, 1};
	std::sort(order.begin(), order.end(), [&](int a, int b) {
		if (--journey.steps >= -1)
			counter += onward(journey.steps);
		return a < b;
	});
	return order[0] + static_cast<int>(boost::hana::at_c<0>(sizes));
}

int enter(Journey &journey)
{
	visits_@N@++;
	static std::once_flag once;
	std::call_once(once, fill);
	std::list<Choice> choices = {1, std::string("item 7,8"), *records.begin(), std::vector<Shared>(records.begin(), records.end())};
	int sum = pipeline() + static_cast<int>(solve()) + document["list"].size();
	ranges::for_each(choices, [&](const Choice &choice) { sum += visit(choice); });
	std::optional<Layer<Colour, 6>> layers(std::in_place);
	return sum + layers->descend(journey) + answers[sum & 3];
}

} // namespace unit_@N@
