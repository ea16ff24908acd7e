-- Sets the identity of a shard that has none, or replaces it on request. May be repeated.
--
-- KEYS  1 live
-- ARGV  1 identity (JSON), 2 whether to replace another identity (1, 0)
-- Returns  the identity that the shard has now
-- Cost  O(1)
--
-- A new identity is a new version of the pointers, so the next call of a process with another
-- identity is refused.

-- include shard.lua

local _, kept = read_version(KEYS[1])
if kept == ARGV[1] or kept ~= '' and ARGV[2] == '0' then return kept end
move_version(KEYS[1], ARGV[1])
return ARGV[1]
