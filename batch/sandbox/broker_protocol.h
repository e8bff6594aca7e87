/* broker_protocol: the packets between a worker and its broker.
 *
 * Packets are small and have a fixed form. A request has two NUL-terminated texts and nothing after them. Its number is
 * repeated in the answer: a broker that was given up may still answer, and so may its replacement. */
#ifndef XC_BROKER_PROTOCOL_H
#define XC_BROKER_PROTOCOL_H

#include <limits.h>

#include "core/base/base.h"

enum xc_broker_request_kind {
	XC_BROKER_REQUEST_FILE,
	XC_BROKER_REQUEST_KEPT,
	XC_BROKER_REQUEST_SCRATCH,
	XC_BROKER_REQUEST_CORE
};

enum { XC_BROKER_REQUEST_TEXT = PATH_MAX }; /* bytes of a text, with its NUL */

struct xc_broker_request {
	int kind;
	uint32_t number;
	uint8_t has_root;                       /* from hostile bytes, so not a bool */
	char texts[2 * XC_BROKER_REQUEST_TEXT]; /* root and path, or kind and name; each with its NUL */
};

struct xc_broker_answer {
	int error; /* errno; 0: a descriptor is attached */
	bool special;
	uint32_t number; /* of the request */
};

#endif
