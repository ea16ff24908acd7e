-- Sort key and ranks. The layout of a member is held in libs/board/sort-key.ts, too.

local TWO_POW_53 = 9007199254740992
local EARLIEST_TIME = -62135596800000
local LATEST_TIME = 253402300799999

local function member_of(tie, state, player)
  local columns, reached = '', state[2]
  for i = 4, #state, 3 do
    local value, time = state[i], state[i + 1]
    columns = columns .. pack('>BI7', value < 0 and 0 or 1, value < 0 and value + TWO_POW_53 or value)
    if time > reached then reached = time end
  end
  if tie == 0 then return columns .. player end
  local rest = pack('>I7c0', tie > 0 and reached - EARLIEST_TIME or LATEST_TIME - reached, player)
  return columns == '' and rest or columns .. rest
end

-- Whether the player at a position has these columns: the same score and the same bytes for the further columns.
local function has_columns(ranking, position, score, columns)
  local found = call('ZRANGE', ranking, position, position, 'WITHSCORES')
  return tonumber(found[2]) == score and sub(found[1], 1, #columns) == columns
end

-- Players with better columns, whatever their reach time: where the tie begins that the player at a position is in. Asked are
-- the neighbour in front, the first with this score, then players twice as far in front each time, then a bisection.
local function better_columns(ranking, position, score, columns)
  if position == 0 then return 0 end
  if columns ~= '' and not has_columns(ranking, position - 1, score, columns) then return position end
  local better = call('ZCOUNT', ranking, '-inf', format('(%d', score))
  if columns == '' or has_columns(ranking, better, score, columns) then return better end
  local tied, step = position - 1, 1
  while better < tied - step and has_columns(ranking, tied - step, score, columns) do
    tied, step = tied - step, 2 * step
  end
  better = math.max(better, tied - step)
  while better + 1 < tied do
    local middle = math.floor((better + tied) / 2)
    if has_columns(ranking, middle, score, columns) then tied = middle else better = middle end
  end
  return tied
end

-- Position and competition position (both from 0) of a member, whose further columns take so many bytes; nil when it is not there.
local function positions(ranking, score, member, columns_width)
  local position = call('ZRANK', ranking, member)
  if not position then return nil end
  return position, better_columns(ranking, position, score, sub(member, 1, columns_width))
end
