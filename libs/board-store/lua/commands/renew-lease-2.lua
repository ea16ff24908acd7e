-- Renews a lease, or releases it, and may store the status of its reconciliation.
--
-- KEYS  1 lease, 2 reconciliations
-- ARGV  1 token, 2 time in ms that it lasts (0 ends it), 3 board, 4 status (JSON; '' keeps it)
-- Returns  1; LEASE_LOST
-- Cost  O(1)

-- include lease.lua

if not holds_lease(KEYS[1], ARGV[1]) then return LEASE_LOST end
call('PEXPIRE', KEYS[1], ARGV[2])
if ARGV[4] ~= '' then call('HSET', KEYS[2], ARGV[3], ARGV[4]) end
return 1
