-- Places of single players of a view.
--
-- KEYS  those of places.lua
-- ARGV  those of places.lua
--       tie_sign  1 earliest, -1 latest, 0 none

-- include state.lua
-- include member.lua
-- include places.lua

-- Two lists: head, then for each player who is in the view: id, position, competition position,
-- players with worse columns; and their states. `ids` and `states`: the players and their states,
-- false for none.
local function places_of(ids, states)
  local found, found_states, ties = head(), {}, {}
  for i, id in ipairs(ids) do
    local state = states[i] and read_state(states[i], tonumber(column_count))
    local member = state and member_of(tonumber(tie_sign), state, id)
    local position = member and call('ZRANK', ranking, member)
    if position then
      local columns, n = sub(member, 1, columns_width), #found
      local key = format('%d ', state[1]) .. columns
      ties[key] = ties[key] or { tie_of(position, state[1], columns) }
      found[n + 1], found[n + 2] = id, position
      found[n + 3], found[n + 4] = ties[key][1], found[3] - ties[key][2]
      found_states[#found_states + 1] = states[i]
    end
  end
  return found, found_states
end
