-- One step of a listing of the views of a generation.
--
-- KEYS  those of read.lua, expiries
-- ARGV  those of read.lua
--       cursor  to go on from ('0' begins)
-- Returns  { stale (1, 0), replication id, next cursor ('0' at the end; valid on this server),
--          event clock in ms, floor of the versions ('' for none), then for each view: text,
--          version, time in ms at which it expires ('' for never) }; { 'MOVED', ... } (read.lua)
-- Cost  reads about STEP views, and all views of a small hash that Redis packs
--
-- HSCAN finds every view that exists at each step. It may repeat views when the hash table shrinks.

-- include read.lua

local STEP = 1000

local refused = moved()
if refused then return refused end

local scan = call('HSCAN', views, cursor, 'COUNT', STEP)
local next_cursor = scan[1]
local views_and_versions = scan[2]
local clock, floor = unpack(call('HMGET', facts, 'clock', 'floor'))
local found = { stale(), replication_id(), next_cursor, clock or '', floor or '' }
for i = 1, #views_and_versions, 2 do
  local view = views_and_versions[i]
  found[#found + 1] = view
  found[#found + 1] = views_and_versions[i + 1]
  found[#found + 1] = call('ZSCORE', expiries, view) or ''
end
return found
