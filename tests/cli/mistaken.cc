// Dies of what it was mistaken about: a buffer's state, a size, a class, where an object is, who else uses it, an order. The name of the death is the argument.
#include <algorithm>
#include <chrono>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

__attribute__((noinline)) static void die(const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	abort();
}

struct Buffer {
	bool used;
	unsigned id;
	const char *owner;
};

__attribute__((noinline)) static void release(Buffer *b)
{
	if (!b->used)
		die("pool: buffer %u of %s released twice, %5.1f%% used, at %p\n", b->id, b->owner, 12.5, (void *)b);
	b->used = false;
}

static int twice()
{
	static Buffer b = {true, 14, "reader"};
	release(&b);
	release(&b);
	return b.used;
}

struct Frame {
	unsigned header, total;
};

static std::vector<double> payload(const Frame &f)
{
	size_t n = f.total - f.header;
	double *all = new double[n];
	return std::vector<double>(all, all + 1);
}

struct Node {
	virtual ~Node() = default;
	int kind = 0;
};
struct Leaf : Node {
	int value = 5;
};
struct Inner : Node {
	std::vector<Node *> children;
	std::string name;
};

__attribute__((noinline)) static size_t total(Node *n)
{
	if (n->kind == 2)
		return 1;
	auto *in = static_cast<Inner *>(n);
	size_t sum = in->name.size();
	for (auto *child : in->children)
		sum += total(child);
	return sum;
}

static size_t wrong_cast()
{
	auto *root = new Inner;
	for (int i = 0; i < 5; i++) {
		auto *leaf = new Leaf;
		leaf->kind = i == 3 ? 1 : 2;
		root->children.push_back(leaf);
	}
	return total(root);
}

struct Item {
	std::string name;
	std::vector<int> marks;
	Item *next = nullptr;
};
static std::vector<Item> items;

static Item &item(const char *name)
{
	items.push_back(Item{name, {1, 2, 3}});
	return items.back();
}

__attribute__((noinline)) static void link(Item &a, Item &b)
{
	a.next = &b;
	a.marks.push_back(4);
}

static int moved()
{
	Item &first = item("first item, with a name that is long");
	for (int i = 0; i < 20; i++) {
		Item &another = item("another");
		link(first, another);
	}
	return (int)first.marks.size();
}

/* The thread runs when `words` is gone. */
static std::thread worker;
static size_t length;

__attribute__((noinline)) static void start()
{
	std::vector<std::string> words = {"a word that is long enough", "another word of that length"};
	worker = std::thread([&] {
		std::this_thread::sleep_for(std::chrono::milliseconds(50));
		for (auto &word : words)
			length += word.size();
	});
}

/* What joins the thread does not reach down there. */
__attribute__((noinline)) static void deep()
{
	volatile char room[4000];
	room[0] = 0;
	start();
}

__attribute__((noinline)) static int overwrite()
{
	volatile long words[1000];
	for (int i = 0; i < 1000; i++)
		words[i] = 0x4242424242424242 + i * 32;
	return (int)words[3];
}

static int captured()
{
	deep();
	int n = overwrite();
	worker.join();
	return n;
}

struct Job {
	std::string name;
	int priority;
};

static bool before(const Job *a, const Job *b)
{
	return a->priority >= b->priority;
}

static int sorted(bool good)
{
	std::vector<Job *> jobs;
	for (int i = 0; i < 60; i++)
		jobs.push_back(good && i == 40 ? nullptr : new Job{"job", good ? i * 7 % 60 : 5});
	if (good)
		std::sort(jobs.begin(), jobs.end(),
			  [](const Job *a, const Job *b) { return a->priority < b->priority; });
	else
		std::sort(jobs.begin(), jobs.end(), before);
	return jobs[0]->priority;
}

/* A comparison that sorts, too: the element that is bad is one of the inner range. */
static bool by_inner(const Job *a, const Job *b)
{
	std::vector<Job *> inner;
	for (int i = 0; i < 30; i++)
		inner.push_back(a->priority == 7 && i == 20 ? nullptr : new Job{"inner", i * 11 % 30});
	std::sort(inner.begin(), inner.end(), [](const Job *c, const Job *d) { return c->priority < d->priority; });
	return a->priority < b->priority;
}

static int nested()
{
	std::vector<Job *> jobs;
	for (int i = 0; i < 60; i++)
		jobs.push_back(new Job{"job", i * 7 % 60});
	std::sort(jobs.begin(), jobs.end(), by_inner);
	return jobs[0]->priority;
}

static int advanced()
{
	char *line = strdup(" a line with a blank"), *words = line;
	while (*words == ' ')
		words++;
	free(words);
	return 0;
}

int main(int argc, char **argv)
{
	const char *death = argc > 1 ? argv[1] : "";
	if (strcmp(death, "twice") == 0)
		return twice();
	if (strcmp(death, "below") == 0)
		return (int)payload(Frame{16, 12}).size();
	if (strcmp(death, "cast") == 0)
		return (int)wrong_cast();
	if (strcmp(death, "captured") == 0)
		return captured();
	if (strcmp(death, "unordered") == 0)
		return sorted(false);
	if (strcmp(death, "nested-sort") == 0)
		return nested();
	if (strcmp(death, "null-element") == 0)
		return sorted(true);
	if (strcmp(death, "advanced") == 0)
		return advanced();
	if (strcmp(death, "moved") == 0)
		return moved();
	return 0;
}
