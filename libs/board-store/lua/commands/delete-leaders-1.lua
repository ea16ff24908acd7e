-- Deletes the leader reports of some boards of a shard that a resync will empty. May be repeated.
-- If the resync does not empty the shard after all, the next leader changes have no `since`.
--
-- KEYS  continuity
--       leaders...  of some boards
-- ARGV  begun  continuity that begin-resync-2.lua returned
-- Returns  1; STORE_CHANGED if the resync is no longer under way
-- Cost  O(boards of the call); memory is freed in the background

-- include base.lua
-- include return-codes.lua

if call('GET', continuity) ~= begun then return STORE_CHANGED end
for i = leaders_from, #KEYS do call('UNLINK', KEYS[i]) end
return 1
