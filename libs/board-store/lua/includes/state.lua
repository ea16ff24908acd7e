-- A player's state: a flat table of value, time and mark for each column. Smaller values are
-- better. The mark is '@'; '~' for a sum whose deltas were all 0 (libs/board/state.ts).

-- include base.lua

-- nil if the text is not a state of so many columns.
local function parse_state(text, columns)
  local state, at = { 0, 0, '~' }, 1
  for i = 1, 3 * columns, 3 do
    local _, last, value, mark, time = find(text, '^(%-?%d+)([@~])(%-?%d+) ?', at)
    if not last then return nil end
    state[i], state[i + 1], state[i + 2] = tonumber(value), tonumber(time), mark
    at = last + 1
  end
  return at > #text and state or nil
end

local function state_text(state)
  local text = format('%d%s%d', state[1], state[3], state[2])
  for i = 4, #state, 3 do
    text = format('%s %d%s%d', text, state[i], state[i + 2], state[i + 1])
  end
  return text
end
