/* layer: lua */
/* Layouts of random declarations equal gcc's, for every machine. */
#include "tests/property/cdef_answers.h"

enum { RECORDS = 700, RECORDS_FEW = 150, RECORDS_A_TEXT = 50, MAX_DEPTH = 3 };

/* ---- generation ---- */

struct question {
	size_t record;
	char member[64]; /* "m1", "m2.m3", "m2[1].m3"; "" : of the record itself */
	bool bits;
	bool alignment; /* of the record, not its size */
};

struct maker {
	struct rng *rng;
	const struct machine *machine;
	struct xc_text text; /* of this record */
	struct xc_text numbers, objects;
	struct question *questions;
	size_t count, capacity;
	char tags[RECORDS][24]; /* "struct r12" */
	size_t record;
	unsigned member; /* names so far in this record */
	bool in_union;
	char prefix[48]; /* of members in named members: "m2[1]." */
};

static bool one_in(struct maker *m, size_t n)
{
	return rng_below(m->rng, n) == 0;
}

#define PICK(m, list) (list)[rng_below((m)->rng, XC_COUNT(list))]

static const char *integer_type(struct maker *m)
{
	static const char *const types[] = {"char",       "signed char",   "unsigned char", "short",
					    "unsigned",   "int",           "long",          "unsigned long long",
					    "_Bool",      "long long int", "uint8_t",       "uint16_t",
					    "int32_t",    "uint64_t",      "size_t",        "const volatile int",
					    "enum plain", "enum small",    "enum wide",     "enum negative",
					    "low_int",    "high_short",    "wchar_t"};
	if (m->machine->elf_class == ELFCLASS64 && one_in(m, 25))
		return "__int128";
	return PICK(m, types);
}

static const char *plain_type(struct maker *m)
{
	static const char *const types[] = {"float",
					    "double",
					    "long double",
					    "void *",
					    "function *",
					    "pair_t",
					    "struct odd",
					    "_Atomic char",
					    "_Atomic long long",
					    "double",
					    "long double",
					    "union two",
					    "_Atomic struct even"};
	const char *type = one_in(m, 2) ? integer_type(m) : PICK(m, types);
	/* on i386 the alignment of such a union depends on its other members (lua/cdef/cdef_layout.c) */
	return m->in_union && strcmp(type, "_Atomic long long") == 0 ? "long long" : type;
}

static void add_aligned(struct maker *m)
{
	static const char *const some[] = {"aligned(1)",  "aligned(2)",      "aligned(4)", "__aligned__(8)",
					   "aligned(16)", "aligned(1 << 5)", "aligned",    "aligned(sizeof(int))"};
	xc_text_printf(&m->text, " __attribute__((%s))", PICK(m, some));
}

static void add_attributes(struct maker *m)
{
	if (one_in(m, 12))
		xc_text_add(&m->text,
			    one_in(m, 2) ? " __attribute__((packed))" : " __attribute__((unused, __packed__))");
	if (one_in(m, 12))
		add_aligned(m);
}

/* A new member with a query; its name is valid until the next one is created. */
static const char *ask(struct maker *m, bool bits)
{
	m->questions = xc_grow(m->questions, m->count, &m->capacity, sizeof *m->questions);
	struct question *q = &m->questions[m->count++];
	*q = (struct question){.record = m->record, .bits = bits};
	snprintf(q->member, sizeof q->member, "%sm%u", m->prefix, m->member++);
	return q->member + strlen(m->prefix);
}

static void add_bits(struct maker *m)
{
	const char *type = integer_type(m);
	unsigned most = strstr(type, "small") || strstr(type, "char") || strstr(type, "int8")     ? 8
			: strstr(type, "short") || strstr(type, "16")                             ? 16
			: strstr(type, "long long") || strstr(type, "64") || strstr(type, "wide") ? 64
												  : 32;
	if (strcmp(type, "_Bool") == 0)
		most = 1;
	if (strcmp(type, "__int128") == 0)
		most = 128;
	if (m->machine->elf_class == ELFCLASS64 && (strcmp(type, "long") == 0 || strcmp(type, "size_t") == 0))
		most = 64;
	unsigned width = one_in(m, 4) ? most : 1 + (unsigned)rng_below(m->rng, most);
	if (one_in(m, 5))
		xc_text_printf(&m->text, "%s : %u;", type, one_in(m, 2) ? 0 : width);
	else
		xc_text_printf(&m->text, "%s %s : %u", type, ask(m, true), width);
	if (m->text.bytes[m->text.len - 1] == ';')
		return;
	add_attributes(m);
	xc_text_char(&m->text, ';');
}

static void add_body(struct maker *m, unsigned depth, bool is_union);

static void add_record(struct maker *m, unsigned depth, const char *tag)
{
	bool is_union = strncmp(tag, "union", 5) == 0;
	xc_text_printf(&m->text, "%s", is_union ? "union" : "struct");
	if (one_in(m, 4))
		add_attributes(m);
	xc_text_printf(&m->text, " %s {", tag + (is_union ? 5 : 6));
	add_body(m, depth, is_union);
	xc_text_char(&m->text, '}');
	add_attributes(m);
}

static void add_plain(struct maker *m, bool last)
{
	const char *type = m->record > 0 && one_in(m, 4) ? m->tags[rng_below(m->rng, m->record)] : plain_type(m);
	bool user = strcmp(type, "low_int") == 0 || strcmp(type, "high_short") == 0 || strncmp(type, "_Atomic", 7) == 0;
	if (one_in(m, 30))
		xc_text_add(&m->text, "_Alignas(64) ");
	xc_text_printf(&m->text, "%s %s", type, ask(m, false));
	if (!user && one_in(m, 3))
		xc_text_printf(&m->text, "[%u]", (unsigned)rng_below(m->rng, 4));
	else if (!user && one_in(m, 8))
		xc_text_printf(&m->text, "[2][sizeof(int) + %u]", (unsigned)rng_below(m->rng, 2));
	bool flexible = !user && last && one_in(m, 6) && m->text.bytes[m->text.len - 1] != ']';
	if (flexible) /* not alone */
		xc_text_printf(&m->text, ", *%s[]", ask(m, false));
	add_attributes(m);
	if (!flexible && one_in(m, 6)) {
		xc_text_printf(&m->text, ", *%s", ask(m, false));
		add_attributes(m);
	}
	xc_text_char(&m->text, ';');
}

/* A record in a record: anonymous, a member, or an array of two. */
static void add_nested(struct maker *m, unsigned depth)
{
	char outer[sizeof m->prefix], name[16] = "";
	bool array = one_in(m, 3);
	memcpy(outer, m->prefix, sizeof outer);
	if (one_in(m, 2))
		snprintf(name, sizeof name, "%s", ask(m, false));
	if (*name)
		snprintf(m->prefix, sizeof m->prefix, "%.20s%s%s.", outer, name, array ? "[1]" : "");
	add_record(m, depth, one_in(m, 2) ? "union" : "struct");
	memcpy(m->prefix, outer, sizeof outer);
	if (*name)
		xc_text_printf(&m->text, " %s%s", name, array ? "[2]" : "");
	add_attributes(m);
	xc_text_add(&m->text, "; ");
}

static void add_body(struct maker *m, unsigned depth, bool is_union)
{
	size_t count = one_in(m, 20) ? 0 : 1 + rng_below(m->rng, depth ? 3 : 7);
	for (size_t i = 0; i < count; i++) {
		xc_text_char(&m->text, ' ');
		m->in_union = is_union;
		switch (rng_below(m->rng, depth < MAX_DEPTH ? 8 : 7)) {
		case 0:
		case 1:
		case 2:
			add_bits(m);
			break;
		case 7:
			add_nested(m, depth + 1);
			break;
		default:
			add_plain(m, depth == 0 && !is_union && i > 0 && i + 1 == count);
		}
	}
}

/* Sometimes enclosed in pragmas; the queries for it are added to numbers and objects. */
static char *make_record(struct maker *m, size_t index)
{
	size_t first = m->count;
	bool pack = one_in(m, 8);
	char *tag = m->tags[index];
	m->record = index;
	m->member = 0;
	m->text.len = 0;
	snprintf(tag, sizeof m->tags[0], "%s r%zu", one_in(m, 4) ? "union" : "struct", index);
	for (int i = 0; i < 2; i++) {
		m->questions = xc_grow(m->questions, m->count, &m->capacity, sizeof *m->questions);
		m->questions[m->count++] = (struct question){.record = index, .alignment = i == 1};
	}
	if (pack)
		xc_text_printf(&m->text, "#pragma pack(push, %u)\n", 1u << rng_below(m->rng, 5));
	add_record(m, 0, tag);
	xc_text_add(&m->text, pack ? ";\n#pragma pack(pop)\n" : ";\n");
	for (size_t i = first; i < m->count; i++) {
		const struct question *q = &m->questions[i];
		if (q->bits)
			xc_text_printf(&m->objects, "const %s b%zu = {.%s = -1};\n", tag, i, q->member);
		if (q->bits)
			xc_text_add(&m->numbers, "0, ");
		else if (*q->member)
			xc_text_printf(&m->numbers, "__builtin_offsetof(%s, %s), ", tag, q->member);
		else
			xc_text_printf(&m->numbers, "%s(%s), ", q->alignment ? "_Alignof" : "sizeof", tag);
	}
	return xc_strdup(xc_text_string(&m->text));
}

/* ---- comparison ---- */

static const struct xc_member *find(const struct xc_type *type, const char *name, size_t len, uint64_t *offset)
{
	size_t count;
	const struct xc_member *members = xc_type_members(xc_type_strip(type), &count), *found = NULL;
	for (size_t i = 0; i < count && !found; i++) {
		uint64_t inner = 0;
		const char *have = members[i].name;
		if (!have)
			found = find(members[i].type, name, len, &inner);
		else if (strncmp(have, name, len) == 0 && !have[len])
			found = &members[i];
		*offset += found ? members[i].offset + inner : 0;
	}
	return found;
}

/* "m2[1].m3" */
static const struct xc_member *follow(const struct xc_type *type, const char *path, uint64_t *offset)
{
	for (;;) {
		size_t len = strcspn(path, ".[");
		uint64_t size;
		const struct xc_member *member = find(type, path, len, offset);
		path += len;
		if (!member || !*path)
			return member;
		type = xc_type_strip(member->type);
		if (*path == '[') {
			type = type->target;
			assert_true(xc_type_size(type, &size));
			*offset += size;
			path += 3;
		}
		path++;
	}
}

static void compare(struct xc_cdef *cdef, const struct maker *m, size_t index, const struct answers *answers,
		    const char *text)
{
	const struct question *q = &m->questions[index];
	const char *tag = m->tags[q->record];
	const struct xc_type *type;
	uint64_t offset = 0, wanted = answers->numbers[index], size;
	CHECK_OK(xc_cdef_type(cdef, tag, &type));
	assert_true(xc_type_size(type, &size));
	if (!*q->member && !q->alignment) {
		if (size != wanted)
			fail_msg("%s: sizeof %s is %d, not %d: %s", m->machine->name, tag, (int)wanted, (int)size,
				 text);
		return;
	}
	if (q->alignment) {
		char line[128];
		snprintf(line, sizeof line, "#define ALIGN_%zu _Alignof(%s)\n", index, tag);
		CHECK_OK(xc_cdef_declare(cdef, line));
		snprintf(line, sizeof line, "ALIGN_%zu", index);
		offset = constant(cdef, line);
		if (offset != wanted)
			fail_msg("%s: %s is aligned to %d, not %d: %s", m->machine->name, tag, (int)wanted, (int)offset,
				 text);
		return;
	}
	const struct xc_member *member = follow(type, q->member, &offset);
	if (!member)
		fail_msg("%s: no %s: %s", m->machine->name, q->member, text);
	if (!q->bits && offset != wanted)
		fail_msg("%s: %s.%s is at %d, not %d: %s", m->machine->name, tag, q->member, (int)wanted, (int)offset,
			 text);
	for (uint64_t i = 0; q->bits && i < size * 8; i++) {
		uint64_t first = offset * 8 + member->bit_offset;
		bool ours = i >= first && i < first + member->bit_size;
		bool theirs = answers->objects[index] && (answers->objects[index][i / 8] >> (i % 8) & 1);
		if (ours != theirs)
			fail_msg("%s: bit %d of %s.%s (we: %d+%d): %s", m->machine->name, (int)i, tag, q->member,
				 (int)first, member->bit_size, text);
	}
}

static void layouts_are_those_of_gcc(void **state)
{
	const struct machine *machine = *state;
	const size_t records = grid_count(RECORDS_FEW, RECORDS);
	needs_compiler(machine);
	uint64_t seed = property_env("XC_SEED", 20261121);
	struct rng rng = {.state = seed * UINT64_C(0xd1342543de82ef95) + machine->machine + machine->elf_class};
	struct maker *m = xc_alloc(sizeof *m);
	struct xc_process *process = process_of(machine);
	struct xc_cdef *cdef = xc_cdef_new(process);
	struct xc_text source = {0}, part = {0};
	char **texts = xc_alloc(RECORDS * sizeof *texts);
	print_message("# %s: seed %llu, %zu records\n", machine->name, (unsigned long long)seed, records);
	*m = (struct maker){.rng = &rng, .machine = machine};
	xc_text_printf(&source, "#include <stdint.h>\n#include <stddef.h>\n%s", preamble);
	CHECK_OK(xc_cdef_declare(cdef, preamble));
	for (size_t i = 0; i < records; i++) {
		texts[i] = make_record(m, i);
		xc_text_add(&source, texts[i]);
		xc_text_add(&part, texts[i]);
		if (i % RECORDS_A_TEXT == RECORDS_A_TEXT - 1) {
			struct xc_error *err = xc_cdef_declare(cdef, part.bytes);
			if (err)
				fail_msg("%s: %s\n%s", machine->name, err->message, err->lines);
			part.len = 0;
		}
	}
	xc_text_printf(&source, "%s\nconst unsigned long long numbers[] = {%s};\n", m->objects.bytes, m->numbers.bytes);
	int fd;
	Elf *elf = compile(machine, source.bytes, &fd);
	struct answers answers = read_answers(elf, m->count);
	for (size_t i = 0; i < m->count; i++)
		compare(cdef, m, i, &answers, texts[m->questions[i].record]);
	free(answers.objects);
	elf_end(elf);
	close(fd);
	for (size_t i = 0; i < records; i++)
		free(texts[i]);
	free(texts);
	free(m->questions);
	xc_text_fini(&m->text);
	xc_text_fini(&m->numbers);
	xc_text_fini(&m->objects);
	free(m);
	xc_text_fini(&source);
	xc_text_fini(&part);
	xc_cdef_free(cdef);
	xc_process_close(process);
}

int main(void)
{
	return run_on_machines("layouts_are_those_of_gcc", layouts_are_those_of_gcc);
}
