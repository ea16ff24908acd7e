-- A player's state: a flat table of value, time, mark for each column, plus its member in the ranking.
-- Mark '@'; '~' for a sum that has seen no delta but 0 (DESIGN: libs/board/state.ts). Smaller values are better.

local MAX_EXACT = 9007199254740991

local function parse_state(text)
  local state, n = {}, 0
  for value, mark, time in string.gmatch(text, '(%-?%d+)([@~])(%-?%d+)') do
    state[n + 1], state[n + 2], state[n + 3] = tonumber(value), tonumber(time), mark
    n = n + 3
  end
  return state
end

local function state_text(state)
  local words = {}
  for i = 1, #state, 3 do
    words[#words + 1] = string.format('%.0f%s%.0f', state[i], state[i + 2], state[i + 1])
  end
  return table.concat(words, ' ')
end

-- The latest of deltas that are not 0 gives the time; while there are none, the earliest event does.
local function merge_sum(state, old, i, delta, time)
  local value, at, mark = 0, time, '~'
  if old then value, at, mark = old[i], old[i + 1], old[i + 2] end
  if delta ~= 0 then
    at = mark == '@' and math.max(at, time) or time
    value, mark = value + delta, '@'
  elseif mark == '~' then
    at = math.min(at, time)
  end
  state[i], state[i + 1], state[i + 2] = value, at, mark
  return math.abs(value) > MAX_EXACT
end

-- Compares the submission with the kept one over all columns of an update: -1 better, 0 equal, 1 worse.
local function compare(updates, letter, old, values)
  for c, update in ipairs(updates) do
    if update == letter then
      local kept = old[3 * c - 2]
      if values[c] ~= kept then return values[c] < kept and -1 or 1 end
    end
  end
  return 0
end

-- The time at which columns of an update (b best, l latest) are taken from the submission; nil: they stay.
local function taken_at(updates, letter, old, c, values, time)
  if not old then return time end
  local kept = old[3 * c - 1]
  local order = compare(updates, letter, old, values)
  if letter == 'b' then
    if order < 0 then return time end
    return order == 0 and time < kept and time or nil
  end
  if time > kept or (time == kept and order < 0) then return time end
  return nil
end

-- The state after a submission, or nil when it changes nothing; true as second result when a sum overflows.
-- Commutes: any order of the same submissions gives the same state.
local function merge(updates, old, values, time)
  local state, changed, at = {}, not old, {}
  for c, letter in ipairs(updates) do
    local i = 3 * c - 2
    if letter == 's' then
      if merge_sum(state, old, i, values[c] or 0, time) then return nil, true end
    else
      if at[letter] == nil then at[letter] = taken_at(updates, letter, old, c, values, time) or false end
      if at[letter] then
        state[i], state[i + 1], state[i + 2] = values[c], at[letter], '@'
      else
        state[i], state[i + 1], state[i + 2] = old[i], old[i + 1], old[i + 2]
      end
    end
    changed = changed or state[i] ~= old[i] or state[i + 1] ~= old[i + 1] or state[i + 2] ~= old[i + 2]
  end
  return changed and state or nil, false
end
