-- Ranks, for scripts that write.

-- include member.lua

-- How many players have better columns, whatever their reach time. A probe member, the bare bytes
-- of the further columns, sorts before every member that begins with them, so its rank is the
-- answer. No member equals it, as player ids are never empty. Nothing can fail between ZADD and
-- ZREM. ZREM can't delete the key, as the ranking holds the player too. Replicas get no probe.
local function probe_better_columns(ranking, score, columns)
  if columns == '' then return call('ZCOUNT', ranking, '-inf', format('(%d', score)) end
  redis.set_repl(redis.REPL_NONE)
  call('ZADD', ranking, format('%d', score), columns)
  local better = call('ZRANK', ranking, columns)
  call('ZREM', ranking, columns)
  redis.set_repl(redis.REPL_ALL)
  return better
end

-- The position of a player and, if published, the competition one; -1 if not in the ranking.
local function positions(view, state, player)
  local board, member = view.board, view.members[player]
  local position = member and call('ZRANK', view.ranking, member) or -1
  if not board.competition then return position end
  if position < 0 then return position, position end
  local columns = sub(member, 1, board.columns_width)
  return position, probe_better_columns(view.ranking, state[1], columns)
end
