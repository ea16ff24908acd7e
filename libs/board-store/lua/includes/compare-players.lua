-- Walks over one view:
--   players       compares the states, and checks the live ranking against them
--   extraPlayers  finds players that only the live view has
--   ranking       finds members of the live ranking that fit no live state

local PLAYERS_A_STEP = 500
local columns, tie = tonumber(column_count), tonumber(tie_sign)
local view, shadow_players, live_players = view_or_partition, shadow_items, live_items

-- Returns bytes as hexadecimal digits, because replies are texts; nil for nil.
local function hex(bytes)
  return bytes and string.gsub(bytes, '.', function(byte)
    return format('%02x', string.byte(byte))
  end)
end

local function differ_in_state(difference, player, expected, found)
  differ(difference, view, player, hex(expected), hex(found))
end

-- Returns how two different states differ: 'columns' if values or marks differ, or if the live
-- state is malformed; else 'reachTime'.
local function difference_of(expected, found)
  local state, other = read_state(expected, columns), read_state(found, columns)
  if not other then return 'columns' end
  for i = 1, #state, 3 do
    if state[i] ~= other[i] or state[i + 2] ~= other[i + 2] then return 'columns' end
  end
  return 'reachTime'
end

-- Compares the two states of a player. If they are equal, checks the live ranking: it must have the
-- member of the state if the player is present, and must lack it if the player is banned.
local function compare_player(player, kind, expected, live)
  if not live then return differ_in_state('missing', player, expected) end
  if live ~= expected then
    return differ_in_state(difference_of(expected, live), player, expected, live)
  end
  local state = read_state(expected, columns)
  local score = tonumber(call('ZSCORE', live_ranking, member_of(tie, state, player)))
  local expected_score = kind == UNBANNED and state[1] or nil
  if score ~= expected_score then
    differ_in_state('order', player, expected, live)
  end
end

-- Makes a walk. The walk ends early if the view has expired meanwhile: a sweep may then have freed
-- the view in one of the generations.
local function walk_over(command, key, compare_page)
  return function(cursor, clock)
    if #common_views({ view }, clock) == 0 then return '0', 0, {} end
    local names, values, next = scan(command, key, cursor, PLAYERS_A_STEP)
    compare_page(names, values)
    return next, #names, {}
  end
end

walks['players'] = walk_over('HSCAN', shadow_players, function(players, expected)
  local live, kinds = each_of('HMGET', live_players, players), kinds_of(players)
  for i, player in ipairs(players) do
    local kind = kinds[i]
    if kind == UNBANNED or kind == BANNED then
      compare_player(player, kind, expected[i], live[i])
    end
  end
end)

walks['extraPlayers'] = walk_over('HSCAN', live_players, function(players, live)
  local expected, kinds = each_of('HMGET', shadow_players, players), kinds_of(players)
  for i, player in ipairs(players) do
    local has_state = expected[i] and kinds[i] ~= ERASED
    if kinds[i] and not has_state then
      differ_in_state('extra', player, nil, live[i])
    end
  end
end)

walks['ranking'] = walk_over('ZSCAN', live_ranking, function(members, scores)
  local reach_time_width = tie == 0 and 0 or 7
  local id_from = 8 * (columns - 1) + reach_time_width + 1
  local players = {}
  for i, member in ipairs(members) do players[i] = sub(member, id_from) end
  local live, kinds = each_of('HMGET', live_players, players), kinds_of(players)
  for i, player in ipairs(players) do
    local state = live[i] and read_state(live[i], columns)
    local member = kinds[i] == UNBANNED and state and member_of(tie, state, player)
    local fits = member == members[i] and tonumber(scores[i]) == state[1]
    if kinds[i] and not fits then
      differ_in_state('order', player, call('HGET', shadow_players, player), live[i])
    end
  end
end)
