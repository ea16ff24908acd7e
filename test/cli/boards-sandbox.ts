import { writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { ScoreProducer, type ScoreEvent } from '#client';
import { TestInstance, until, type RanklogProcess } from '../support/instance.js';

/** How a command ended. */
export interface Ended {
  readonly code: number | NodeJS.Signals | null;
  readonly out: string;
  readonly err: string;
}

/** A ranklog whose boards file changes, with a producer of score events. */
export class BoardsSandbox {
  private constructor(
    readonly instance: TestInstance,
    private readonly producer: ScoreProducer,
  ) {}

  static async create(boards: string, { partitions = 2 } = {}): Promise<BoardsSandbox> {
    const instance = await TestInstance.create(boards, { partitions });
    const { kafka, name } = instance;
    const producer = new ScoreProducer({ kafka, topicPrefix: name });
    await producer.connect();
    return new BoardsSandbox(instance, producer);
  }

  /** Another boards file from now on. */
  async writeBoards(text: string): Promise<void> {
    await writeFile(this.instance.env['RANKLOG_BOARDS'] ?? '', text);
  }

  /** Sends events, and waits until all that was sent so far is published. */
  async publish(events: readonly ScoreEvent[]): Promise<void> {
    await this.send(events);
    await this.instance.run('status', '--wait', '60');
  }

  send(events: readonly ScoreEvent[]): Promise<void> {
    return this.producer.send(events);
  }

  async ranklog(...args: string[]): Promise<Ended> {
    return this.ended(this.instance.spawn(...args));
  }

  async ended(child: RanklogProcess): Promise<Ended> {
    const code = await child.ended;
    return { code, out: child.output, err: child.errors };
  }

  async json<T = unknown>(...args: string[]): Promise<T> {
    const { out, err } = await this.ranklog(...args, '--json');
    if (out === '') throw new Error(`ranklog ${args.join(' ')}: ${err}`);
    return JSON.parse(out) as T;
  }

  /** Waits until `status` tells of a running reconciliation of a board. */
  async running(board: string): Promise<void> {
    const { redis, name } = this.instance;
    const key = `${name}:2:{0}:reconciliations`;
    await until(async () => {
      const status = JSON.parse((await redis.hget(key, board)) ?? '{}') as Record<string, unknown>;
      return status['state'] === 'running' && Number(status['done']) > 0;
    }, `a reconciliation of ${board} runs`);
  }

  /** The live generation of a board. */
  async liveGeneration(board: string): Promise<string> {
    return (await this.instance.reader.liveBoard(board)).generation;
  }

  async remove(): Promise<void> {
    await this.producer.disconnect();
    await this.instance.remove();
  }
}

/** What a process of this machine is called as the holder of a lease. */
export function holderOf({ pid }: RanklogProcess): string {
  return `${hostname()}:${pid}`;
}

const FIRST_TIME = Date.parse('2026-01-01T00:00:00Z');

/** Events of so many players on a board, one second apart. */
export function eventsOf(board: string, count: number, players = 50): ScoreEvent[] {
  return Array.from({ length: count }, (_, index) => ({
    board,
    playerId: `p-${index % players}`,
    delta: String((index * 37) % 101),
    occurredAt: new Date(FIRST_TIME + index * 1_000).toISOString(),
    attributes: { region: ['eu', 'us', 'asia'][index % 3] ?? 'eu' },
  }));
}
