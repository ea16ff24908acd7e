-- Short and fast names of what is called for every event. %d prints a C long, in less than half the time that %.0f takes.
local call, format, find, sub, pack = redis.call, string.format, string.find, string.sub, struct.pack

if format('%d', 9007199254740991) ~= '9007199254740991' then error('ranklog needs a Redis built for 64 bits') end
