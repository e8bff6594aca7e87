// market: an exchange. Orders in price levels of maps, looked up by id; instruments with several bases; gateways with sessions, queues of
// messages in variants, timers and a tape of what happened.
#include <array>
#include <bitset>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <deque>
#include <forward_list>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <string>
#include <string_view>
#include <tuple>
#include <typeinfo>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>
#include "account.h"

namespace ex
{

template <class T, class... A> T *make(A &&...args)
{
	return static_cast<T *>(account_is(new T(std::forward<A>(args)...), typeid(T).name(), 1));
}

using Price = std::int64_t;
using OrderId = std::uint64_t;

enum class Side : std::uint8_t { Buy, Sell };

struct Money {
	std::int64_t units;
	std::int32_t nanos;
	char currency[4];
};

struct Account;
struct Instrument;
struct Level;

// ---- orders: intrusive in their level ----

struct Hook { // a ring of its own at first
	Hook *next = this, *prev = this;
};

struct OrderBase {
	virtual ~OrderBase() = default;
	virtual bool active() const = 0;
	OrderId id = 0;
	std::uint32_t quantity = 0, filled = 0;
	Side side = Side::Buy;
};
struct Expiring {
	virtual ~Expiring() = default;
	virtual void expire() = 0;
	std::int64_t deadline = 0;
};
struct Order : OrderBase {
	bool active() const override { return filled < quantity; }
	Hook in_level;
	Level *level = nullptr;
	std::shared_ptr<Account> owner;
	std::optional<std::string> note;
	Price price = 0;
};
struct IcebergOrder : Order, Expiring {
	void expire() override { filled = quantity; }
	std::uint32_t shown = 10, hidden = 90;
	std::vector<std::uint32_t> slices;
};
struct PeggedOrder : Order {
	std::weak_ptr<Instrument> to;
	double offset = 0.25;
	std::unique_ptr<std::array<double, 6>> curve;
};
struct StopOrder : Expiring, Order {
	void expire() override { deadline = 0; }
	std::variant<std::monostate, Price, double, std::unique_ptr<Money>> trigger;
};

struct Level {
	Hook orders; // a ring
	std::uint64_t total = 0;
	std::uint32_t count = 0;
	std::unique_ptr<std::string> comment;
};

// ---- accounts ----

struct Position {
	std::int64_t quantity = 0;
	double average = 0;
	std::deque<std::pair<std::int64_t, double>> lots;
};

struct Account : public std::enable_shared_from_this<Account> {
	explicit Account(std::string n) : name(std::move(n)) {}
	std::string name;
	std::map<std::string, Position, std::less<>> positions;
	std::unordered_set<OrderId> open;
	std::vector<Money> balances;
	std::weak_ptr<Account> parent;
	std::vector<std::shared_ptr<Account>> children;
	std::bitset<128> rights;
};

// ---- instruments: virtual bases ----

struct Named {
	virtual ~Named() = default;
	virtual std::string_view kind() const { return "named"; }
	std::string symbol;
};
struct Priced : public virtual Named {
	virtual double mid() const { return last; }
	double last = 1.5;
	std::vector<float> history;
};
struct Dated : public virtual Named {
	virtual int days() const { return expiry; }
	int expiry = 30;
	std::unique_ptr<std::tm> calendar;
};
struct Instrument : public Priced {
	std::map<Price, Level *, std::greater<Price>> bids;
	std::map<Price, std::unique_ptr<Level>> asks;
	std::multimap<std::int64_t, OrderBase *> by_time;
};
struct Future final : public Instrument, public Dated {
	std::string_view kind() const override { return "future"; }
	std::shared_ptr<Instrument> underlying;
};
struct Option final : public Instrument, public Dated {
	struct Greeks {
		double delta, gamma, vega, theta, rho;
	};
	std::unique_ptr<Greeks> greeks;
	std::unique_ptr<Greeks[]> surface;
	std::size_t surface_size = 0;
};

// ---- messages ----

struct NewOrder {
	OrderId id;
	std::string symbol;
	Price price;
	std::uint32_t quantity;
};
struct Cancel {
	OrderId id;
	std::unique_ptr<std::string> reason;
};
struct Replace {
	OrderId id;
	std::optional<Price> price;
	std::optional<std::uint32_t> quantity;
	std::shared_ptr<NewOrder> replacement;
};
struct Quote {
	std::array<std::pair<Price, std::uint32_t>, 4> bids, asks;
};
struct Heartbeat {};
using Message = std::variant<Heartbeat, NewOrder, Cancel, Replace, std::unique_ptr<Quote>, std::vector<std::uint8_t>>;

// ---- sessions: an implementation behind a pointer, handlers ----

struct Handler {
	virtual ~Handler() = default;
	virtual void on(const Message &) = 0;
	std::unique_ptr<Handler> next;
};
struct Journal : public Handler {
	void on(const Message &) override { lines.emplace_back("line"); }
	std::vector<std::string> lines;
};
struct Throttle : public Handler {
	void on(const Message &) override { at++; }
	std::array<std::int64_t, 16> window{};
	std::size_t at = 0;
};
struct Router : public Handler, public Expiring {
	void on(const Message &) override { deadline++; }
	void expire() override { routes.clear(); }
	std::unordered_map<std::string, std::function<void(const Message &)>> routes;
};

struct Session {
	explicit Session(int fd);
	~Session();
	struct Impl;
	std::unique_ptr<Impl> impl;
};

struct Session::Impl {
	int fd = 0;
	std::string peer;
	std::deque<Message> incoming;
	std::queue<std::unique_ptr<Message>> outgoing;
	std::unique_ptr<Handler> handlers;
	std::shared_ptr<Account> account;
	std::vector<bool> acknowledged;
	std::forward_list<std::pair<int, std::string>> errors;
};

Session::Session(int fd) : impl(make<Impl>()) { impl->fd = fd; }
Session::~Session() = default;

// ---- a pool with slabs, timers ----

struct Trade {
	OrderId buyer, seller;
	Price price;
	std::uint32_t quantity, flags;
	Trade *next_free;
};

struct TradePool {
	Trade *take()
	{
		if (!free_) {
			slabs.emplace_back(static_cast<Trade *>(account_is(new Trade[64](), typeid(Trade).name(), 64)));
			for (std::size_t i = 0; i < 64; i++) {
				slabs.back()[i].next_free = free_;
				free_ = &slabs.back()[i];
			}
		}
		Trade *trade = free_;
		free_ = trade->next_free;
		trade->next_free = nullptr;
		return trade;
	}
	std::vector<std::unique_ptr<Trade[]>> slabs;

      private:
	Trade *free_ = nullptr;
};

struct Timer {
	std::int64_t when;
	std::function<void()> what;
	std::shared_ptr<int> alive;
	bool operator<(const Timer &other) const { return when > other.when; }
};

struct Exchange {
	std::unordered_map<std::string, std::shared_ptr<Instrument>> instruments;
	std::unordered_map<OrderId, std::unique_ptr<OrderBase>> orders;
	std::map<std::tuple<int, std::string>, std::shared_ptr<Account>> accounts;
	std::vector<std::unique_ptr<Session>> sessions;
	std::priority_queue<Timer> timers;
	TradePool pool;
	std::deque<Trade *> tape;
	std::list<std::variant<std::string, std::shared_ptr<Order>, Money *>> events;
	std::vector<std::vector<Expiring *>> wheel{16};
};

Exchange *exchange;
static std::string symbol_for(unsigned n)
{
	char text[40];
	std::snprintf(text, sizeof text, n % 2 ? "SYM%u" : "A.LONGER.SYMBOL.NAME.%u", n);
	return text;
}

static Level *level_for(Instrument &in, Side side, Price price)
{
	if (side == Side::Sell) {
		auto &level = in.asks[price];
		if (!level)
			level.reset(make<Level>());
		return level.get();
	}
	Level *&level = in.bids[price];
	if (!level) {
		level = make<Level>();
		if (price % 5 == 0)
			level->comment.reset(make<std::string>("a level that somebody wrote a comment on"));
	}
	return level;
}

static void enter(Level *level, Order *order)
{
	Hook *last = level->orders.prev;
	order->in_level.next = &level->orders;
	order->in_level.prev = last;
	last->next = level->orders.prev = &order->in_level;
	order->level = level;
	level->count++;
}

static Order *order_new(unsigned n)
{
	if (n % 7 == 0) {
		auto *one = make<IcebergOrder>();
		one->slices = {1, 2, 3, n};
		one->deadline = 1700000000000 + n;
		return one;
	}
	if (n % 7 == 1) {
		auto *one = make<PeggedOrder>();
		one->curve.reset(make<std::array<double, 6>>());
		(*one->curve)[2] = 0.5;
		return one;
	}
	if (n % 7 == 2) {
		auto *one = make<StopOrder>();
		if (n % 4 == 1)
			one->trigger = Price(n);
		else if (n % 4 == 2)
			one->trigger = 1.25;
		else if (n % 4 == 3)
			one->trigger = std::unique_ptr<Money>(make<Money>(Money{5, 7, "EUR"}));
		return one;
	}
	return make<Order>();
}

static PART void trade(Instrument &in, const std::shared_ptr<Instrument> &shared_in, unsigned n)
{
	Order *order = order_new(n);
	order->id = 1000000 + n;
	order->quantity = 10 * (1 + n % 9);
	order->side = n % 3 ? Side::Buy : Side::Sell;
	order->price = 100 + n % 17;
	if (n % 6 == 0)
		order->note = "note " + symbol_for(n) + " of some length";
	if (auto *pegged = dynamic_cast<PeggedOrder *>(order))
		pegged->to = shared_in;
	auto account = exchange->accounts.begin();
	std::advance(account, n % exchange->accounts.size());
	order->owner = account->second;
	account->second->open.insert(order->id);
	enter(level_for(in, order->side, order->price), order);
	in.by_time.emplace(n, order);
	exchange->orders.emplace(order->id, std::unique_ptr<OrderBase>(order));
	if (auto *expiring = dynamic_cast<Expiring *>(order))
		exchange->wheel[n % 16].push_back(expiring);
	Trade *done = exchange->pool.take();
	*done = Trade{order->id, order->id + 1, order->price, order->quantity, 0, nullptr};
	exchange->tape.push_back(done);
	account->second->positions[in.symbol].lots.emplace_back(n, n * 0.5);
}

static PART void accounts()
{
	for (int i = 0; i < 40; i++) {
		auto one = std::make_shared<Account>(symbol_for(i) + " Ltd");
		for (int k = 0; k < i % 4; k++)
			one->balances.push_back(Money{i * 100, 5, "USD"});
		if (i > 10) {
			auto parent = exchange->accounts.begin()->second;
			one->parent = parent;
			parent->children.push_back(one);
		}
		exchange->accounts.emplace(std::make_tuple(i, symbol_for(i)), one);
	}
}

static std::shared_ptr<Instrument> instrument(unsigned n)
{
	if (n % 5 == 1) {
		auto one = std::make_shared<Future>();
		one->calendar.reset(make<std::tm>());
		one->calendar->tm_year = 126;
		if (!exchange->instruments.empty())
			one->underlying = exchange->instruments.begin()->second;
		return one;
	}
	if (n % 5 == 2) {
		std::shared_ptr<Option> one(make<Option>());
		one->greeks.reset(make<Option::Greeks>(Option::Greeks{0.5, 0.1, 2.5, -1.5, 0.25}));
		one->surface_size = 5 + n % 3;
		one->surface.reset(static_cast<Option::Greeks *>(
			account_is(new Option::Greeks[one->surface_size](), typeid(Option::Greeks).name(), one->surface_size)));
		for (std::size_t i = 0; i < one->surface_size; i++)
			one->surface[i].delta = 0.125 * static_cast<double>(i);
		return one;
	}
	return std::shared_ptr<Instrument>(make<Instrument>());
}

static PART void instruments()
{
	for (unsigned i = 0; i < 24; i++) {
		auto one = instrument(i);
		one->symbol = symbol_for(i);
		one->last = 10.0 + i;
		for (unsigned k = 0; k < i * 3; k++)
			one->history.push_back(float(k) / 4);
		exchange->instruments.emplace(one->symbol, one);
		for (unsigned k = 0; k < 50; k++)
			trade(*one, one, i * 50 + k);
	}
}

static Message message(unsigned n)
{
	switch (n % 6) {
	case 0:
		return Heartbeat{};
	case 1:
		return NewOrder{n, symbol_for(n), 100, 10};
	case 2:
		return Cancel{n, std::unique_ptr<std::string>(make<std::string>("cancelled by the user, who is away"))};
	case 3:
		return Replace{n, Price(5), std::nullopt, std::make_shared<NewOrder>(NewOrder{n, symbol_for(n), 5, 6})};
	case 4:
		return std::unique_ptr<Quote>(make<Quote>());
	default:
		return std::vector<std::uint8_t>(20 + n, static_cast<std::uint8_t>(n));
	}
}

static PART void session(unsigned n)
{
	std::unique_ptr<Session> one(make<Session>(static_cast<int>(n)));
	auto &impl = *one->impl;
	impl.peer = "192.0.2.1:" + std::to_string(40000 + n) + " by gateway";
	for (unsigned i = 0; i < 30 + n; i++)
		impl.incoming.push_back(message(i + n));
	for (unsigned i = 0; i < 5; i++)
		impl.outgoing.emplace(make<Message>(message(i * 7 + n)));
	auto *journal = make<Journal>();
	for (unsigned i = 0; i < n % 5; i++)
		journal->lines.push_back("journal line " + symbol_for(i) + " of some length");
	auto *throttle = make<Throttle>();
	throttle->next.reset(journal);
	auto *router = make<Router>();
	router->next.reset(throttle);
	Account *raw = exchange->accounts.begin()->second.get();
	std::shared_ptr<Account> held = raw->shared_from_this();
	router->routes["new"] = [held](const Message &) { held->rights.set(1); };
	router->routes["cancel"] = [raw, n](const Message &) { raw->rights.set(n % 100); };
	impl.handlers.reset(router);
	impl.account = held;
	impl.acknowledged.resize(100 + n, true);
	for (unsigned i = 0; i < n % 4; i++)
		impl.errors.emplace_front(i, "error number " + std::to_string(i) + " with words");
	exchange->sessions.push_back(std::move(one));
}

static PART void others()
{
	for (int i = 0; i < 20; i++) {
		auto alive = std::shared_ptr<int>(make<int>(i));
		std::string text = "timer " + std::to_string(i) + " that says something";
		exchange->timers.push(Timer{1700000000000 + i, [text, alive] { (void)*alive; }, alive});
	}
	for (unsigned i = 0; i < 30; i++) {
		if (i % 3 == 0)
			exchange->events.emplace_back("event of a long description " + std::to_string(i));
		else if (i % 3 == 1)
			exchange->events.emplace_back(std::shared_ptr<Order>(order_new(3)));
		else
			exchange->events.emplace_back(make<Money>(Money{i, 1, "GBP"}));
	}
}

static PART void lose(unsigned n)
{
	auto *order = static_cast<Order *>(account_leaked(make<Order>()));
	order->price = n;
	order->owner = exchange->accounts.begin()->second;
	account_leaked(make<Money>(Money{n, 2, "CHF"}));
	auto *level = static_cast<Level *>(account_leaked(make<Level>()));
	level->orders.next = level->orders.prev = &order->in_level;
	order->in_level.next = order->in_level.prev = &level->orders;
	order->level = level;
	auto *text = static_cast<std::string *>(account_leaked(make<std::string>("a lost text of more than a few characters")));
	account_leaked(const_cast<char *>(text->data()));
	auto *handler = static_cast<Throttle *>(account_leaked(make<Throttle>()));
	handler->next.reset(static_cast<Handler *>(account_leaked(make<Throttle>())));
}

} // namespace ex

int main()
{
	ex::exchange = ex::make<ex::Exchange>();
	ex::accounts();
	ex::instruments();
	for (unsigned i = 0; i < 12; i++)
		ex::session(i);
	ex::others();
	for (unsigned i = 0; i < 9; i++)
		ex::lose(i);
	account_die();
}
