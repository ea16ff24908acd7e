import getPort, { portNumbers } from 'get-port';
import { parseRedisUrl } from '#redis-url';
import { SERVER_NAMES, SERVER_VARIABLES, type ServerName } from '#servers';
import { loadSettings, type Settings } from '../../config/settings.js';

const SERVER_SETTINGS = { kafka: 'kafkaBrokers', redis: 'redisUrl' } as const;
/** How many ports are tried from the default one on. */
const PORTS = 100;

type Current = ReturnType<typeof loadSettings>['current'];

/** The servers whose addresses no setting gives. */
export function serversToStart(current: Current): ServerName[] {
  return SERVER_NAMES.filter((name) => isDefault(current, SERVER_SETTINGS[name]));
}

/** Whether neither the environment nor the config file has the setting. */
export function isDefault(current: Current, setting: keyof Settings): boolean {
  return current.some(({ name, origin }) => name === setting && origin === 'default');
}

/**
 * Sets environment variables: the addresses of the servers, writes over HTTP, free ports, and fewer
 * log lines. Keeps settings that the environment or the config file gives.
 */
export async function setDevSettings(
  addresses: Partial<Record<ServerName, string>>,
): Promise<Settings> {
  const { settings, current } = loadSettings();
  const { httpHost, httpPort, operationsHost, operationsPort } = settings;
  const values: Partial<Record<keyof Settings, string>> = { logLevel: 'warn' };

  if (hasLocalServers(settings)) values.queryWrites = 'true';
  if (httpPort === 0 || isDefault(current, 'httpPort'))
    values.httpPort = await freePort(httpHost, httpPort);
  if (operationsPort === 0 || isDefault(current, 'operationsPort'))
    values.operationsPort = await freePort(operationsHost, operationsPort);

  for (const { name, env, origin, value } of current) {
    const wanted = values[name];
    if (wanted !== undefined && (origin === 'default' || value === '0')) process.env[env] = wanted;
  }
  for (const [name, address] of Object.entries(addresses))
    process.env[SERVER_VARIABLES[name as ServerName]] = address;
  return loadSettings().settings;
}

/** Whether Kafka and Redis are on this machine. Other people may use servers on other machines. */
export function hasLocalServers({ kafkaBrokers, redisUrl }: Settings): boolean {
  const brokers = kafkaBrokers.map((broker) => new URL(`kafka://${broker}`).hostname);
  const servers = parseRedisUrl(redisUrl)?.nodes.map(({ host }) => host) ?? [];
  return [...brokers, ...servers].every((host) => LOCAL_HOST.test(host));
}

const LOCAL_HOST = /^(localhost|127\.[\d.]+|::1|\[::1\])$/;

/** `port` if it is free, else a port above it; any port for 0. */
async function freePort(host: string, port: number): Promise<string> {
  const wanted = port === 0 ? 0 : portNumbers(port, port + PORTS);
  return String(await getPort({ host, port: wanted }));
}
