/* progress: drawn at most ten times a second, first after half a second. The time left appears a second later. */
#include "core/base/progress.h"

#include <stdio.h>
#include <unistd.h>

#include "core/base/say.h"
#include "core/base/shared_status.h"

static const uint64_t ETA_AFTER_NS = 1500000000;

struct xc_progress xc_progress_start(const char *what, bool quiet)
{
	return (struct xc_progress){.what = what, .enabled = !quiet && isatty(2), .started_ns = xc_now_ns()};
}

/* Extrapolate from the elapsed time. Draws nothing at the start, when an estimate would be poor. */
static void draw_left(uint64_t elapsed_ns, uint64_t done, uint64_t total)
{
	if (!done || done >= total || elapsed_ns < ETA_AFTER_NS)
		return;
	const double left = (double)elapsed_ns / 1e9 * ((double)(total - done) / (double)done);
	if (left < 90)
		fprintf(stderr, ", %.0f s left", left < 1 ? 1 : left);
	else if (left < 90 * 60)
		fprintf(stderr, ", %.0f min left", left / 60);
	else if (left < 1e9)
		fprintf(stderr, ", %.0f h left", left / 3600);
}

static void draw(const struct xc_progress *p, uint64_t done, uint64_t total)
{
	char bar[31];
	struct xc_text what = {0};
	xc_say_clean(&what, p->what, XC_SAY_PROSE); /* it contains a file name */
	fprintf(stderr, "\r%s", xc_text_string(&what));
	xc_text_fini(&what);
	if (!total) {
		fputs(" …\033[K", stderr);
		return;
	}
	double share = done >= total ? 1.0 : (double)done / (double)total;
	for (size_t i = 0; i < sizeof bar - 1; i++)
		bar[i] = (double)i < share * (double)(sizeof bar - 1) ? '#' : '.';
	bar[sizeof bar - 1] = '\0';
	fprintf(stderr, "  [%s] %3d %%", bar, (int)(share * 100));
	draw_left(p->drawn_ns - p->started_ns, done, total);
	fputs("\033[K", stderr);
}

void xc_progress_step(struct xc_progress *p, uint64_t done, uint64_t total)
{
	if (!p || !p->enabled)
		return;
	uint64_t now = xc_now_ns();
	if (now - p->started_ns < 500000000u || now - p->drawn_ns < 100000000u)
		return;
	p->drawn_ns = now;
	p->shown = true;
	atomic_store(&xc_shared_status()->shows_progress, true);
	draw(p, done, total);
	fflush(stderr);
}

void xc_progress_end(struct xc_progress *p)
{
	if (!p || !p->shown)
		return;
	fputs("\r\033[K", stderr);
	p->shown = false;
	atomic_store(&xc_shared_status()->shows_progress, false);
}
