-- Players of a view in order, from an anchor on.
--
-- KEYS  those of places.lua
-- ARGV  those of places.lua
--       tie_sign    1 earliest, -1 latest, 0 none
--       best_value, worst_value  of the first column ('' for any): only players in between are read
--       page_size   number of players
--       anchor      where the page begins. Its name, and what `anchored` then has:
--                     position  position: at this position among the players that are read
--                     share     s: at the last player of the first s millionths of the view
--                     player    id, n: n players in front of this player; shifted at both ends of
--                               the view, so that the page stays full; no page if the player is
--                               not in the view
--                     behind    id, state: behind the place of this player with this state, even
--                               if the player has another state now
--                     columns   state: at the first player who is not better than this state
--       anchored...
-- Returns  places (places.lua); the event clock if the view expired; { 'MOVED', ... } (read.lua)
-- Cost  O(log players + page); O(log k log players + page) if k players have the same first column.
--       To count the dense position, reads about most_counted players at most

-- include state.lua
-- include member.lua
-- include places.lua

local size = call('ZCARD', ranking)
local limit = tonumber(page_size)
local tie = tonumber(tie_sign)

local function state_of(bytes)
  return bytes and read_state(bytes, tonumber(column_count))
end

-- Whether text a sorts before text b by its bytes. The operator `<` would use the locale.
local function is_before(a, b)
  for i = 1, math.min(#a, #b) do
    local one, other = string.byte(a, i), string.byte(b, i)
    if one ~= other then return one < other end
  end
  return #a < #b
end

-- Counts the members before a score and member. The ranking may lack this member.
local function count_before(score, member)
  local first = call('ZCOUNT', ranking, '-inf', format('(%d', score))
  local last = call('ZCOUNT', ranking, '-inf', format('%d', score))
  return first_without(first, last, function(middle)
    return is_before(call('ZRANGE', ranking, middle, middle)[1], member)
  end)
end

-- The first position of a page, by the name of its anchor; nil for no page.
local anchors = {}

function anchors.position(from, position) return from + tonumber(position) end

function anchors.share(_, share)
  return math.max(0, math.ceil(tonumber(share) * size / 1000000) - 1)
end

function anchors.player(_, id, in_front)
  local state = state_of(call('HGET', players, id))
  if not state then return nil end
  local position = call('ZRANK', ranking, member_of(tie, state, id))
  if not position then return nil end
  return math.max(0, math.min(position - tonumber(in_front), size - limit))
end

function anchors.behind(_, id, bytes)
  local state = state_of(bytes)
  local member = member_of(tie, state, id)
  if tonumber(call('ZSCORE', ranking, member)) == state[1] then
    return call('ZRANK', ranking, member) + 1
  end
  return count_before(state[1], member)
end

function anchors.columns(_, bytes)
  local state = state_of(bytes)
  return count_before(state[1], sub(member_of(0, state, ''), 1, columns_width))
end

local refused = moved() or expired_by()
if refused then return refused end
local from = best_value == '' and 0 or call('ZCOUNT', ranking, '-inf', '(' .. best_value)
local to = worst_value == '' and size or call('ZCOUNT', ranking, '-inf', worst_value)
local first = anchors[anchor](from, unpack(ARGV, anchored_from))
if not first then return places(0, 0, 0, 0) end
first = math.max(from, first)
return places(first, math.max(0, math.min(limit, to - first)), from, math.max(from, to))
