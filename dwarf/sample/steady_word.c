#include "dwarf/sample/steady_word.h"

enum { FIRST = 8, MOST = 1 << 24, FACTOR = 4 };

bool xc_steady_word_see(struct xc_steady_word *word, xc_addr ret, xc_addr callee)
{
	if (!word->needed)
		*word = (struct xc_steady_word){.ret = ret, .callee = callee, .needed = FIRST};
	else if (word->ret != ret || word->callee != callee)
		*word = (struct xc_steady_word){
			.ret = ret,
			.callee = callee,
			.needed = word->needed < MOST ? FACTOR * word->needed : MOST,
		};
	word->same += word->same < word->needed;
	return word->same == word->needed;
}
