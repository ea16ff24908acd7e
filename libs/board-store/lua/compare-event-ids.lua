-- Walk over what deduplicate remembers of a partition: `eventIds`. Ends at the first difference.

local IDS_AT_ONCE = 300

-- The clock of a partition, and how many event ids are within the span: later events are judged by these alone.
local function remembered(facts, event_ids)
  local clock = call('HGET', facts, 'clock:' .. ARGV[11])
  if not clock then return 'nothing' end
  return format('%d ids, up to %s ms', call('ZCOUNT', event_ids, format('(%d', clock - ARGV[14]), '+inf'), clock)
end

local function differ_in_ids(expected, found)
  local partition = format('partition %s: ', ARGV[11])
  differ('eventIds', '', '', partition .. expected, partition .. found)
end

local function time_text(id, time)
  local event_id, player = string.match(id, '^(.*)\n(.*)$')
  return format('"%s" of %s ', event_id, player) .. (time and format('at %s ms', time) or 'not there')
end

-- Whether an id within the span has another time in the live generation, or is not there.
local function ids_differ(ids, times)
  local oldest = call('HGET', KEYS[8], 'clock:' .. ARGV[11]) - ARGV[14]
  local live = each_of('ZMSCORE', KEYS[13], ids)
  for i, id in ipairs(ids) do
    if tonumber(times[i]) > oldest and tonumber(live[i]) ~= tonumber(times[i]) then
      differ_in_ids(time_text(id, times[i]), time_text(id, live[i]))
      return true
    end
  end
end

-- Where both remember as many, no id is there too many unless one is missing.
walks['eventIds'] = function(cursor)
  local expected, live = remembered(KEYS[8], KEYS[12]), remembered(KEYS[11], KEYS[13])
  if expected ~= live then differ_in_ids(expected, live) end
  if expected ~= live or expected == 'nothing' then return '0', 0, {} end
  local ids, times, next = scan('ZSCAN', KEYS[12], cursor, IDS_AT_ONCE)
  return ids_differ(ids, times) and '0' or next, #ids, {}
end
