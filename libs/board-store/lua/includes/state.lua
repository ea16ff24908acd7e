-- A player's state: a flat table of value, time and mark for each column. Smaller values are
-- better. The mark is 1; 0 for a sum whose deltas were all 0 (libs/board/state.ts). Redis keeps it
-- as bytes, which scripts read in a ninth of the time of a text.

-- include base.lua

local BYTES_OF_A_COLUMN, COLUMN_FORMAT = 17, '>ddB'

-- nil if the bytes are not a state of so many columns.
local function read_state(bytes, columns)
  if #bytes ~= BYTES_OF_A_COLUMN * columns then return nil end
  local state, at = { 0, 0, 0 }, 1
  for i = 1, 3 * columns, 3 do
    state[i], state[i + 1], state[i + 2], at = read_bytes(COLUMN_FORMAT, bytes, at)
  end
  return state
end

local function state_bytes(state)
  local bytes = pack(COLUMN_FORMAT, state[1], state[2], state[3])
  for i = 4, #state, 3 do
    bytes = bytes .. pack(COLUMN_FORMAT, state[i], state[i + 1], state[i + 2])
  end
  return bytes
end
