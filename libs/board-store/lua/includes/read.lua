-- The common part of all reads of a board.
--
-- KEYS  1 live, 2 snapshots, 3 definitions, 4 starts, 5 continuity, 6 recovery targets, 7 facts,
--       8 views
-- ARGV  1 board, 2 generation that the caller believes in ('' for none), 3 snapshot to read ('' for
--       the live generation)

-- include continuity.lua

-- nil if the caller names the generation to read. Otherwise { 'MOVED', generation, its definition
-- (JSON), its starts (JSON) }, each '' if it does not exist.
local function moved()
  local generation = call('HGET', KEYS[1], ARGV[1])
  if ARGV[3] ~= '' then generation = call('HGET', KEYS[2], ARGV[3]) == ARGV[1] and ARGV[3] end
  if not generation then return { 'MOVED', '', '', '' } end
  if generation == ARGV[2] then return nil end
  local definition, starts = call('HGET', KEYS[3], generation), call('HGET', KEYS[4], generation)
  return { 'MOVED', generation, definition or '', starts or '' }
end

-- 1 while Redis lacks published events, or may lack some, as it is to be resynced; else 0.
local function stale()
  return (call('HLEN', KEYS[6]) > 0 or not is_continued(call('GET', KEYS[5]))) and 1 or 0
end
