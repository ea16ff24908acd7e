/** The package @ranklog/testing: a ranklog of its own for each test, with Kafka and Redis. */
export {
  startRanklog,
  type RanklogOptions,
  type RunningRanklog,
  type RanklogClients,
} from './start-ranklog.js';
export { startServers, type TestServers } from './test-servers.js';
