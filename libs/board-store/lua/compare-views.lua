-- A step of a comparison: brings the shadow to the live watermarks and, if it is there, answers some views of both generations,
-- and in what these differ as a whole; or compares some event ids of a partition.
--
-- KEYS  1 to 6 as in catch-up.lua; of the shadow: 7 views, 8 expiries, 9 facts; of the live generation: 10 views, 11 expiries,
--       12 facts; for each partition: event ids of the shadow, of the live generation; then the runs
-- ARGV  1 to 6 as in catch-up.lua, 7 live generation as the caller believes it, 8 replication id of the server that the comparison began
--       on ('' begins one), 9 span of event ids in ms (- none), 10 walk: shadow (views that should be there), live (views that are there and should
--       not), eventIds, 11 cursor, then the partitions whose event ids are compared, then the stretches
-- Returns  { caught up (1, 0), number of partitions, partition, watermark of the shadow, live watermark, ..., and when caught up:
--          replication id of the server, event clock of the shadow and of the live generation ('' for none), events that each refused with TOO_MANY_VIEWS, number of partitions whose event ids differ, then for each of these: partition, clock and number of ids of the shadow, of the live
--          generation; next cursor, then for each view of the walk that has not expired: its text, and for the shadow and the live
--          generation the ms at which it expires ('never'; '' when it does not exist); of event ids: next cursor, how many were looked at, then, where one differs: partition, event id, newline, player id,
--          its time in ms in the shadow and in the live generation ('' when it is not there) };
--          -1 GENERATION_CHANGED, -5 LEASE_LOST, -6 SHADOW_GONE, -10 SERVER_CHANGED, -12 GAP; then nothing
--          was written
-- Cost  as apply.lua, without ranks, and about STEP views or event ids; more where Redis packs few views into one piece

-- include names.lua
-- include clock.lua
-- include chunks.lua
-- include state.lua
-- include rank.lua
-- include verdict.lua
-- include arguments.lua
-- include event-ids.lua
-- include board.lua
-- include event.lua
-- include run.lua
-- include lease.lua
-- include catch-up.lua
-- include continuity.lua
-- include cursor.lua

local STEP = 300
-- Where the partitions begin whose event ids are compared, and the keys of these.
local FIRST_PARTITION, FIRST_EVENT_IDS = 12, 13

-- View -> ms at which it expires, or 'never'; of those of the views that stand in a generation.
local function standing_views(views, expiries, clock, names)
  local standing = {}
  local known = call('HMGET', views, unpack(names))
  local ends = call('ZMSCORE', expiries, unpack(names))
  for i, name in ipairs(names) do
    local last = tonumber(ends[i])
    if known[i] and not last then
      standing[name] = 'never'
    elseif known[i] and (not clock or last > clock) then
      standing[name] = format('%d', last)
    end
  end
  return standing
end

-- Clock of a partition, and how many event ids are remembered within the span: all that later events are judged by.
local function remembered(facts, event_ids, partition)
  local clock = call('HGET', facts, 'clock:' .. partition)
  if not clock then return '-' end
  return format('%d %d', clock, call('ZCOUNT', event_ids, format('(%d', tonumber(clock) - tonumber(ARGV[9])), '+inf'))
end

-- The event ids of a partition in the shadow and in the live generation.
local function event_ids_of(at)
  local key = FIRST_EVENT_IDS + 2 * (at - FIRST_PARTITION)
  return KEYS[key], KEYS[key + 1]
end

local function remembered_by_both(at)
  local expected, live = event_ids_of(at)
  return remembered(KEYS[9], expected, ARGV[at]), remembered(KEYS[12], live, ARGV[at])
end

local function append_event_ids(found)
  local differing, count = {}, 0
  for at = FIRST_PARTITION, tonumber(ARGV[6]) do
    local expected, live = remembered_by_both(at)
    if expected ~= live then
      count = count + 1
      for _, text in ipairs({ ARGV[at], expected, live }) do differing[#differing + 1] = text end
    end
  end
  found[#found + 1] = format('%d', count)
  for _, text in ipairs(differing) do found[#found + 1] = text end
end

-- Answers the event clock of the shadow.
local function append_facts(found)
  found[#found + 1] = replication_id()
  local clock = call('HGET', KEYS[9], 'clock') or ''
  found[#found + 1] = clock
  found[#found + 1] = call('HGET', KEYS[12], 'clock') or ''
  for _, facts in ipairs({ KEYS[9], KEYS[12] }) do found[#found + 1] = call('HGET', facts, 'tooManyViews') or '0' end
  append_event_ids(found)
  return tonumber(clock)
end

local function append_views(found, clock)
  local is_of_shadow = ARGV[10] == 'shadow'
  local scan = call('HSCAN', is_of_shadow and KEYS[7] or KEYS[10], ARGV[11], 'COUNT', STEP)
  local names = {}
  for i = 1, #scan[2], 2 do names[#names + 1] = scan[2][i] end
  found[#found + 1] = scan[1]
  for first, last in chunks(names) do
    local some = { unpack(names, first, last) }
    local expected = standing_views(KEYS[7], KEYS[8], clock, some)
    local live = standing_views(KEYS[10], KEYS[11], clock, some)
    for _, view in ipairs(some) do
      if is_of_shadow and expected[view] or not is_of_shadow and live[view] and not expected[view] then
        for _, text in ipairs({ view, expected[view] or '', live[view] or '' }) do found[#found + 1] = text end
      end
    end
  end
end

-- The first of some event ids within the span that has another time in the live generation, or is not there.
local function differing_id(at, ids)
  local _, live = event_ids_of(at)
  local oldest = tonumber(call('HGET', KEYS[9], 'clock:' .. ARGV[at])) - tonumber(ARGV[9])
  for i = 1, #ids, 2 do
    local time = tonumber(ids[i + 1])
    local found = time > oldest and call('ZSCORE', live, ids[i])
    if time > oldest and tonumber(found) ~= time then return { ARGV[at], ids[i], ids[i + 1], found or '' } end
  end
end

-- Where the walk over event ids is: at which partition, and the cursor in it.
local function place_of(cursor)
  local partition, rest = string.match(cursor, '^(%d+) (%d+)$')
  for at = FIRST_PARTITION, tonumber(ARGV[6]) do
    if not partition or ARGV[at] == partition then return at, rest or '0' end
  end
end

local function place_behind(at, cursor)
  if cursor ~= '0' then return ARGV[at] .. ' ' .. cursor end
  return at < tonumber(ARGV[6]) and ARGV[at + 1] .. ' 0' or '0'
end

-- Some ids of the shadow, and the next cursor. Where as many are remembered, none is there too many unless one is missing; where
-- not, that is told already.
local function scan_ids(at, cursor)
  local expected, live = remembered_by_both(at)
  if expected ~= live or expected == '-' then return {}, '0' end
  local scan = call('ZSCAN', event_ids_of(at), cursor, 'COUNT', STEP)
  return scan[2], scan[1]
end

-- A partition that differs is done with.
local function append_ids(found)
  local at, cursor = place_of(ARGV[11])
  local ids, next, differing = {}, '0', nil
  if at then
    ids, next = scan_ids(at, cursor)
    differing = #ids > 0 and differing_id(at, ids)
    next = place_behind(at, differing and '0' or next)
  end
  found[#found + 1] = next
  found[#found + 1] = format('%d', #ids / 2)
  for _, text in ipairs(differing or {}) do found[#found + 1] = text end
end

if ARGV[8] ~= '' and is_elsewhere(ARGV[8]) then return SERVER_CHANGED end
if call('HGET', KEYS[3], ARGV[2]) ~= ARGV[7] then return GENERATION_CHANGED end
local _, refused = catch_up()
if refused then return refused end
local found, is_caught_up = watermarks_of(call('HKEYS', KEYS[4]))
if is_caught_up then
  local clock = append_facts(found)
  if ARGV[10] == 'eventIds' then append_ids(found) else append_views(found, clock) end
end
return found
