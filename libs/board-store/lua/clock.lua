-- Time of the server; needs names.lua.

local function now_in_us()
  local time = call('TIME')
  return tonumber(time[1]) * 1000000 + tonumber(time[2])
end

-- Notes that the pointer of a board moves now; answers the time in us as text, later than that of the last move.
local function moved_now(flips, board)
  local before = tonumber(call('HGET', flips, board) or '0')
  local now = format('%d', math.max(before + 1, now_in_us()))
  call('HSET', flips, board, now)
  return now
end
