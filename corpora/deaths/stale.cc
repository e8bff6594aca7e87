// Dies through a pointer that outlived what it pointed to: a block that was freed and handed out again, a local
// variable of a function that has returned. The value that faults is often NULL.
// flags: -fno-optimize-sibling-calls
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "death.h"

namespace
{

struct strategy {
	virtual ~strategy() = default;
	virtual long quote(long count) const = 0;
};

struct average : strategy {
	long base = 3;
	long quote(long count) const override
	{
		return base * count;
	}
};

struct order {
	int id;
	std::string symbol;
	int count;
	std::unique_ptr<strategy> how;
};

struct item {
	long id;
	item *next;
	long counts[4];
};

struct book {
	std::vector<order> orders;
	order *best = nullptr;
	std::vector<std::string> audit;
};

item leaf = {7, nullptr, {}};
item *kept;
std::vector<std::function<long()>> jobs;
thread_local item *own;
char *line;

} // namespace

volatile long sink;

template <typename T> static T *hidden(T *pointer)
{
	return static_cast<T *>(opaque(pointer));
}

/* What the stack holds afterwards where the frames of functions were that have returned. */
static NOINLINE void cover(int byte)
{
	char room[1500];
	memset(room, byte, sizeof room);
	KEEP(room);
}

/* ---- freed, and handed out again ---- */

static NOINLINE long price(const book *of)
{
	return of->best->how->quote(of->best->count); // dies: vector-text
}

static NOINLINE void add(book *to, int id)
{
	char text[64];
	to->orders.push_back({id, "a symbol with a long name", 100 - id, std::make_unique<average>()});
	if (!to->best)
		to->best = &to->orders.back();
	snprintf(text, sizeof text, "%08d accepted by the gateway, quantity %6d", id, 100);
	to->audit.emplace_back(text);
}

static void vector_text()
{
	book one;
	for (int i = 0; i < 50; i++) {
		add(hidden(&one), i);
		sink += price(hidden(&one));
	}
}

static NOINLINE long next_id(const item *from)
{
	return from->next->id; // dies: reused-numbers reused-text freed-null honest-null shared-view shared-coroutine
}

static NOINLINE long id_behind(const item *from)
{
	return from->next->id; // dies: returned-local returned-thread-local returned-result
}

static void reused_numbers()
{
	kept = new item{1, &leaf, {}};
	delete hidden(kept);
	std::vector<double> numbers(6, 0.0);
	KEEP(numbers);
	sink = next_id(hidden(kept)) + (long)numbers[1];
}

static void reused_text()
{
	kept = new item{1, &leaf, {}};
	delete hidden(kept);
	line = strdup("12345678");
	free(opaque(line));
	line = (char *)calloc(1, sizeof(item));
	strcpy(line, "12345678");
	sink = next_id(hidden(kept));
}

/* Still free, and the member was NULL before. */
static void freed_null()
{
	item *one = new item[3];
	item *two = new item[3];
	two[1].next = nullptr;
	kept = &two[1];
	delete[] hidden(one);
	delete[] hidden(two);
	kept->next = nullptr;
	sink = next_id(hidden(kept));
}

static NOINLINE long ask(const strategy *one)
{
	return one->quote(2); // dies: reused-object
}

static void reused_object()
{
	strategy *one = new average;
	delete hidden(one);
	long *numbers = (long *)calloc(1, sizeof(average));
	numbers[1] = 5;
	KEEP(numbers);
	sink = ask(hidden(one)) + numbers[1];
}

/* ---- nothing of this: a member is NULL, and the object is what its type says ---- */

static void honest_null()
{
	kept = new item{1, nullptr, {}};
	sink = next_id(hidden(kept));
}

/* Two pointers of different types to one living object. */
static void shared_view()
{
	kept = new item{1, nullptr, {}};
	line = (char *)hidden(kept);
	sink = next_id(hidden(kept));
}

/* The same in C's way: a node of any kind, and one of a kind. */
struct node {
	int kind;
	item *what;
};

struct branch {
	int kind;
	long line;
	item *condition;
};

static node *volatile any;

static NOINLINE long condition_of(const branch *of)
{
	return of->condition->id; // dies: shared-kind
}

static void shared_kind()
{
	branch *one = (branch *)calloc(1, sizeof *one);
	any = (node *)hidden(one);
	sink = condition_of(hidden(one));
}

/* Read from an array that was still there; the stack pointer has moved since. */
static NOINLINE long first_of(long count)
{
	item *next;
	{
		item room[count];
		memset(room, 0, sizeof room);
		KEEP(room);
		next = hidden(&room[0])->next;
	}
	return next->id; // dies: honest-array
}

static void honest_array()
{
	sink = first_of(opaque_long(40));
}

/* A variable of a coroutine that is suspended, whose stack lies below that of the one that runs. */
static ucontext_t whole, lower, upper;

static void suspend()
{
	item local = {1, nullptr, {}};
	kept = hidden(&local);
	KEEP(local);
	swapcontext(&lower, &upper);
}

static void resume()
{
	sink = next_id(hidden(kept));
}

static void start(ucontext_t *context, char *stack, size_t size, void (*function)())
{
	getcontext(context);
	context->uc_stack.ss_sp = stack;
	context->uc_stack.ss_size = size;
	context->uc_link = &whole;
	makecontext(context, function, 0);
}

static void shared_coroutine()
{
	enum { SIZE = 128 << 10 };
	char *stacks = (char *)mmap(nullptr, 2 * SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	start(&lower, stacks, SIZE, suspend);
	start(&upper, stacks + SIZE, SIZE, resume);
	swapcontext(&whole, &lower);
}

/* ---- variables of functions that have returned ---- */

static NOINLINE void keep_item()
{
	item local = {1, &leaf, {}};
	kept = hidden(&local);
	sink += kept->id;
	KEEP(local);
}

static void returned_local()
{
	keep_item();
	cover(0);
	sink = id_behind(hidden(kept));
}

static NOINLINE void keep_own()
{
	item local = {1, &leaf, {}};
	own = hidden(&local);
	KEEP(local);
}

static void returned_thread_local()
{
	keep_own();
	cover(0);
	sink = id_behind(hidden(own));
}

static NOINLINE item *make_local()
{
	item local = {1, &leaf, {}};
	item *one = hidden(&local);
	KEEP(local);
	return one;
}

static void returned_result()
{
	item *one = make_local();
	cover(0);
	sink = id_behind(one);
}

static NOINLINE void enqueue(int number)
{
	std::vector<std::string> names(3, "a name that lives on the heap " + std::to_string(number));
	jobs.push_back([&] { return (long)(names[1].size() + names[2].find("z")); }); // dies: returned-capture
}

static NOINLINE long flush()
{
	long total = 0;
	for (auto &job : jobs)
		total += job();
	return total;
}

static void returned_capture()
{
	for (int i = 0; i < 3; i++)
		enqueue(i);
	cover(0);
	sink = flush();
}

/* ---- posted: the callback runs in a loop, whose own variables are where the captured one was ---- */

struct progress {
	long done;
	std::vector<int> *steps;
	std::string label;
};

static std::vector<int> history;
static std::vector<std::function<void(int)>> posted;

static NOINLINE void note(progress &p, int n)
{
	p.done += n;
	p.steps->push_back(n); // dies: returned-posted
}

static NOINLINE void post(const char *name)
{
	progress p{0, &history, name};
	for (int i = 0; i < 3; i++)
		posted.push_back([&p](int n) { note(p, n); });
}

static NOINLINE void run_posted()
{
	int n = 0;
	for (size_t i = 0; i < posted.size(); i++) {
		auto f = std::move(posted[i]);
		f(n++);
	}
}

static void returned_posted()
{
	post("download");
	cover(0);
	run_posted();
	sink = (long)history.size();
}

/* ---- two structs whose first number has the same name by chance; two that share a tag ---- */

struct session {
	unsigned id, hits;
	session *next;
	char user[24];
	long *account;
	long expires;
};

struct request {
	unsigned id;
	short method, flags;
	char path[48];
};

static session *recent;
static request *pending[4];

static NOINLINE void charge(session *to, long bytes)
{
	to->hits++;
	*to->account += bytes; // dies: reused-id
}

static void reused_id()
{
	recent = new session{7, 0, nullptr, "bob", &leaf.id, 50};
	delete hidden(recent);
	pending[1] = new request{7, 1, 0, {}};
	snprintf(pending[1]->path, sizeof pending[1]->path, "/users/bob/settings/notifications/by-mail");
	charge(hidden(recent), 4);
}

/* ---- the method of a captured object, in whose memory its own variables are now ---- */

struct gauge {
	std::vector<int> *steps;
	unsigned done, total;
	void step(unsigned n)
	{
		char text[64];
		done += n;
		snprintf(text, sizeof text, "%u of %u", done, total);
		KEEP(text);
		steps->push_back((int)done); // dies: stepped
	}
};

static std::vector<std::function<void()>> deferred;

static NOINLINE void start(const char *name)
{
	gauge g{&history, 0, 3};
	g.step(1);
	deferred.push_back([name, &g] {
		g.step(2);
		puts(name);
	});
}

static NOINLINE void run_deferred()
{
	while (!deferred.empty()) {
		std::function<void()> job = std::move(deferred.back());
		std::string label = "a label that is long";
		deferred.pop_back();
		job();
		KEEP(label);
	}
}

static void stepped()
{
	start("holiday.jpg");
	cover(0);
	run_deferred();
}

/* ---- cast to the wrong class ---- */

struct value {
	virtual ~value() = default;
	virtual std::string text() const = 0;
};

struct word : value {
	std::string letters;
	explicit word(const char *s) : letters(s)
	{
	}
	std::string text() const override
	{
		return letters;
	}
};

struct list : value {
	std::vector<std::unique_ptr<value>> items;
	std::string text() const override
	{
		return std::to_string(items.size());
	}
};

static std::vector<std::unique_ptr<value>> values;

static NOINLINE size_t join(const list &all)
{
	std::string joined;
	for (const auto &one : all.items)
		joined += one->text(); // dies: wrong-cast
	return joined.size();
}

static void wrong_cast()
{
	values.push_back(std::make_unique<word>("backend-7.internal:9000"));
	sink = (long)join(*static_cast<list *>(hidden(values[0].get())));
}

DEATHS({"reused-id", reused_id}, {"stepped", stepped}, {"wrong-cast", wrong_cast}, {"returned-posted", returned_posted}, {"vector-text", vector_text}, {"reused-numbers", reused_numbers},
       {"reused-text", reused_text}, {"freed-null", freed_null}, {"reused-object", reused_object},
       {"honest-null", honest_null}, {"shared-view", shared_view}, {"shared-kind", shared_kind},
       {"honest-array", honest_array}, {"shared-coroutine", shared_coroutine}, {"returned-local", returned_local},
       {"returned-thread-local", returned_thread_local}, {"returned-result", returned_result},
       {"returned-capture", returned_capture})
