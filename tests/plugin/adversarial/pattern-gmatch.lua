-- gmatch with an exponential pattern
for _ in ('a'):rep(60):gmatch('(.*)(.*)(.*)(.*)(.*)(.*)b') do end
