#include "triage/libc/stream.h"

#include "dwarf/elf/symbol.h"

enum { WRITE_BASE = 0x20, WRITE_END = 0x30, CHAIN = 0x68, FILENO = 0x70, LARGEST = 64 << 20 };

static bool peek(const struct xc_process *p, xc_addr at, uint64_t *out)
{
	return xc_space_peek_uint(p->space, at, 8, out);
}

bool xc_stream_first(const struct xc_process *p, xc_addr *at_out)
{
	xc_addr list;
	return xc_arch_is_x86_64(p->arch) && xc_symbol_find(p, "_IO_list_all", NULL, &list) && peek(p, list, at_out);
}

bool xc_stream_next(const struct xc_process *p, xc_addr *at)
{
	return peek(p, *at + CHAIN, at);
}

bool xc_stream_pending(const struct xc_process *p, xc_addr stream, struct xc_stream_pending *out)
{
	uint64_t base, at, end, fd;
	if (!peek(p, stream + WRITE_BASE, &base) || !peek(p, stream + WRITE_BASE + 8, &at) ||
	    !peek(p, stream + WRITE_END, &end) || !xc_space_peek_uint(p->space, stream + FILENO, 4, &fd) || !base ||
	    at <= base || at - base > LARGEST || (end && end < base))
		return false;
	*out = (struct xc_stream_pending){.fd = (int)(int32_t)fd, .at = base, .size = at - base};
	return out->fd >= 0;
}
