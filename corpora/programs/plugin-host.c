/* Dies of SIGSEGV inside a plugin, libplugin.so, found beside the program. Arguments: dlopen, dlmopen (a namespace of
 * its own, so that libc is there twice), unloaded (the plugin was closed before its function is called). */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crash.h"
#include "plugin.h"

static NOINLINE int serve(plugin_entry entry, struct plugin_request *request)
{
	int answer = entry(request);

	KEEP(answer);
	return answer + request->size;
}

static plugin_entry load(const char *how, void **handle_out)
{
	void *handle = strcmp(how, "dlmopen") == 0 ? dlmopen(LM_ID_NEWLM, "libplugin.so", RTLD_NOW)
						   : dlopen("libplugin.so", RTLD_NOW);
	plugin_entry entry;

	if (!handle) {
		fprintf(stderr, "%s\n", dlerror());
		exit(2);
	}
	*(void **)&entry = dlsym(handle, "plugin_run");
	*handle_out = handle;
	return entry;
}

int main(int argc, char **argv)
{
	struct plugin_request request = {.path = "/index", .size = 512};
	void *handle;
	plugin_entry entry;

	if (argc != 2)
		return 2;
	entry = load(argv[1], &handle);
	if (strcmp(argv[1], "unloaded") == 0)
		dlclose(handle);
	return serve(entry, &request);
}
