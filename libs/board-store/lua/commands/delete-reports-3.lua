-- Deletes leader reports (leaders.lua) of views that the live generation lacks. May be repeated.
--
-- KEYS  live, live_views, leaders
-- ARGV  board
--       believed_live  live generation that the caller believes in
--       views...
-- Returns  1; GENERATION_CHANGED
-- Cost  O(views of the call)

-- include base.lua
-- include return-codes.lua

if call('HGET', live, board) ~= believed_live then return GENERATION_CHANGED end
for i = views_from, #ARGV do
  local view = ARGV[i]
  if call('HEXISTS', live_views, view) == 0 then call('HDEL', leaders, view) end
end
return 1
