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

/* One bell for those who want the room to be empty, and for those who want it full: it wakes the wrong one. */
static bool full = true, rung;

static NOINLINE void fill_room()
{
	std::unique_lock<std::mutex> in(store.door);
	while (full)
		store.bell.wait(in);
	sink++;
}

static NOINLINE void empty_room()
{
	std::unique_lock<std::mutex> in(store.door);
	while (!rung)
		store.bell.wait(in);
	full = false;
	store.bell.notify_one();
}

static void die_lost()
{
	std::thread filler(fill_room), other(fill_room), cleaner(empty_room), helper(empty_room);
	tell();
	filler.join();
	other.join();
	cleaner.join();
	helper.join();
}

DEATHS({"two", die_two}, {"joins", die_joins}, {"bell", die_bell}, {"lost", die_lost})
