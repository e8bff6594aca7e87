/* nodes: a list of a million nodes, in allocation order (argument 0) or shuffled (1); then it crashes. */
#include <stdlib.h>

enum { COUNT = 1000000 };

struct node {
	int id;
	unsigned refs;
	double weight;
	unsigned char flag;
	struct node *next;
};

struct {
	struct node *head;
	long count;
} list;

int main(int argc, char **argv)
{
	struct node **all = malloc(COUNT * sizeof *all);
	for (int i = 0; i < COUNT; i++) {
		all[i] = malloc(sizeof(struct node));
		*all[i] = (struct node){i, (unsigned)i * 3, i * .5, (unsigned char)i, NULL};
	}
	for (int i = COUNT - 1; i > 0 && argc > 1 && atoi(argv[1]); i--) {
		int other = rand() % (i + 1);
		struct node *node = all[i];
		all[i] = all[other];
		all[other] = node;
	}
	for (int i = 0; i + 1 < COUNT; i++)
		all[i]->next = all[i + 1];
	list.head = all[0];
	list.count = COUNT;
	free(all);
	abort();
}
