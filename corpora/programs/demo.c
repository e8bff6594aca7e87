/* demo: an inventory with a forgotten NULL check. Two workers wait while the main thread looks an item up that
 * is not there and writes to its count: SIGSEGV, a write through a null pointer. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum colour { RED, GREEN, BLUE };

struct item {
	const char *name;
	enum colour colour;
	unsigned fragile : 1, heavy : 1;
	int count;
};

struct inventory {
	const char *place;
	struct item items[3];
};

static struct inventory shop = {
	"shelf 7",
	{{"lamp", RED, 1, 0, 4}, {"anvil", BLUE, 0, 1, 1}, {"cup", GREEN, 1, 0, 12}},
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct item *find_item(struct inventory *where, const char *name)
{
	for (size_t i = 0; i < sizeof where->items / sizeof where->items[0]; i++)
		if (!strcmp(where->items[i].name, name))
			return &where->items[i];
	return NULL;
}

static int sell(struct inventory *where, const char *name, int wanted)
{
	struct item *item = find_item(where, name);
	int left = item->count - wanted;
	item->count = left;
	return left;
}

static void *worker(void *arg)
{
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
	return arg;
}

int main(void)
{
	pthread_t threads[2];
	pthread_mutex_lock(&lock);
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, worker, NULL);
	usleep(100000); /* let them reach the lock */
	printf("%d\n", sell(&shop, "lamp", 1));
	printf("%d\n", sell(&shop, "teapot", 2));
	return 0;
}
