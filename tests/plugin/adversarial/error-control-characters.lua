-- characters that must not reach a terminal
error('\27[2J\27]0;title\7 \r\n\xe2\x80\xae')
