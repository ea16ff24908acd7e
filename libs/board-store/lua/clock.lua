-- Time of the server; needs names.lua.

local function now_in_us()
  local time = call('TIME')
  return tonumber(time[1]) * 1000000 + tonumber(time[2])
end

-- The time in us at which the pointer of a board moves now: later than that of the last move, and than `since`.
local function next_move(promotions, board, since)
  return math.max(now_in_us(), since + 1, tonumber(call('HGET', promotions, board) or '0') + 1)
end

-- Notes that the pointer of a board moves now; answers the time as text.
local function moved_now(promotions, board)
  local now = format('%d', next_move(promotions, board, 0))
  call('HSET', promotions, board, now)
  return now
end
