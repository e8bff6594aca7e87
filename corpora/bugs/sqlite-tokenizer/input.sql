-- The address of a tokenizer is taken from the query; the one of eight A is no address at all.
SELECT fts3_tokenizer('simple', x'4141414141414141');
CREATE VIRTUAL TABLE a USING fts3(tokenize=simple);
