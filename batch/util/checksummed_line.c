#include "batch/util/checksummed_line.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "batch/util/digest.h"

#define HEAD "{\"sum\":\""
#define REST "\","

enum { DIGITS = 16, FIRST = sizeof HEAD - 1, BEHIND = FIRST + DIGITS + sizeof REST - 1 };

static void sum_of(const char *rest, size_t len, const char *purpose, char sum[SHA256_DIGEST_STRING_LENGTH])
{
	SHA2_CTX hash;
	SHA256Init(&hash);
	xc_digest_text(&hash, purpose);
	SHA256Update(&hash, (const uint8_t *)rest, len);
	SHA256End(&hash, sum);
}

char *xc_checksummed_line_format(json_t *object, const char *purpose)
{
	char sum[SHA256_DIGEST_STRING_LENGTH], *text = json_dumps(object, JSON_COMPACT);
	sum_of(text + 1, strlen(text + 1), purpose, sum);
	char *line = xc_asprintf(HEAD "%.*s" REST "%s\n", DIGITS, sum, text + 1);
	free(text);
	json_decref(object);
	return line;
}

json_t *xc_checksummed_line_parse(const char *line, size_t len, const char *purpose)
{
	char sum[SHA256_DIGEST_STRING_LENGTH];
	if (len < BEHIND || memcmp(line, HEAD, FIRST) != 0 || memcmp(line + FIRST + DIGITS, REST, sizeof REST - 1) != 0)
		return NULL;
	sum_of(line + BEHIND, len - BEHIND, purpose, sum);
	return memcmp(line + FIRST, sum, DIGITS) ? NULL : json_loadb(line, len, 0, NULL);
}
