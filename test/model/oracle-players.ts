import type { BoardDefinition } from '#board';
import {
  hasExpired,
  type BoardMemory,
  type OracleChange,
  type OracleOutcome,
  type OracleRecord,
} from './oracle-memory.js';
import { inOrder, placingOf, type Players } from './oracle-ranks.js';

export function kindOf({ register }: BoardMemory, playerId: string): OracleRecord['kind'] {
  return register.get(playerId)?.kind ?? 'unbanned';
}

/**
 * Puts a record into the register if it counts before the one that is there. Returns whether the
 * kind changes.
 */
export function join(memory: BoardMemory, record: OracleRecord): boolean {
  const before = memory.register.get(record.playerId);
  if (before !== undefined && !countsBefore(record, before)) return false;
  const changes = kindOf(memory, record.playerId) !== record.kind;
  memory.register.set(record.playerId, record);
  return changes;
}

function countsBefore(one: OracleRecord, other: OracleRecord): boolean {
  const erases = Number(one.kind === 'erased') - Number(other.kind === 'erased');
  const later =
    one.time - other.time || one.partition - other.partition || one.offset - other.offset;
  return (erases || later) > 0;
}

/**
 * Makes some views fit the register entry of a player. Changes of views that have expired are not
 * reported.
 */
export function settle(
  definition: BoardDefinition,
  memory: BoardMemory,
  playerId: string,
  names: Iterable<string>,
): OracleOutcome {
  const kind = kindOf(memory, playerId);
  const changes: OracleChange[] = [];
  const moved: string[] = [];
  for (const name of names) {
    const view = memory.views.get(name);
    if (view?.players.has(playerId) !== true) continue;
    const before = place(definition, view, playerId);
    const isIn = kind === 'unbanned';
    const isReported = view.placed.has(playerId) !== isIn && !hasExpired(memory, view.expiresAt);
    if (isReported) moved.push(name);
    if (isIn) view.placed.add(playerId);
    else view.placed.delete(playerId);
    const after = place(definition, view, playerId);
    if (kind === 'erased') view.players.delete(playerId);
    const isPublished = view.published && definition.publish.rankChanges !== 'none';
    if (isReported && isPublished) changes.push({ view: name, before, after });
  }
  if (changes.length === 0) return { moved };
  return { verdict: { kind: 'rankChange', changes }, moved };
}

interface Placed {
  readonly players: Players;
  readonly placed: ReadonlySet<string>;
}

function place(definition: BoardDefinition, view: Placed, playerId: string) {
  return placingOf(definition, inOrder(definition, placedPlayers(view)), playerId);
}

/** The players of a view who are in its ranking. */
export function placedPlayers({ players, placed }: Placed): Players {
  return new Map([...players].filter(([playerId]) => placed.has(playerId)));
}
