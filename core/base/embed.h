/* embed: a source file as a string constant of the program, included by the assembler. */
#ifndef XC_EMBED_H
#define XC_EMBED_H

/* Define `symbol`: the bytes of the file and a NUL. The path is relative to the root of the source tree. The Makefile
 * must list the file as a dependency of the object. */
#define XC_EMBED(symbol, path)                                                                                         \
	__asm__(".section .rodata\n"                                                                                   \
		".global " #symbol "\n" #symbol ":\n"                                                                  \
		".incbin \"" path "\"\n"                                                                               \
		".byte 0\n"                                                                                            \
		".previous\n");                                                                                        \
	extern const char symbol[]

#endif
