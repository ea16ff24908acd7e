-- Gives a lease back; one that is another's stays.
--
-- KEYS  1 lease
-- ARGV  1 token
-- Returns  1 when it was given back, else 0
-- Cost  O(1)

-- include names.lua
-- include lease.lua

return holds_lease(KEYS[1], ARGV[1]) and call('DEL', KEYS[1]) or 0
