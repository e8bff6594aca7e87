// libstdcxx.cc: the work of the libstdcxx recipe.
// Threads wait and work inside libstdc++ (condition variable, iostreams, regex, exceptions, locale);
// at last one of them compares, for libc's qsort, by stepping through a map whose nodes another
// object has overwritten: it dies in _Rb_tree_increment.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <locale>
#include <map>
#include <mutex>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

namespace corpus
{

using Index = std::map<int, std::string>;

struct Item {
	int key;
	double weight;
	Index *index;
};

std::mutex mutex;
std::condition_variable never;
std::atomic<long> formatted{0};

long weigh(const Index &index)
{
	long sum = 0;
	for (const auto &[key, text] : index)
		sum += key + static_cast<long>(text.size());
	return sum;
}

extern "C" int compare_items(const void *left, const void *right)
{
	const auto *a = static_cast<const Item *>(left);
	const auto *b = static_cast<const Item *>(right);
	long difference = weigh(*a->index) - weigh(*b->index);
	return difference ? (difference > 0) - (difference < 0) : a->key - b->key;
}

// Every node, from the colour to the children: what a wild write of a neighbour leaves.
void overwrite(Index &index)
{
	auto *root = reinterpret_cast<std::_Rb_tree_node_base *>(&*index.find(40)) - 1;
	std::memset(static_cast<void *>(root), 0x41, sizeof *root);
}

void wait_forever()
{
	std::unique_lock<std::mutex> lock(mutex);
	never.wait(lock);
}

void format_forever()
{
	for (;;) {
		std::ostringstream out;
		out.imbue(std::locale::classic());
		for (int i = 0; i < 100; i++)
			out << i << ' ' << i / 3.0 << '\n';
		formatted += static_cast<long>(out.str().size());
	}
}

void match_forever()
{
	const std::regex pattern("([a-z]+)@([a-z.]+)");
	std::unordered_map<std::string, int> hosts;
	for (;;) {
		std::smatch found;
		std::string text = "someone" + std::to_string(hosts.size()) + " wrote to person@example.org";
		try {
			if (!std::regex_search(text, found, pattern))
				throw std::runtime_error(text);
			hosts[found[2]]++;
			(void)std::stoi("no number");
		} catch (const std::invalid_argument &) {
			hosts["none"]++;
		}
	}
}

class Sorter
{
      public:
	explicit Sorter(int count)
	{
		for (int i = 0; i < 80; i++)
			index_.emplace(i, std::string(static_cast<size_t>(i), 'x'));
		for (int i = 0; i < count; i++)
			items_.push_back({(i * 7919) % count, i / 2.0, &index_});
	}

	template <typename Break> void run(int rounds, Break break_it)
	{
		for (int i = 0; i < rounds; i++) {
			if (i == rounds - 1)
				break_it(index_);
			std::qsort(items_.data(), items_.size(), sizeof items_[0], compare_items);
		}
	}

      private:
	Index index_;
	std::vector<Item> items_;
};

} // namespace corpus

int main()
{
	using namespace corpus;
	std::vector<std::thread> threads;
	threads.emplace_back(wait_forever);
	threads.emplace_back(format_forever);
	threads.emplace_back(match_forever);
	std::this_thread::sleep_for(std::chrono::milliseconds(200));
	threads.emplace_back([] {
		Sorter sorter(300);
		sorter.run(20, [](Index &index) {
			std::cout << "formatted " << formatted << " bytes" << std::endl;
			overwrite(index);
		});
	});
	for (auto &thread : threads)
		thread.join();
}
