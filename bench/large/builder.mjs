// @ts-check
// A board that is built again beside live ingest, and verified.
import { GenerationCatalog, GenerationStore, KeySpace, LeaseStore } from '#board-store';

/** @typedef {import('#board').BoardDefinition} BoardDefinition */
/** @typedef {import('#board-store').Stretch} Stretch */

/** @typedef {import('#board-store').Stretch['entries'][number]} Entry */

const STRETCH = 500;
const RENEW_EVERY_MS = 1_000;

/**
 * Stretches, each for one call, with an entry at each of the first `count` offsets. `end`: of the
 * log, if it goes on without entries.
 * @param {(at: number) => Entry} entryAt @param {number} count @returns {Generator<Stretch>}
 */
export function* stretchesOf(entryAt, count, end = count) {
  for (let from = 0; from < count; from += STRETCH) {
    const next = Math.min(from + STRETCH, count);
    const entries = Array.from({ length: next - from }, (_, index) => entryAt(from + index));
    yield { partition: 0, from, through: (next < count ? next : end) - 1, entries };
  }
}

/**
 * Builds a board, makes the build live, and verifies it; returns how many players and event ids
 * were compared.
 * @param {import('./calls.mjs').Calls} calls @param {Builder} builder
 */
export async function buildAndVerify(calls, builder) {
  await builder.begin();
  await calls.step('build: events', () => builder.build('build'));
  await calls.step('build: ranking', () => builder.rank());
  await calls.step('build: promotion', () => builder.promote());
  await calls.step('sweep of the previous generation', () => builder.sweep());
  await calls.step('verify: events', () => builder.build('verify'));
  const compared = await calls.step('verify: comparison', () => builder.compare());
  await builder.end();
  return compared;
}

/** A process that builds a board again and verifies it. */
export class Builder {
  /** @type {import('#board-store').Lease | undefined} */
  #lease;
  /** @type {import('#board-store').Shadow | undefined} */
  #shadow;
  #renewed = 0;

  /**
   * @param {import('ioredis').Redis} redis @param {string} prefix
   * @param {{ definition: BoardDefinition, stretches: () => Iterable<Stretch> }} source
   */
  constructor(redis, prefix, source) {
    const keys = new KeySpace(prefix);
    this.source = source;
    this.leases = new LeaseStore(redis, keys, { shards: 1 });
    this.generations = new GenerationStore(redis, keys, { shards: 1 });
    this.catalog = new GenerationCatalog(redis, keys, { shards: 1 });
  }

  async begin() {
    this.#lease = await this.leases.acquire(this.source.definition.board, 'bench');
  }

  async end() {
    await this.leases.release(this.#held().lease);
  }

  #held() {
    if (this.#lease === undefined || this.#shadow === undefined) throw new Error('nothing begun');
    return { lease: this.#lease, shadow: this.#shadow };
  }

  async #renew() {
    if (performance.now() - this.#renewed < RENEW_EVERY_MS) return;
    this.#renewed = performance.now();
    if (this.#lease !== undefined) await this.leases.renew(this.#lease);
  }

  /** @param {'build' | 'verify'} purpose */
  async build(purpose) {
    if (this.#lease === undefined) throw new Error('nothing begun');
    const lease = this.#lease;
    const shadow = { definition: this.source.definition, purpose };
    this.#shadow = await this.generations.begin(lease, shadow);
    for (const stretch of this.source.stretches()) {
      await this.#renew();
      const { status } = await this.generations.catchUp(lease, this.#shadow, [stretch]);
      if (status !== 'applied') throw new Error(`the build was refused: ${status}`);
    }
  }

  async rank() {
    const { lease, shadow } = this.#held();
    await this.generations.promote(lease, shadow, [], { graceMs: 0 }); // says that it is not ranked
    for (let step = await this.generations.rank(lease, shadow); step.next !== undefined;) {
      await this.#renew();
      step = await this.generations.rank(lease, shadow, step.next);
    }
  }

  async promote() {
    const { lease, shadow } = this.#held();
    const outcome = await this.generations.promote(lease, shadow, [], { graceMs: 0 });
    const ending = outcome.status === 'applied' ? outcome.ending : outcome.status;
    if (typeof ending !== 'object') throw new Error(`not promoted: ${ending}`);
  }

  async sweep() {
    while ((await this.catalog.sweep()) > 0);
  }

  /** Compares the shadow with the live generation; returns how many players and event ids. */
  async compare() {
    const { lease, shadow } = this.#held();
    let compared = 0;
    /** @type {import('#board-store').ComparisonCursor | undefined} */
    let cursor;
    do {
      await this.#renew();
      const outcome = await this.generations.compare(lease, shadow, [], cursor);
      if (outcome.status !== 'applied' || outcome.ending === undefined)
        throw new Error(`the comparison was refused: ${outcome.status}`);
      const { ending } = outcome;
      if (ending.differences.length > 0) throw new Error('the build differs from live ingest');
      compared += ending.compared;
      cursor = ending.next;
    } while (cursor !== undefined);
    return compared;
  }
}
