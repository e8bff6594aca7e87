-- what a terminal must not see
error('\27[2J\27]0;title\7 \r\n\xe2\x80\xae')
