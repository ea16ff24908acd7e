import assert from 'node:assert';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { BOARDS, EVENTS, knownValues } from '../openapi/known.js';
import { OPERATIONS } from '../openapi/document.js';
import { plannedArbitrary } from '../openapi/requests.js';
import { TestInstance, type RanklogProcess } from '../support/instance.js';
import { editedArbitrary, editedBytesArbitrary, readable } from './edits.js';
import { checkInputs, FUZZ_TIMEOUT } from './inputs.js';

const ANSWER_MS = 30_000;
/** Changes are of so many valid requests to each operation. */
const SAMPLES = 30;

let instance: TestInstance;
let service: RanklogProcess;
let port: number;
let inputs: fc.Arbitrary<Buffer>;

beforeAll(async () => {
  instance = await TestInstance.create(BOARDS, { env: { RANKLOG_QUERY_WRITES: 'true' } });
  // Redis refuses this user the keys of others.
  const { name, redis, env } = instance;
  await redis.acl('SETUSER', name, 'on', `>${name}`, `~${name}:*`, '+@all');
  env['REDIS_URL'] = env['REDIS_URL']?.replace('//', `//${name}:${name}@`);
  service = await instance.start();
  port = Number(new URL(service.url).port);
  await instance.produce(EVENTS);
  await instance.published(EVENTS.length);
  const known = await knownValues(instance.reader);
  const perOperation = OPERATIONS.map((operation) => {
    const samples = fc.sample(plannedArbitrary(operation, known), SAMPLES);
    const heads = samples.map(({ method, url, headers }) => headText(method, url, headers));
    const bodies = samples.map(({ body }) => body?.toString() ?? '');
    return fc.tuple(editedArbitrary(heads), editedBytesArbitrary(bodies));
  });
  inputs = fc.oneof(...perOperation).map(([head, body]) => requestOf(head, body));
});
afterAll(async () => {
  await instance.redis.acl('DELUSER', instance.name);
  await instance.remove();
});

function headText(method: string, url: string, headers: Readonly<Record<string, string>>): string {
  const lines = Object.entries({ host: 'localhost', ...headers });
  return [`${method} ${url} HTTP/1.1`, ...lines.map((pair) => pair.join(': '))].join('\r\n');
}

/** A request that ends the connection, so that its answer has an end, too. */
function requestOf(head: string, body: Buffer): Buffer {
  const framing = `\r\nconnection: close\r\ncontent-length: ${body.length}\r\n\r\n`;
  return readable(Buffer.concat([Buffer.from(head + framing), body]));
}

/**
 * Everything that the service answers before it closes the connection; of a stream of events, the
 * beginning.
 */
async function answersTo(request: Buffer): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    const socket = connect(port, '127.0.0.1');
    socket.setTimeout(ANSWER_MS, () => socket.destroy(new Error('no answer in time')));
    socket.on('data', (data) => {
      text += data.toString('latin1');
      if (text.includes('content-type: text/event-stream')) socket.destroy();
    });
    // The service may close the connection of a malformed request before it has read all of it.
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ECONNRESET' && error.code !== 'EPIPE') reject(error);
    });
    socket.on('close', () => {
      resolve(text);
    });
    socket.write(request);
  });
}

describe('any bytes', () => {
  it(
    'are a request that the service answers, without an internal error',
    async () => {
      const property = fc.asyncProperty(inputs, async (request) => {
        for (const answer of (await answersTo(request)).split(/^(?=HTTP\/1\.1 )/m)) {
          const [, status = '200'] = /^HTTP\/1\.1 (\d{3})/.exec(answer) ?? [];
          assert(Number(status) < 500 || status === '503', answer);
          const isProblem = /^content-type: application\/problem\+json/im.test(answer);
          assert(Number(status) < 400 || isProblem, answer);
        }
      });
      await checkInputs(property, { usual: 500, share: 1 });
      const errors = service.errors.split('\n').filter((line) => line.includes('"level":50'));
      expect([service.exitCode, errors]).toEqual([null, []]);
    },
    FUZZ_TIMEOUT,
  );
});
