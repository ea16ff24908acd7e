-- Places of single players of a view.
--
-- KEYS  9 ranking, 10 players
-- ARGV  6 number of columns, 9 tie (1 earliest, -1 latest, 0 none)

-- include state.lua
-- include member.lua
-- include places.lua

-- The first position of a tie, and the first one after it. Reads both neighbours at once, and
-- searches only where there is a tie.
local function tie_of(position, score, columns)
  local before = math.min(position, 1)
  local near = call('ZRANGE', KEYS[9], position - before, position + 1, 'WITHSCORES')
  local function is_tied(i)
    return tonumber(near[i + 1]) == score and sub(near[i], 1, #columns) == columns
  end
  local next_one = 2 * before + 3
  local first = before == 1 and is_tied(1) and tie_begin(position, score, columns) or position
  local is_end = not near[next_one] or not is_tied(next_one)
  return first, is_end and position + 1 or tie_end(position, score, columns)
end

-- A list: stale (1, 0), view version, players in the view, then for each player who is in the view:
-- id, state, position, competition position, players with worse columns. `ids` and `texts`: the
-- players and their states, false for none.
local function places_of(ids, texts)
  local version, size = version(), call('ZCARD', KEYS[9])
  local found = { stale(), version or '0', version and size or 0 }
  for i, id in ipairs(ids) do
    local state = version and texts[i] and parse_state(texts[i], tonumber(ARGV[6]))
    local member = state and member_of(tonumber(ARGV[9]), state, id)
    local position = member and call('ZRANK', KEYS[9], member)
    if position then
      local first, last = tie_of(position, state[1], sub(member, 1, columns_width))
      local n = #found
      found[n + 1], found[n + 2], found[n + 3] = id, texts[i], position
      found[n + 4], found[n + 5] = first, size - last
    end
  end
  return found
end
