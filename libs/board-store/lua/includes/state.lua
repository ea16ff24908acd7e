-- A player's state: a flat table of value, time and mark for each column. Smaller values are
-- better. The mark is 1, or 0 for a sum whose deltas were all 0 (libs/board/state.ts). Redis stores
-- a state as bytes, which scripts read in a ninth of the time of a text.

-- include base.lua

local BYTES_OF_A_COLUMN = 17
local MAX_COLUMNS = 8 -- as boards.schema.json: a spec compares the two
local STATE_LAYOUTS = {} -- by number of columns
for columns = 1, MAX_COLUMNS do STATE_LAYOUTS[columns] = '>' .. string.rep('ddB', columns) end

-- Returns nil if the bytes are not a state with this number of columns.
local function read_state(bytes, columns)
  if #bytes ~= BYTES_OF_A_COLUMN * columns then return nil end
  local state = { read_bytes(STATE_LAYOUTS[columns], bytes) }
  state[#state] = nil -- the position behind the bytes
  return state
end
