/* Between plugin-host.c and plugin.c. */
#ifndef PLUGIN_H
#define PLUGIN_H

struct plugin_request {
	const char *path;
	int size;
};

typedef int (*plugin_entry)(struct plugin_request *request);

#endif
