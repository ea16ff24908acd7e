import { setTimeout as delay } from 'node:timers/promises';

/**
 * Requests to the leaders of partitions, side by side: one who has nothing to say yet does not hold up what others have
 * answered. At most one is under way to each.
 */
export class LeaderRequests<Answer> {
  readonly #underWay = new Map<number, Promise<void>>();
  #answers: PromiseSettledResult<Answer>[] = [];

  constructor(
    private readonly ask: (leader: number, partitions: readonly number[]) => Promise<Answer>,
  ) {}

  /** Asks each leader that is not being asked already. */
  begin(byLeader: ReadonlyMap<number, readonly number[]>): void {
    for (const [leader, partitions] of byLeader)
      if (!this.#underWay.has(leader))
        this.#underWay.set(leader, this.#settle(leader, this.ask(leader, partitions)));
  }

  /** Nobody is being asked, and nothing is left to be taken. */
  get areAllAnswered(): boolean {
    return this.#underWay.size === 0 && this.#answers.length === 0;
  }

  /** The answers that have come since the last time; waits for one as long as there may be one, `ms` at most. */
  async take(ms: number): Promise<PromiseSettledResult<Answer>[]> {
    if (this.#answers.length === 0 && this.#underWay.size > 0) {
      const timeout = new AbortController();
      const patience = delay(ms, undefined, { signal: timeout.signal }).catch(() => undefined);
      await Promise.race([...this.#underWay.values(), patience]);
      timeout.abort();
    }
    const answers = this.#answers;
    this.#answers = [];
    return answers;
  }

  async #settle(leader: number, request: Promise<Answer>): Promise<void> {
    const [answer] = await Promise.allSettled([request]);
    this.#underWay.delete(leader);
    this.#answers.push(answer);
  }
}
