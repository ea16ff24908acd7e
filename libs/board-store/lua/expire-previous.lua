-- Gives up the previous generations whose grace time is over.
--
-- KEYS  1 previous, 2 discarded
-- Returns  how many
-- Cost  O(boards)
--
-- Works when memory is full, too: its first write is one that Redis does not refuse then, and after that it refuses nothing.

-- include names.lua
-- include clock.lua

local now, expired = now_in_us() / 1000, 0
local previous = call('HGETALL', KEYS[1])
for i = 1, #previous, 2 do
  local generation, kept_until = string.match(previous[i + 1], '^(%S+) (%d+)$')
  if tonumber(kept_until) <= now then
    call('HDEL', KEYS[1], previous[i])
    call('SADD', KEYS[2], generation)
    expired = expired + 1
  end
end
return expired
