-- How a player's state (state.lua) changes.

-- include state.lua

local MAX_EXACT = 9007199254740991

-- The time is that of the latest delta other than 0; without one, that of the earliest event.
-- Returns whether the sum overflows.
local function merge_sum(state, old, i, delta, time)
  local value, at, mark = 0, time, 0
  if old then value, at, mark = old[i], old[i + 1], old[i + 2] end
  if delta ~= 0 then
    if mark == 0 or time > at then at = time end
    value, mark = value + delta, 1
  elseif mark == 0 and time < at then
    at = time
  end
  state[i], state[i + 1], state[i + 2] = value, at, mark
  return value > MAX_EXACT or value < -MAX_EXACT
end

-- Compares an event with a state in all columns of one kind: -1 better, 0 equal, 1 worse.
local function compare(updates, kind, old, values)
  for c, update in ipairs(updates) do
    if update == kind then
      local present = old[3 * c - 2]
      if values[c] ~= present then return values[c] < present and -1 or 1 end
    end
  end
  return 0
end

-- The new time of the columns of one update ('best' or 'latest'); nil if they keep value and time.
local function taken_at(updates, update, old, c, values, time)
  if not old then return time end
  local present = old[3 * c - 1]
  local order = compare(updates, update, old, values)
  if update == 'best' then
    if order < 0 then return time end
    return order == 0 and time < present and time or nil
  end
  if time > present or (time == present and order < 0) then return time end
  return nil
end

-- The state after an event, or nil if nothing changes; and whether a sum overflows.
-- Commutes: the same events in any order give the same state, unless a sum overflows.
local function merge(updates, old, values, time)
  local state, changed, judged, taken = { 0, 0, 0 }, not old, nil, nil
  for c = 1, #updates do
    local update, i = updates[c], 3 * c - 2
    if update == 'sum' then
      if merge_sum(state, old, i, values[c], time) then return nil, true end
    else
      if update ~= judged then taken = taken_at(updates, update, old, c, values, time) end
      judged = update
      if taken then
        state[i], state[i + 1], state[i + 2] = values[c], taken, 1
      else
        state[i], state[i + 1], state[i + 2] = old[i], old[i + 1], old[i + 2]
      end
    end
    changed = changed or state[i] ~= old[i] or state[i + 1] ~= old[i + 1]
    changed = changed or state[i + 2] ~= old[i + 2]
  end
  return changed and state or nil, false
end
