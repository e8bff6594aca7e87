// Dies reading through a NULL shared_ptr, at the end of a journey of six units; eleven other threads wait at the ends of theirs.
#include "templates.h"
#include "units.h"
#include <condition_variable>
#include <iostream>
#include <memory>
#include <mutex>
#include <thread>

namespace {
constexpr int THREADS = 12;
std::mutex gate;
std::condition_variable arrived;
int waiting;

int wait_forever()
{
	std::unique_lock<std::mutex> lock(gate);
	waiting++;
	arrived.notify_all();
	arrived.wait(lock, [] { return waiting > THREADS; });
	return 0;
}

struct Parcel {
	std::string label;
	std::shared_ptr<nlohmann::json> content;
};

int die()
{
	std::unique_lock<std::mutex> lock(gate);
	arrived.wait(lock, [] { return waiting == THREADS - 1; });
	Parcel parcel{"lost", nullptr};
	return parcel.content->size();
}

void travel(int number)
{
	Journey journey{2 + number % 5, number == THREADS - 1 ? die : wait_forever};
	units[number * (UNITS / THREADS)](journey);
}
} // namespace

int main()
{
	std::vector<std::thread> threads;
	for (int i = 0; i < THREADS; i++)
		threads.emplace_back(travel, i);
	for (auto &thread : threads)
		thread.join();
}
