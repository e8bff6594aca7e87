/* The asm side of hotloop.c: functions without a single .cfi directive. */
	.text
	.globl	spin_leaf
	.type	spin_leaf, @function
spin_leaf:
	movq	%rdi, %rax
1:	incq	%rax
	testq	%rax, %rax
	jne	1b
	ret
	.size	spin_leaf, .-spin_leaf

	.globl	spin_frame
	.type	spin_frame, @function
spin_frame:
	pushq	%rbx
	pushq	%r12
	subq	$40, %rsp
	movq	%rdi, %rbx
2:	incq	%rbx
	testq	%rbx, %rbx
	jne	2b
	movq	%rbx, %rax
	addq	$40, %rsp
	popq	%r12
	popq	%rbx
	ret
	.size	spin_frame, .-spin_frame

	/* long call_back(long (*function)(long), long value), with a frame pointer. */
	.globl	call_back
	.type	call_back, @function
call_back:
	pushq	%rbp
	movq	%rsp, %rbp
	movq	%rdi, %rax
	movq	%rsi, %rdi
	call	*%rax
	popq	%rbp
	ret
	.size	call_back, .-call_back

	.section .note.GNU-stack, "", @progbits
