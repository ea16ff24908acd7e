-- Renews a lease, or releases it, and may store the status of its reconciliation.
--
-- KEYS  lease, reconciliations
-- ARGV  token
--       ms      how long it lasts (0 ends it)
--       board
--       status  JSON; '' keeps it
-- Returns  1; LEASE_LOST
-- Cost  O(1)

-- include lease.lua

if not holds_lease(lease, token) then return LEASE_LOST end
call('PEXPIRE', lease, ms)
if status ~= '' then call('HSET', reconciliations, board, status) end
return 1
