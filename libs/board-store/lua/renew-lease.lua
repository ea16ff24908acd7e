-- Holds on to a lease, and may store how far its reconciliation is.
--
-- KEYS  1 lease, 2 reconciliations
-- ARGV  1 token, 2 ms for which the lease is held from now on, 3 board, 4 status (JSON; '' leaves it)
-- Returns  1; -5 LEASE_LOST when another one has it, or none: then nothing was written
-- Cost  O(1)

-- include names.lua
-- include lease.lua

if not holds_lease(KEYS[1], ARGV[1]) then return LEASE_LOST end
call('PEXPIRE', KEYS[1], ARGV[2])
if ARGV[4] ~= '' then call('HSET', KEYS[2], ARGV[3], ARGV[4]) end
return 1
