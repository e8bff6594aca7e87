#include "cli/interrupts.h"

#include "core/base/base.h"

volatile sig_atomic_t xc_interrupted_by;

static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};

static void note(int number)
{
	xc_interrupted_by = number;
}

static void handle(void (*how)(int number))
{
	const struct sigaction action = {.sa_handler = how};
	struct sigaction before;
	for (size_t i = 0; i < XC_COUNT(numbers); i++)
		if (!sigaction(numbers[i], NULL, &before) && before.sa_handler != SIG_IGN)
			sigaction(numbers[i], &action, NULL);
}

void xc_interrupts_catch(void)
{
	xc_interrupted_by = 0;
	handle(note);
}

void xc_interrupts_release(void)
{
	handle(SIG_DFL);
}
