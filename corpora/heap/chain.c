/* chain: nothing but one list of N nodes. chain N single|double */
#include <string.h>
#include "account.h"

struct link {
	long number;
	struct link *next, *prev;
};

HELD struct link *chain;

int main(int argc, char **argv)
{
	long count = argc > 1 ? atol(argv[1]) : 1000;
	int doubly = argc > 2 && strcmp(argv[2], "double") == 0;
	for (long i = 0; i < count; i++) {
		struct link *link = NEW(struct link);
		link->number = i;
		link->next = chain;
		if (doubly && chain)
			chain->prev = link;
		chain = link;
	}
	account_die();
}
