-- Places as reads give them; needs names.lua, continuity.lua, ties.lua and read.lua.
--
-- KEYS  1 to 8 as in read.lua, 9 ranking, 10 players
-- ARGV  1 to 3 as in read.lua, 4 view, 5 ms of the event clock at which it expires (- never), 6 number of columns, 7 bytes of the
--       reach time in a member, 8 count the dense position (1, 0)

local columns_width = 8 * (tonumber(ARGV[6]) - 1)
local id_from = columns_width + tonumber(ARGV[7]) + 1

-- How many players are looked at in one step while different columns are counted, and the tie that is jumped over instead.
local STEP = 64
local LONG_TIE = 16
-- Most players to look at, which takes about 10 ms. A jump counts as STEP players, as it searches for the end of the tie.
local MOST_COUNTED = 10000

-- The board's event clock when it has reached the view's end; else false.
local function expired_by()
  local clock = ARGV[5] ~= '-' and call('HGET', KEYS[7], 'clock')
  return clock and tonumber(ARGV[5]) <= tonumber(clock) and clock
end

-- The version of the view; nil when it does not exist. No smaller one was ever told of it, in whichever generation.
local function version()
  local version = call('HGET', KEYS[8], ARGV[4])
  if not version then return nil end
  local floor = call('HGET', KEYS[7], 'floor') or '0'
  return tonumber(floor) > tonumber(version) and floor or version
end

-- The first position behind a tie: behind all players with these columns. `position` is one of theirs.
local function behind_tie(ranking, position, score, columns)
  local last = call('ZCOUNT', ranking, '-inf', format('%d', score))
  if columns == '' then return last end
  local first = position + 1
  while first < last do
    local middle = math.floor((first + last) / 2)
    if has_columns(ranking, middle, score, columns) then first = middle + 1 else last = middle end
  end
  return first
end

-- How many different columns the players before a position have; nil beyond MOST_COUNTED players.
local function different_columns(ranking, last)
  local count, position, looked, began, score, columns = 0, 0, 0, 0
  while position < last do
    if looked >= MOST_COUNTED then return nil end
    local found = call('ZRANGE', ranking, position, math.min(position + STEP, last) - 1, 'WITHSCORES')
    for i = 1, #found, 2 do
      local prefix = sub(found[i], 1, columns_width)
      if found[i + 1] ~= score or prefix ~= columns then
        count, began, score, columns = count + 1, position + (i - 1) / 2, found[i + 1], prefix
      end
    end
    position, looked = position + #found / 2, looked + #found / 2
    if position < last and position - began >= LONG_TIE then
      position, looked = behind_tie(ranking, position - 1, tonumber(score), columns), looked + STEP
    end
  end
  return count
end

-- { stale (1, 0), view version, players in the view, first position, competition position and dense position of the first player
-- ('' when it is not counted), players with worse columns than the last one, player id, state, ... }; positions from 0.
local function places(first, limit)
  local ranking, members, version = KEYS[9], {}, version()
  local size = call('ZCARD', ranking)
  if limit > 0 and version then
    members = call('ZRANGE', ranking, format('%d', first), format('%d', first + limit - 1), 'WITHSCORES')
  end
  local found = { stale(), version or '0', version and size or 0, first, 0, '', 0 }
  if #members == 0 then return found end
  found[5] = better_columns(ranking, first, tonumber(members[2]), sub(members[1], 1, columns_width))
  if ARGV[8] == '1' then found[6] = different_columns(ranking, found[5]) or '' end
  local last, score = members[#members - 1], tonumber(members[#members])
  found[7] = size - behind_tie(ranking, first + #members / 2 - 1, score, sub(last, 1, columns_width))
  for i = 1, #members, 2 do
    local player = sub(members[i], id_from)
    found[#found + 1] = player
    found[#found + 1] = call('HGET', KEYS[10], player) or ''
  end
  return found
end
