-- Applies stretches to a shadow, up to the live applied offsets.
--
-- KEYS  1 to 5 as in catch-up.lua, then those of the stretches
-- ARGV  1 to 4 as in catch-up.lua, then the stretches
-- Returns  progress_in(the partitions of the stretches); LEASE_LOST, SHADOW_GONE, GAP
-- Cost  as apply-7.lua, without ranks

-- include catch-up.lua

local stretches, refused = catch_up(5, 4)
if refused then return refused end
local partitions = {}
for i, stretch in ipairs(stretches) do partitions[i] = stretch.partition end
return (progress_in(partitions))
