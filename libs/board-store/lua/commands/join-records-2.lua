-- Joins player records to the ban register of a shadow, or settles its views, without a stretch. So
-- a shadow takes over records that it does not read, and a ranked shadow is settled before it goes
-- live or becomes a snapshot. May be repeated.
--
-- KEYS  lease, shadows
--       run_keys...  arguments.lua
-- ARGV  token, board
--       generation  of the shadow
--       partition   of the records
--       run...      arguments.lua
-- Returns  1; LEASE_LOST, SHADOW_GONE
-- Cost  O(1) for each record, O(log players) for each view

-- include lease.lua
-- include run.lua

if not holds_lease(lease, token) then return LEASE_LOST end
local shadow = shadow_of(shadows, board)
if not shadow or shadow.generation ~= generation then return SHADOW_GONE end
local run = read_run(run_from, run_keys_from)
for _, one in ipairs(run.boards) do one.unranked = is_unranked(shadow) end
load_run(run, partition, -1, math.huge, false)
apply_run(run, partition)
return 1
