/* broker_protocol: what a worker asks its broker for, and what that answers: a packet each.
 *
 * Packets are small and of fixed form: a request has two texts that end in a NUL, and nothing behind them. It has a number, which its answer
 * repeats: a broker that was given up may have answered after all, when the one in its place does so too. */
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
	uint8_t has_root;                       /* of hostile bytes: no bool */
	char texts[2 * XC_BROKER_REQUEST_TEXT]; /* root and path, or kind and name; each with its NUL */
};

struct xc_broker_answer {
	int error; /* errno; 0: a descriptor comes with it */
	bool special;
	uint32_t number; /* of the request */
};

#endif
