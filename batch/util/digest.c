/* digest: implements digest.h. */
#include "batch/util/digest.h"

#include <string.h>

void xc_digest_text(SHA2_CTX *hash, const char *text)
{
	if (text)
		SHA256Update(hash, (const uint8_t *)text, strlen(text));
	SHA256Update(hash, (const uint8_t *)"", 1);
}
