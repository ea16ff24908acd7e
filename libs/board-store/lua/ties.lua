-- Where a tie begins and ends, for scripts that only read; needs names.lua. Scripts that write use a probe member: see rank.lua.

-- Whether the player at a position has these columns: the same score and the same bytes for the further columns.
local function has_columns(ranking, position, score, columns)
  local found = call('ZRANGE', ranking, position, position, 'WITHSCORES')
  return tonumber(found[2]) == score and sub(found[1], 1, #columns) == columns
end

-- How many players have better columns than the player at a position, whatever their reach time: where that player's tie begins.
-- Checks the neighbour in front, then the first player with this score, then doubles the distance, then bisects.
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
