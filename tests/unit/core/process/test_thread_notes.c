/* layer: core */
/* Notes of threads, for every machine: registers, floating-point registers, thread pointers and the signal. */
#include "tests/unit/core/process/read_notes.h"

/* ---- machines ---- */

static void foreign_machines_give_their_threads(void **state)
{
	(void)state;
	static const struct {
		uint16_t machine;
		uint8_t elf_class;
		bool big_endian, has_regs;
	} kinds[] = {{EM_386, ELFCLASS32, false, true},     {EM_X86_64, ELFCLASS32, false, true},
		     {EM_AARCH64, ELFCLASS64, false, true}, {EM_ARM, ELFCLASS32, false, true},
		     {EM_PPC64, ELFCLASS64, false, true},   {EM_RISCV, ELFCLASS64, false, true},
		     {EM_S390, ELFCLASS64, true, false},    {EM_PPC64, ELFCLASS64, true, false}};
	for (size_t i = 0; i < XC_COUNT(kinds); i++) {
		struct corefile c = corefile_new_for(kinds[i].machine, kinds[i].elf_class, kinds[i].big_endian);
		uint64_t value;
		fill_kernel_core(&c);
		struct xc_process *p = read_all(&c);
		assert_int_equal(p->thread_count, 2);
		assert_true(p->threads[0].tid == 4242 && p->threads[0].signal == SIGSEGV);
		assert_int_equal(p->threads[0].has_regs, kinds[i].has_regs);
		assert_int_equal(p->threads[0].why_no_regs == NULL, kinds[i].has_regs);
		if (kinds[i].has_regs) {
			assert_true(xc_regs_get(&p->threads[1].regs, p->arch->pc, &value) && value == 0x401500);
			assert_true(xc_regs_get(&p->threads[1].regs, p->arch->sp, &value) && value == 0x7ffd0000);
		}
		assert_string_equal(p->comm, "crasher");
		assert_true(p->pid == 4242 && p->ppid == 1 && p->uid == 1000);
		assert_true(p->signal.addr_known && p->signal.addr == 0xdead0);
		assert_int_equal(p->file_count, 3);
		assert_true(p->auxv[AT_ENTRY] == 0x401000);
		xc_process_close(p);
	}
}

/* A core of one thread with one additional register note. */
static struct xc_process *with_register_note(uint16_t machine, uint8_t elf_class, const struct xc_regs *regs,
					     uint32_t type, const void *desc, size_t size)
{
	struct corefile c = corefile_new_for(machine, elf_class, false);
	corefile_prstatus_regs(&c, 1, SIGSEGV, regs);
	corefile_note(&c, type == NT_FPREGSET ? "CORE" : "LINUX", type, desc, size);
	return read_all(&c);
}

static void each_machine_has_its_floating_point_note(void **state)
{
	(void)state;
	static const struct {
		uint16_t machine;
		uint8_t elf_class;
		uint32_t type;
		size_t size, vectors;
		int number; /* of a register stored by value; its bytes start at `at` */
		size_t at;
	} kinds[] = {{EM_386, ELFCLASS32, NT_PRXFPREG, 512, 8, -1, 0},
		     {EM_386, ELFCLASS32, NT_FPREGSET, 108, 0, -1, 0},
		     {EM_X86_64, ELFCLASS32, NT_FPREGSET, 512, 16, -1, 0},
		     {EM_AARCH64, ELFCLASS64, NT_FPREGSET, 528, 32, 79, 15 * 16},
		     {EM_ARM, ELFCLASS32, NT_ARM_VFP, 260, 32, -1, 0},
		     {EM_PPC64, ELFCLASS64, NT_FPREGSET, 264, 0, 33, 8},
		     {EM_PPC64, ELFCLASS64, NT_PPC_VMX, 544, 32, -1, 0},
		     {EM_RISCV, ELFCLASS64, NT_FPREGSET, 264, 0, 63, 31 * 8}};
	uint8_t desc[544];
	for (size_t i = 0; i < sizeof desc; i++)
		desc[i] = (uint8_t)(i * 7 + 1);
	for (size_t i = 0; i < XC_COUNT(kinds); i++) {
		const struct xc_regs none = {.vector = NULL};
		for (int cut = 0; cut < 2; cut++) {
			struct xc_process *p =
				with_register_note(kinds[i].machine, kinds[i].elf_class, &none, kinds[i].type, desc,
						   cut ? kinds[i].size / 4 : kinds[i].size);
			const struct xc_thread *t = &p->threads[0];
			uint64_t value, expected;
			memcpy(&expected, desc + kinds[i].at, 8);
			assert_int_equal(t->vector ? t->vector->xmm_count : 0, cut ? 0 : kinds[i].vectors);
			assert_int_equal(xc_regs_get(&t->regs, kinds[i].number, &value), !cut && kinds[i].number >= 0);
			if (!cut && kinds[i].number >= 0)
				assert_true(value == expected);
			xc_process_close(p);
		}
	}
}

static void thread_pointers_come_from_notes(void **state)
{
	(void)state;
	struct xc_regs regs = {.vector = NULL};
	/* struct user_desc: entry 12 is gs's (selector 0x63), 13 is not */
	static const uint32_t descs[] = {12, 0xf7f44540, 0xfffff, 0x51, 13, 0x1111, 0, 0x28};
	static const uint64_t tpidr = 0x7f12345000, masks[] = {0x7f000000000000, 0x7f800000000000};
	uint64_t value;
	xc_regs_set(&regs, 45, 0x63);
	struct xc_process *p = with_register_note(EM_386, ELFCLASS32, &regs, NT_386_TLS, descs, sizeof descs);
	assert_true(xc_regs_get(&p->threads[0].regs, p->arch->tls.tp, &value) && value == 0xf7f44540);
	xc_process_close(p);
	xc_regs_set(&regs, 45, 0x7b);
	p = with_register_note(EM_386, ELFCLASS32, &regs, NT_386_TLS, descs, sizeof descs);
	assert_false(xc_regs_known(&p->threads[0].regs, p->arch->tls.tp));
	xc_process_close(p);
	p = with_register_note(EM_AARCH64, ELFCLASS64, &regs, NT_ARM_TLS, &tpidr, sizeof tpidr);
	assert_true(xc_regs_get(&p->threads[0].regs, p->arch->tls.tp, &value) && value == tpidr);
	xc_process_close(p);
	p = with_register_note(EM_ARM, ELFCLASS32, &regs, NT_ARM_TLS, &tpidr, 4);
	assert_true(xc_regs_get(&p->threads[0].regs, p->arch->tls.tp, &value) && value == 0x12345000);
	xc_process_close(p);
	p = with_register_note(EM_AARCH64, ELFCLASS64, &regs, NT_ARM_PAC_MASK, masks, sizeof masks);
	assert_true(p->code_mask == masks[1]);
	xc_process_close(p);
}

/* ---- damaged notes ---- */

static void registers_cut_off_are_unknown_and_not_zero(void **state)
{
	(void)state;
	struct corefile c = corefile_new();
	char desc[336];
	memset(desc, 0x11, sizeof desc);
	corefile_note(&c, "CORE", NT_PRSTATUS, desc, 112 + 136); /* up to and with rip, but not rsp */
	struct xc_process *p = read_all(&c);
	uint64_t value;
	assert_true(xc_regs_get(&p->threads[0].regs, 16, &value) && value == 0x1111111111111111);
	assert_false(xc_regs_known(&p->threads[0].regs, 7));
	assert_false(p->threads[0].has_regs);
	assert_string_equal(p->threads[0].why_no_regs, "its register note is cut short");
	xc_process_close(p);
}

static void registers_of_a_broken_thread_do_not_go_to_the_one_before(void **state)
{
	(void)state;
	struct corefile c = corefile_new();
	char fxsave[512] = {0};
	corefile_prstatus(&c, 1, 11, 0x1000, 0x2000);
	corefile_note(&c, "CORE", NT_PRSTATUS, "short", 5);
	corefile_note(&c, "CORE", NT_FPREGSET, fxsave, sizeof fxsave);
	struct xc_process *p = read_all(&c);
	assert_int_equal(p->thread_count, 1);
	assert_null(p->threads[0].vector);
	assert_true(remarked(p, "NT_PRSTATUS note of 5 bytes"));
	xc_process_close(p);
}

static void floating_registers_cut_short_or_without_a_thread_are_left_out(void **state)
{
	(void)state;
	struct corefile c = corefile_new();
	char fxsave[512] = {0};
	corefile_note(&c, "CORE", NT_FPREGSET, fxsave, sizeof fxsave);
	corefile_prstatus(&c, 1, 11, 0x1000, 0x2000);
	corefile_note(&c, "CORE", NT_FPREGSET, fxsave, 511);
	struct xc_process *p = read_all(&c);
	assert_null(p->threads[0].vector);
	xc_process_close(p);
}

/* ---- the signal ---- */

static struct xc_signal signal_of(struct corefile *c)
{
	struct xc_process *p = read_all(c);
	struct xc_signal s = p->signal;
	xc_process_close(p);
	return s;
}

static void an_address_counts_only_where_the_kernel_gave_one(void **state)
{
	(void)state;
	static const struct {
		int number, code;
		bool addr;
	} cases[] = {{SIGSEGV, SEGV_MAPERR, true}, {SIGBUS, BUS_ADRERR, true},  {SIGFPE, FPE_INTDIV, true},
		     {SIGILL, ILL_ILLOPN, true},   {SIGSEGV, SI_KERNEL, false}, {SIGSEGV, SI_USER, false},
		     {SIGSEGV, SI_TKILL, false},   {SIGABRT, SI_TKILL, false},  {SIGCHLD, CLD_EXITED, false}};
	for (size_t i = 0; i < XC_COUNT(cases); i++) {
		struct corefile c = corefile_new();
		corefile_siginfo(&c, cases[i].number, cases[i].code, (UINT64_C(1000) << 32) | 77);
		struct xc_signal s = signal_of(&c);
		assert_true(s.known && s.has_info && s.number == cases[i].number && s.code == cases[i].code);
		assert_int_equal(s.addr_known, cases[i].addr);
		if (cases[i].code <= 0)
			assert_true(s.sender_pid == 77 && s.sender_uid == 1000);
	}
}

static void the_first_siginfo_counts_and_short_ones_do_not(void **state)
{
	(void)state;
	struct corefile c = corefile_new();
	corefile_note(&c, "CORE", NT_SIGINFO, "\7\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0", 16);
	corefile_siginfo(&c, SIGSEGV, SEGV_ACCERR, 1);
	corefile_siginfo(&c, SIGBUS, BUS_ADRALN, 2);
	struct xc_signal s = signal_of(&c);
	assert_true(s.number == SIGSEGV && s.code == SEGV_ACCERR && s.addr == 1);
}

static void a_siginfo_without_a_signal_is_none(void **state)
{
	(void)state;
	struct corefile c = corefile_new();
	corefile_prstatus(&c, 1, 0, 1, 2);
	corefile_siginfo(&c, 0, 0, 0);
	struct xc_signal s = signal_of(&c);
	assert_false(s.known || s.has_info);
}

static void a_protection_key_cut_off_is_no_key_zero(void **state)
{
	(void)state;
	struct corefile c = corefile_new();
	char desc[128] = {SIGSEGV};
	desc[8] = SEGV_PKUERR;
	desc[16 + 16] = 5;
	corefile_note(&c, "CORE", NT_SIGINFO, desc, 32); /* ends before the key */
	corefile_note(&c, "CORE", NT_SIGINFO, desc, 128);
	struct xc_signal s = signal_of(&c);
	assert_true(s.has_info && s.code == SEGV_PKUERR && s.lower == 5);
}

static void seccomp_names_the_system_call(void **state)
{
	(void)state;
	struct corefile c = corefile_new();
	char desc[128] = {SIGSYS};
	desc[8] = 1; /* SYS_SECCOMP */
	desc[16 + 8] = 59;
	corefile_note(&c, "CORE", NT_SIGINFO, desc, 128);
	struct xc_signal s = signal_of(&c);
	assert_true(s.number == SIGSYS && s.syscall_number == 59 && !s.addr_known);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(foreign_machines_give_their_threads),
		cmocka_unit_test(each_machine_has_its_floating_point_note),
		cmocka_unit_test(thread_pointers_come_from_notes),
		cmocka_unit_test(registers_cut_off_are_unknown_and_not_zero),
		cmocka_unit_test(registers_of_a_broken_thread_do_not_go_to_the_one_before),
		cmocka_unit_test(floating_registers_cut_short_or_without_a_thread_are_left_out),
		cmocka_unit_test(an_address_counts_only_where_the_kernel_gave_one),
		cmocka_unit_test(the_first_siginfo_counts_and_short_ones_do_not),
		cmocka_unit_test(a_siginfo_without_a_signal_is_none),
		cmocka_unit_test(a_protection_key_cut_off_is_no_key_zero),
		cmocka_unit_test(seccomp_names_the_system_call),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
