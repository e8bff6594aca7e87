/* Dies in free() of a text that was written before its beginning: the first bytes of its block's header are right. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "death.h"

static char *volatile texts[3];

static NOINLINE void fill(const char *one, const char *two, const char *three)
{
	texts[0] = strdup(one);
	texts[1] = strdup(two);
	texts[2] = strdup(three);
}

static NOINLINE void release(void)
{
	for (int i = 0; i < 3; i++)
		free(texts[i]); /* dies: blank prefix */
}

/* What is blank at the end is marked, without a look at where the text begins. */
static NOINLINE void mark_blanks(char *text)
{
	char *end = text + strlen(text);
	while (end[-1] == ' ' || end[-1] == 0)
		*--end = '#';
}

static void blank(void)
{
	fill("lamp", "   ", "old");
	mark_blanks(opaque(texts[1]));
	release();
}

/* A prefix goes in front of the text, where no room is. */
static void prefix(void)
{
	fill("lamp", "chair, four legs", "old");
	memcpy((char *)opaque(texts[1]) - 6, "draft:", 6);
	release();
}

DEATHS({"blank", blank}, {"prefix", prefix})
