-- Short names for functions that are called for every event, and helpers for every script. Scripts
-- print integers with '%d', which takes less than half the time of '%.0f'. It must be exact up to
-- 2^53-1.

local call, pack, read_bytes = redis.call, struct.pack, struct.unpack
local format, sub = string.format, string.sub

if format('%d', 9007199254740991) ~= '9007199254740991' then
  error('ranklog needs a Redis built for 64 bits')
end

-- No script runs on a replica, not even one that only reads. A replica may lack writes. It has its
-- primary's replication id, so scripts can't notice that its data is old.
local replication = call('INFO', 'replication')
if not string.find(replication, 'role:master', 1, true) then
  error({ err = 'READONLY this Redis is a replica, whose data may be old' })
end

-- The time of the server.
local function now_in_us()
  local time = call('TIME')
  return tonumber(time[1]) * 1000000 + tonumber(time[2])
end

-- The most arguments of a call: Lua can unpack only some thousands. Even, so that no chunk splits
-- the pairs of HSET and ZADD.
local CHUNK = 1000

-- Iterates over the first and last position of each chunk of a list.
local function chunks(list)
  local first = 1 - CHUNK
  return function()
    first = first + CHUNK
    if first <= #list then return first, math.min(first + CHUNK - 1, #list) end
  end
end

local function call_in_chunks(command, key, words)
  for first, last in chunks(words) do call(command, key, unpack(words, first, last)) end
end
