-- Applies stretches to a shadow, up to the live applied offsets.
--
-- KEYS  those of catch-up.lua, stretch_keys...
-- ARGV  those of catch-up.lua, stretches...
-- Returns  progress_in(the partitions of the stretches); LEASE_LOST, SHADOW_GONE, GAP
-- Cost  as apply-7.lua, without ranks

-- include catch-up.lua

local stretches, refused = catch_up()
if refused then return refused end
local partitions = {}
for i, stretch in ipairs(stretches) do partitions[i] = stretch.partition end
return (progress_in(partitions))
