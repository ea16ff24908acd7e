-- Reads ranks from the ranking of a view, and changes the ranking, for scripts that write. See
-- view.lua for the fields of a view.

-- include base.lua

local forward_to, NOBODY, ALL = redis.set_repl, redis.REPL_NONE, redis.REPL_ALL

-- Counts the players with better columns, whatever their reach time. Adds a probe, a member that
-- has only the bytes of the further columns. The probe sorts before every member that begins with
-- these bytes, so its rank is the answer. No member equals it, because player ids are never empty.
-- Nothing can fail between ZADD and ZREM, so no probe stays. ZREM can't delete the key, because the
-- ranking also has the player. Replicas get no probe.
local function probe_better_columns(ranking, score, columns)
  if columns == '' then return call('ZCOUNT', ranking, '-inf', format('(%d', score)) end
  forward_to(NOBODY)
  call('ZADD', ranking, format('%d', score), columns)
  local better = call('ZRANK', ranking, columns)
  call('ZREM', ranking, columns)
  forward_to(ALL)
  return better
end

-- Returns the position of a member and, if the board publishes competition ranks, its competition
-- position. A member that is missing has position -1.
local function positions(view, state, member)
  local position = member and call('ZRANK', view.ranking, member) or -1
  if not view.board.competition then return position end
  if position < 0 then return position, position end
  local columns = sub(member, 1, view.board.columns_width)
  return position, probe_better_columns(view.ranking, state[1], columns)
end

-- Does not forward its writes to the append-only file and to replicas. At the end of the run,
-- store_ranking forwards only the result: half as many bytes.
local function update_ranking(ranking, move)
  local old = move.old_member
  local new = move.member
  forward_to(NOBODY)
  if old and old ~= new then call('ZREM', ranking, old) end
  call('ZADD', ranking, move.score, new)
  forward_to(ALL)
end

-- Stores the new members of the run, and so forwards them to the append-only file and to replicas.
-- Redis forwards a command, with all its arguments, only if the command changes something. A live
-- ranking already has its new members. So each chunk also removes one of them and adds it again.
local function store_ranking(view)
  local old_members = view.old_members
  local added = view.added
  for first, last in chunks(old_members) do
    local removed = {}
    for i = first, last do
      local old = old_members[i]
      if old and old ~= added[2 * i] then removed[#removed + 1] = old end
    end
    if view.live then removed[#removed + 1] = added[2 * last] end
    if #removed > 0 then call('ZREM', view.ranking, unpack(removed)) end
    call('ZADD', view.ranking, unpack(added, 2 * first - 1, 2 * last))
  end
end
