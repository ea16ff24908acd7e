-- Counts the players of a view by their first column, in buckets of equal width. The last bucket
-- may be narrower.
--
-- KEYS  those of places.lua
-- ARGV  those of places.lua, bucket_count
--       best_value, worst_value  '' for the best or worst value in the view
-- Returns  lines (places.lua): stale (1, 0), view version, players in the view, then for each
--          bucket, from the best on: its best and worst value, its number of players; no bucket for
--          an empty view; the event clock if the view expired; { 'MOVED', ... } (read.lua)
-- Cost  O(log players) per bucket

-- include places.lua

local function score_at(position)
  return tonumber(call('ZRANGE', ranking, position, position, 'WITHSCORES')[2])
end

local refused = moved() or expired_by()
if refused then return refused end
local found = head()
if found[3] == 0 then return lines(found) end

local best = best_value ~= '' and tonumber(best_value) or score_at(0)
local worst = worst_value ~= '' and tonumber(worst_value) or score_at(-1)
local buckets = tonumber(bucket_count)
local width = math.floor((worst - best) / buckets) + 1 -- above 2^53, the difference is rounded
for bucket = 1, buckets do
  if best > worst then break end
  local last = bucket == buckets and worst or math.min(best + width - 1, worst)
  local first_text = format('%d', best)
  local last_text = format('%d', last)
  local n = #found
  found[n + 1] = first_text
  found[n + 2] = last_text
  found[n + 3] = call('ZCOUNT', ranking, first_text, last_text)
  best = last + 1
end
return lines(found)
