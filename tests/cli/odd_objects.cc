// Dies of what its objects hold, far from where that went wrong: a key in freed memory, a count beyond an array. The
// name of the death is the argument.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

struct Headers {
	std::vector<std::string> names;
	std::unordered_map<std::string_view, size_t> index;
	void add(const char *name)
	{
		names.push_back(name);
		index[names.back()] = names.size() - 1;
	}
	size_t find(std::string_view name) const
	{
		auto found = index.find(name);
		if (found == index.end())
			abort();
		return found->second;
	}
};

static int view_key()
{
	Headers headers;
	for (const char *name : {"host", "accept", "cookie", "via", "age"})
		headers.add(name);
	return (int)headers.find("host");
}

struct Entry {
	const char *key;
	long value;
	Entry *next;
};

struct Table {
	Entry *buckets[8];
	int count;
};
static Table table;

static Entry *find(const Table *t, const char *key)
{
	for (Entry *e = t->buckets[key[0] % 8]; e; e = e->next)
		if (strcmp(e->key, key) == 0)
			return e;
	return nullptr;
}

static int line_key()
{
	char *line = strdup("workers=4 of the server"), *value = strchr(line, '=');
	*value = '\0';
	table.buckets[line[0] % 8] = new Entry{line, atol(value + 1), nullptr};
	table.count++;
	free(line);
	return (int)find(&table, "workers")->value;
}

struct Session {
	std::list<std::string> lines;
	std::unordered_map<int, std::list<std::string>::iterator> by_number;
};

static int iterator()
{
	Session session;
	for (int i = 0; i < 4; i++) {
		session.lines.push_front("a line with more than a few characters");
		session.by_number[i] = session.lines.begin();
	}
	session.lines.pop_back();
	if (session.by_number.size() != session.lines.size())
		abort();
	return 0;
}

struct Packet {
	unsigned short count, kind;
	char *fields[6];
	void (*done)(Packet *);
};

static void sent(Packet *p)
{
	p->count = 0;
}

static __attribute__((noinline)) void push(Packet *p, char *field)
{
	p->fields[p->count++] = field;
}

static int array()
{
	Packet *p = (Packet *)calloc(1, sizeof *p);
	p->done = sent;
	for (int i = 0; i < 7; i++)
		push(p, strdup("field"));
	p->done(p);
	return p->count;
}

struct Ring {
	std::string **slots;
	unsigned size, capacity;
};

static int below()
{
	Ring ring = {(std::string **)calloc(4, sizeof(std::string *)), 0, 4};
	ring.size--;
	if (ring.size > ring.capacity)
		abort();
	return 0;
}

static int sound()
{
	Headers headers;
	headers.names.reserve(4);
	headers.add("host");
	Ring ring = {(std::string **)calloc(4, sizeof(std::string *)), 4, 4};
	abort();
	return (int)ring.size;
}

int main(int, char **argv)
{
	const std::string death = argv[1];
	return death == "view-key"   ? view_key()
	       : death == "line-key" ? line_key()
	       : death == "iterator" ? iterator()
	       : death == "array"    ? array()
	       : death == "below"    ? below()
				     : sound();
}
