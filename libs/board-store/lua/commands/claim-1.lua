-- Sets the identity of a shard that has none, or replaces it on request. May be repeated.
--
-- KEYS  live
-- ARGV  identity  JSON
--       moves     whether to replace another identity (1, 0)
-- Returns  the identity that the shard has now
-- Cost  O(1)
--
-- A new identity is a new version of the pointers, so the next call of a process with another
-- identity is refused.

-- include shard.lua

local _, kept = read_version(live)
if kept == identity then return kept end
if kept ~= '' and moves == '0' then return kept end
move_version(live, identity)
return identity
