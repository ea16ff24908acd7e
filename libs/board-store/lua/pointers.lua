-- The version of a shard's pointers; needs names.lua and clock.lua.
--
-- Every step that changes which boards are live, building, removed or registered sets a new version, and apply.lua refuses
-- callers that believe in another one. A version never repeats: it is Redis TIME in us, and larger than the version before.
-- It is a field of `live`, so whoever loses the pointers loses the version with them. No board has an empty name.

local VERSION = ''

local function move_version(live)
  local before = tonumber(call('HGET', live, VERSION) or '0')
  call('HSET', live, VERSION, format('%d', math.max(now_in_us(), before + 1)))
end
