/* Renames the host of a configuration. Who gives no new name forgets that the library does not look for NULL. */
#include "cJSON.h"
#include <stdio.h>
#include <stdlib.h>

static void rename_host(cJSON *config, const char *name)
{
	cJSON *host = cJSON_GetObjectItemCaseSensitive(config, "host");
	if (cJSON_IsString(host))
		cJSON_SetValuestring(host, name);
}

int main(int argc, char **argv)
{
	cJSON *config = cJSON_Parse("{\"host\": \"localhost\", \"port\": 80}");
	char *text;
	(void)argc;
	rename_host(config, argv[1]);
	text = cJSON_Print(config);
	puts(text);
	free(text);
	cJSON_Delete(config);
	return 0;
}
