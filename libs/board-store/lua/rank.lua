-- Sort key and ranks. The layout of a member is held in libs/board/sort-key.ts, too.

local TWO_POW_53 = 9007199254740992
local EARLIEST_TIME = -62135596800000
local LATEST_TIME = 253402300799999

local function member_of(board, state, player)
  local parts, reached = {}, state[2]
  for i = 4, #state, 3 do
    local value = state[i]
    local negative = value < 0
    parts[#parts + 1] = struct.pack('>BI7', negative and 0 or 1, negative and value + TWO_POW_53 or value)
    reached = math.max(reached, state[i + 1])
  end
  if board.tie > 0 then
    parts[#parts + 1] = struct.pack('>I7', reached - EARLIEST_TIME)
  elseif board.tie < 0 then
    parts[#parts + 1] = struct.pack('>I7', LATEST_TIME - reached)
  end
  parts[#parts + 1] = player
  return table.concat(parts)
end

-- Whether the player at a position has these columns: the same score and the same bytes for the further columns.
local function has_columns(ranking, position, score, columns)
  local found = redis.call('ZRANGE', ranking, position, position, 'WITHSCORES')
  return tonumber(found[2]) == score and string.sub(found[1], 1, #columns) == columns
end

-- Players with better columns, whatever their reach time: the neighbour in front tells in most cases, else a bisection.
local function better_columns(ranking, position, score, columns)
  if position == 0 then return 0 end
  if columns ~= '' and not has_columns(ranking, position - 1, score, columns) then return position end
  local first = redis.call('ZCOUNT', ranking, '-inf', string.format('(%.0f', score))
  if columns == '' then return first end
  local last = position - 1
  while first < last do
    local middle = math.floor((first + last) / 2)
    if has_columns(ranking, middle, score, columns) then last = middle else first = middle + 1 end
  end
  return first
end

-- Position and competition position (both from 0) of a member; nil when it is not there.
local function positions(ranking, score, member, further_columns)
  local position = redis.call('ZRANK', ranking, member)
  if not position then return nil end
  return position, better_columns(ranking, position, score, string.sub(member, 1, 8 * further_columns))
end
