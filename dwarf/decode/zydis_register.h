/* zydis_register: the numbers of Zydis' registers. */
#ifndef XC_ZYDIS_REGISTER_H
#define XC_ZYDIS_REGISTER_H

#include <Zydis/Zydis.h>

/* The DWARF number of the general register that `reg` is, or is part of, in this mode: 64-bit mode, or one of 32 bits.
 * -1: it is none, as ZYDIS_REGISTER_NONE. */
int xc_zydis_register(ZydisMachineMode mode, ZydisRegister reg);

#endif
