-- The version of a shard's pointers; needs names.lua and clock.lua.
--
-- Every change of the live, building, removed or registered boards sets a new version; apply.lua refuses calls with another one.
-- A version never repeats: it is Redis TIME in us, and larger than the previous one. The identity of the ranklog follows it, as
-- JSON (identity.ts). Both are one field of `live`, so they are lost with the pointers, never alone. No board has an empty name.

local VERSION = ''

-- The time and the identity; '0' and '' for none.
local function read_version(live)
  return string.match(call('HGET', live, VERSION) or '0', '^(%d+) ?(.*)$')
end

-- Without `identity`, keeps the previous one.
local function move_version(live, identity)
  local before, kept = read_version(live)
  call('HSET', live, VERSION, format('%d %s', math.max(now_in_us(), tonumber(before) + 1), identity or kept))
end
