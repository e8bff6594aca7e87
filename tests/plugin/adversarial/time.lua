-- a loop, without a limit on instructions
-- options: --max-instructions 0 --max-time 1
while true do end
