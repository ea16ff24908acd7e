-- Places of single players of a view.
--
-- KEYS  those of places.lua
-- ARGV  those of places.lua
--       tie_sign  1 earliest, -1 latest, 0 none

-- include state.lua
-- include member.lua
-- include places.lua

-- Takes player ids and their states, false for none. Returns two lists for the players who are in
-- the view:
-- - the items of head (places.lua), then for each player: id, position, competition position,
--   number of players with worse columns
-- - the states of these players
local function places_of(ids, states)
  local found = head()
  local found_states = {}
  local ties = {} -- score, further columns -> first position of the tie, first position behind it
  for i, id in ipairs(ids) do
    local state = states[i] and read_state(states[i], tonumber(column_count))
    local member = state and member_of(tonumber(tie_sign), state, id)
    local position = member and call('ZRANK', ranking, member)
    if position then
      local columns = sub(member, 1, columns_width)
      local key = format('%d ', state[1]) .. columns
      ties[key] = ties[key] or { tie_of(position, state[1], columns) }
      local tie_first = ties[key][1]
      local tie_behind = ties[key][2]
      local n = #found
      found[n + 1] = id
      found[n + 2] = position
      found[n + 3] = tie_first
      found[n + 4] = found[3] - tie_behind
      found_states[#found_states + 1] = states[i]
    end
  end
  return found, found_states
end
