-- Places of players, for reads. Positions count from 0.
--
-- KEYS  1 to 8 as in read.lua, 9 ranking, 10 players
-- ARGV  1 to 3 as in read.lua, 4 view, 5 ms of the event clock at which it expires (- never), 6
--       number of columns, 7 bytes of the reach time in a member, 8 count the dense position (1, 0)

-- include read.lua
-- include ties.lua

local id_from = columns_width + tonumber(ARGV[7]) + 1

-- The board's event clock if the view has expired; else false.
local function expired_by()
  local clock = ARGV[5] ~= '-' and call('HGET', KEYS[7], 'clock')
  return clock and tonumber(ARGV[5]) <= tonumber(clock) and clock
end

-- The version of the view, or the generation's floor if larger; nil if there is no such view.
local function version()
  local version = call('HGET', KEYS[8], ARGV[4])
  if not version then return nil end
  local floor = call('HGET', KEYS[7], 'floor') or '0'
  return tonumber(floor) > tonumber(version) and floor or version
end

-- One text of lines, as a client reads it faster than a list; ids have no line breaks.
local function lines(words)
  return { table.concat(words, '\n') }
end

-- The score of a member is the value of the first column, with which its state begins. WITHSCORES
-- would double the time of ZRANGE.
local function score_of(state)
  return tonumber(string.match(state, '^-?%d+'))
end

-- The ids of members from one position to another, and their states.
local function read_members(first, last)
  local members, ids = call('ZRANGE', KEYS[9], format('%d', first), format('%d', last)), {}
  for i, member in ipairs(members) do ids[i] = sub(member, id_from) end
  return members, ids, #ids > 0 and call('HMGET', KEYS[10], unpack(ids))
end

-- Lines: stale (1, 0), view version, number of players in the view, position, competition position
-- and dense position ('' if not counted) of the first player returned, number of players in the
-- view with worse columns than the last player returned, `selected`: the number of players that
-- the caller chooses from; then for each player returned: id, state. Reads one more player at both
-- ends, to search for the ends of ties only if there is a tie.
local function places(first, limit, selected)
  local version, size = version(), call('ZCARD', KEYS[9])
  local found = { stale(), version or '0', version and size or 0, first, 0, '', 0, selected }
  if limit == 0 or not version or first >= size then return lines(found) end
  local before = math.min(first, 1)
  local members, ids, states = read_members(first - before, first + limit)
  local last = math.min(before + limit, #ids)
  for i = before + 1, last do found[#found + 1], found[#found + 2] = ids[i], states[i] end
  local function columns_of(i) return score_of(states[i]), sub(members[i], 1, columns_width) end
  local function is_tied(i, j)
    local score, columns = columns_of(i)
    local other_score, other_columns = columns_of(j)
    return score == other_score and columns == other_columns
  end
  local is_begin = before == 0 or not is_tied(1, 2)
  found[5] = is_begin and first or tie_begin(first, columns_of(before + 1))
  if ARGV[8] == '1' then found[6] = different_columns(found[5]) or '' end
  local position, is_end = first + last - before - 1, last == #ids or not is_tied(last, last + 1)
  found[7] = size - (is_end and position + 1 or tie_end(position, columns_of(last)))
  return lines(found)
end
