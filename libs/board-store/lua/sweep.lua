-- Removes views of a live generation that have expired, without blocking on their size. What it is given is checked again.
--
-- KEYS  1 live, 2 views, 3 facts, 4 expiries, 5 leaders; then for each view: ranking, players
-- ARGV  1 board, 2 generation, then the views by their text
-- Returns  how many were removed; 0 when the generation is no longer live
-- Cost  O(log views) for each view; memory is given back in the background

if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return 0 end
local clock = tonumber(redis.call('HGET', KEYS[3], 'clock'))
local removed = 0
for i = 3, #ARGV do
  local expires = tonumber(redis.call('ZSCORE', KEYS[4], ARGV[i]))
  if clock and expires and expires <= clock then
    redis.call('UNLINK', KEYS[2 * i], KEYS[2 * i + 1])
    redis.call('HDEL', KEYS[2], ARGV[i])
    redis.call('HDEL', KEYS[5], ARGV[i])
    redis.call('ZREM', KEYS[4], ARGV[i])
    removed = removed + 1
  end
end
return removed
