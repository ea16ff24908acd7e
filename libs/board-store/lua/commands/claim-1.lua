-- Writes the identity of a ranklog into a shard that has none. May be repeated.
--
-- KEYS  1 live
-- ARGV  1 identity (JSON), 2 whether it replaces another one (1, 0)
-- Returns  the identity that the shard has now
-- Cost  O(1)
--
-- The identity is part of the version of the pointers, so the next call of a process with another
-- identity is refused.

-- include shard.lua

local _, kept = read_version(KEYS[1])
if kept == ARGV[1] or kept ~= '' and ARGV[2] == '0' then return kept end
move_version(KEYS[1], ARGV[1])
return ARGV[1]
