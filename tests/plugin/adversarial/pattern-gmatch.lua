-- gmatch over a pattern that explodes
for _ in ('a'):rep(60):gmatch('(.*)(.*)(.*)(.*)(.*)(.*)b') do end
