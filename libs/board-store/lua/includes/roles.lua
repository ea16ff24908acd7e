-- Moves generations between the roles of a board: see move-5.lua.
--
-- KEYS  lease, shadows, previous, snapshots, discarded
-- ARGV  token, board

-- include lease.lua

local ROLES = {
  shadow = shadows,
  previous = previous,
  snapshot = snapshots,
  discarded = discarded,
}

-- The generation in a role, or nil. Only a snapshot needs the id.
local function read_role(role, id)
  if role == 'shadow' then return shadow_of(shadows, board) end
  if role == 'snapshot' then
    if call('HEXISTS', snapshots, id) == 0 then return nil end
    return { generation = id }
  end
  local text = call('HGET', previous, board) or ''
  local generation, kept_until = string.match(text, '^(%S+) (%d+)$')
  return generation and { generation = generation, kept_until = kept_until }
end

-- Moves a generation that read_role found. If the shadow of a rollback is discarded, it becomes
-- previous again. The first write is HDEL, which Redis accepts even if its memory is full. After
-- the first write of a script, Redis refuses no further write.
local function move(found, from, to)
  local generation = found.generation
  call('HDEL', ROLES[from], from == 'snapshot' and generation or board)
  if to == 'discarded' and found.purpose == 'rollback' then to = 'previous' end
  if to == 'discarded' then
    call('SADD', discarded, generation)
  elseif to == 'snapshot' then
    call('HSET', snapshots, generation, board)
  else
    local separator = to == 'shadow' and ' rollback ' or ' '
    call('HSET', ROLES[to], board, generation .. separator .. found.kept_until)
  end
end

-- Discards the shadow or the previous generation, if there is one.
local function discard(from)
  local found = read_role(from)
  if found then move(found, from, 'discarded') end
end
