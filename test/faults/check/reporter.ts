import { definitionHash, type BoardDefinition } from '#board';
import { leaderMovements, type LeaderChange, type RankChange } from '#contracts';
import { Oracle } from '../../model/oracle.js';
import type { BoardRecord, Judgement, Outcome } from './expected.js';
import type { DeadLetterFact, PromotionFact } from './facts.js';

/** When the records are written, in us since 1970; versions are later. */
export const BEGIN = Date.parse('2026-11-20T00:00:00Z') * 1_000;

/** A live generation. */
interface Live {
  readonly generation: string;
  readonly hash: string;
  readonly oracle: Oracle;
}

/** Makes the results of each event by the live definitions, as ranklog does. */
export class Reporter {
  readonly rankChanges: RankChange[] = [];
  readonly leaderChanges: LeaderChange[] = [];
  readonly deadLetters: DeadLetterFact[] = [];
  readonly promotions: PromotionFact[] = [];
  readonly #lastReports = new Map<string, LeaderChange>();
  readonly #reported: BoardRecord[] = [];
  readonly #live = new Map<string, Live>();
  #version = BEGIN;

  /** `judgements` by the hash of the definition. */
  constructor(private readonly judgements: ReadonlyMap<string, Judgement>) {}

  /** Promotes new generations, with all reported events in them. */
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
    for (const record of this.#reported) if (promoted.has(record.event.board)) this.apply(record);
  }

  /** Loses all events that are not reported; returns when. */
  lose(): number {
    for (const [board, live] of this.#live) {
      const definition = this.judgements.get(live.hash)?.definition;
      const oracle = new Oracle(definition === undefined ? [] : [definition]);
      this.#live.set(board, { ...live, oracle });
    }
    for (const record of this.#reported) this.apply(record);
    return ++this.#version;
  }

  apply(record: BoardRecord): ReturnType<Oracle['apply']> {
    const { event } = this.#outcome(record);
    const { board } = record.event;
    return event === undefined
      ? { moved: [] }
      : this.#liveOf(board).oracle.apply(board, event, record.partition);
  }

  report(record: BoardRecord): void {
    this.#reported.push(record);
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
    for (const { view } of changes) this.#reportLeaders({ ...common, view, version });
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

  #reportLeaders(head: Omit<LeaderChange, 'since' | 'top' | 'entered' | 'left' | 'moved'>): void {
    const name = `${head.board} ${head.view}`;
    const top = this.#liveOf(head.board).oracle.leaders(head.board, head.view);
    const last = this.#lastReports.get(name);
    if (JSON.stringify(top) === JSON.stringify(last?.top ?? [])) return;
    const before = last?.top.map(({ playerId }) => playerId) ?? [];
    const change = { ...head, since: last?.version ?? null, top, ...leaderMovements(before, top) };
    this.#lastReports.set(name, change);
    this.leaderChanges.push(change);
  }
}
