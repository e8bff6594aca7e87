// One thread sets a member to NULL while it makes the new object; another one works on the same object, or on another.
// Arguments: "same" or "other" objects, or "idle": the other thread is elsewhere.
#include <chrono>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

struct Table {
	std::vector<std::string> rows;
};

class Config {
	Table *table_ = nullptr;
	int loads_ = 0;

public:
	__attribute__((noinline)) void reload(unsigned wait)
	{
		delete table_;
		table_ = nullptr;
		usleep(wait);
		table_ = new Table;
		table_->rows.push_back("row");
		loads_++;
	}
	size_t rows() const { return table_->rows.size(); }
	bool ready() const { return *(Table *const volatile *)&table_ != nullptr; }
};

__attribute__((noinline)) size_t serve(const Config &config)
{
	return config.rows();
}

int main(int, char **argv)
{
	const std::string what = argv[1];
	auto *mine = new Config, *other = new Config;
	mine->reload(0);
	other->reload(0);
	if (what == "idle") {
		auto *config = new Config;
		std::thread([] { usleep(60000000); }).detach();
		usleep(100000);
		return int(serve(*config));
	}
	Config *reloaded = what == "same" ? mine : other;
	std::thread([=] { reloaded->reload(60000000); }).detach();
	while (reloaded->ready())
		usleep(1000);
	usleep(100000);
	if (what == "other")
		mine = new Config;
	return int(serve(*mine));
}
