-- Why a script wrote nothing. scripts.ts translates the codes; a spec compares the two files.

local GENERATION_CHANGED = -1 -- the caller names another live generation or version of the pointers
local ROLLED_BACK = -2 -- the applied offset is smaller than the caller believes: Redis lost writes
local STORE_CHANGED = -3 -- the caller names another continuity, the server is new, or a resync runs
local RECOVERING = -4 -- a partition is below its recovery target, and new entries are not muted
local LEASE_LOST = -5 -- another process holds the lease of the board, or none does
local SHADOW_GONE = -6 -- the generation is not the board's shadow (any more), or Redis lost it
local SERVER_CHANGED = -10 -- the cursor of the comparison or ranking is of another server
local LEASE_HELD = -11 -- a process holds the lease of the board, and the caller named no token
local GAP = -12 -- the run or stretch begins beyond the applied offset + 1: it would skip events
