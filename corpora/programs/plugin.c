/* The plugin of plugin-host.c: dies of SIGSEGV two calls below its entry, with thread-local and static state. */
#include "plugin.h"

#include "crash.h"

int plugin_run(struct plugin_request *request);

static __thread int plugin_tls = 77;
static long plugin_calls;

static NOINLINE int handle(const struct plugin_request *request, int depth)
{
	int local = plugin_tls + depth;

	KEEP(local);
	KEEP(*request);
	crash();
	return local;
}

int plugin_run(struct plugin_request *request)
{
	plugin_calls++;
	plugin_tls += request->size;
	return handle(request, 2) + 1;
}
