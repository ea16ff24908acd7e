-- Moves generations between the roles of a board: see move-5.lua.
--
-- KEYS  1 lease, 2 shadows, 3 previous, 4 snapshots, 5 discarded
-- ARGV  1 token, 2 board

-- include lease.lua

local ROLES = { shadow = KEYS[2], previous = KEYS[3], snapshot = KEYS[4], discarded = KEYS[5] }

-- The generation in a role, or nil. A snapshot is found by its id.
local function read_role(role, id)
  if role == 'shadow' then return shadow_of(KEYS[2], ARGV[2]) end
  if role == 'snapshot' then
    return call('HEXISTS', KEYS[4], id) == 1 and { generation = id } or nil
  end
  local generation, kept_until = string.match(call('HGET', KEYS[3], ARGV[2]) or '', '^(%S+) (%d+)$')
  return generation and { generation = generation, kept_until = kept_until }
end

-- Moves a generation that read_role found. The discarded shadow of a rollback becomes previous
-- again. The first write is one that Redis accepts even if its memory is full; once a script has
-- written, Redis refuses no further write.
local function move(found, from, to)
  local generation = found.generation
  call('HDEL', ROLES[from], from == 'snapshot' and generation or ARGV[2])
  if to == 'discarded' and found.purpose == 'rollback' then to = 'previous' end
  if to == 'discarded' then
    call('SADD', KEYS[5], generation)
  elseif to == 'snapshot' then
    call('HSET', KEYS[4], generation, ARGV[2])
  else
    local separator = to == 'shadow' and ' rollback ' or ' '
    call('HSET', ROLES[to], ARGV[2], generation .. separator .. found.kept_until)
  end
end

-- Discards the shadow or the previous generation, if there is one.
local function discard(from)
  local found = read_role(from)
  if found then move(found, from, 'discarded') end
end
