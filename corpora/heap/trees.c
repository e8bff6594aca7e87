/* trees: binary, red-black with the colour in the parent's address, radix with tags in the low bits, B-trees, tries. */
#include <stdint.h>
#include <string.h>
#include "account.h"

struct word {
	struct word *left, *right, *parent;
	int count;
	char text[12];
};

struct rb_node {
	uintptr_t parent_color;
	struct rb_node *right, *left;
};

struct mapping {
	uint64_t start, end;
	struct rb_node node;
	struct word *owner;
};

/* Inner nodes are marked by bit 1, as in the kernel's radix tree. */
struct radix_node {
	unsigned char shift, used;
	struct radix_node *parent;
	void *slots[16];
};

struct page {
	unsigned long index;
	unsigned flags;
	struct mapping *mapping;
};

struct btree_node {
	int used;
	uint64_t keys[7];
	struct btree_node *children[8];
	struct page *pages[7];
};

struct trie {
	struct trie *next[26];
	int terminal;
};

HELD struct word *words;
HELD struct rb_node *mappings;
HELD struct radix_node *pages;
HELD struct btree_node *btree;
HELD struct trie *trie;

static PART struct word *add_word(int key)
{
	struct word **at = &words, *parent = NULL;
	while (*at) {
		parent = *at;
		at = key < parent->count ? &parent->left : &parent->right;
	}
	*at = NEW(struct word);
	(*at)->parent = parent;
	(*at)->count = key;
	strcpy((*at)->text, "word");
	return *at;
}

static PART struct rb_node *build_rb(int lo, int hi, struct rb_node *parent)
{
	if (lo > hi)
		return NULL;
	struct mapping *mapping = NEW(struct mapping);
	int middle = (lo + hi) / 2;
	mapping->start = (uint64_t)middle * 4096;
	mapping->end = mapping->start + 4096;
	mapping->owner = add_word((int)account_random(100000));
	mapping->node.parent_color = (uintptr_t)parent | (unsigned)(middle & 1);
	mapping->node.left = build_rb(lo, middle - 1, &mapping->node);
	mapping->node.right = build_rb(middle + 1, hi, &mapping->node);
	return &mapping->node;
}

static struct mapping *mapping_of(struct rb_node *node)
{
	return (struct mapping *)((char *)node - offsetof(struct mapping, node));
}

static PART struct radix_node *build_radix(unsigned shift, unsigned long base, struct radix_node *parent)
{
	struct radix_node *node = NEW(struct radix_node);
	node->shift = (unsigned char)shift;
	node->parent = parent;
	for (unsigned long i = 0; i < 16; i++) {
		if (account_random(4) == 0)
			continue;
		node->used++;
		if (shift) {
			node->slots[i] = (void *)((uintptr_t)build_radix(shift - 4, base + (i << shift), node) | 2);
			continue;
		}
		struct page *page = NEW(struct page);
		page->index = base + i;
		page->flags = 1;
		page->mapping = mapping_of(mappings);
		node->slots[i] = page;
	}
	return node;
}

static PART struct btree_node *build_btree(int depth)
{
	struct btree_node *node = NEW(struct btree_node);
	node->used = 7;
	for (int i = 0; i < 7; i++) {
		node->keys[i] = account_random(100000);
		node->pages[i] = NEW(struct page);
		node->pages[i]->mapping = mapping_of(mappings->left);
	}
	for (int i = 0; depth && i < 8; i++)
		node->children[i] = build_btree(depth - 1);
	return node;
}

static PART struct trie *build_trie(int depth)
{
	struct trie *node = NEW(struct trie);
	node->terminal = depth == 0;
	for (int i = 0; depth && i < 4; i++)
		node->next[account_random(26)] = NULL;
	for (int i = 0; depth && i < 4; i++) {
		struct trie **slot = &node->next[i * 6 + (int)account_random(6)];
		*slot = build_trie(depth - 1);
	}
	return node;
}

int main(void)
{
	for (int i = 0; i < 300; i++)
		add_word((int)account_random(100000));
	mappings = build_rb(0, 700, NULL);
	pages = build_radix(8, 0, NULL);
	btree = build_btree(2);
	trie = build_trie(5);
	account_die();
}
