-- A step of a comparison: brings the shadow to the live watermarks and, if it is there, answers some views of both generations,
-- and in what these differ as a whole; or compares some event ids of a partition.
--
-- KEYS  1 to 7 as in catch-up.lua; of the shadow: 8 views, 9 expiries, 10 facts; of the live generation: 11 views, 12 expiries,
--       13 facts, 14 leaders; for each partition: event ids of the shadow, of the live generation; then the runs
-- ARGV  1 to 6 as in catch-up.lua, 7 live generation as the caller believes it, 8 replication id of the server that the comparison began
--       on ('' begins one), 9 span of event ids in ms (- none), 10 walk: shadow (views that should be there), live (views that are there and should
--       not), eventIds, 11 cursor, 12 where both begin in the log (JSON), then the partitions whose event ids are compared, then the stretches
-- Returns  { caught up (1, 0), number of partitions, partition, watermark of the shadow, live watermark, ..., and when caught up:
--          replication id of the server, event clock of the shadow and of the live generation ('' for none), events that each refused with TOO_MANY_VIEWS, what is
--          unreadable in the facts of the live generation, or is no list of its ('' for nothing), number of partitions whose event ids differ, then for each of these: partition, clock and number of ids of the shadow, of the live
--          generation; next cursor, then for each view of the walk that has not expired: its text, and for the shadow and the live
--          generation the ms at which it expires ('never'; '' when it does not exist), and the version of the live one when it is unreadable
--          ('' when it is not); of event ids: next cursor, how many were looked at, then, where one differs: partition, event id, newline, player id,
--          its time in ms in the shadow and in the live generation ('' when it is not there) };
--          -1 GENERATION_CHANGED, -5 LEASE_LOST, -6 SHADOW_GONE, -9 WATERMARK_MOVED, -10 SERVER_CHANGED, -12 GAP; then nothing
--          was written
-- Cost  as apply.lua, without ranks, and about STEP views or event ids; more where Redis packs few views into one piece

-- include names.lua
-- include kept.lua
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
-- include moved.lua
-- include catch-up.lua
-- include continuity.lua
-- include cursor.lua

local STEP = 300
local MOST_SHOWN = 100
-- Where the partitions begin whose event ids are compared, and the keys of these.
local FIRST_PARTITION, FIRST_EVENT_IDS = 13, 15

-- View -> ms at which it expires, or 'never'; of those of the views that stand in a generation.
local function standing_views(views, expiries, clock, names)
  local standing = {}
  if wrong_type(views, 'hash') then return standing end
  local known = call('HMGET', views, unpack(names))
  local ends = wrong_type(expiries, 'zset') and {} or call('ZMSCORE', expiries, unpack(names))
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

local function fact(facts, name)
  if wrong_type(facts, 'hash') then return nil end
  return call('HGET', facts, name) or nil
end

-- Clock of a partition, and how many event ids are remembered within the span: all that later events are judged by.
local function remembered(facts, event_ids, partition)
  local clock = kept_number(fact(facts, 'clock:' .. partition))
  if not clock or wrong_type(event_ids, 'zset') then return '-' end
  return format('%d %d', clock, call('ZCOUNT', event_ids, format('(%d', clock - tonumber(ARGV[9])), '+inf'))
end

-- The event ids of a partition in the shadow and in the live generation.
local function event_ids_of(at)
  local key = FIRST_EVENT_IDS + 2 * (at - FIRST_PARTITION)
  return KEYS[key], KEYS[key + 1]
end

local function remembered_by_both(at)
  local expected, live = event_ids_of(at)
  return remembered(KEYS[10], expected, ARGV[at]), remembered(KEYS[13], live, ARGV[at])
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

-- What nobody could read: of the live generation, the lists that are none, and the facts that are no numbers.
local function unreadable()
  local found, names = {}, { 'floor', 'version', 'expired', 'duplicates', 'tooManyViews' }
  local types = { [11] = 'hash', [12] = 'zset', [13] = 'hash', [14] = 'hash' }
  for at = FIRST_PARTITION, tonumber(ARGV[6]) do
    types[FIRST_EVENT_IDS + 1 + 2 * (at - FIRST_PARTITION)] = 'zset'
    names[#names + 1] = 'clock:' .. ARGV[at]
  end
  for i = 11, #KEYS do
    found[#found + 1] = types[i] and wrong_type(KEYS[i], types[i])
  end
  for _, name in ipairs(names) do
    local text = fact(KEYS[13], name)
    if text and not kept_number(text) then found[#found + 1] = format('%s of %s is %s', name, KEYS[13], sub(text, 1, MOST_SHOWN)) end
  end
  return table.concat(found, ', ')
end

-- Answers the event clock of the shadow.
local function append_facts(found)
  found[#found + 1] = replication_id()
  local clock = call('HGET', KEYS[10], 'clock') or ''
  found[#found + 1] = clock
  found[#found + 1] = fact(KEYS[13], 'clock') or ''
  for _, facts in ipairs({ KEYS[10], KEYS[13] }) do found[#found + 1] = kept_number(fact(facts, 'tooManyViews')) or 0 end
  found[#found + 1] = unreadable()
  append_event_ids(found)
  return tonumber(clock)
end

local function scan_views(key)
  return wrong_type(key, 'hash') and { '0', {} } or call('HSCAN', key, ARGV[11], 'COUNT', STEP)
end

-- What a live view has for a version, '' where that is one.
local function unreadable_version(view)
  local text = call('HGET', KEYS[11], view)
  return kept_number(text) and '' or sub(text, 1, MOST_SHOWN)
end

local function append_views(found, clock)
  local is_of_shadow = ARGV[10] == 'shadow'
  local scan = scan_views(is_of_shadow and KEYS[8] or KEYS[11])
  local names = {}
  for i = 1, #scan[2], 2 do names[#names + 1] = scan[2][i] end
  found[#found + 1] = scan[1]
  for first, last in chunks(names) do
    local some = { unpack(names, first, last) }
    local expected = standing_views(KEYS[8], KEYS[9], clock, some)
    local live = standing_views(KEYS[11], KEYS[12], clock, some)
    for _, view in ipairs(some) do
      if is_of_shadow and expected[view] or not is_of_shadow and live[view] and not expected[view] then
        local version = live[view] and unreadable_version(view) or ''
        for _, text in ipairs({ view, expected[view] or '', live[view] or '', version }) do found[#found + 1] = text end
      end
    end
  end
end

-- The first of some event ids within the span that has another time in the live generation, or is not there.
local function differing_id(at, ids)
  local _, live = event_ids_of(at)
  local oldest = tonumber(fact(KEYS[10], 'clock:' .. ARGV[at])) - tonumber(ARGV[9])
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
local found, is_caught_up = watermarks_of(call('HKEYS', KEYS[4]), cjson.decode(ARGV[12]))
if is_caught_up then
  local clock = append_facts(found)
  if ARGV[10] == 'eventIds' then append_ids(found) else append_views(found, clock) end
end
return found
