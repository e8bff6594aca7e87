/* progress: drawn at most ten times a second, and only once half a second has passed. */
#include "progress.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

static uint64_t now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

struct xc_progress xc_progress_start(const char *what, bool quiet)
{
	return (struct xc_progress){.what = what, .enabled = !quiet && isatty(2), .started_ns = now_ns()};
}

static void draw(const struct xc_progress *p, uint64_t done, uint64_t total)
{
	char bar[31];
	if (!total) {
		fprintf(stderr, "\r%s …\033[K", p->what);
		return;
	}
	double share = done >= total ? 1.0 : (double)done / (double)total;
	for (size_t i = 0; i < sizeof bar - 1; i++)
		bar[i] = (double)i < share * (double)(sizeof bar - 1) ? '#' : '.';
	bar[sizeof bar - 1] = '\0';
	fprintf(stderr, "\r%s  [%s] %3d %%\033[K", p->what, bar, (int)(share * 100));
}

void xc_progress_step(struct xc_progress *p, uint64_t done, uint64_t total)
{
	if (!p || !p->enabled)
		return;
	uint64_t now = now_ns();
	if (now - p->started_ns < 500000000u || now - p->drawn_ns < 100000000u)
		return;
	p->drawn_ns = now;
	p->shown = true;
	draw(p, done, total);
	fflush(stderr);
}

void xc_progress_end(struct xc_progress *p)
{
	if (!p || !p->shown)
		return;
	fputs("\r\033[K", stderr);
	p->shown = false;
}
