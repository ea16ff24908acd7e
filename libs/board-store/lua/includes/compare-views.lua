-- Walks over the views of a board (`views` of the shadow, `extraViews` that only the live
-- generation has) and over the event ids of a partition (`eventIds`).

local ITEMS_A_STEP = 300
local partition, shadow_event_ids, live_event_ids = view_or_partition, shadow_items, live_items

-- The time in ms at which each view expires, or 'never'; nil for a view that is missing or expired.
local function ends_of(names, views, expiries, clock)
  local known = each_of('HMGET', views, names)
  local ends = each_of('ZMSCORE', expiries, names)
  local found = {}
  for i in ipairs(names) do
    local last = tonumber(ends[i])
    if known[i] and not last then
      found[i] = 'never'
    elseif known[i] and (not clock or last > clock) then
      found[i] = format('%d', last)
    end
  end
  return found
end

-- Returns when each view expires: in the shadow, and in the live generation. For both, the clock of
-- the shadow decides which views have expired.
local function ends_in_both(names, clock)
  local expected = ends_of(names, shadow_views, shadow_expiries, clock)
  local live = ends_of(names, live_views, live_expiries, clock)
  return expected, live
end

-- Returns the views that both generations have. Reports views of the shadow that the live
-- generation lacks, or that expire at another time in it.
local function common_views(names, clock)
  local expected, live = ends_in_both(names, clock)
  local common = {}
  for i, view in ipairs(names) do
    if expected[i] and expected[i] ~= live[i] then
      differ('view', view, '', expected[i], live[i])
    end
    if expected[i] and live[i] then common[#common + 1] = view end
  end
  return common
end

walks['views'] = function(cursor, clock)
  local names, _, next = scan('HSCAN', shadow_views, cursor, ITEMS_A_STEP)
  return next, 0, common_views(names, clock)
end

walks['extraViews'] = function(cursor, clock)
  local names, _, next = scan('HSCAN', live_views, cursor, ITEMS_A_STEP)
  local expected, live = ends_in_both(names, clock)
  for i, view in ipairs(names) do
    if live[i] and not expected[i] then differ('view', view, '', nil, live[i]) end
  end
  return next, 0, {}
end

-- Describes the partition's clock, and how many event ids are in the span. Older ids don't matter,
-- because they drop no later event.
local function summary_of_ids(facts, event_ids)
  local clock = call('HGET', facts, 'clock:' .. partition)
  if not clock then return 'nothing' end
  local count = call('ZCOUNT', event_ids, format('(%d', clock - span), '+inf')
  return format('%d ids, up to %s ms', count, clock)
end

local function differ_in_ids(expected, found)
  local place = format('partition %s: ', partition)
  differ('eventIds', '', '', place .. expected, place .. found)
end

local function id_text(id, time)
  local event_id, player = string.match(id, '^(.*)\n(.*)$')
  local place = time and format('at %s ms', time) or 'not there'
  return format('"%s" of %s %s', event_id, player, place)
end

-- Whether one of these ids is in the span, and the live generation lacks it or has it with another
-- time. Reports the first such id.
local function ids_differ(ids, times)
  local oldest = call('HGET', shadow_facts, 'clock:' .. partition) - span
  local live = each_of('ZMSCORE', live_event_ids, ids)
  for i, id in ipairs(ids) do
    if tonumber(times[i]) > oldest and tonumber(live[i]) ~= tonumber(times[i]) then
      differ_in_ids(id_text(id, times[i]), id_text(id, live[i]))
      return true
    end
  end
end

-- Ends at the first difference. No walk for extra ids is needed: both generations have the same
-- number of ids, so the live one can have an extra id only if it lacks another.
walks['eventIds'] = function(cursor)
  local expected = summary_of_ids(shadow_facts, shadow_event_ids)
  local live = summary_of_ids(live_facts, live_event_ids)
  if expected ~= live then
    differ_in_ids(expected, live)
    return '0', 0, {}
  end
  if expected == 'nothing' then return '0', 0, {} end

  local ids, times, next = scan('ZSCAN', shadow_event_ids, cursor, ITEMS_A_STEP)
  if ids_differ(ids, times) then next = '0' end
  return next, #ids, {}
end
