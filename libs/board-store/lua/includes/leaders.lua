-- A leader change is the difference between the top N of a view and its leader report: the top that
-- was reported last. A report belongs to the board, not to a generation, so the first event after a
-- promotion may report what the promotion changed. If events are applied again after a loss, they
-- delete the report; then the next leader change has no `since`.
--
-- A report is the version of the view, a newline, then the players of the top in order, one a line:
-- competition rank and columns in sort direction, a tab, the player id.

-- include member.lua
-- include verdict.lua

-- The values of the further columns of a member: the inverse of member_of.
local function further_values(member, count)
  local values = {}
  for i = 1, count do
    local sign, value = struct.unpack('>BI7', member, 8 * i - 7)
    values[i] = format('%d', sign == 0 and value - TWO_POW_53 or value)
  end
  return values
end

-- The top of a view as lines of a report.
local function top_lines(view)
  local board = view.board
  local lines = {}
  local found = call('ZRANGE', view.ranking, 0, board.leaders - 1, 'WITHSCORES')
  local rank, columns
  for i = 1, #found, 2 do
    local member = found[i]
    local score = tonumber(found[i + 1])
    local prefix = sub(member, 1, board.columns_width)
    local is_tied = columns and columns.score == score and columns.prefix == prefix
    if not is_tied then
      rank = (i + 1) / 2
      columns = { score = score, prefix = prefix }
    end
    local words = further_values(prefix, #board.updates - 1)
    table.insert(words, 1, format('%d %d', rank, score))
    lines[#lines + 1] = table.concat(words, ' ') .. '\t' .. sub(member, board.id_from)
  end
  return lines
end

-- Loads leader reports. Ignores the report of a view that the live generation lacks: an earlier
-- generation made it, and it is deleted when the memory of that generation is freed.
local function load_reports(views)
  for _, view in ipairs(views) do
    view.reported = view.published and view.board.leaders > 0
    local can_have_report = view.known and view.reported
    view.report = can_have_report and call('HGET', view.board.reports, view.text)
  end
end

-- Writes a verdict if the top differs from the last report, and stores the new report.
local function write_leader_change(view)
  local since, before = string.match(view.report or '', '^(%d+)\n(.*)$')
  since = tonumber(since) or 0 / 0 -- NaN: there is no report
  before = before or ''
  local top = table.concat(top_lines(view), '\n')
  -- Without a report, `before` is empty, so an empty top seems unchanged. But if a player has left,
  -- a top with this player may have been reported before a loss. So the empty top is reported.
  local may_be_new = view.left and not view.report
  if top == before and not may_be_new then return end
  call('HSET', view.board.reports, view.text, view.version .. '\n' .. top)
  if not view.has_head then write_head(view) end
  write(pack('>BdHdI4c0I4c0', LEADERS, view.cause, view.number, since, #top, top, #before, before))
end

-- Reports the leaders of the views that the run has changed. A muted run deletes their reports.
local function write_reports(run, unmuted)
  for _, board in ipairs(run.boards) do
    for _, view in ipairs(board.moved) do
      if view.reported and unmuted then
        write_leader_change(view)
      elseif view.reported then
        call('HDEL', board.reports, view.text)
      end
      if #run.records > 0 then keep_verdicts(run.outbox, view.cause, { view }) end
    end
  end
end
