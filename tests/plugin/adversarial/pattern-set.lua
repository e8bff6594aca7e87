-- a set as long as the text
print((('x'):rep(100000):find('[' .. ('a'):rep(100000) .. ']')))
