/* arrays: of numbers, structs and pointers, in two dimensions, at the end of a struct, larger than what is used of them. */
#include <stdint.h>
#include <string.h>
#include "account.h"

struct point {
	float x, y;
};

struct vertex {
	struct point at;
	uint32_t colour;
	struct edge *first;
};

struct edge {
	struct vertex *from, *to;
	struct edge *next;
	double weight;
};

struct mesh {
	struct vertex *vertices; /* of vertex_count, room for more */
	size_t vertex_count, room;
	uint16_t *indices;
	double **matrix; /* rows of 8 */
	int (*grid)[16];
	struct edge *edges[32];
};

struct packet {
	uint16_t kind, count;
	struct packet *next;
	struct point points[]; /* count */
};

struct chunk {
	size_t used, size;
	unsigned char bytes[];
};

struct slot {
	struct mesh *mesh;
	int *histogram;
};

struct bag {
	struct slot slots[4];
	struct chunk *chunk;
	uint64_t *counters;
};

HELD struct mesh *meshes[40];
HELD struct packet *packets;
HELD struct bag *bags; /* one block for all */
HELD int **ragged;

static PART void fill_vertices(struct mesh *mesh, size_t count)
{
	mesh->vertex_count = count;
	mesh->room = count + count / 2;
	mesh->vertices = NEWS(struct vertex, mesh->room);
	for (size_t i = 0; i < count; i++) {
		struct edge *edge = NEW(struct edge);
		edge->from = &mesh->vertices[i];
		edge->to = &mesh->vertices[account_random((unsigned)count)]; /* into the middle of the block */
		edge->weight = 0.25 * (double)i;
		edge->next = mesh->edges[i % 32];
		mesh->edges[i % 32] = edge;
		mesh->vertices[i].first = edge;
		mesh->vertices[i].at = (struct point){(float)i, 1};
	}
}

static PART struct mesh *make_mesh(unsigned i)
{
	struct mesh *mesh = NEW(struct mesh);
	fill_vertices(mesh, 3 + i);
	mesh->indices = NEWS(uint16_t, 3 * mesh->vertex_count);
	for (size_t k = 0; k < 3 * mesh->vertex_count; k++)
		mesh->indices[k] = (uint16_t)k;
	mesh->matrix = NEWS(double *, 8);
	for (int k = 0; k < 8; k++) {
		mesh->matrix[k] = NEWS(double, 8);
		mesh->matrix[k][k] = 1;
	}
	mesh->grid = account_is(calloc(10, sizeof *mesh->grid), "int|int [16]", 160);
	for (int k = 0; k < 10; k++)
		mesh->grid[k][k] = k;
	return mesh;
}

static PART void send(unsigned count)
{
	struct packet *packet =
		account_is(calloc(1, sizeof *packet + count * sizeof packet->points[0]), "struct packet", 1);
	packet->count = (uint16_t)count;
	packet->next = packets;
	for (unsigned i = 0; i < count; i++)
		packet->points[i].x = (float)i;
	packets = packet;
}

static PART void fill_bag(struct bag *bag)
{
	size_t size = 100 + account_random(400);
	for (int i = 0; i < 4; i++) {
		bag->slots[i].mesh = meshes[account_random(40)];
		bag->slots[i].histogram = NEWS(int, 64);
	}
	bag->chunk = account_is(calloc(1, sizeof *bag->chunk + size), "struct chunk", 1);
	bag->chunk->size = size;
	bag->chunk->used = size / 2;
	memset(bag->chunk->bytes, 0x5a, size / 2);
	bag->counters = NEWS(uint64_t, 20);
}

int main(void)
{
	for (unsigned i = 0; i < 40; i++)
		meshes[i] = make_mesh(i);
	for (unsigned i = 0; i < 300; i++)
		send(account_random(40));
	bags = NEWS(struct bag, 100);
	for (int i = 0; i < 100; i++)
		fill_bag(&bags[i]);
	ragged = NEWS(int *, 50);
	for (unsigned i = 0; i < 50; i++)
		ragged[i] = NEWS(int, i + 1);
	account_die();
}
