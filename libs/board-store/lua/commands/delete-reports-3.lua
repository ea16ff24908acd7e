-- Deletes leader reports (leaders.lua) of views that the live generation lacks. May be repeated.
--
-- KEYS  1 live, 2 views of the live generation, 3 leader reports (view -> its last reported top)
-- ARGV  1 board, 2 live generation that the caller believes in, then views
-- Returns  1; GENERATION_CHANGED
-- Cost  O(views of the call)

-- include base.lua
-- include return-codes.lua

if call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return GENERATION_CHANGED end
for i = 3, #ARGV do
  if call('HEXISTS', KEYS[2], ARGV[i]) == 0 then call('HDEL', KEYS[3], ARGV[i]) end
end
return 1
