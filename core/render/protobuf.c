/* protobuf: the wire format, https://protobuf.dev/programming-guides/encoding/. */
#include "core/render/protobuf.h"

#include <errno.h>
#include <zlib.h>

enum { VARINT = 0, BYTES = 2 };

void xc_protobuf_number(struct xc_text *t, uint64_t n)
{
	for (; n >= 0x80; n >>= 7)
		xc_text_char(t, (char)(n | 0x80));
	xc_text_char(t, (char)n);
}

void xc_protobuf_field(struct xc_text *t, unsigned field, uint64_t n)
{
	xc_protobuf_number(t, field << 3 | VARINT);
	xc_protobuf_number(t, n);
}

void xc_protobuf_bytes(struct xc_text *t, unsigned field, const char *bytes, size_t len)
{
	xc_protobuf_number(t, field << 3 | BYTES);
	xc_protobuf_number(t, len);
	xc_text_addn(t, bytes, len);
}

void xc_protobuf_message(struct xc_text *t, unsigned field, struct xc_text *message)
{
	xc_protobuf_bytes(t, field, message->bytes, message->len);
	xc_text_fini(message);
}

struct xc_error *xc_protobuf_write_gzip(const struct xc_text *t, FILE *out)
{
	enum { GZIP = 15 + 16, ROOM = 1 << 16 };
	static unsigned char room[ROOM];
	z_stream z = {.next_in = (unsigned char *)t->bytes, .avail_in = 0};
	size_t left = t->len;
	int state = deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP, 8, Z_DEFAULT_STRATEGY);
	while (state == Z_OK) {
		const size_t some = left < UINT32_MAX / 2 ? left : UINT32_MAX / 2;
		if (!z.avail_in) {
			z.avail_in = (unsigned)some;
			left -= some;
		}
		z.next_out = room;
		z.avail_out = ROOM;
		state = deflate(&z, left ? Z_NO_FLUSH : Z_FINISH);
		fwrite(room, 1, ROOM - z.avail_out, out);
	}
	deflateEnd(&z);
	if (state != Z_STREAM_END)
		return xc_error_new(XC_ERR_LIMIT, "no memory to compress the profile");
	return fflush(out) || ferror(out) ? xc_error_errno(errno ? errno : EIO, "writing the profile") : NULL;
}
