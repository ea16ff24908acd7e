-- Removes expired views of a live generation or a shadow. Checks again that each has expired.
--
-- KEYS  1 live, 2 shadows, 3 views, 4 facts, 5 expiries, 6 leaders, then per view ranking, players
-- ARGV  1 board, 2 generation, then the views by their text
-- Returns  how many were removed; 0 for a generation that is neither live nor a shadow
-- Cost  O(log views) for each view; memory is freed in the background

-- include lease.lua

local is_live = call('HGET', KEYS[1], ARGV[1]) == ARGV[2]
local shadow = shadow_of(KEYS[2], ARGV[1])
if not is_live and not (shadow and shadow.generation == ARGV[2]) then return 0 end
local clock = tonumber(call('HGET', KEYS[4], 'clock'))
local removed = 0
for i = 3, #ARGV do
  local expires = tonumber(call('ZSCORE', KEYS[5], ARGV[i]))
  if clock and expires and expires <= clock then
    call('UNLINK', KEYS[2 * i + 1], KEYS[2 * i + 2])
    call('HDEL', KEYS[3], ARGV[i])
    if is_live then call('HDEL', KEYS[6], ARGV[i]) end
    call('ZREM', KEYS[5], ARGV[i])
    removed = removed + 1
  end
end
return removed
