// Hangs in what C++ waits with beside locks: readers, conditions, futures, call_once, static variables, latches.
// flags: -fno-optimize-sibling-calls
#include <condition_variable>
#include <cstdlib>
#include <future>
#include <mutex>
#include <pthread.h>
#include <shared_mutex>
#include <thread>
#include <unistd.h>

#include "death.h"

volatile long sink;

static void tell()
{
	usleep(150000);
	if (write(1, "ready\n", 6) < 0)
		exit(2);
}

static void tell_later()
{
	std::thread([] { tell(); }).detach();
}

namespace post
{

struct office {
	std::mutex counter;
	std::shared_mutex files;
	std::condition_variable_any bell;
	std::timed_mutex safe;
	bool open = false;
};

static office office;
static std::once_flag sorted;
static pthread_barrier_t both;

} // namespace post

using post::both, post::office;

// A reader who sleeps keeps the writer out.
static NOINLINE void read_files()
{
	std::shared_lock<std::shared_mutex> reading(office.files);
	pthread_barrier_wait(&both);
	sleep(60);
	sink++;
}

static NOINLINE void write_files()
{
	std::unique_lock<std::shared_mutex> writing(office.files); /* dies: reader */
	sink++;
}

static void die_reader()
{
	pthread_barrier_init(&both, nullptr, 2);
	std::thread reader(read_files);
	pthread_barrier_wait(&both);
	tell_later();
	write_files();
}

// The owner of one mutex waits for a condition that only the one who waits for that mutex would bring about.
static NOINLINE void serve()
{
	std::lock_guard<std::mutex> at(office.counter);
	std::unique_lock<std::shared_mutex> writing(office.files);
	pthread_barrier_wait(&both);
	office.bell.wait(writing, [] { return office.open; });
}

static NOINLINE void ring()
{
	std::lock_guard<std::mutex> at(office.counter); /* dies: nested */
	office.open = true;
	office.bell.notify_all();
}

static void die_nested()
{
	pthread_barrier_init(&both, nullptr, 2);
	std::thread clerk(serve);
	pthread_barrier_wait(&both);
	tell_later();
	ring();
}

// The task that shall give the answer waits for who waits for it.
static NOINLINE long ask(std::future<long> &answer)
{
	return answer.get(); /* dies: future */
}

static void die_future()
{
	std::promise<long> promise;
	std::future<long> answer = promise.get_future();
	std::lock_guard<std::mutex> at(office.counter);
	std::thread worker([&promise] {
		std::lock_guard<std::mutex> in(office.counter);
		promise.set_value(1);
	});
	tell_later();
	sink = ask(answer);
}

// What is called once calls itself.
static NOINLINE void sort_post()
{
	sink++;
	std::call_once(post::sorted, sort_post); /* dies: once */
}

static void die_once()
{
	tell_later();
	std::call_once(post::sorted, sort_post);
}

// Two static variables, each of which needs the other.
static NOINLINE long make_stamps();

static NOINLINE long make_letters()
{
	pthread_barrier_wait(&both);
	return make_stamps() + 1;
}

static NOINLINE long letters()
{
	static long count = make_letters(); /* dies: static */
	return count;
}

static NOINLINE long make_count()
{
	pthread_barrier_wait(&both);
	return letters() + 1;
}

static NOINLINE long stamps()
{
	static long count = make_count(); /* dies: static */
	return count;
}

static NOINLINE long make_stamps()
{
	return stamps();
}

static void die_static()
{
	pthread_barrier_init(&both, nullptr, 2);
	std::thread one([] { sink = letters(); }), other([] { sink = stamps(); });
	tell();
	one.join();
}

// A mutex with a timeout that is waited for without one.
static NOINLINE void open_safe()
{
	std::lock_guard<std::timed_mutex> in(office.safe); /* dies: timed */
	sink++;
}

static void die_timed()
{
	std::lock_guard<std::timed_mutex> in(office.safe);
	tell_later();
	open_safe();
}

// Nobody keeps what std::async returns but the function that holds the lock: its end waits for the task.
static NOINLINE void close_all()
{
	std::lock_guard<std::mutex> at(office.counter);
	auto done = std::async(std::launch::async, [] {
		std::lock_guard<std::mutex> in(office.counter); /* dies: async */
		sink++;
	});
	tell_later();
} /* dies: async */

static void die_async()
{
	close_all();
}

DEATHS({"reader", die_reader}, {"nested", die_nested}, {"future", die_future}, {"once", die_once},
       {"static", die_static}, {"timed", die_timed}, {"async", die_async})
