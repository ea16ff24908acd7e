-- Begins a comparison: brings the shadow to the live watermarks and, if it is there, answers the views of both generations.
--
-- KEYS  1 to 6 as in catch-up.lua; of the shadow: 7 views, 8 expiries, 9 facts; of the live generation: 10 views, 11 expiries,
--       12 facts; for each partition: event ids of the shadow, of the live generation; then the runs
-- ARGV  1 to 6 as in catch-up.lua, 7 live generation as the caller believes it, 8 span of event ids in ms (- none), then the partitions
--       whose event ids are compared, then the stretches
-- Returns  { caught up (1, 0), number of partitions, partition, watermark of the shadow, live watermark, ..., and when caught up:
--          event clock of the shadow and of the live generation ('' for none), events that each refused with TOO_MANY_VIEWS, number of partitions whose event ids differ, then for each
--          of these: partition, clock and number of ids of the shadow, of the live generation; then for each view that has not expired: its text,
--          and for the shadow and the live generation the ms at which it expires ('never'; '' when it does not exist) };
--          -1 GENERATION_CHANGED, -2 ROLLED_BACK, -5 LEASE_LOST, -6 SHADOW_GONE; then nothing was written
-- Cost  as apply.lua, without ranks, and O(views)

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

local function ends_of(expiries)
  local ends, found = {}, call('ZRANGE', expiries, 0, -1, 'WITHSCORES')
  for i = 1, #found, 2 do ends[found[i]] = tonumber(found[i + 1]) end
  return ends
end

-- View -> ms at which it expires, or 'never'.
local function standing_views(views, expiries, clock)
  local standing, ends = {}, ends_of(expiries)
  for _, view in ipairs(call('HKEYS', views)) do
    local last = ends[view]
    if not last then
      standing[view] = 'never'
    elseif not clock or last > clock then
      standing[view] = format('%d', last)
    end
  end
  return standing
end

-- Clock of a partition, and how many event ids are remembered within the span: all that later events are judged by.
local function remembered(facts, event_ids, partition)
  local clock = tonumber(call('HGET', facts, 'clock:' .. partition))
  if not clock then return '-' end
  return format('%d %d', clock, call('ZCOUNT', event_ids, format('(%d', clock - tonumber(ARGV[8])), '+inf'))
end

local function append_event_ids(found)
  local differing, count = {}, 0
  for at = 9, tonumber(ARGV[6]) do
    local partition, key = ARGV[at], 13 + 2 * (at - 9)
    local expected, live = remembered(KEYS[9], KEYS[key], partition), remembered(KEYS[12], KEYS[key + 1], partition)
    if expected ~= live then
      count = count + 1
      for _, text in ipairs({ partition, expected, live }) do differing[#differing + 1] = text end
    end
  end
  found[#found + 1] = format('%d', count)
  for _, text in ipairs(differing) do found[#found + 1] = text end
end

local function append_views(found)
  local text = call('HGET', KEYS[9], 'clock') or ''
  local clock = tonumber(text)
  found[#found + 1] = text
  found[#found + 1] = call('HGET', KEYS[12], 'clock') or ''
  for _, facts in ipairs({ KEYS[9], KEYS[12] }) do found[#found + 1] = call('HGET', facts, 'tooManyViews') or '0' end
  append_event_ids(found)
  local expected = standing_views(KEYS[7], KEYS[8], clock)
  local live = standing_views(KEYS[10], KEYS[11], clock)
  for view, last in pairs(expected) do
    for _, text in ipairs({ view, last, live[view] or '' }) do found[#found + 1] = text end
    live[view] = nil
  end
  for view, last in pairs(live) do
    for _, text in ipairs({ view, '', last }) do found[#found + 1] = text end
  end
end

if call('HGET', KEYS[3], ARGV[2]) ~= ARGV[7] then return GENERATION_CHANGED end
local _, refused = catch_up()
if refused then return refused end
local found, is_caught_up = watermarks_of(call('HKEYS', KEYS[4]), true)
if is_caught_up then append_views(found) end
return found
