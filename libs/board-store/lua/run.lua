-- What a run of one partition does to its boards: everything is read by load_run before the first write.

local GAP = -12

-- Whether a run from `from` would skip offsets after the applied offset, whose events would be lost for good.
local function leaves_gap(from, applied_offset)
  return from > applied_offset + 1
end

-- Keeps the entries above the applied offset, up to `last`. `told`: whether what they do is published.
local function load_run(run, partition, applied_offset, last, told)
  local fresh, now = {}, now_in_us()
  for _, entry in ipairs(run.entries) do
    if entry.offset > applied_offset and entry.offset <= last then fresh[#fresh + 1] = entry end
  end
  run.fresh = fresh
  for _, board in ipairs(run.boards) do load_board(board, partition) end
  for _, view in ipairs(run.views) do load_view(view, now, told) end
  for _, entry in ipairs(fresh) do
    if entry.board then
      want_states(entry)
      load_event_id(entry)
    end
  end
  for _, view in ipairs(run.views) do load_states(view) end
end

-- Nothing here can fail.
local function apply_run(run, partition)
  for _, entry in ipairs(run.fresh) do
    if entry.board then apply_event(entry) else write_dead_letter(entry, entry.code, entry.detail) end
  end
  for _, board in ipairs(run.boards) do
    for _, view in ipairs(board.moved) do store_view(view) end
    store_board(board, partition)
  end
end
