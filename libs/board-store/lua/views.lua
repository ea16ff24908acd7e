-- Reads which views a generation has, by one moment.
--
-- KEYS  1 views, 2 facts, 3 expiries, 4 definitions of the shard, 5 discarded
-- ARGV  1 generation
-- Returns  { each view and its version, clock in ms ('' for none), each view that expires and when in ms }; {} for a generation that
--          was given up: its keys are gone, or may go at any moment
-- Cost  O(views)
--
-- A script, and no transaction: see kept-watermarks.lua.

-- include names.lua

if call('HEXISTS', KEYS[4], ARGV[1]) == 0 or call('SISMEMBER', KEYS[5], ARGV[1]) == 1 then return {} end
return { call('HGETALL', KEYS[1]), call('HGET', KEYS[2], 'clock') or '', call('ZRANGE', KEYS[3], 0, -1, 'WITHSCORES') }
