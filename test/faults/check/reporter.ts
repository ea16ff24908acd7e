import { definitionHash, type BoardDefinition } from '#board';
import { leaderMovements, type LeaderChange, type RankChange } from '#contracts';
import { Oracle } from '../../model/oracle.js';
import type { DeadLetterFact, PromotionFact } from './facts.js';
import type { BoardRecord, Judgement, Outcome } from './judgement.js';

/** Versions are later than this many us since 1970, when the records are written. */
export const BEGIN = Date.parse('2026-11-20T00:00:00Z') * 1_000;

/** A live generation. */
interface Live {
  readonly generation: string;
  readonly hash: string;
  readonly oracle: Oracle;
}

/** Tells what each event changed, as ranklog does, by the definitions that are live. */
export class Reporter {
  readonly rankChanges: RankChange[] = [];
  readonly leaderChanges: LeaderChange[] = [];
  readonly deadLetters: DeadLetterFact[] = [];
  readonly promotions: PromotionFact[] = [];
  readonly #reports = new Map<string, LeaderChange>();
  readonly #told: BoardRecord[] = [];
  readonly #live = new Map<string, Live>();
  #version = BEGIN;

  /** By the hash of the definition. */
  constructor(private readonly judgements: ReadonlyMap<string, Judgement>) {}

  /** New generations go live, with all that was told in them. */
  promote(definitions: readonly BoardDefinition[]): void {
    const since = ++this.#version;
    for (const definition of definitions) {
      const { board } = definition;
      const hash = definitionHash(definition);
      const generation = `${since}-${hash}`;
      this.promotions.push({ board, generation, since });
      this.#live.set(board, { generation, hash, oracle: new Oracle([definition]) });
    }
    const promoted = new Set(definitions.map(({ board }) => board));
    for (const record of this.#told) if (promoted.has(record.event.board)) this.apply(record);
  }

  /** The boards are again as what was told makes them; answers when. */
  lose(): number {
    for (const [board, live] of this.#live) {
      const definition = this.judgements.get(live.hash)?.definition;
      const oracle = new Oracle(definition === undefined ? [] : [definition]);
      this.#live.set(board, { ...live, oracle });
    }
    for (const record of this.#told) this.apply(record);
    return ++this.#version;
  }

  apply(record: BoardRecord): ReturnType<Oracle['apply']> {
    const { event } = this.#outcome(record);
    const { board } = record.event;
    return event === undefined
      ? { moved: [] }
      : this.#liveOf(board).oracle.apply(board, event, record.partition);
  }

  tell(record: BoardRecord): void {
    this.#told.push(record);
    const { id, partition, offset } = record;
    const { reasons, event } = this.#outcome(record);
    if (reasons !== undefined) this.deadLetters.push({ id, code: [...reasons][0] ?? '' });
    const { verdict } = this.apply(record);
    if (verdict?.kind !== 'rankChange' || event === undefined) return;
    const { board } = record.event;
    const { generation } = this.#liveOf(board);
    const version = ++this.#version;
    const source = { topic: id.split('/')[0] ?? '', partition, offset };
    const occurredAt = new Date(event.occurredAt).toISOString();
    const common = { board, generation, source, occurredAt };
    const changes = verdict.changes.map((change) => ({ ...change, version }));
    this.rankChanges.push({ ...common, playerId: event.playerId, changes });
    for (const { view } of changes) this.#tellLeaders({ ...common, view, version });
  }

  #outcome({ id, event: { board } }: BoardRecord): Outcome {
    const outcomes = this.judgements.get(this.#liveOf(board).hash)?.outcomes;
    return outcomes?.get(id) ?? { moved: [] };
  }

  #liveOf(board: string): Live {
    const live = this.#live.get(board);
    if (live === undefined) throw new Error(`board ${board} is not live`);
    return live;
  }

  #tellLeaders(head: Omit<LeaderChange, 'since' | 'top' | 'entered' | 'left' | 'moved'>): void {
    const name = `${head.board} ${head.view}`;
    const top = this.#liveOf(head.board).oracle.leaders(head.board, head.view);
    const last = this.#reports.get(name);
    if (JSON.stringify(top) === JSON.stringify(last?.top ?? [])) return;
    const before = last?.top.map(({ playerId }) => playerId) ?? [];
    const change = { ...head, since: last?.version ?? null, top, ...leaderMovements(before, top) };
    this.#reports.set(name, change);
    this.leaderChanges.push(change);
  }
}
