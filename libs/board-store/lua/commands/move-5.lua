-- Moves a generation of a board from one role to another. May be repeated.
--
--   begin-shadow           promote              promote
--   ------------> shadow -----------> live -----------> previous
--                  | | ^                                 |   |
--                  | | '----------- rollback ------------'   |
--                  | '-> snapshot --.                        |
--                  '----------------+------------------------'--> discarded
--
-- from      to
-- shadow    snapshot   nothing is applied to it any more
-- shadow    discarded  the shadow of a rollback becomes previous instead; a repeated call returns 0
-- previous  shadow     another shadow of the board is discarded
-- previous  discarded  only once its grace time is over
-- snapshot  discarded
--
-- Only the holder of the lease moves or makes a shadow. While nobody holds it, no token is needed.
--
-- KEYS  those of roles.lua
-- ARGV  those of roles.lua  token: '' without the lease; board: '' for a snapshot
--       generation          '' for the previous one
--       from, to
-- Returns  1, also if an earlier call moved the generation; 0 if it is not in the role `from`, or
--          its grace time is not over; LEASE_LOST, LEASE_HELD
-- Cost  O(1)
--
-- Works even if the memory of Redis is full.

-- include roles.lua

local MOVES = {
  shadow = { snapshot = true, discarded = true },
  previous = { shadow = true, discarded = true },
  snapshot = { discarded = true },
}

-- Whether an earlier call has moved the generation.
local function was_moved()
  if to == 'discarded' then return call('SISMEMBER', discarded, generation) == 1 end
  local found = read_role(to, generation)
  return found and (to == 'snapshot' or found.purpose == 'rollback')
end

local function refusal(found)
  local needs_lease = from == 'shadow' or to == 'shadow'
  if needs_lease and token == '' and call('EXISTS', lease) == 1 then return LEASE_HELD end
  local needs_time = from == 'previous' and to == 'discarded'
  if needs_time and tonumber(found.kept_until) > now_in_us() / 1000 then return 0 end
end

local is_move = MOVES[from] and MOVES[from][to]
if not is_move then error(format('no generation moves from %s to %s', from, to)) end
if token ~= '' and not holds_lease(lease, token) then return LEASE_LOST end
local found = read_role(from, generation)
local has_role = found and (generation == '' or found.generation == generation)
if not has_role then return was_moved() and 1 or 0 end
local refused = refusal(found)
if refused then return refused end
if to == 'shadow' then discard('shadow') end
move(found, from, to)
return 1
