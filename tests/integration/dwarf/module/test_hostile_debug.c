/* layer: dwarf tier: test */
/* Debug information of a few megabytes that would take hours to process, or gigabytes to store. Each case gives an
 * answer in seconds; without the bounds that these tests are about, the timer ends the program. */
#include <unistd.h>

#include "tests/support/scene.h"

#include "dwarf/stack/variable.h"

enum { SECONDS = 20 };

/* f is `code`; a unit of version 4 that covers it. Abbreviation 1: the unit, 2: a function with a name. */
#define CODE ".globl f\n.text\nf: nop\nnop\nnop\nf_end:\n.type f,@function\n.size f,.-f\n"
#define ABBREVIATIONS(own)                                                                                             \
	".section .debug_abbrev\n.uleb128 1,0x11\n.byte 1\n.uleb128 0x11,1,0x12,7,0x13,11,0x10,0x17,0,0\n"             \
	".uleb128 2,0x2e\n.byte 1\n.uleb128 0x11,1,0x12,7,3,8,0,0\n" own ".byte 0\n"
#define UNIT(function)                                                                                                 \
	".section .debug_info\ncu: .long 9f-8f\n8: .value 4\n.long 0\n.byte 8\n"                                       \
	".uleb128 1\n.quad f, 3\n.byte 12\n.long 0\n"                                                                  \
	".uleb128 2\n.quad f, 3\n.string \"named\"\n" function ".byte 0\n.byte 0\n9:\n"

static void look_at(const char *source, const char *want)
{
	struct scene *s = make_scene("gcc -x assembler", source);
	struct xc_frame frame = {.pc = label(s, "f") + 1, .interrupted = true};
	struct xc_format_options options = xc_format_defaults();
	struct xc_arena arena = {0};
	check_effort(SECONDS);
	const struct xc_place *place = xc_debuginfo_place(s->process, frame.pc);
	struct xc_frame_context context = {.process = s->process, .frame = &frame, .place = place};
	for (size_t i = 0; i < place->level_count && !place->line_only; i++) {
		struct xc_stack_row row = {0};
		xc_variables_fill(&context, i, true, &options, &arena, &row);
	}
	check_effort(0);
	const char *name = place->level_count ? place->levels[place->level_count - 1].function : place->symbol;
	assert_string_equal(name, want);
	xc_arena_fini(&arena);
	end_scene(s);
}

static void entries_of_a_million_attributes_are_not_read(void **state)
{
	(void)state;
	look_at(CODE ABBREVIATIONS(".uleb128 3,0x34\n.byte 0\n.rept 300000\n.byte 0x3c,0x19\n.endr\n.byte 0,0\n")
			UNIT(".rept 300000\n.byte 3\n.endr\n"),
		"f"); /* the symbol */
}

static void blocks_that_share_a_long_list_of_ranges_are_left_in_the_end(void **state)
{
	(void)state;
	look_at(CODE ABBREVIATIONS(".uleb128 3,0x1d\n.byte 0\n.uleb128 0x55,0x17,0,0\n")
			UNIT(".rept 100000\n.byte 3\n.long 0\n.endr\n") ".section .debug_ranges\n.rept 100000\n.quad "
									"1,2\n.endr\n.quad 0,0\n",
		"named");
}

static void blocks_in_blocks_are_left_in_the_end(void **state)
{
	(void)state;
	look_at(CODE ABBREVIATIONS(".uleb128 3,0x0b\n.byte 1\n.uleb128 0x11,1,0x12,7,0,0\n")
			UNIT(".rept 1000000\n.byte 3\n.quad f,3\n.endr\n.zero 1000000\n"),
		"named");
}

static void variables_that_share_a_long_location_list_are_left_in_the_end(void **state)
{
	(void)state;
	look_at(CODE ABBREVIATIONS(".uleb128 3,0x34\n.byte 0\n.uleb128 3,8,2,0x17,0,0\n") UNIT(
			".rept 2000\n.byte 3\n.string \"v\"\n.long 0\n.endr\n") ".section .debug_loc\n.rept "
										"1000000\n.quad 1,2\n.value 1\n.byte "
										"0x30\n.endr\n.quad 0,0\n",
		"named");
}

static void very_many_units_that_share_a_list_of_ranges_are_left_in_the_end(void **state)
{
	(void)state;
	look_at(CODE
		".section .debug_abbrev\n.uleb128 1,0x11\n.byte 0\n.uleb128 0x55,0x17,0,0,0\n"
		".section .debug_info\n.rept 200000\n.long 12\n.value 4\n.long 0\n.byte 8\n.uleb128 1\n.long 0\n.endr\n"
		".section .debug_ranges\n.rept 10000\n.quad 1,2\n.endr\n.quad 0,0\n",
		"f");
}

/* A hundred thousand files of one directory; all names are one string of a megabyte. */
static void paths_are_put_together_only_when_they_are_asked_for(void **state)
{
	(void)state;
	look_at(CODE ABBREVIATIONS("")
			UNIT("") ".section .debug_line\n.long 9f-8f\n8: .value 5\n.byte 8,0\n.long 7f-6f\n6: .byte "
				 "1,1,1,-5,14,1\n"
				 ".byte 1\n.uleb128 1,0x1f,1\n.long 0\n"
				 ".byte 2\n.uleb128 1,0x1f,2,0x0b,100000\n.rept 100000\n.long 0\n.byte 0\n.endr\n"
				 "7: .byte 0,9,2\n.quad f\n.byte 0x14,0x14,0,1,1\n9:\n"
				 ".section .debug_line_str\n.ascii \"/\"\n.rept 100000\n.ascii "
				 "\"aaaaaaaaaa\"\n.endr\n.byte 0\n",
		"named");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(entries_of_a_million_attributes_are_not_read),
		cmocka_unit_test(blocks_that_share_a_long_list_of_ranges_are_left_in_the_end),
		cmocka_unit_test(blocks_in_blocks_are_left_in_the_end),
		cmocka_unit_test(variables_that_share_a_long_location_list_are_left_in_the_end),
		cmocka_unit_test(very_many_units_that_share_a_list_of_ranges_are_left_in_the_end),
		cmocka_unit_test(paths_are_put_together_only_when_they_are_asked_for),
	};
	return cmocka_run_group_tests_name("hostile debug information", tests, NULL, NULL);
}
