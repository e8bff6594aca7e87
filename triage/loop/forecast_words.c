/* forecast_words: what a forecast says, for a reader. */
#include <elf.h>
#include <inttypes.h>

#include "core/live/sandbox.h"
#include "triage/loop/forecast.h"

static void add_number(const struct xc_forecast *f, uint64_t number, struct xc_text *text)
{
	if (f->is_signed)
		xc_text_printf(text, "%" PRId64, (int64_t)xc_extend(number, 8 * f->size, true));
	else
		xc_text_printf(text, "%" PRIu64, number);
}

static void add_meeting(const struct xc_forecast *f, struct xc_text *text)
{
	uint64_t most = xc_extend(UINT64_MAX, 8 * f->size, false);
	if (f->narrow) {
		xc_text_printf(text,
			       ": a number of %" PRIu32 " byte%s is compared with %" PRIu64
			       ", and can never be that large: it goes round%s",
			       f->narrow, f->narrow == 1 ? "" : "s", f->bound,
			       f->called ? ", unless what it calls changes that" : "");
		return;
	}
	xc_text_printf(text, ": a number that changes by %" PRId64 " in each round (it will soon be ", f->step);
	add_number(f, f->value, text);
	xc_text_add(text, f->kind == XC_FORECAST_AWAY ? ") moves away from " : ") is compared with ");
	add_number(f, f->bound, text);
	if (!f->is_signed && f->bound == most && f->size >= 4)
		xc_text_printf(text, ", the largest of %" PRIu32 " bytes", f->size);
	if (f->kind == XC_FORECAST_NEVER)
		xc_text_add(text, ", and never gets there");
	else
		xc_text_printf(text,
			       f->kind == XC_FORECAST_AWAY ? ": it gets there from the other side, after %" PRIu64
							     " rounds"
							   : ", and gets there after %" PRIu64 " rounds",
			       f->rounds);
}

/* ", which calls read() on descriptor 3: while that returns 0 (end of file)" */
static void add_call(const struct xc_forecast *f, struct xc_text *text)
{
	if (f->call < 0)
		return;
	xc_auto(xc_freep) char *name = xc_sandbox_call_name(EM_X86_64, f->call);
	xc_text_printf(text, ", which calls %s() on descriptor %d: while that %s", name ? name : "the kernel", f->fd,
		       f->answer ? "fails with EAGAIN (nothing can be transferred now)"
				 : "returns 0 (the end of a file)");
}

void xc_forecast_describe(const struct xc_forecast *f, struct xc_text *text)
{
	if (f->kind == XC_FORECAST_NONE)
		return;
	add_call(f, text);
	if (f->kind != XC_FORECAST_REPEATS)
		add_meeting(f, text);
	else if (f->period > 1)
		xc_text_printf(text, ": it does the same again after each %" PRIu64 " rounds", f->period);
	else
		xc_text_printf(text, "%s nothing that decides in it changes any more", f->call < 0 ? ":" : ",");
	if (f->kind == XC_FORECAST_REPEATS && f->idle)
		xc_text_printf(text, "; %s", f->idle);
	if (f->kind == XC_FORECAST_REPEATS && f->lost.known)
		xc_text_printf(text,
			       "; a sum of %.*g and %.*g is %.*g again: a floating-point number of %" PRIu32
			       " bytes is not that exact",
			       f->lost.size == 4 ? 9 : 17, f->lost.value, f->lost.size == 4 ? 9 : 17, f->lost.step,
			       f->lost.size == 4 ? 9 : 17, f->lost.value, f->lost.size);
}
