-- How a player's state (state.lua) changes.

-- include arguments.lua
-- include state.lua

local MAX_EXACT = 9007199254740991

-- Compares an event with a state in all columns with the same kind of update. Returns -1 if the
-- event is better, 0 if both are equal, 1 if the event is worse.
local function compare(updates, compared_update, old, entry)
  for c, update in ipairs(updates) do
    if update == compared_update then
      local value = entry[VALUES + c]
      local present = old[3 * c - 2]
      if value ~= present then return value < present and -1 or 1 end
    end
  end
  return 0
end

-- Returns the new time of the columns with one kind of update ('best' or 'latest'); nil if these
-- columns keep their values and times.
local function taken_at(updates, update, old, c, entry)
  local time = entry[TIME]
  if not old then return time end
  local present = old[3 * c - 1]
  local order = compare(updates, update, old, entry)
  if update == 'best' then
    if order < 0 or (order == 0 and time < present) then return time end
    return nil
  end
  if time > present or (time == present and order < 0) then return time end
  return nil
end

-- Returns the state after an event; nil if a sum overflows. The order of events does not matter:
-- the same events in any order give the same state, unless a sum overflows.
-- The time of a sum is the time of the latest delta other than 0. If all deltas are 0, it is the
-- time of the earliest event.
local function merge(updates, old, entry)
  local state = { 0, 0, 0 }
  local time = entry[TIME]
  local judged, taken -- the last update for which taken_at was called, and what it returned
  for c = 1, #updates do
    local update = updates[c]
    local value = entry[VALUES + c]
    local i = 3 * c - 2
    if update == 'sum' then
      local sum, at, mark = 0, time, 0
      if old then sum, at, mark = old[i], old[i + 1], old[i + 2] end
      if value ~= 0 then
        if mark == 0 or time > at then at = time end
        sum = sum + value
        mark = 1
        if sum > MAX_EXACT or sum < -MAX_EXACT then return nil end
      elseif mark == 0 and time < at then
        at = time
      end
      state[i], state[i + 1], state[i + 2] = sum, at, mark
    else
      if update ~= judged then
        judged = update
        taken = taken_at(updates, update, old, c, entry)
      end
      if taken then
        state[i], state[i + 1], state[i + 2] = value, taken, 1
      else
        state[i], state[i + 1], state[i + 2] = old[i], old[i + 1], old[i + 2]
      end
    end
  end
  return state
end
