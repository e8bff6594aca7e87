// A thread waits, in the way that the argument names, for what nobody does.
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <thread>
#include <unistd.h>
#include <vector>

#define DEEP __attribute__((noinline))

static void ready()
{
	usleep(50000);
	puts("ready");
	fflush(stdout);
}

class session {
public:
	DEEP void await()
	{
		std::unique_lock<std::mutex> lock(mutex_);
		changed_.wait(lock, [this] { return connected_ || error_ != 0; });
	}
	void greet()
	{
		std::lock_guard<std::mutex> lock(mutex_);
		greeted_ = true;
		changed_.notify_all();
	}
	void connect() /* wakes nobody */
	{
		std::lock_guard<std::mutex> lock(mutex_);
		connected_ = true;
	}

private:
	std::mutex mutex_;
	std::condition_variable changed_;
	bool connected_ = false, greeted_ = false;
	int error_ = 0;
};
static session one;

struct bounded {
	std::mutex mutex;
	std::condition_variable not_full;
	std::deque<int> queue;
	size_t most = 2;
	DEEP void push(int value)
	{
		std::unique_lock<std::mutex> lock(mutex);
		not_full.wait(lock, [&] { return queue.size() < most; });
		queue.push_back(value);
	}
};
static bounded line;

class pool {
public:
	explicit pool(int count)
	{
		for (int i = 0; i < count; i++)
			workers.emplace_back([this] { run(); });
	}
	std::future<int> submit(std::function<int()> job)
	{
		auto task = std::make_shared<std::packaged_task<int()>>(job);
		std::lock_guard<std::mutex> lock(mutex);
		tasks.push_back([task] { (*task)(); });
		changed.notify_one();
		return task->get_future();
	}

private:
	void run()
	{
		for (;;) {
			std::function<void()> task;
			{
				std::unique_lock<std::mutex> lock(mutex);
				changed.wait(lock, [this] { return !tasks.empty(); });
				task = std::move(tasks.front());
				tasks.pop_front();
			}
			task();
		}
	}
	std::mutex mutex;
	std::condition_variable changed;
	std::deque<std::function<void()>> tasks;
	std::vector<std::thread> workers;
};
static pool *workers;

/* A task that waits for one that is queued behind it. */
static DEEP int parent(int n)
{
	usleep(50000);
	return workers->submit([n] { return n * 2; }).get();
}

static int nested()
{
	workers = new pool(2);
	std::future<int> first = workers->submit([] { return parent(1); });
	std::future<int> second = workers->submit([] { return parent(2); });
	usleep(100000);
	ready();
	return first.get() + second.get();
}

/* The same, and the task has a way to its pool. */
struct scanner {
	pool &own;
	std::vector<int> sizes{3, 4};
	DEEP int scan(int n)
	{
		std::vector<std::future<int>> parts;
		usleep(50000);
		for (int size : sizes)
			parts.push_back(own.submit([n, size] { return n * size; }));
		int sum = 0;
		for (std::future<int> &part : parts)
			sum += part.get();
		return sum;
	}
};

static int scans()
{
	workers = new pool(3);
	scanner scanner{*workers};
	std::future<int> results[3];
	for (int i = 0; i < 3; i++)
		results[i] = workers->submit([&scanner, i] { return scanner.scan(i); });
	usleep(100000);
	ready();
	return results[0].get() + results[1].get() + results[2].get();
}

/* A worker that nobody wakes for what is queued: it waits for work, and not for a task. */
struct forgetful {
	std::mutex mutex;
	std::condition_variable changed;
	std::deque<int> jobs;
	DEEP bool step()
	{
		std::unique_lock<std::mutex> lock(mutex);
		changed.wait(lock);
		jobs.pop_front();
		return true;
	}
	DEEP void loop()
	{
		while (step())
			phases++;
	}
	int phases = 0;
};

static int forgets()
{
	static forgetful one;
	std::thread worker([] { one.loop(); });
	usleep(50000);
	{
		std::lock_guard<std::mutex> lock(one.mutex);
		one.jobs.push_back(4);
	}
	ready();
	worker.join();
	return 0;
}

static std::atomic<int> phase{1};

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	alarm(60);
	if (!strcmp(how, "scans"))
		return scans();
	if (!strcmp(how, "forgets"))
		return forgets();
	if (!strcmp(how, "nested"))
		return nested();
	if (!strcmp(how, "phase")) {
		ready();
		phase.wait(1);
	} else if (!strcmp(how, "full")) {
		for (int i = 0; i < 3; i++) {
			if (i == 2)
				ready();
			line.push(i);
		}
	} else {
		bool silent = !strcmp(how, "silent");
		std::thread other([silent] {
			usleep(50000);
			silent ? one.connect() : one.greet();
			ready();
		});
		one.await();
		other.join();
	}
	return 0;
}
