/* structs: records of a shop, linked by plain typed pointers from globals, from each other and from a frame that is still alive. */
#include <stdint.h>
#include <string.h>
#include "account.h"

struct address {
	int number, zip;
	struct customer *tenant;
};

struct item {
	double price;
	uint32_t stock;
	short shelf[6];
	struct item *replacement;
};

struct line {
	struct item *item;
	int amount;
	struct line *next;
};

struct order {
	uint64_t id;
	struct customer *by;
	struct line *lines;
	struct order *next;
	struct {
		struct address *to;
		int days;
	} delivery;
};

struct customer {
	int id;
	struct address *home, *work;
	struct order *orders;
	struct customer *referrer;
	void (*greet)(struct customer *);
};

struct shop {
	struct customer **customers;
	struct item *items[400];
	struct { /* a member without a name of its own type */
		struct order *last, *largest;
	} special;
	size_t customer_count;
};

struct config {
	struct config *parent;
	struct shop *shop;
	int level;
};

HELD struct shop *shop;
HELD struct config *levels[3];

static void greet(struct customer *customer)
{
	customer->id++;
}

static PART void stock(void)
{
	for (int i = 0; i < 400; i++) {
		struct item *item = shop->items[i] = NEW(struct item);
		item->price = i * 0.5;
		item->stock = account_random(100);
		item->replacement = i % 3 ? shop->items[i - 1] : NULL;
	}
}

static PART struct address *house(struct customer *tenant)
{
	struct address *address = NEW(struct address);
	address->number = (int)account_random(200);
	address->zip = 10000 + (int)account_random(90000);
	address->tenant = tenant;
	return address;
}

static PART void buy(struct customer *customer, uint64_t id)
{
	struct order *order = NEW(struct order);
	order->id = id;
	order->by = customer;
	order->next = customer->orders;
	order->delivery.to = customer->home;
	order->delivery.days = 3;
	customer->orders = shop->special.last = order;
	for (unsigned i = 0; i <= account_random(4); i++) {
		struct line *line = NEW(struct line);
		line->item = shop->items[account_random(400)];
		line->amount = 1 + (int)account_random(9);
		line->next = order->lines;
		order->lines = line;
	}
}

static PART void enroll(size_t i)
{
	struct customer *customer = shop->customers[i] = NEW(struct customer);
	customer->id = (int)i;
	customer->home = house(customer);
	customer->work = i % 4 ? house(customer) : NULL;
	customer->referrer = i % 5 ? shop->customers[account_random((unsigned)i)] : NULL;
	customer->greet = greet;
	for (unsigned k = 0; k <= account_random(4); k++)
		buy(customer, 1000 * i + k);
}

static PART void open_shop(void)
{
	shop = NEW(struct shop);
	shop->customer_count = 500;
	shop->customers = NEWS(struct customer *, shop->customer_count);
	stock();
	for (size_t i = 0; i < shop->customer_count; i++)
		enroll(i);
	for (int i = 0; i < 3; i++) {
		levels[i] = NEW(struct config);
		levels[i]->parent = i ? levels[i - 1] : NULL;
		levels[i]->shop = shop;
	}
}

/* Customers that left: their memory is free, and in parts allocated again. */
static PART void close_accounts(void)
{
	for (size_t i = 0; i < shop->customer_count; i++)
		if (shop->customers[i]->referrer)
			shop->customers[i]->referrer = NULL;
	for (size_t i = 0; i < shop->customer_count; i += 7) {
		struct customer *customer = shop->customers[i];
		free(customer->work);
		customer->work = NULL;
	}
}

/* What a frame holds, by a local variable. */
static PART void work(void)
{
	struct item *chosen = NEW(struct item);
	struct line basket = {.item = chosen, .amount = 1, .next = NEW(struct line)};
	HOLD(&basket);
	account_die();
	HOLD(&basket);
	HOLD(chosen);
}

int main(void)
{
	open_shop();
	close_accounts();
	work();
}
