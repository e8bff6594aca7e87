// Hangs in the locks of C++, until somebody who watches sends SIGABRT.
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <pthread.h>
#include <shared_mutex>
#include <thread>
#include <unistd.h>

#include "death.h"

volatile long sink;

namespace shop
{

struct room {
	std::mutex door;
	std::shared_mutex shelf;
	std::condition_variable bell;
	bool open = false;
};

static room store;
static std::recursive_mutex book;
static pthread_barrier_t both;

} // namespace shop

using namespace shop;

static void tell()
{
	usleep(100000);
	if (write(1, "ready\n", 6) < 0)
		exit(2);
}

static NOINLINE void stock_shelf()
{
	std::lock_guard<std::mutex> in(store.door);
	pthread_barrier_wait(&both);
	std::unique_lock<std::shared_mutex> at(store.shelf); /* dies: two */
	sink++;
}

static NOINLINE void empty_shelf()
{
	std::unique_lock<std::shared_mutex> at(store.shelf);
	pthread_barrier_wait(&both);
	std::lock_guard<std::mutex> in(store.door); /* dies: two */
	sink++;
}

static void die_two()
{
	pthread_barrier_init(&both, nullptr, 2);
	std::thread stocker(stock_shelf), buyer([] { empty_shelf(); });
	tell();
	stocker.join();
	buyer.join();
}

/* A thread that has the book and waits for one that wants it. */
static NOINLINE void close_book()
{
	std::lock_guard<std::recursive_mutex> twice(book), once(book);
	std::thread writer([] {
		std::lock_guard<std::recursive_mutex> in(book);
		sink++;
	});
	tell();
	writer.join(); /* dies: joins */
}

static void die_joins()
{
	close_book();
}

/* Nobody rings. */
static void die_bell()
{
	std::thread([] { tell(); }).detach();
	std::unique_lock<std::mutex> in(store.door);
	store.bell.wait(in, [] { return store.open; });
}

DEATHS({"two", die_two}, {"joins", die_joins}, {"bell", die_bell})
