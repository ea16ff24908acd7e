import { subscribe } from 'node:diagnostics_channel';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance } from 'fastify';
import type { Consumer } from 'kafkajs';
import type { RedisClient } from '#board-store';
import { toError } from '#errors';
import { KAFKA_ERRORS } from '#kafka-batch';
import { KafkaBatchServer } from '#kafka-batch/nest';
import { Metrics } from '../infra/metrics.js';
import { RedisClients, type SendCommand } from '../infra/redis.js';

/** Counts answers over HTTP, errors of Kafka and Redis, and joins of the group. */
@Injectable()
export class EventMetrics implements OnModuleInit {
  constructor(
    private readonly metrics: Metrics,
    private readonly host: HttpAdapterHost,
    private readonly clients: RedisClients,
    private readonly transport: KafkaBatchServer,
  ) {}

  onModuleInit(): void {
    const { counters, histograms } = this.metrics;
    const server = this.host.httpAdapter.getInstance<FastifyInstance>();
    server.addHook('onResponse', ({ method, routeOptions }, { statusCode, elapsedTime }, done) => {
      const labels = { method, route: routeOptions.url ?? '', code: statusCode };
      histograms.ranklog_http_request_duration_seconds.observe(labels, elapsedTime / 1_000);
      done();
    });

    subscribe(KAFKA_ERRORS, (name) => counters.ranklog_kafka_errors_total.inc(name as object));
    const consumer = this.transport.unwrap<Consumer>();
    consumer.on(consumer.events.GROUP_JOIN, () => counters.ranklog_rebalances_total.inc());

    for (const redis of this.clients.all) this.#countErrors(redis);
  }

  /**
   * Wraps `sendCommand`, as ioredis reports the error of a command to its caller only. The tracing
   * channel of ioredis reports it too, but converts all arguments to text, which costs time.
   */
  #countErrors(redis: RedisClient): void {
    const send = redis.sendCommand.bind(redis) as SendCommand;
    const sendCounted: SendCommand = (command, ...rest) => {
      command.promise.catch((failure: unknown) => {
        const { name, message } = toError(failure);
        const error = name === 'ReplyError' ? message.split(' ', 1)[0] : 'connection';
        this.metrics.counters.ranklog_redis_errors_total.inc({ error });
      });
      return send(command, ...rest);
    };
    redis.sendCommand = sendCounted;
  }
}
