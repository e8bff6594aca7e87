/* layer: dwarf */
/* Debug information with random damage: every type gets a name, every variable a text of bounded length, and no read is
 * out of bounds (run it in MODE=asan). The seed is printed on failure. */
#include "dwarf/layout/layout_json.h"
#include "tests/support/compile_program.h"

enum { SEEDS = 300, ENTRIES = 2000, LONGEST = 16384 };

static const char source[] = "struct list {struct list *next; int v; char name[8]; unsigned a:3, b:9; union {float f; "
			     "long l;};} l1, l2={&l1,1};\n"
			     "enum flags {A=1,B=2,C=4} flags=5; typedef int (*handler)(struct list *, int); handler h; "
			     "double d=1.5; int grid[3][4];\n"
			     "static inline int part(int x, double y){ int z = x * 2 + (int)y; return z; }\n"
			     "int work(int n, struct list *list){ int vla[n]; vla[0]=part(n, d); for (int i=0;i<n;i++) "
			     "vla[i]=i; return vla[n-1]; }\n"
			     "int _start(void){ return work(3, &l2) + part(4, 2.0); }\n";

struct damaged {
	struct xc_process *process;
	struct xc_frame frame;
	struct xc_module module;
	struct xc_arena scratch;
	unsigned left, seed;
};

static void lay_out(struct damaged *d, const struct xc_type *type)
{
	const struct xc_layout_shown shown = {.layout = {.expand = 2, .cacheline = XC_CACHELINE}, .methods = true};
	struct xc_text text = {0};
	json_t *json = xc_layout_json(type, &shown);
	xc_layout_text(&text, type, &shown);
	if (text.len == 0 || !json_object_get(json, "kind"))
		fail_msg("seed %u: no layout of '%s'", d->seed, xc_type_name(type));
	json_decref(json);
	xc_text_fini(&text);
}

static void read_entry(struct damaged *d, Dwarf_Die *die, struct xc_level *level)
{
	struct xc_place place = {.module = &d->module, .levels = level, .level_count = level ? 1 : 0};
	Dwarf_Addr lo;
	if (level && dwarf_lowpc(&level->die, &lo) == 0)
		place.file_addr = lo + 4;
	struct xc_expr_context context = xc_expr_in_frame(d->process, NULL, NULL, &d->frame, &place, &d->scratch);
	struct xc_format_options options = xc_format_defaults();
	options.symbols = false;
	struct xc_value value;
	struct xc_text text = {0};
	xc_expr_variable(&context, die, &value);
	xc_format_value(&text, &value, &options);
	if (text.len == 0 || text.len >= LONGEST || *xc_type_name(value.type) == '\0')
		fail_msg("seed %u: text of %zu bytes, type '%s'", d->seed, text.len, xc_type_name(value.type));
	value = xc_value_memory(d->process, xc_type_of(xc_types_of(d->process), die), 0x1000);
	xc_format_value(&text, &value, &options);
	xc_text_fini(&text);
	lay_out(d, value.type);
}

static void walk(struct damaged *d, Dwarf_Die *parent, unsigned depth, struct xc_level *level)
{
	Dwarf_Die die;
	for (bool more = xc_die_child(parent, &die); more && d->left > 0; more = xc_die_next(&die)) {
		int tag = dwarf_tag(&die);
		struct xc_level inner = {.die = die};
		d->left--;
		if (tag == DW_TAG_variable || tag == DW_TAG_formal_parameter || tag == DW_TAG_member)
			read_entry(d, &die, level);
		if (depth < 16)
			walk(d, &die, depth + 1, tag == DW_TAG_subprogram ? &inner : level);
	}
}

static void read_all(Dwarf *dwarf, unsigned seed)
{
	static uint8_t memory[0x4000];
	struct damaged d = {.process = bare_process(), .left = ENTRIES, .seed = seed};
	struct xc_segment s = {.lo = 0x1000, .hi = 0x4fff, .provenance = XC_FROM_CORE, .bytes = memory};
	for (size_t i = 0; i < sizeof memory; i++)
		memory[i] = (uint8_t)(i * 7 + (i >> 8));
	xc_space_add(d.process->space, &s);
	xc_space_seal(d.process->space);
	d.module.bias_known = d.frame.cfa_known = true;
	d.frame.cfa = 0x2000;
	for (int i = 0; i < 17; i++)
		xc_regs_set(&d.frame.regs, i, 0x1000 + (uint64_t)i * 0x100);
	Dwarf_CU *unit = NULL;
	Dwarf_Die die;
	for (int i = 0; i < 20 && dwarf_get_units(dwarf, unit, &unit, NULL, NULL, &die, NULL) == 0; i++)
		walk(&d, &die, 0, NULL);
	xc_arena_fini(&d.scratch);
	xc_debuginfo_close(d.process);
	xc_process_close(d.process);
}

/* Change up to `most` bytes of a section. */
static void damage(char *bytes, const GElf_Shdr *h, int most)
{
	for (int i = most > 0 ? rand() % (most + 1) : 0; i > 0 && h->sh_size > 0; i--) {
		size_t at = h->sh_offset + (size_t)rand() % h->sh_size;
		bytes[at] = (char)(rand() % 3 ? rand() : bytes[at] ^ (1 << rand() % 8));
	}
}

static void damage_all(char *bytes, size_t size)
{
	Elf *elf = elf_memory(bytes, size);
	Elf_Scn *section = NULL;
	size_t names;
	assert_int_equal(elf_getshdrstrndx(elf, &names), 0);
	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr h;
		assert_non_null(gelf_getshdr(section, &h));
		const char *name = elf_strptr(elf, names, h.sh_name);
		if (strcmp(name, ".debug_info") == 0)
			damage(bytes, &h, 20);
		else if (strncmp(name, ".debug_", 7) == 0 && rand() % 3 == 0)
			damage(bytes, &h, 3);
	}
	elf_end(elf);
}

static void damaged_debug_information_is_survived(void **state)
{
	(void)state;
	static const char *const compilers[] = {"gcc -g -O2 -x c", "gcc -g -gdwarf-4 -O0 -x c", "clang -g -O1 -x c"};
	for (unsigned seed = 1; seed <= SEEDS; seed++) {
		static struct compiled *whole;
		if (seed % (SEEDS / XC_COUNT(compilers)) == 1)
			whole = compile(compilers[(seed - 1) / (SEEDS / XC_COUNT(compilers))], source);
		size_t size = whole->file->size;
		char *bytes = xc_alloc(size);
		memcpy(bytes, whole->file->bytes, size);
		srand(seed);
		damage_all(bytes, size);
		Elf *elf = elf_memory(bytes, size);
		Dwarf *dwarf = dwarf_begin_elf(elf, DWARF_C_READ, NULL);
		if (dwarf) {
			read_all(dwarf, seed);
			dwarf_end(dwarf);
		}
		elf_end(elf);
		free(bytes);
		if (seed % (SEEDS / XC_COUNT(compilers)) == 0)
			release(whole);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(damaged_debug_information_is_survived)};
	return cmocka_run_group_tests_name("damaged types", tests, NULL, NULL);
}
