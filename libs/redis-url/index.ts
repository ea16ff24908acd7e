/**
 * The parts of REDIS_URL. For a single server, they lack login and database: ioredis reads these
 * from the URL itself.
 */
export interface RedisAddress {
  readonly kind: 'server' | 'cluster' | 'sentinel';
  readonly hasTls: boolean;
  /** The server, some nodes of the cluster, or some of the sentinels. */
  readonly nodes: readonly { readonly host: string; readonly port: number }[];
  readonly username?: string;
  readonly password?: string;
  /** The name of the primary for the sentinels. */
  readonly primary?: string;
}

export const REDIS_URL_FORMS =
  'redis://host:port, redis+cluster://host:port,host:port or ' +
  'redis+sentinel://host:port,host:port/NAME, with rediss for TLS';

const DEFAULT_PORTS = { server: 6_379, cluster: 6_379, sentinel: 26_379 };

const LIST = /^redis(s?)\+(cluster|sentinel):\/\/(?:([^@/]*)@)?([^@/?\s]+)(?:\/([^/?\s]*))?$/;
const NODE = /^(\[[^\]]+\]|[^:[\]]+)(?::(\d{1,5}))?$/;

/** Undefined for a text that is not a URL of Redis. */
export function parseRedisUrl(text: string): RedisAddress | undefined {
  const [, tls, kind, login, list = '', primary] = LIST.exec(text) ?? [];
  if (kind === undefined) return serverAddress(text);

  const form = kind as 'cluster' | 'sentinel';
  const needsPrimary = form === 'sentinel';
  const hasPrimary = primary !== undefined && primary !== '';
  if (needsPrimary !== hasPrimary) return undefined;
  const nodes = list.split(',').map((node) => nodeOf(node, DEFAULT_PORTS[form]));
  if (!nodes.every((node) => node !== undefined)) return undefined;
  const credentials = loginOf(login);
  if (credentials === undefined) return undefined;
  return { kind: form, hasTls: tls === 's', nodes, ...credentials, ...(primary && { primary }) };
}

function serverAddress(text: string): RedisAddress | undefined {
  if (!/^rediss?:\/\/\S+$/.test(text) || !URL.canParse(text)) return undefined;
  const { protocol, hostname, port } = new URL(text);
  const node = { host: withoutBrackets(hostname), port: Number(port || DEFAULT_PORTS.server) };
  return { kind: 'server', hasTls: protocol === 'rediss:', nodes: [node] };
}

function nodeOf(text: string, defaultPort: number) {
  const [, host, port = defaultPort] = NODE.exec(text) ?? [];
  if (host === undefined || Number(port) < 1 || Number(port) > 65_535) return undefined;
  return { host: withoutBrackets(host), port: Number(port) };
}

/** The host as sockets take it: a URL writes an IPv6 address in brackets. */
function withoutBrackets(host: string): string {
  return host.replace(/^\[|\]$/g, '');
}

/** `USER:PASSWORD`, both percent-encoded. Undefined if they are not. */
function loginOf(text: string | undefined) {
  if (text === undefined) return {};
  try {
    const username = decodeURIComponent(text.replace(/:.*/, ''));
    const password = decodeURIComponent(text.replace(/^[^:]*:?/, ''));
    return { ...(username && { username }), ...(password && { password }) };
  } catch {
    return undefined;
  }
}

/** A URL as messages show it. */
export function withoutPassword(url: string): string {
  return url.replace(/\/\/.*@/, '//***@').replace(/\?.*/s, '?***');
}
