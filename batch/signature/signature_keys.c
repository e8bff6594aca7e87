/* signature_keys: hashes of the kept frames. Each begins with its schema. */
#include <stdio.h>

#include "batch/util/digest.h"
#include "batch/signature/signature_impl.h"

enum {
	LOOSE = 3, /* kept frames in sig_loose */
	NAMED = 2, /* of the first five frames, how many must have names so that offsets do not count */
};

static size_t top(const struct xc_signature *s, size_t limit)
{
	return s->kept_count < limit ? s->kept_count : limit;
}

static void hash_place(SHA2_CTX *hash, const struct xc_record_frame *frame, const char *binary)
{
	char offset[19];
	snprintf(offset, sizeof offset, "0x%llx", (unsigned long long)frame->offset);
	xc_digest_text(hash, binary);
	xc_digest_text(hash, offset);
}

static size_t named_at_top(const struct xc_signature *s)
{
	size_t named = 0;
	for (size_t i = 0; i < top(s, XC_SIGNATURE_TOP); i++)
		named += s->frames[s->kept[i]].name != NULL;
	return named;
}

/* Five names identify one piece of code, whoever has it; fewer may occur in any program. */
static void begin_key(const struct xc_signing *g, SHA2_CTX *hash, const char *schema)
{
	const struct xc_signature *s = g->s;
	SHA256Init(hash);
	xc_digest_text(hash, schema);
	xc_digest_text(hash, s->class_group);
	xc_digest_text(hash, s->weak ? "weak" : named_at_top(s) < XC_SIGNATURE_TOP ? "program" : "names");
	if (s->weak || named_at_top(s) < XC_SIGNATURE_TOP)
		xc_digest_text(hash, s->program);
	if (!s->program) { /* an unknown program shares its sig with its own copies only */
		xc_digest_text(hash, g->record->core_id ? "core" : "path");
		xc_digest_text(hash, g->record->core_id ? g->record->core_id : g->record->path);
	}
	if (!g->nothing_counts)
		return;
	xc_digest_text(hash, s->class_name);
	xc_digest_text(hash, g->record->kind);
	xc_digest_text(hash, s->culprit);
}

static void exact_key(const struct xc_signing *g)
{
	SHA2_CTX hash;
	begin_key(g, &hash, "xcore.exact/" XC_SIGNATURE_VERSION);
	for (size_t i = 0; i < g->s->kept_count; i++) {
		const struct xc_record_frame *f = &g->record->frames[g->s->kept[i]];
		const char *binary = f->build_id ? f->build_id : f->module;
		if (f->has_offset && binary)
			hash_place(&hash, f, binary);
		else
			xc_digest_text(&hash, g->s->frames[g->s->kept[i]].shown);
	}
	SHA256End(&hash, g->s->exact);
}

/* Do frames without a name count by their offsets, which differ in every build? */
static bool needs_offsets(const struct xc_signature *s)
{
	return named_at_top(s) < NAMED || !s->frames[s->kept[0]].name;
}

static void names_key(const struct xc_signing *g, const char *schema, size_t limit, char *key_out)
{
	const struct xc_signature *s = g->s;
	bool offsets = needs_offsets(s);
	SHA2_CTX hash;
	begin_key(g, &hash, schema);
	if (s->culprit)
		limit = 0;
	for (size_t i = 0; i < top(s, limit); i++) {
		const struct xc_signature_frame *f = &s->frames[s->kept[i]];
		xc_digest_text(&hash, f->name || offsets ? f->shown : g->record->frames[s->kept[i]].module);
	}
	SHA256End(&hash, key_out);
}

void xc_signature_keys(struct xc_signing *g)
{
	exact_key(g);
	names_key(g, "xcore.sig/" XC_SIGNATURE_VERSION, XC_SIGNATURE_TOP, g->s->sig);
	names_key(g, "xcore.loose/" XC_SIGNATURE_VERSION, LOOSE, g->s->loose);
}
