/** Kafka and Redis on this machine, with docker compose or natively. */
export { addressOf, SERVER_VARIABLES, serverVariables } from './addresses.js';
export { composeTool } from './docker.js';
export { runInForeground } from './foreground.mjs';
export { DEFAULT_RELEASE, KAFKA_RELEASES, kafkaClasspath } from './kafka-jars.js';
export { watchLauncher } from './launcher.mjs';
export { tryLock, withLock } from './lock.mjs';
export { isMissing } from './packages.js';
export { processText, runningPidIn } from './process-start.mjs';
export { retryFor, run, startProcess } from './processes.js';
export {
  kindOfRedis,
  openRedis,
  REDIS_KINDS,
  type RedisGroup,
  type RedisKind,
} from './redis-client.js';
export { ServersError } from './servers-error.js';
export { SERVER_NAMES, ServersFolder, type ServerName } from './servers-folder.js';
export {
  endServers,
  serverStatus,
  startServers,
  stopServers,
  type ServerStatus,
} from './servers.js';
