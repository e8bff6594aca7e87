// million: a service with 64 threads and N live blocks in maps, lists, strings and shared pointers of C++, spread over the arenas; some
// leaked in pairs, all tcaches full. million N
#include <cstdlib>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <pthread.h>
#include <unistd.h>
#include <vector>
#include "account.h"

enum { THREADS = 64, BLOCKS_OF_UNIT = 6, LOST_PAIRS = 1000, FREED = 4000, CLASSES = 60 };

struct Item {
	long id = 0;
	double weight = 1;
	std::string label;
};

struct Second {
	char data[136];
};

struct Lost {
	char data[64];
	Second *second;
};

struct World {
	std::map<int, std::string> names;
	std::list<std::shared_ptr<Item>> items;
	std::map<std::string, int> index;
	pthread_t thread;
	int number = 0;
	long units = 0;
};

HELD std::vector<std::unique_ptr<World>> worlds;
static pthread_barrier_t done;

static std::string text(const char *what, long number)
{
	return std::string(what) + std::to_string(1000000 + number) + ", long enough for a block";
}

static PART void fill(World &world)
{
	for (long i = 0; i < world.units; i++) {
		world.names.emplace_hint(world.names.end(), int(i), text("name ", i));
		world.items.push_back(std::make_shared<Item>());
		world.items.back()->id = i;
		world.index.emplace_hint(world.index.end(), text("key ", i), int(i));
	}
}

static PART void lose()
{
	for (int i = 0; i < LOST_PAIRS; i++) {
		Lost *lost = NEW(Lost);
		lost->second = NEW(Second);
		account_leaked(lost->second);
		account_leaked(lost);
	}
}

// The last of each class stay in the tcache.
static PART void give_back()
{
	static thread_local void *blocks[FREED];
	for (int i = 0; i < FREED; i++)
		blocks[i] = std::malloc(size_t(24 + 16 * (i % CLASSES)));
	for (int i = 0; i < FREED; i++)
		std::free(blocks[i]);
	for (int i = 0; i < FREED; i++)
		blocks[i] = nullptr;
}

static PART void fall_asleep()
{
	for (;;)
		pause();
}

static void *run(void *argument)
{
	World &world = *static_cast<World *>(argument);
	fill(world);
	lose();
	give_back();
	account_scrub();
	pthread_barrier_wait(&done);
	fall_asleep();
	return nullptr;
}

static PART void start(long count)
{
	pthread_barrier_init(&done, nullptr, THREADS + 1);
	for (int i = 0; i < THREADS; i++) {
		worlds.emplace_back(new World);
		worlds[i]->number = i;
		worlds[i]->units = (count / THREADS - 2 * LOST_PAIRS) / BLOCKS_OF_UNIT;
	}
	for (auto &world : worlds)
		pthread_create(&world->thread, nullptr, run, world.get());
	pthread_barrier_wait(&done);
}

int main(int, char **argv)
{
	start(atol(argv[1]));
	usleep(500000); // until all of them wait
	account_die();
}
