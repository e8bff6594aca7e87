// libstdcxx.cc: the work of the libstdcxx recipe.
// Threads work inside libstdc++ (condition variable, iostreams, regex, exceptions, locale), and each stops for good at
// a place of it that is always the same. When all of them sleep, one more compares, for libc's qsort, by stepping
// through a map whose nodes another object has overwritten: it dies in _Rb_tree_increment.

#include <atomic>
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
#include <streambuf>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "asleep.h"

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
std::atomic<int> stopped{0}; // threads that have said so; what they do then is to fall asleep

[[noreturn]] void stop()
{
	stopped++;
	for (;;)
		pause();
}

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
	stopped++;
	never.wait(lock);
}

// Takes what is written until it is full.
class Paper : public std::streambuf
{
      public:
	explicit Paper(std::streamsize room) : room_(room)
	{
	}

      protected:
	std::streamsize xsputn(const char *, std::streamsize count) override
	{
		room_ -= count;
		if (room_ < 0)
			stop();
		return count;
	}

	int_type overflow(int_type letter) override
	{
		room_--;
		return letter;
	}

      private:
	std::streamsize room_;
};

void format_until_full()
{
	std::ostringstream text;
	Paper paper(500);
	std::ostream out(&paper);
	text.imbue(std::locale::classic());
	out.imbue(std::locale::classic());
	for (int i = 0; i < 100; i++)
		text << i << ' ' << i / 3.0 << '\n';
	formatted += static_cast<long>(text.str().size());
	for (int i = 0;; i++)
		out << i << ' ' << i / 3.0 << '\n';
}

// A letter of a text; reading the last of its text is where the reader stops, if it is to.
struct Letter {
	using iterator_category = std::bidirectional_iterator_tag;
	using value_type = char;
	using difference_type = std::ptrdiff_t;
	using pointer = const char *;
	using reference = const char &;

	const char *at;
	const char *last;

	reference operator*() const
	{
		if (at == last)
			stop();
		return *at;
	}
	Letter &operator++()
	{
		at++;
		return *this;
	}
	Letter &operator--()
	{
		at--;
		return *this;
	}
	Letter operator++(int)
	{
		return {at++, last};
	}
	Letter operator--(int)
	{
		return {at--, last};
	}
	bool operator==(const Letter &other) const
	{
		return at == other.at;
	}
	bool operator!=(const Letter &other) const
	{
		return at != other.at;
	}
};

void match_until_last()
{
	const std::regex pattern("([a-z]+)@([a-z.]+)");
	std::unordered_map<std::string, int> hosts;
	for (int round = 0;; round++) {
		std::match_results<Letter> found;
		std::string text = "someone" + std::to_string(hosts.size()) + " wrote to person@example.org";
		const char *end = text.data() + text.size(), *last = round < 20 ? nullptr : end - 1;
		try {
			if (!std::regex_search(Letter{text.data(), last}, Letter{end, last}, found, pattern))
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
	threads.emplace_back(format_until_full);
	threads.emplace_back(match_until_last);
	threads.emplace_back([] {
		Sorter sorter(300);
		while (stopped < 3)
			std::this_thread::yield();
		await_others(); // main joins the first
		sorter.run(20, [](Index &index) {
			std::cout << "formatted " << formatted << " bytes" << std::endl;
			overwrite(index);
		});
	});
	for (auto &thread : threads)
		thread.join();
}
