/* Dies of SIGILL as a 32-bit process without any library: a core of a foreign class. Built with -m32 -nostdlib. */
	.globl	_start
	.type	_start, @function
_start:
	pushl	$0x1234
	ud2
	.size	_start, .-_start

	.section .note.GNU-stack, "", @progbits
