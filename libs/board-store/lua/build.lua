-- Brings a shadow nearer to the live applied offsets, and does no more.
--
-- KEYS, ARGV  see catch-up.lua
-- Returns  { caught up in these partitions (1, 0), number of partitions, partition, applied offset of the shadow, live applied offset, ... } of
--          the stretches; -5 LEASE_LOST, -6 SHADOW_GONE, -12 GAP; then nothing was written
-- Cost  as apply.lua, without ranks

-- include names.lua
-- include clock.lua
-- include chunks.lua
-- include state.lua
-- include rank.lua
-- include verdict.lua
-- include arguments.lua
-- include event-ids.lua
-- include board.lua
-- include event.lua
-- include run.lua
-- include lease.lua
-- include catch-up.lua

local stretches, refused = catch_up()
if refused then return refused end
local partitions = {}
for i, stretch in ipairs(stretches) do partitions[i] = stretch.partition end
return (applied_offsets_of(partitions))
