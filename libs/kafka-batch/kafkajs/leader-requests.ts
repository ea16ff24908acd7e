import { setTimeout as delay } from 'node:timers/promises';

type Answers<Answer> = PromiseSettledResult<Answer>[];

/** Concurrent requests, at most one to each leader. A slow leader does not delay other answers. */
export class LeaderRequests<Answer> {
  readonly #pending = new Map<number, Promise<void>>();
  #answers: Answers<Answer> = [];

  isPending(leader: number): boolean {
    return this.#pending.has(leader);
  }

  /** Adds a request that was sent to a leader without a pending one. */
  add(leader: number, request: Promise<Answer>): void {
    this.#pending.set(leader, this.#settle(leader, request));
  }

  /** Whether no request is pending and all answers were taken. */
  get isIdle(): boolean {
    return this.#pending.size === 0 && this.#answers.length === 0;
  }

  /** Takes the answers that have arrived; if none has, waits up to `ms` for a pending one. */
  async take(ms: number): Promise<Answers<Answer>> {
    if (this.#answers.length === 0 && this.#pending.size > 0)
      await Promise.race([...this.#pending.values(), delay(ms, undefined, { ref: false })]);
    const answers = this.#answers;
    this.#answers = [];
    return answers;
  }

  async #settle(leader: number, request: Promise<Answer>): Promise<void> {
    const [answer] = await Promise.allSettled([request]);
    this.#pending.delete(leader);
    this.#answers.push(answer);
  }
}
