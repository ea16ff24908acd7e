-- Places of players, for reads. Positions count from 0.
--
-- KEYS  those of read.lua, ranking, players
-- ARGV  those of read.lua, view
--       expires_at        ms of the event clock (- never)
--       column_count
--       reach_time_width  bytes of the reach time in a member
--       most_counted      most players to read to count the dense position (0: do not count)

-- include read.lua
-- include ties.lua

local id_from = columns_width + tonumber(reach_time_width) + 1

-- The board's event clock if the view has expired; else false.
local function expired_by()
  local clock = expires_at ~= '-' and call('HGET', facts, 'clock')
  local has_expired = clock and tonumber(expires_at) <= tonumber(clock)
  return has_expired and clock
end

-- A list: stale (1, 0), version of the view (the generation's floor if larger; 0 if there is no
-- such view), number of players in the view.
local function head()
  local version, floor = call('HGET', views, view), call('HGET', facts, 'floor')
  if version and floor and tonumber(floor) > tonumber(version) then version = floor end
  return { stale(), version or '0', call('ZCARD', ranking) }
end

-- Returns the words as one text, one a line, and the states of its players (state.lua) as one text.
-- A client reads a text faster than a list. Ids have no line breaks.
local function lines(words, states)
  return { table.concat(words, '\n'), table.concat(states or {}) }
end

-- Reads the score of a member from the state of its player: a state begins with the value of the
-- first column, which is the score. ZRANGE with WITHSCORES would take twice the time.
local function score_of(state)
  return (read_bytes('>d', state))
end

-- Returns `limit` players from a position on, with their states. The lines are:
--   the items of head
--   position, competition position and dense position ('' if not counted) of the first player
--   number of players in the view with worse columns than the last player
--   `from` and `to`: first position in the range of scores, first position behind it
--   ids of the players
local function places(first, limit, from, to)
  local members = {}
  local found = head()
  if limit > 0 then
    members = call('ZRANGE', ranking, format('%d', first), format('%d', first + limit - 1))
  end
  found[4] = first
  found[5] = 0
  found[6] = ''
  found[7] = 0
  found[8] = from
  found[9] = to
  if #members == 0 then return lines(found) end

  local ids = {}
  for i, member in ipairs(members) do ids[i] = sub(member, id_from) end
  local states = call('HMGET', players, unpack(ids))
  for i, id in ipairs(ids) do found[9 + i] = id end

  local first_columns = sub(members[1], 1, columns_width)
  local last_columns = sub(members[#ids], 1, columns_width)
  local competition_position = tie_begin(first, score_of(states[1]), first_columns)
  found[5] = competition_position
  local most = tonumber(most_counted)
  if most > 0 then found[6] = different_columns(competition_position, most) or '' end
  found[7] = found[3] - tie_end(first + #ids - 1, score_of(states[#ids]), last_columns)
  return lines(found, states)
end
