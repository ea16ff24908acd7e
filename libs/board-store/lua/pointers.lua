-- The version of a shard's pointers; needs names.lua and clock.lua.
--
-- Every step that changes which boards are live, building, removed or registered sets a new version, and apply.lua refuses
-- callers that believe in another one. A version never repeats: it is Redis TIME in us, and larger than the version before.
-- Behind it stands the identity of the ranklog that the shard belongs to, as JSON: see identity.ts. Both are one field of `live`,
-- so whoever loses the pointers loses the version with them. No board has an empty name.

local VERSION = ''

-- The time and the identity; '0' and '' for none.
local function read_version(live)
  return string.match(call('HGET', live, VERSION) or '0', '^(%d+) ?(.*)$')
end

-- Without `identity`, that of before stays.
local function move_version(live, identity)
  local before, kept = read_version(live)
  call('HSET', live, VERSION, format('%d %s', math.max(now_in_us(), tonumber(before) + 1), identity or kept))
end
