/* embed: a file of the sources as a string of the program, put there by the assembler. */
#ifndef XC_EMBED_H
#define XC_EMBED_H

/* Defines `symbol`: the bytes of the file, whose path counts from the top of the sources, and a NUL. The Makefile must say that the object
 * depends on the file. */
#define XC_EMBED(symbol, path)                                                                                         \
	__asm__(".section .rodata\n"                                                                                   \
		".global " #symbol "\n" #symbol ":\n"                                                                  \
		".incbin \"" path "\"\n"                                                                               \
		".byte 0\n"                                                                                            \
		".previous\n");                                                                                        \
	extern const char symbol[]

#endif
