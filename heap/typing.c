#include "typing.h"

struct xc_error *xc_typing_of(struct xc_heap *heap, struct xc_typing **typing_out)
{
	(void)heap;
	(void)typing_out;
	return xc_error_new(XC_ERR_UNSUPPORTED, "the types of the heap are not worked out yet");
}

void xc_typing_free(struct xc_typing *typing)
{
	(void)typing;
}
