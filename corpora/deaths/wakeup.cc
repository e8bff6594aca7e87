// Hangs in pools of C++: work without a wake-up, a latch that was counted down in silence, a promise that nobody keeps,
// a pool that waits for itself.
#include <condition_variable>
#include <functional>
#include <future>
#include <mutex>
#include <queue>
#include <thread>
#include <unistd.h>
#include <vector>

#include "death.h"

namespace
{

struct pool {
	std::mutex lock;
	std::condition_variable work;
	std::queue<std::function<void()>> tasks;
	bool stop = false;
	std::vector<std::thread> threads;

	explicit pool(int count)
	{
		for (int i = 0; i < count; i++)
			threads.emplace_back([this] { run(); });
	}

	NOINLINE void run()
	{
		for (;;) {
			std::function<void()> task;
			{
				std::unique_lock<std::mutex> locked(lock);
				work.wait(locked, [this] { return stop || !tasks.empty(); }); /* dies: unwoken */
				if (stop)
					return;
				task = std::move(tasks.front());
				tasks.pop();
			}
			task();
		}
	}

	void put(std::function<void()> task, bool wake = true)
	{
		{
			std::lock_guard<std::mutex> locked(lock);
			tasks.push(std::move(task));
		}
		if (wake)
			work.notify_one();
	}
};

struct latch {
	std::mutex lock;
	std::condition_variable changed;
	int left;

	explicit latch(int count) : left(count)
	{
	}

	void count_down(bool wake)
	{
		std::lock_guard<std::mutex> locked(lock);
		left--;
		if (wake)
			changed.notify_all();
	}

	NOINLINE void wait()
	{
		std::unique_lock<std::mutex> locked(lock);
		changed.wait(locked, [this] { return left == 0; }); /* dies: silent miscounted */
	}
};

NOINLINE int collect(std::future<int> &answer)
{
	return answer.get(); /* dies: forgotten nested unwoken */
}

void tell_later()
{
	std::thread([] {
		usleep(300000);
		if (write(1, "ready\n", 6) < 0)
			_exit(2);
	}).detach();
}

} // namespace

static void die_unwoken()
{
	pool workers(3);
	std::promise<int> promise;
	auto answer = promise.get_future();
	usleep(50000);
	workers.put([&promise] { promise.set_value(1); }, false);
	tell_later();
	collect(answer);
}

static void die_silent()
{
	pool workers(3);
	latch all(1);
	workers.put([&all] {
		usleep(50000);
		all.count_down(false);
	});
	tell_later();
	all.wait();
}

static void die_miscounted()
{
	pool workers(3);
	latch all(3);
	workers.put([&all] { all.count_down(true); });
	workers.put([&all] { all.count_down(true); });
	tell_later();
	all.wait();
}

static void die_forgotten()
{
	pool workers(3);
	auto *promise = new std::promise<int>;
	auto answer = promise->get_future();
	workers.put([] {});
	tell_later();
	collect(answer);
}

// Each worker waits for a task that only another worker could do.
static void die_nested()
{
	pool workers(1);
	std::promise<int> outer;
	auto answer = outer.get_future();
	workers.put([&workers, &outer] {
		std::promise<int> inner;
		auto part = inner.get_future();
		workers.put([&inner] { inner.set_value(1); });
		outer.set_value(collect(part));
	});
	tell_later();
	collect(answer);
}

DEATHS({"unwoken", die_unwoken}, {"silent", die_silent}, {"miscounted", die_miscounted}, {"forgotten", die_forgotten},
       {"nested", die_nested})
