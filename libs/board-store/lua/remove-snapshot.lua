-- Gives up a snapshot. May be repeated.
--
-- KEYS  1 snapshots, 2 discarded
-- ARGV  1 generation
-- Returns  1; 0 when there is no snapshot of this id, nor a generation whose memory is still to be given back
-- Cost  O(1)
--
-- Works when memory is full, too: its first write is one that Redis does not refuse then, and after that it refuses nothing.

-- include names.lua

if call('HDEL', KEYS[1], ARGV[1]) == 0 then return call('SISMEMBER', KEYS[2], ARGV[1]) end -- done before: the answer may have been lost
call('SADD', KEYS[2], ARGV[1])
return 1
