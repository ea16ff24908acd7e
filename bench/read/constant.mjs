// @ts-check
// The peer of bench/read/http.mjs: answers every request with the text in BODY, and prints its
// address.
import { fastify } from 'fastify';

const server = fastify();
const body = process.env['BODY'] ?? '';
server.get('/', (_, reply) =>
  reply.header('content-type', 'application/json; charset=utf-8').send(body),
);
console.log(await server.listen({ host: '127.0.0.1', port: 0 }));
process.on('SIGTERM', () => void server.close());
