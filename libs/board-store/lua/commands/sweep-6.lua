-- Removes expired views of a live generation or a shadow. Checks again that each has expired.
--
-- KEYS  live, shadows, views, facts, expiries, leaders
--       rankings_and_players...  for each view: ranking, players
-- ARGV  board, generation
--       expired_views...  their texts
-- Returns  how many were removed; 0 for a generation that is neither live nor a shadow
-- Cost  O(log views) for each view; memory is freed in the background

-- include lease.lua

local is_live = call('HGET', live, board) == generation
local shadow = shadow_of(shadows, board)
if not is_live and not (shadow and shadow.generation == generation) then return 0 end
local clock = tonumber(call('HGET', facts, 'clock'))
local removed = 0
local key = rankings_and_players_from
for i = expired_views_from, #ARGV do
  local view = ARGV[i]
  local ranking = KEYS[key]
  local players = KEYS[key + 1]
  local expires = tonumber(call('ZSCORE', expiries, view))
  if clock and expires and expires <= clock then
    call('UNLINK', ranking, players)
    call('HDEL', views, view)
    if is_live then call('HDEL', leaders, view) end
    call('ZREM', expiries, view)
    removed = removed + 1
  end
  key = key + 2
end
return removed
