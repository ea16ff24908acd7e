// @ts-check
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { ServersFolder } from '#servers';

/** The project's folder. */
export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

const { KAFKA_BROKERS, REDIS_URL, RANKLOG_SERVICES_DIR } = process.env;

/** The servers of this clone. Git ignores their folder. */
export const SERVERS = new ServersFolder(RANKLOG_SERVICES_DIR ?? path.join(ROOT, '.services'), {
  label: 'services',
  given: { ...(KAFKA_BROKERS && { kafka: KAFKA_BROKERS }), ...(REDIS_URL && { redis: REDIS_URL }) },
});

/** Where the servers of this clone keep data, logs, pid files and downloads. */
export const HOME = SERVERS.path;
