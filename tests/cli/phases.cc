// Dies before main(), in the handlers of exit(), or in a thread while another runs them: -DEARLY, -DLATE, -DBESIDE.
#include <atomic>
#include <cstdio>
#include <thread>
#include <unistd.h>

struct Table {
	int *volatile values = new int[4]();
	~Table()
	{
		delete[] values;
		values = nullptr;
#ifdef BESIDE
		sleep(20);
#endif
	}
};

struct User {
	explicit User(Table *of) : table(of)
	{
#ifdef EARLY
		table->values[1]++;
#endif
	}
	~User()
	{
		if (table)
			table->values[2]++;
	}
	Table *table;
};

extern Table table;
#ifdef BESIDE
static User user(nullptr);
#else
static User user(&table);
#endif
Table table;
static std::atomic<int> turns;

static void count()
{
	for (;; turns++)
		*const_cast<volatile int *>(table.values) = turns;
}

int main()
{
#ifdef BESIDE
	std::thread(count).detach();
	while (!turns)
		;
#endif
	return user.table && !user.table->values ? 1 : 0;
}
