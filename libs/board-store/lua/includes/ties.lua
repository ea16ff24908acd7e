-- Finds where ties (players with equal columns) begin and end, for scripts that read. Scripts that
-- write may add a probe instead (rank.lua). Positions start at 0. Uses two names of places.lua:
-- ranking and column_count.

-- include base.lua

local columns_width = 8 * (tonumber(column_count) - 1)

-- A step of different_columns reads STEP players. If it ends LONG_TIE players or more into a tie,
-- it jumps to the end of the tie.
local STEP, LONG_TIE = 64, 16

-- Whether the player at a position has this score, and these bytes for the further columns.
local function has_columns(position, score, columns)
  local found = call('ZRANGE', ranking, position, position, 'WITHSCORES')
  return tonumber(found[2]) == score and sub(found[1], 1, #columns) == columns
end

-- Returns the first position from `first` on, but before `last`, for which a test fails; else
-- `last`. Bisects: after a position that fails, all fail.
local function first_without(first, last, test)
  while first < last do
    local middle = math.floor((first + last) / 2)
    if test(middle) then first = middle + 1 else last = middle end
  end
  return first
end

-- Returns the position where the tie of the player at a position begins. Checks the player in
-- front, then the first player with this score. Then goes towards the front by steps that double,
-- and bisects the last step.
local function tie_begin(position, score, columns)
  if position == 0 then return 0 end
  if columns ~= '' and not has_columns(position - 1, score, columns) then return position end
  local better = call('ZCOUNT', ranking, '-inf', format('(%d', score))
  if columns == '' or has_columns(better, score, columns) then return better end
  local tied = position - 1
  local step = 1
  while better < tied - step and has_columns(tied - step, score, columns) do
    tied, step = tied - step, 2 * step
  end
  return first_without(math.max(better, tied - step) + 1, tied, function(middle)
    return not has_columns(middle, score, columns)
  end)
end

-- Returns the first position after the tie of the player at this position.
local function tie_end(position, score, columns)
  local last = call('ZCOUNT', ranking, '-inf', format('%d', score))
  if columns == '' then return last end
  return first_without(position + 1, last, function(middle)
    return has_columns(middle, score, columns)
  end)
end

-- Returns the position where the tie of the player at a position begins, and the first position
-- after the tie.
local function tie_of(position, score, columns)
  local score_text = format('%d', score)
  local is_alone = call('ZCOUNT', ranking, score_text, score_text) == 1
  if is_alone then return position, position + 1 end
  return tie_begin(position, score, columns), tie_end(position, score, columns)
end

-- Counts the different sets of column values of the players before a position. Returns nil if that
-- would read more than about `most` players. A jump counts as STEP players, because it searches for
-- the end of the tie.
local function different_columns(last, most)
  local count = 0
  local position = 0
  local looked = 0
  local began, score, columns = 0, nil, nil -- of the last tie
  while position < last do
    if looked >= most then return nil end
    local step_end = math.min(position + STEP, last) - 1
    local found = call('ZRANGE', ranking, position, step_end, 'WITHSCORES')
    for i = 1, #found, 2 do
      local prefix = sub(found[i], 1, columns_width)
      if found[i + 1] ~= score or prefix ~= columns then
        count = count + 1
        began = position + (i - 1) / 2
        score = found[i + 1]
        columns = prefix
      end
    end
    position = position + #found / 2
    looked = looked + #found / 2
    if position < last and position - began >= LONG_TIE then
      position = tie_end(position - 1, tonumber(score), columns)
      looked = looked + STEP
    end
  end
  return count
end
