-- Keeps the identity of a ranklog in a shard that has none yet. May be repeated.
--
-- KEYS  1 live
-- ARGV  1 identity (JSON), 2 whether it replaces another one (1, 0)
-- Returns  the identity that is kept now
-- Cost  O(1)
--
-- It is part of the version of the pointers, so a process that runs with another one is refused by the next call.

-- include names.lua
-- include clock.lua
-- include pointers.lua

local _, kept = read_version(KEYS[1])
if kept == ARGV[1] or kept ~= '' and ARGV[2] == '0' then return kept end
move_version(KEYS[1], ARGV[1])
return ARGV[1]
