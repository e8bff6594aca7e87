/* protobuf: messages of Protocol Buffers, as pprof's files need them. */
#ifndef XC_PROTOBUF_H
#define XC_PROTOBUF_H

#include <stdio.h>

#include "core/base/error.h"
#include "core/base/text.h"

void xc_protobuf_number(struct xc_text *text, uint64_t number); /* bare, for packed fields */
void xc_protobuf_field(struct xc_text *text, unsigned field, uint64_t number);
void xc_protobuf_bytes(struct xc_text *text, unsigned field, const char *bytes, size_t len);

/* A message as a field; it is freed. */
void xc_protobuf_message(struct xc_text *text, unsigned field, struct xc_text *message);

/* Write it compressed by gzip. Errors: XC_ERR_IO, XC_ERR_LIMIT. */
XC_MUST_CHECK struct xc_error *xc_protobuf_write_gzip(const struct xc_text *text, FILE *out);

#endif
