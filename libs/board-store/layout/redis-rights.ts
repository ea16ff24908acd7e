import type { KeySpace } from './keys.js';
import type { Redis } from 'ioredis';

/**
 * The commands that ranklog sends and that its scripts call. A spec compares this list with the
 * code.
 */
export const COMMANDS = (
  'DEL EVAL EVALSHA EXISTS GET HDEL HEXISTS HGET HGETALL HINCRBY HKEYS HLEN HMGET HRANDFIELD ' +
  'HSCAN HSET HVALS INFO MEMORY|USAGE PEXPIRE PING PTTL RENAME SADD SET SISMEMBER SMEMBERS ' +
  'SREM TIME TYPE UNLINK ZADD ZCARD ZCOUNT ZMSCORE ZRANGE ZRANGEBYSCORE ZRANK ZREM ' +
  'ZREMRANGEBYRANK ZREMRANGEBYSCORE ZSCAN ZSCORE'
).split(' ');

/** Commands that ioredis also sends to the nodes of a cluster. */
const NODE_COMMANDS = ['ASKING', 'CLUSTER|INFO', 'CLUSTER|SLOTS'];

/**
 * Without EVAL and EVALSHA: redis.acl_check_cmd is called with a key, but without the other
 * arguments of a command. For these two, Redis 7.0 would then read beyond the end of the list.
 */
const CHECKED = COMMANDS.filter((command) => !command.startsWith('EVAL'));

const FIND_REFUSED = `
local refused = {}
for position = 2, #ARGV do
  local words = {}
  for word in string.gmatch(ARGV[position], '[^|]+') do words[#words + 1] = word end
  words[#words + 1] = ARGV[1]
  if not redis.acl_check_cmd(unpack(words)) then refused[#refused + 1] = ARGV[position] end
end
return refused`;

/**
 * The commands that a server, or a node of a cluster, refuses to its user on the keys of a key
 * space. Runs only EVAL, which checks the rights to the other commands. Needs Redis 7.0.
 */
export async function refusedCommands(
  redis: Redis,
  keys: KeySpace,
  isNode = false,
): Promise<readonly string[]> {
  const checked = isNode ? [...CHECKED, ...NODE_COMMANDS] : CHECKED;
  try {
    return (await redis.eval(FIND_REFUSED, 0, keys.live(0), ...checked)) as string[];
  } catch (error) {
    if (!String(error).includes('NOPERM')) throw error;
    return ['EVAL', 'EVALSHA'];
  }
}
