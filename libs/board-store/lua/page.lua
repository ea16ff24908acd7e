-- A page of a view, in order.
--
-- KEYS  1 views, 2 ranking, 3 players
-- ARGV  1 view, 2 first position (from 0), 3 number of players, 4 number of columns, 5 bytes of the reach time in a member
-- Returns  { view version, players in the view, competition position of the first entry, player id, state, ... }
-- Cost  O(log players + page)

-- include rank.lua

local columns_width = 8 * (tonumber(ARGV[4]) - 1)
local id_from = columns_width + tonumber(ARGV[5]) + 1
local version = redis.call('HGET', KEYS[1], ARGV[1]) or '0'
local members = {}
if ARGV[3] ~= '0' then
  members = redis.call('ZRANGE', KEYS[2], ARGV[2], string.format('%.0f', ARGV[2] + ARGV[3] - 1), 'WITHSCORES')
end

local first = 0
if members[1] then
  first = better_columns(KEYS[2], tonumber(ARGV[2]), tonumber(members[2]), string.sub(members[1], 1, columns_width))
end
local page = { version, redis.call('ZCARD', KEYS[2]), first }
for i = 1, #members, 2 do
  local player = string.sub(members[i], id_from)
  page[#page + 1] = player
  page[#page + 1] = redis.call('HGET', KEYS[3], player) or ''
end
return page
