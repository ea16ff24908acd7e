import { connect as connectPlain, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { parseRedisUrl, withoutPassword } from '#redis-url';
import type { Settings } from '../config/settings.js';

export type Server = 'Kafka' | 'Redis';

/** Refused settings, and how to correct them, by a text of the server's name and its error. */
const REFUSALS: readonly [error: RegExp, setting: string, wayOut: string][] = [
  [/DB index|SELECT is not/, 'REDIS_URL', 'name another database, or raise "databases" of Redis'],
  [/WRONGPASS|NOAUTH/, 'REDIS_URL', 'correct the user and password in redis://USER:PASSWORD@HOST'],
  [/UNSUPPORTED_SASL/, 'KAFKA_SASL_MECHANISM', 'use one of sasl.enabled.mechanisms of Kafka'],
  [/ILLEGAL_SASL/, 'KAFKA_SASL_MECHANISM', 'leave it empty, or name a port with SASL'],
  // kafkajs also gives this name to a lost connection.
  [/ KafkaJSSASL(?!.*(clos|timed|connect))/i, 'KAFKA_SASL_USERNAME', 'correct it or its password'],
  [/^Kafka.*(altnames|has expired)/i, 'KAFKA_BROKERS', 'renew its certificate or use a name in it'],
  [/^Redis.*(altnames|has expired)/i, 'REDIS_URL', 'renew its certificate or use a name in it'],
  [/alert .*(certificate|unknown ca)/, '*_SSL_CERT', 'name a certificate that the server accepts'],
  [/certificate/i, '*_SSL_CA', 'name the file of the CA of the server'],
];

/**
 * Why the server that answers with this error refuses the settings. Returns undefined for an error
 * that may pass: then retry later.
 */
export function settingsRefusal(
  error: unknown,
  address: string,
  settings: Settings,
): string | undefined {
  if (!(error instanceof Error)) return undefined;

  const type = 'type' in error ? String(error.type) : '';
  const text = `${address} ${error.name} ${type} ${error.message}`;
  const found = REFUSALS.find(([pattern]) => pattern.test(text));
  if (found === undefined) return undefined;

  const [, name, wayOut] = found;
  const setting = name.replace('*', address.startsWith('Kafka') ? 'KAFKA' : 'REDIS');
  const { kafkaSaslMechanism: mechanism, kafkaSaslUsername: user } = settings;
  const value = { KAFKA_SASL_MECHANISM: mechanism, KAFKA_SASL_USERNAME: user }[setting];
  const shown = value === undefined ? 'the value' : `"${value}"`;
  // OpenSSL adds positions in its source code.
  const reason = error.message.replace(/.*:(\w+ alert [^:]*):.*/s, '$1');
  return `${setting}: ${shown} does not work with ${address} (${reason}); ${wayOut}`;
}

/**
 * A request that needs no login, and how its answer begins. The request to Kafka is ApiVersions,
 * with 82 (R) as its correlation id.
 */
const HELLOS = {
  Redis: { request: Buffer.from('PING\r\n'), answer: /^[-+]/ },
  Kafka: { request: Buffer.from('0000000a0012000000000052ffff', 'hex'), answer: /^.{7}R/s },
};
/** A try sends at most two hellos, so it takes up to a second. */
const HELLO_TIMEOUT_MS = 500;

/**
 * Explains why a server does not answer if it uses TLS and the settings do not, or the reverse;
 * undefined for another reason. Tries first as the settings say, because a port may accept both.
 */
export async function tlsRefusal(server: Server, settings: Settings): Promise<string | undefined> {
  const { redisUrl, kafkaBrokers, kafkaSsl } = settings;
  const isRedis = server === 'Redis';
  const redisAddress = isRedis ? parseRedisUrl(redisUrl) : undefined;
  const broker = new URL(`kafka://${kafkaBrokers[0] ?? ''}`);
  const place = redisAddress?.nodes[0] ?? { host: broker.hostname, port: Number(broker.port) };
  const hasTls = redisAddress?.hasTls ?? kafkaSsl;
  if (await answers(server, place, hasTls)) return undefined;
  if (!(await answers(server, place, !hasTls))) return undefined;

  const fact = hasTls ? 'speaks no TLS' : 'speaks TLS only';
  return isRedis
    ? `REDIS_URL: Redis at ${withoutPassword(redisUrl)} ${fact}; begin the URL with ` +
        `${otherScheme(redisUrl)}, or name another port`
    : `KAFKA_SSL: Kafka at ${broker.host} ${fact}, and the value is ${String(hasTls)}; set ` +
        `${String(!hasTls)}, or name another port in KAFKA_BROKERS`;
}

type Place = Readonly<{ host: string; port: number }>;

/** Whether a server answers a hello, with or without TLS. */
function answers(server: Server, place: Place, withTls: boolean): Promise<boolean> {
  if (withTls) return outcomeOf(connectTls({ ...place, rejectUnauthorized: false }), undefined);

  const { request, answer } = HELLOS[server];
  const socket = connectPlain(place);
  socket.write(request);
  return outcomeOf(socket, answer);
}

/** The scheme of the URL, changed to use TLS if it does not, or the reverse. */
function otherScheme(redisUrl: string): string {
  const [scheme = ''] = redisUrl.split('//');
  const other = scheme.startsWith('rediss') ? 'redis' : 'rediss';
  return `${scheme.replace(/^rediss?/, other)}//`;
}

/** Whether the server's answer matches `answer`; without `answer`, whether it speaks TLS. */
function outcomeOf(socket: Socket, answer: RegExp | undefined): Promise<boolean> {
  return new Promise<boolean>((resolve) => {
    socket.once('data', (bytes) => resolve(answer?.test(bytes.toString('latin1')) === true));
    socket.once('secureConnect', () => resolve(true));
    socket.on('error', ({ code = '' }: NodeJS.ErrnoException) => resolve(/_ALERT_/.test(code)));
    socket.once('close', () => resolve(false));
    socket.setTimeout(HELLO_TIMEOUT_MS, () => resolve(false));
  }).finally(() => socket.destroy());
}
