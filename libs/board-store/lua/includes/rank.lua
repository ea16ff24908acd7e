-- The ranking of a view, for scripts that write: ranks and changes. See view.lua for the fields.

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

-- The append-only file and replicas don't get these commands, but at the end of the run those of
-- store_ranking: half the bytes.
local function update_ranking(view, player, state)
  local old, member = view.members[player], member_of(view.board.tie, state, player)
  redis.set_repl(redis.REPL_NONE)
  if old and old ~= member then call('ZREM', view.ranking, old) end
  call('ZADD', view.ranking, format('%d', state[1]), member)
  redis.set_repl(redis.REPL_ALL)
  view.members[player] = member
end

-- Redis forwards only commands that change something. A live ranking already has its new members, so
-- one of them is removed and added again: then both commands are forwarded as they are.
local function store_ranking(view)
  for first, last in chunks(view.moved) do
    local removed, added = {}, {}
    for i = first, last do
      local player, old = view.moved[i], view.removed[i]
      local state, new = view.states[player], view.live and view.members[player]
      new = new or member_of(view.board.tie, state, player)
      if old and old ~= new then removed[#removed + 1] = old end
      added[#added + 1], added[#added + 2] = format('%d', state[1]), new
    end
    if view.live then removed[#removed + 1] = added[#added] end
    if #removed > 0 then call('ZREM', view.ranking, unpack(removed)) end
    call('ZADD', view.ranking, unpack(added))
  end
end
