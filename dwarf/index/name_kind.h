/* name_kind: the kinds of definitions that have a name in the index. */
#ifndef XC_NAME_KIND_H
#define XC_NAME_KIND_H

/* Bits, so that a query can combine them. */
enum xc_name_kind {
	XC_NAME_TYPE = 1, /* structs, classes, unions, enums, typedefs, base types */
	XC_NAME_FUNCTION = 2,
	XC_NAME_VARIABLE = 4, /* at the scope of a file, namespace or class; not locals of functions */
	XC_NAME_ENUMERATOR = 8,
	XC_NAME_NAMESPACE = 16,
	XC_NAME_ANY = 31,
	XC_NAME_MACRO = 32, /* a macro that may be a number (programs built with -g3); not in XC_NAME_ANY */
};

#endif
