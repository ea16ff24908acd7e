-- One step of a listing of the views of a generation.
--
-- KEYS  1 to 8 as in read.lua, 9 expiries
-- ARGV  1 to 3 as in read.lua, 4 cursor to go on from ('0' begins)
-- Returns  { stale (1, 0), replication id, next cursor ('0' at the end; valid on this server),
--          event clock in ms, floor of the versions ('' for none), then for each view: text,
--          version, time in ms at which it expires ('' for never) }; { 'MOVED', ... } (read.lua)
-- Cost  about STEP views; all views at once where Redis packs a small hash
--
-- HSCAN finds every view that exists at each step. It may repeat views when the hash table shrinks.

-- include read.lua

local STEP = 1000

local refused = moved()
if refused then return refused end
local scan = call('HSCAN', KEYS[8], ARGV[4], 'COUNT', STEP)
local facts = call('HMGET', KEYS[7], 'clock', 'floor')
local found = { stale(), replication_id(), scan[1], facts[1] or '', facts[2] or '' }
for i = 1, #scan[2], 2 do
  found[#found + 1], found[#found + 2] = scan[2][i], scan[2][i + 1]
  found[#found + 1] = call('ZSCORE', KEYS[9], scan[2][i]) or ''
end
return found
