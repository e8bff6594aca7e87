-- load asks a function for text, for ever
load(function() return 'x = 1 ' end)
