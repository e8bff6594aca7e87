-- load with an endless reader function
load(function() return 'x = 1 ' end)
