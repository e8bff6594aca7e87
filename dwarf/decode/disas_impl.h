/* disas_impl: the interface that decoders implement. */
#ifndef XC_DISAS_IMPL_H
#define XC_DISAS_IMPL_H

#include "dwarf/decode/disas.h"

struct xc_disas {
	const struct xc_arch *arch;
	enum xc_syntax syntax;
	bool thumb;
	unsigned step; /* bytes to skip where there is no instruction */
	/* Fill *out, whose addr and length are preset for bytes that are no instruction; false when they are none. */
	bool (*decode)(struct xc_disas *disas, const uint8_t *bytes, size_t len, struct xc_code *out);
	bool (*length)(struct xc_disas *disas, const uint8_t *bytes, size_t len, xc_addr addr, uint8_t *length_out);
	void (*close)(struct xc_disas *disas);
	void *state; /* of the decoder */
};

/* Set decode, length and close. False when the decoder does not support the machine. */
bool xc_disas_open_x86(struct xc_disas *disas);
bool xc_disas_open_capstone(struct xc_disas *disas);

/* Space for one more operand; NULL when there is none left. */
struct xc_code_operand *xc_disas_operand(struct xc_code *out, enum xc_code_kind kind);

/* The DWARF number of a register by its name in this machine's instructions; -1 when no register of that name is
 * kept. */
int xc_disas_register(const struct xc_disas *disas, const char *name);

#endif
