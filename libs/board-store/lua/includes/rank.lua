-- Members of rankings, and ranks. test/model/oracle-format.ts computes members in another way.

-- include base.lua

local TWO_POW_53 = 9007199254740992
local EARLIEST_TIME = -62135596800000
local LATEST_TIME = 253402300799999

local function member_of(tie, state, player)
  local columns, reached = '', state[2]
  for i = 4, #state, 3 do
    local value, time = state[i], state[i + 1]
    local sign, rest = 1, value
    if value < 0 then sign, rest = 0, value + TWO_POW_53 end
    columns = columns .. pack('>BI7', sign, rest)
    if time > reached then reached = time end
  end
  if tie == 0 then return columns .. player end
  local rest = pack('>I7c0', tie > 0 and reached - EARLIEST_TIME or LATEST_TIME - reached, player)
  return columns == '' and rest or columns .. rest
end

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

-- The position of a player (false if not in the ranking) and, if published, the competition one.
local function positions(view, state, player)
  local board, member = view.board, view.members[player]
  local position = call('ZRANK', view.ranking, member)
  if not position or not board.competition then return position end
  local columns = sub(member, 1, board.columns_width)
  return position, probe_better_columns(view.ranking, state[1], columns)
end
