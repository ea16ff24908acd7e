-- Walks over the views of a board: `views` that should be there, and `extraViews` that are there and should not.

local VIEWS_AT_ONCE = 300

-- The ms at which each view expires, or 'never'; nil for one that does not stand.
local function ends_of(names, views, expiries, clock)
  local known, ends, standing = each_of('HMGET', views, names), each_of('ZMSCORE', expiries, names), {}
  for i in ipairs(names) do
    local last = tonumber(ends[i])
    if known[i] and not last then
      standing[i] = 'never'
    elseif known[i] and (not clock or last > clock) then
      standing[i] = format('%d', last)
    end
  end
  return standing
end

-- Both by the clock of the shadow.
local function ends_of_both(names, clock)
  return ends_of(names, KEYS[6], KEYS[7], clock), ends_of(names, KEYS[9], KEYS[10], clock)
end

-- Those that stand in both generations, of some that should.
local function standing_in_both(names, clock)
  local expected, live = ends_of_both(names, clock)
  local both = {}
  for i, view in ipairs(names) do
    if expected[i] and expected[i] ~= live[i] then differ('view', view, '', expected[i], live[i]) end
    if expected[i] and live[i] then both[#both + 1] = view end
  end
  return both
end

walks['views'] = function(cursor, clock)
  local names, _, next = scan('HSCAN', KEYS[6], cursor, VIEWS_AT_ONCE)
  return next, 0, standing_in_both(names, clock)
end

walks['extraViews'] = function(cursor, clock)
  local names, _, next = scan('HSCAN', KEYS[9], cursor, VIEWS_AT_ONCE)
  local expected, live = ends_of_both(names, clock)
  for i, view in ipairs(names) do
    if live[i] and not expected[i] then differ('view', view, '', nil, live[i]) end
  end
  return next, 0, {}
end
