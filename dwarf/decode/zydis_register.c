/* zydis_register: Zydis numbers general registers as the encoding does: rax rcx rdx rbx rsp rbp rsi rdi r8…r15;
 * so does DWARF for i386. */
#include "dwarf/decode/zydis_register.h"

#include "core/base/base.h"

int xc_zydis_register(ZydisMachineMode mode, ZydisRegister reg)
{
	static const int8_t numbers[] = {0, 2, 1, 3, 7, 6, 4, 5};
	bool wide = mode == ZYDIS_MACHINE_MODE_LONG_64;
	ZydisRegister whole = ZydisRegisterGetLargestEnclosing(mode, reg);
	if (ZydisRegisterGetClass(whole) != (wide ? ZYDIS_REGCLASS_GPR64 : ZYDIS_REGCLASS_GPR32))
		return -1;
	int id = ZydisRegisterGetId(whole);
	return wide && id < (int)XC_COUNT(numbers) ? numbers[id] : id;
}
