#include "core/elf/identity.h"

const char *xc_identity_text(enum xc_identity identity)
{
	static const char *const texts[] = {"no file", "verified", "unverified", "refused"};
	return texts[identity];
}
