/* layer: dwarf */
/* Instructions as text: the output of objdump 2.40 for the same bytes, except where a comment says otherwise. */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>
#include <jansson.h>

#include "dwarf/disas/disas_report.h"
#include "tests/support/check.h"
#include "tests/support/property.h"
#include "tests/support/scene.h"

struct sample {
	const char *bytes; /* hexadecimal */
	const char *text;
	enum xc_flow flow;
	xc_addr target; /* from address 0x1000; 0: none */
};

static size_t parse_hex(const char *hex, uint8_t *out)
{
	size_t count = 0;
	for (unsigned byte; count < 32 && sscanf(hex + 2 * count, "%2x", &byte) == 1; count++)
		out[count] = (uint8_t)byte;
	return count;
}

static void expect_samples(uint16_t machine, uint8_t class, enum xc_syntax syntax, bool thumb,
			   const struct sample *samples, size_t count)
{
	struct xc_disas *disas;
	CHECK_OK(xc_disas_open(xc_arch_find(machine, class, false), syntax, &disas));
	xc_disas_thumb(disas, thumb);
	for (size_t i = 0; i < count; i++) {
		uint8_t bytes[32], length;
		size_t len = parse_hex(samples[i].bytes, bytes);
		struct xc_code code;
		xc_disas_decode(disas, bytes, len, 0x1000, &code);
		if (strcmp(code.text, samples[i].text) != 0)
			fail_msg("%s: got \"%s\", want \"%s\"", samples[i].bytes, code.text, samples[i].text);
		if (code.length != len || code.flow != samples[i].flow || code.has_target != (samples[i].target != 0) ||
		    (code.has_target && code.target != samples[i].target))
			fail_msg("%s: length %u, flow %d, target %d 0x%llx", code.text, code.length, (int)code.flow,
				 code.has_target, (unsigned long long)code.target);
		assert_true(xc_disas_length(disas, bytes, len, 0x1000, &length) == code.valid);
		assert_int_equal(length, code.length);
	}
	xc_disas_close(disas);
}

static void x86_reads_as_objdump_writes_it(void **state)
{
	static const struct sample samples[] = {
		{"55", "push %rbp", XC_FLOW_ON, 0},
		{"48895318", "mov %rdx,0x18(%rbx)", XC_FLOW_ON, 0},
		{"c70001000000", "movl $0x1,(%rax)", XC_FLOW_ON, 0},
		{"f77df8", "idivl -0x8(%rbp)", XC_FLOW_ON, 0},
		{"7512", "jne 0x1014", XC_FLOW_BRANCH, 0x1014},
		{"0f86fcffffff", "jbe 0x1002", XC_FLOW_BRANCH, 0x1002},
		{"ebfe", "jmp 0x1000", XC_FLOW_JUMP, 0x1000},
		{"e8fb0f0000", "call 0x2000", XC_FLOW_CALL, 0x2000},
		{"ffd1", "call *%rcx", XC_FLOW_CALL, 0},
		{"ff2584660000", "jmp *0x6684(%rip)", XC_FLOW_JUMP, 0},
		{"ff14c5e0f84000", "call *0x40f8e0(,%rax,8)", XC_FLOW_CALL, 0},
		{"c3", "ret", XC_FLOW_RETURN, 0},
		{"0f95c0", "setne %al", XC_FLOW_ON, 0},
		{"480f4dc2", "cmovge %rdx,%rax", XC_FLOW_ON, 0},
		{"0fb60424", "movzbl (%rsp),%eax", XC_FLOW_ON, 0},
		{"4863d0", "movslq %eax,%rdx", XC_FLOW_ON, 0},
		{"4898", "cltq", XC_FLOW_ON, 0},
		{"99", "cltd", XC_FLOW_ON, 0},
		{"d3642408", "shll %cl,0x8(%rsp)", XC_FLOW_ON, 0},
		{"db6c2418", "fldt 0x18(%rsp)", XC_FLOW_ON, 0},
		{"df2c24", "fildll (%rsp)", XC_FLOW_ON, 0},
		{"f30f6f0e", "movdqu (%rsi),%xmm1", XC_FLOW_ON, 0},
		{"f20f10057b0f0000", "movsd 0xf7b(%rip),%xmm0", XC_FLOW_ON, 0},
		{"62e17f286f26", "vmovdqu8 (%rsi),%ymm20", XC_FLOW_ON, 0},
		{"f348ab", "rep stosq", XC_FLOW_ON, 0}, /* objdump: rep stos %rax,%es:(%rdi) */
		{"f3a5", "rep movsl", XC_FLOW_ON, 0},   /* objdump: rep movsl %ds:(%rsi),%es:(%rdi) */
		{"64488b042528000000", "mov %fs:0x28,%rax", XC_FLOW_ON, 0},
		{"f0480fb10e", "lock cmpxchg %rcx,(%rsi)", XC_FLOW_ON, 0},
		{"660f1f840000000000", "nop", XC_FLOW_ON, 0}, /* objdump: nopw 0x0(%rax,%rax,1) */
		{"f30f1efa", "endbr64", XC_FLOW_ON, 0},
		{"0f0b", "ud2", XC_FLOW_ON, 0},
		{"06", ".byte 0x06", XC_FLOW_ON, 0},
	};
	(void)state;
	expect_samples(EM_X86_64, ELFCLASS64, XC_SYNTAX_ATT, false, samples, XC_COUNT(samples));
}

static void intels_syntax_is_there_too(void **state)
{
	static const struct sample samples[] = {
		{"48895318", "mov [rbx+0x18], rdx", XC_FLOW_ON, 0},
		{"7512", "jne 0x1014", XC_FLOW_BRANCH, 0x1014},
		{"ffd1", "call rcx", XC_FLOW_CALL, 0},
	};
	(void)state;
	expect_samples(EM_X86_64, ELFCLASS64, XC_SYNTAX_INTEL, false, samples, XC_COUNT(samples));
}

static void i386_is_no_x86_64(void **state)
{
	static const struct sample samples[] = {
		{"40", "inc %eax", XC_FLOW_ON, 0},
		{"8b4508", "mov 0x8(%ebp),%eax", XC_FLOW_ON, 0},
		{"e8fb0f0000", "call 0x2000", XC_FLOW_CALL, 0x2000},
		{"06", "push %es", XC_FLOW_ON, 0},
	};
	(void)state;
	expect_samples(EM_386, ELFCLASS32, XC_SYNTAX_ATT, false, samples, XC_COUNT(samples));
}

/* These texts are capstone's: immediates have a #, and ppc64 registers their letter. */
static void other_machines_read_too(void **state)
{
	static const struct sample arm64[] = {
		{"fd7bbea9", "stp x29, x30, [sp, #-0x20]!", XC_FLOW_ON, 0},
		{"00040094", "bl 0x2000", XC_FLOW_CALL, 0x2000},
		{"41000054", "b.ne 0x1008", XC_FLOW_BRANCH, 0x1008},
		{"400000b4", "cbz x0, 0x1008", XC_FLOW_BRANCH, 0x1008},
		{"20023fd6", "blr x17", XC_FLOW_CALL, 0},
		{"c0035fd6", "ret", XC_FLOW_RETURN, 0},
		{"00000000", ".inst 0x00000000", XC_FLOW_ON, 0},
	};
	static const struct sample arm[] = {
		{"0c0093e5", "ldr r0, [r3, #0xc]", XC_FLOW_ON, 0},
		{"fe0300eb", "bl 0x2000", XC_FLOW_CALL, 0x2000},
		{"0000001a", "bne 0x1008", XC_FLOW_BRANCH, 0x1008},
		{"1eff2fe1", "bx lr", XC_FLOW_RETURN, 0},
	};
	static const struct sample thumb[] = {
		{"10b5", "push {r4, lr}", XC_FLOW_ON, 0},
		{"00d0", "beq 0x1004", XC_FLOW_BRANCH, 0x1004},
		{"10bd", "pop {r4, pc}", XC_FLOW_RETURN, 0},
	};
	static const struct sample power[] = {
		{"e8ff61f8", "std r3, -0x18(r1)", XC_FLOW_ON, 0},
		{"01100048", "bl 0x2000", XC_FLOW_CALL, 0x2000},
		{"08008240", "bne 0x1008", XC_FLOW_BRANCH, 0x1008},
		{"2104804e", "bctrl", XC_FLOW_CALL, 0},
		{"2000804e", "blr", XC_FLOW_RETURN, 0},
	};
	(void)state;
	expect_samples(EM_AARCH64, ELFCLASS64, XC_SYNTAX_ATT, false, arm64, XC_COUNT(arm64));
	expect_samples(EM_ARM, ELFCLASS32, XC_SYNTAX_ATT, false, arm, XC_COUNT(arm));
	expect_samples(EM_ARM, ELFCLASS32, XC_SYNTAX_ATT, true, thumb, XC_COUNT(thumb));
	expect_samples(EM_PPC64, ELFCLASS64, XC_SYNTAX_ATT, false, power, XC_COUNT(power));
}

static void a_machine_that_nobody_decodes_is_refused(void **state)
{
	struct xc_disas *disas;
	(void)state;
	struct xc_error *err = xc_disas_open(xc_arch_find(4711, ELFCLASS64, false), XC_SYNTAX_ATT, &disas);
	assert_non_null(err);
	assert_int_equal(err->code, XC_ERR_UNSUPPORTED);
	xc_error_free(err);
}

/* Addresses of memory operands, against sums computed by hand. */
static void memory_operands_have_addresses(void **state)
{
	static const struct {
		const char *bytes;
		xc_addr addr;
		bool read, written, only;
		uint32_t size;
	} samples[] = {
		{"48895318", 0x5018, false, true, false, 8},             /* mov %rdx,0x18(%rbx) */
		{"8b4c8bfc", 0x5000 + 4 * 3 - 4, true, false, false, 4}, /* mov -4(%rbx,%rcx,4),%ecx */
		{"488d05f90f0000", 0x2000, false, false, true, 8},       /* lea 0xff9(%rip),%rax */
		{"64488b042528000000", 0x7028, true, false, false, 8},   /* mov %fs:0x28,%rax */
		{"50", 0x6000 - 8, false, true, false, 8},               /* push %rax */
		{"58", 0x6000, true, false, false, 8},                   /* pop %rax */
	};
	struct xc_regs regs = {0};
	struct xc_disas *disas;
	(void)state;
	xc_regs_set(&regs, RBX, 0x5000);
	xc_regs_set(&regs, RCX, 3);
	xc_regs_set(&regs, RSP, 0x6000);
	xc_regs_set(&regs, 58, 0x7000);
	CHECK_OK(xc_disas_open(xc_arch_host(), XC_SYNTAX_ATT, &disas));
	for (size_t i = 0; i < XC_COUNT(samples); i++) {
		uint8_t bytes[32];
		struct xc_code code;
		xc_addr addr = 0;
		const struct xc_code_operand *memory = NULL;
		xc_disas_decode(disas, bytes, parse_hex(samples[i].bytes, bytes), 0x1000, &code);
		for (size_t o = 0; o < code.operand_count; o++)
			if (code.operands[o].kind == XC_CODE_MEMORY)
				memory = &code.operands[o];
		assert_non_null(memory);
		assert_true(xc_disas_address(disas, memory, &regs, &addr));
		if (addr != samples[i].addr || memory->size != samples[i].size || memory->read != samples[i].read ||
		    memory->written != samples[i].written || memory->address_only != samples[i].only)
			fail_msg("%s: 0x%llx, %u bytes", code.text, (unsigned long long)addr, memory->size);
		if (memory->base >= 0 || memory->segment >= 0)
			assert_false(xc_disas_address(disas, memory, &(struct xc_regs){0}, &addr));
	}
	xc_disas_close(disas);
}

/* Any contents of memory: decoding continues, within the bytes it was given. */
static void any_bytes_decode_to_something(void **state)
{
	static const struct {
		uint16_t machine;
		uint8_t class;
	} machines[] = {{EM_X86_64, ELFCLASS64},
			{EM_386, ELFCLASS32},
			{EM_AARCH64, ELFCLASS64},
			{EM_ARM, ELFCLASS32},
			{EM_PPC64, ELFCLASS64}};
	uint64_t seed = 4711;
	(void)state;
	for (size_t m = 0; m < XC_COUNT(machines); m++) {
		struct xc_disas *disas;
		CHECK_OK(xc_disas_open(xc_arch_find(machines[m].machine, machines[m].class, false), XC_SYNTAX_ATT,
				       &disas));
		for (int i = 0; i < 20000; i++) {
			size_t len = 1 + (size_t)i % XC_CODE_LONGEST;
			uint8_t *bytes = malloc(len); /* of exactly this size: ASan detects a read past it */
			struct xc_code code;
			for (size_t b = 0; b < len; b++) {
				seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
				bytes[b] = (uint8_t)(seed >> 56);
			}
			xc_disas_thumb(disas, i & 1);
			xc_disas_decode(disas, bytes, len, seed, &code);
			assert_in_range(code.length, 1, len);
			assert_true(*code.text && strlen(code.text) < sizeof code.text);
			free(bytes);
		}
		xc_disas_close(disas);
	}
}

/* ---- listings ---- */

static const char program[] = ".globl first,second,table,message\n.text\n.type first,@function\nfirst: nop\n call "
			      "second\n mov table(%rip),%rax\n"
			      "fault: mov %rax,0x18(%rbx)\n lea message(%rip),%rdi\n jmp first\n .size first,.-first\n"
			      ".type second,@function\nsecond: .fill 300,1,0x90\n ret\n .size second,.-second\n"
			      "nameless: xor %eax,%eax\n ret\n"
			      ".data\n.type table,@object\ntable: .quad second\n.size table,8\n.section "
			      ".rodata\nmessage: .asciz \"lost\\n\"\n";

static json_t *list(struct scene *s, const xc_addr *addr, struct xc_disas_options options, char **text)
{
	struct xc_report *report = xc_report_new("disas");
	struct xc_section *section = xc_report_section(report, "disas", "Code");
	struct xc_frame_scope scope;
	s->process->threads = &s->thread;
	s->process->thread_count = 1;
	CHECK_OK(xc_frame_scope_open(&scope, s->process, &s->thread, 0));
	options.before = options.before ? options.before : XC_DISAS_BEFORE;
	options.after = options.after ? options.after : XC_DISAS_AFTER;
	CHECK_OK(xc_disas_report(section, &scope, addr, &options));
	json_t *json = json_incref(section->items->document.json);
	if (text)
		*text = xc_strdup(section->items->document.text);
	xc_frame_scope_fini(&scope);
	xc_report_free(report);
	s->process->thread_count = 0;
	s->process->threads = NULL;
	return json;
}

static const char *text_at(json_t *root, size_t index, const char *key)
{
	return json_string_value(json_object_get(json_array_get(json_object_get(root, "instructions"), index), key));
}

static struct scene *at(const char *where)
{
	struct scene *s = make_scene("gcc -x assembler", program);
	set_reg(s, RIP, label(s, where));
	set_reg(s, RSP, word(0));
	set_reg(s, RAX, 7);
	set_reg(s, RBX, 0);
	return s;
}

static void the_instruction_that_died_is_marked_with_its_operands(void **state)
{
	char *text;
	(void)state;
	struct scene *s = at("fault");
	json_t *root = list(s, NULL, (struct xc_disas_options){0}, &text), *current;
	json_t *all = json_object_get(root, "instructions");
	assert_string_equal(json_string_value(json_object_get(root, "function")), "first");
	assert_int_equal(json_array_size(all), 6);
	current = json_array_get(all, 3);
	assert_true(json_is_true(json_object_get(current, "current")));
	assert_string_equal(text_at(root, 3, "text"), "mov %rax,0x18(%rbx)");
	assert_string_equal(text_at(root, 1, "symbol"), "second");
	assert_string_equal(text_at(root, 2, "reference_symbol"), "table");
	assert_string_equal(text_at(root, 2, "value_symbol"), "second");
	json_t *memory = json_array_get(json_object_get(current, "operands"), 2);
	assert_string_equal(json_string_value(json_object_get(memory, "access")), "write");
	assert_string_equal(json_string_value(json_object_get(memory, "addr")), "0x18");
	check_text(json_string_value(json_object_get(memory, "why")), "not mapped");
	check_text(text, "# rbx = 0x0, rax = 0x7; writes 8 bytes at 0x18: not mapped");
	check_text(text, "<table> = 0x");
	check_text(text, " \"lost\\n\"");
	check_text(text, " <+0>\n"); /* the jump back to the start */
	free(text);
	json_decref(root);
	end_scene(s);
}

static void a_large_function_shows_a_window(void **state)
{
	(void)state;
	struct scene *s = at("second");
	set_reg(s, RIP, label(s, "second") + 100);
	json_t *root = list(s, NULL, (struct xc_disas_options){.before = 4, .after = 2}, NULL);
	assert_int_equal(json_array_size(json_object_get(root, "instructions")), 7);
	assert_int_equal(json_integer_value(json_object_get(root, "before")), 96);
	assert_int_equal(json_integer_value(json_object_get(root, "after")), 198);
	json_decref(root);
	root = list(s, NULL, (struct xc_disas_options){.all = true}, NULL);
	assert_int_equal(json_array_size(json_object_get(root, "instructions")), 301);
	json_decref(root);
	xc_addr second = label(s, "second");
	root = list(s, &second, (struct xc_disas_options){.count = 3}, NULL);
	assert_int_equal(json_array_size(json_object_get(root, "instructions")), 3);
	json_decref(root);
	root = list(s, &second, (struct xc_disas_options){.length = 5}, NULL);
	assert_int_equal(json_array_size(json_object_get(root, "instructions")), 5);
	json_decref(root);
	end_scene(s);
}

static void a_place_inside_an_instruction_starts_anew(void **state)
{
	(void)state;
	struct scene *s = at("fault");
	set_reg(s, RIP, label(s, "fault") + 1); /* 48 89 43 18 becomes 89 43 18 */
	json_t *root = list(s, NULL, (struct xc_disas_options){0}, NULL);
	assert_int_equal(json_array_size(json_object_get(root, "instructions")), 7);
	assert_true(json_is_true(json_object_get(json_array_get(json_object_get(root, "instructions"), 4), "current")));
	assert_string_equal(text_at(root, 4, "text"), "mov %eax,0x18(%rbx)");
	json_decref(root);
	end_scene(s);
}

static void code_that_is_not_there_is_a_fault(void **state)
{
	(void)state;
	struct scene *s = at("first");
	struct xc_report *report = xc_report_new("disas");
	struct xc_frame_scope scope;
	s->process->threads = &s->thread;
	s->process->thread_count = 1;
	set_reg(s, RIP, 0x10);
	CHECK_OK(xc_frame_scope_open(&scope, s->process, &s->thread, 0));
	struct xc_error *err = xc_disas_report(xc_report_section(report, "disas", "Code"), &scope, NULL,
					       &(struct xc_disas_options){0});
	assert_non_null(err);
	assert_int_equal(err->code, XC_ERR_FAULT);
	assert_int_equal(err->addr, 0x10);
	xc_error_free(err);
	xc_frame_scope_fini(&scope);
	xc_report_free(report);
	s->process->thread_count = 0;
	s->process->threads = NULL;
	end_scene(s);
}

static void redaction_leaves_memory_out(void **state)
{
	char *text;
	(void)state;
	struct scene *s = at("fault");
	json_t *root = list(s, NULL, (struct xc_disas_options){.redact = true}, &text);
	assert_null(text_at(root, 2, "value"));
	assert_null(strstr(text, "<table> ="));
	free(text);
	json_decref(root);
	end_scene(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(x86_reads_as_objdump_writes_it),
		cmocka_unit_test(intels_syntax_is_there_too),
		cmocka_unit_test(i386_is_no_x86_64),
		cmocka_unit_test(other_machines_read_too),
		cmocka_unit_test(a_machine_that_nobody_decodes_is_refused),
		cmocka_unit_test(memory_operands_have_addresses),
		cmocka_unit_test(any_bytes_decode_to_something),
		cmocka_unit_test(the_instruction_that_died_is_marked_with_its_operands),
		cmocka_unit_test(a_large_function_shows_a_window),
		cmocka_unit_test(a_place_inside_an_instruction_starts_anew),
		cmocka_unit_test(code_that_is_not_there_is_a_fault),
		cmocka_unit_test(redaction_leaves_memory_out),
	};
	return cmocka_run_group_tests_name("disas", tests, NULL, NULL);
}
