/* payloads: void pointers, told by a tag beside them, by a size beside them, by functions, or by nothing. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include "account.h"

struct job {
	int id, priority;
	struct job *after;
	char *title;
};

struct picture {
	unsigned width, height;
	unsigned char *pixels;
	struct picture *thumbnail;
	double scale;
};

enum payload { JOB, PICTURE, BYTES, TIMES };

struct message {
	enum payload type;
	void *payload;
	struct message *next;
};

/* Only the size tells. */
struct buffer {
	void *data;
	size_t size;
};

struct task {
	void (*run)(void *);
	void *argument;
	struct task *next;
};

/* Nothing tells. */
struct any {
	struct any *next;
	void *it;
};

HELD struct message *messages;
HELD struct buffer buffers[400];
HELD struct task *tasks;
HELD struct any *things;

static PART struct job *job(unsigned i)
{
	static struct job *last;
	struct job *job = NEW(struct job);
	char title[48];
	size_t size = (size_t)snprintf(title, sizeof title, "the job %u", i) + 1;
	*job = (struct job){(int)i, (int)account_random(10), i % 4 ? last : NULL,
			    account_is(malloc(size), "char", size)};
	memcpy(job->title, title, size);
	return last = job;
}

static PART struct picture *new_picture(unsigned i)
{
	struct picture *picture = NEW(struct picture);
	picture->width = 4 + account_random(8);
	picture->height = 4;
	picture->scale = 1.5;
	picture->pixels = NEWS(unsigned char, picture->width * picture->height);
	for (unsigned k = 0; k < picture->width * picture->height; k++)
		picture->pixels[k] = (unsigned char)account_random(256);
	picture->thumbnail = i % 5 == 0 ? new_picture(i + 1) : NULL;
	return picture;
}

static PART double *times(void)
{
	double *times = account_is(calloc(6, sizeof *times), "double|void", 6);
	for (int i = 0; i < 6; i++)
		times[i] = 1e9 + account_random(1000000) * 0.001;
	return times;
}

/* Small numbers in wide words: each passes for an empty or short text. */
static PART void *numbers(size_t count)
{
	uint64_t *numbers = account_is(calloc(count, sizeof *numbers), "uint64_t|void", count);
	for (size_t i = 0; i < count; i++)
		numbers[i] = 33 + account_random(90);
	return numbers;
}

static void run_job(void *argument)
{
	((struct job *)argument)->id++;
}

static void run_picture(void *argument)
{
	((struct picture *)argument)->width++;
}

static PART void send(unsigned i)
{
	struct message *message = NEW(struct message);
	message->type = (enum payload)(i % 4);
	message->payload = message->type == JOB       ? (void *)job(i)
			   : message->type == PICTURE ? (void *)new_picture(i)
			   : message->type == BYTES   ? numbers(1 + i % 7)
						      : (void *)times();
	message->next = messages;
	messages = message;
}

static PART void fill(struct buffer *buffer, unsigned i)
{
	buffer->size = i % 3 == 0 ? sizeof(struct job) : i % 3 == 1 ? sizeof(struct picture) : 8 * (1 + i % 9);
	buffer->data = i % 3 == 0 ? (void *)job(i) : i % 3 == 1 ? (void *)new_picture(i) : numbers(1 + i % 9);
}

int main(void)
{
	for (unsigned i = 0; i < 600; i++)
		send(i);
	for (unsigned i = 0; i < 400; i++)
		fill(&buffers[i], i);
	for (unsigned i = 0; i < 300; i++) {
		struct task *task = NEW(struct task);
		*task = (struct task){i % 2 ? run_job : run_picture, i % 2 ? (void *)job(i) : (void *)new_picture(i),
				      tasks};
		tasks = task;
		struct any *any = NEW(struct any);
		*any = (struct any){things, i % 3 == 0   ? numbers(1 + i % 11)
					    : i % 3 == 1 ? (void *)job(i)
							 : (void *)times()};
		things = any;
	}
	account_die();
}
