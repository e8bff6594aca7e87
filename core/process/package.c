#include "core/process/package.h"

#include <elf.h>
#include <jansson.h>
#include <string.h>

#include "core/process/module_impl.h"
#include "core/elf/note.h"
#include "core/io/source.h"
#include "core/elf/space.h"

enum {
	NOTE_PACKAGE = (int)0xcafe1a7e,
	MAX_NOTES = 64 << 10, /* bytes of one module's */
	MAX_WORD = 256
};

/* ---- the descriptor ---- */

/* A value as one printable word: a hostile one may contain anything. */
static const char *word(const json_t *object, const char *key, struct xc_arena *arena)
{
	const char *text = json_string_value(json_object_get(object, key));
	if (!text || !*text)
		return NULL;
	size_t len = strnlen(text, MAX_WORD);
	char *copy = xc_arena_strndup(arena, text, len);
	for (size_t i = 0; i < len; i++)
		if (copy[i] <= ' ' || copy[i] > '~')
			copy[i] = '?';
	return copy;
}

static const char *in_json(const char *text, size_t len, struct xc_arena *arena)
{
	json_t *object = json_loadb(text, strnlen(text, len), JSON_REJECT_DUPLICATES, NULL);
	const char *name = word(object, "name", arena), *version = word(object, "version", arena);
	json_decref(object);
	return name && version ? xc_arena_printf(arena, "%s %s", name, version) : name;
}

const char *xc_package_in_notes(const void *notes, size_t size, uint64_t align, bool big_endian, struct xc_arena *arena)
{
	struct xc_cursor at = xc_cursor(notes, size, "notes");
	struct xc_note note;
	at.big_endian = big_endian;
	while (xc_cursor_left(&at)) {
		struct xc_error *err = xc_note_next(&at, align == 8 ? 8 : 4, &note);
		xc_error_free(err);
		if (err)
			return NULL;
		if (note.type == (uint32_t)NOTE_PACKAGE && note.name_len == 3 && !memcmp(note.name, "FDO", 3))
			return in_json((const char *)note.desc, note.desc_len, arena);
	}
	return NULL;
}

/* ---- where the notes are ---- */

static const char *in_memory(const struct xc_process *process, const struct xc_module *m, struct xc_arena *arena)
{
	struct xc_image image;
	const char *found = NULL;
	size_t budget = MAX_NOTES;
	if (!m->bias_known || !xc_module_read_image(process, m->lo, &image))
		return NULL;
	for (size_t i = 0; i < image.count && !found; i++) {
		const struct xc_phdr *p = &image.phdrs[i];
		if (p->type != PT_NOTE || !p->memsz || p->memsz > budget)
			continue;
		budget -= (size_t)p->memsz;
		xc_auto(xc_freep) uint8_t *bytes = xc_alloc((size_t)p->memsz);
		size_t got = xc_space_peek(process->space, m->bias + p->vaddr, bytes, (size_t)p->memsz);
		found = xc_package_in_notes(bytes, got, p->align, process->arch->big_endian, arena);
	}
	return found;
}

static const char *in_file(const struct xc_module *m, struct xc_arena *arena)
{
	struct xc_elf elf;
	const char *found = NULL;
	size_t budget = MAX_NOTES;
	struct xc_error *err = xc_elf_parse(m->file->bytes, m->file->size, &elf);
	xc_error_free(err);
	for (uint32_t i = 0; !err && i < elf.phdrs_readable && i < XC_MAX_PHDRS && !found; i++) {
		struct xc_phdr p = xc_elf_phdr(&elf, i);
		if (p.type != PT_NOTE || p.filesz > budget || p.offset > elf.size || p.filesz > elf.size - p.offset)
			continue;
		budget -= (size_t)p.filesz;
		found = xc_package_in_notes(elf.bytes + p.offset, (size_t)p.filesz, p.align, elf.big_endian, arena);
	}
	return found;
}

const char *xc_package_of(const struct xc_process *process, const struct xc_module *module, struct xc_arena *arena)
{
	const char *found = in_memory(process, module, arena);
	bool used = module->file && (module->identity == XC_VERIFIED || module->identity == XC_UNVERIFIED);
	return found || !used ? found : in_file(module, arena);
}
