import type { BoardDefinition, ResolvedEvent, ResolvedView } from '#board';
import { stateBytes } from './oracle-format.js';
import {
  hasExpired,
  type BoardMemory,
  type OracleChange,
  type OracleDeadLetterCode,
  type OracleOutcome,
  type OraclePartition,
  type OracleView,
} from './oracle-memory.js';
import { kindOf, placedPlayers, settle } from './oracle-players.js';
import { inOrder, passedBy, placingOf } from './oracle-ranks.js';
import { updatedState, type OracleState } from './oracle-update.js';

/** Judges an event in the order that docs/how-it-works.md gives under "Apply". */
export function judge(
  definition: BoardDefinition,
  memory: BoardMemory,
  event: ResolvedEvent,
  partition: number,
): OracleOutcome {
  memory.clock = Math.max(memory.clock, event.occurredAt);
  if (isDuplicate(definition, memory, event, partition)) {
    memory.duplicates += 1;
    return { moved: [] };
  }
  const views = event.views.filter(({ expiresAt }) => !hasExpired(memory, expiresAt));
  if (views.length < event.views.length) memory.expired += 1;
  if (views.length === 0)
    return event.views.length > 0 && definition.late === 'deadLetter'
      ? refused('WINDOW_EXPIRED')
      : { moved: [] };
  if (makesTooManyViews(definition, memory, views)) {
    memory.orderMattered = true;
    memory.refused += 1;
    return refused('TOO_MANY_VIEWS');
  }
  return change(definition, memory, event, views);
}

function refused(code: OracleDeadLetterCode): OracleOutcome {
  return { verdict: { kind: 'deadLetter', code }, moved: [] };
}

function isDuplicate(
  { deduplicateMs }: BoardDefinition,
  { partitions }: BoardMemory,
  { occurredAt, eventId, playerId }: ResolvedEvent,
  partition: number,
): boolean {
  if (deduplicateMs === undefined) return false;
  const unknown: OraclePartition = { clock: -Infinity, remembered: new Map() };
  const known = partitions.get(partition) ?? unknown;
  partitions.set(partition, known);
  known.clock = Math.max(known.clock, occurredAt);
  const counts = (time: number | undefined) =>
    time !== undefined && time > known.clock - deduplicateMs;
  if (eventId === undefined || !counts(occurredAt)) return false;
  const id = `${eventId}\n${playerId}`;
  if (counts(known.remembered.get(id))) return true;
  known.remembered.set(id, occurredAt);
  return false;
}

function makesTooManyViews(
  { maxViews }: BoardDefinition,
  memory: BoardMemory,
  views: readonly ResolvedView[],
): boolean {
  const existing = [...memory.views.values()].filter(
    ({ expiresAt }) => !hasExpired(memory, expiresAt),
  );
  const made = views.filter(({ view }) => !memory.views.has(view));
  return made.length > 0 && existing.length + made.length > maxViews;
}

function change(
  definition: BoardDefinition,
  memory: BoardMemory,
  event: ResolvedEvent,
  views: readonly ResolvedView[],
): OracleOutcome {
  if (kindOf(memory, event.playerId) === 'erased')
    return passErased(definition, memory, event, views);
  const updates: [ResolvedView, OracleState][] = [];
  for (const view of views) {
    const before = memory.views.get(view.view)?.players.get(event.playerId);
    const after = updatedState(definition, before, event);
    if (after === 'outOfRange') {
      memory.overflowed = true;
      // In another order, a view that expires might have been left out, and the other views
      // changed.
      memory.orderMattered ||= event.views.some(({ expiresAt }) => expiresAt !== null);
      return { ...refused('SUM_OUT_OF_RANGE'), moved: makeViews(memory, views) };
    }
    if (before === undefined || !stateBytes(before).equals(stateBytes(after)))
      updates.push([view, after]);
  }
  const changes = updates.flatMap(([view, state]) => {
    const change = move(definition, memory, { view, state, playerId: event.playerId });
    return change === undefined ? [] : [change];
  });
  const moved = updates.map(([{ view }]) => view);
  return changes.length === 0 ? { moved } : { verdict: { kind: 'rankChange', changes }, moved };
}

interface Move {
  readonly view: ResolvedView;
  readonly playerId: string;
  readonly state: OracleState;
}

/** Which views exist follows from the events, not from sums and erasures. Returns those it made. */
function makeViews(memory: BoardMemory, views: readonly ResolvedView[]): string[] {
  const made = views.filter(({ view }) => !memory.views.has(view));
  for (const view of made) viewOf(memory, view);
  return made.map(({ view }) => view);
}

/** An event of an erased player leaves no state. */
function passErased(
  definition: BoardDefinition,
  memory: BoardMemory,
  { playerId }: ResolvedEvent,
  views: readonly ResolvedView[],
): OracleOutcome {
  const made = makeViews(memory, views);
  const { moved, ...outcome } = settle(
    definition,
    memory,
    playerId,
    views.map(({ view }) => view),
  );
  return { ...outcome, moved: [...made, ...moved] };
}

function viewOf({ views }: BoardMemory, { view, expiresAt, published }: ResolvedView): OracleView {
  const known = views.get(view) ?? { players: new Map(), placed: new Set() };
  const found = { expiresAt, published, players: known.players, placed: known.placed };
  views.set(view, found);
  return found;
}

/**
 * Gives the player the state; returns the published change. A banned player is in no ranking
 * afterwards.
 */
function move(
  definition: BoardDefinition,
  memory: BoardMemory,
  { view: resolved, playerId, state }: Move,
): OracleChange | undefined {
  const { view, published } = resolved;
  const found = viewOf(memory, resolved);
  const orderBefore = published ? inOrder(definition, placedPlayers(found)) : [];
  found.players.set(playerId, state);
  const isBanned = kindOf(memory, playerId) === 'banned';
  const wasPlaced = found.placed.has(playerId);
  if (isBanned) found.placed.delete(playerId);
  else found.placed.add(playerId);
  if (!published || (isBanned && !wasPlaced)) return undefined;
  const orderAfter = inOrder(definition, placedPlayers(found));
  const { rankChanges, overtook } = definition.publish;
  const before = placingOf(definition, orderBefore, playerId);
  const after = placingOf(definition, orderAfter, playerId);
  const inPlace =
    before?.rank === after?.rank && before?.competitionRank === after?.competitionRank;
  if (rankChanges === 'none' || (rankChanges === 'moved' && inPlace)) return undefined;
  if (after === null) return { view, before, after };
  const passed = passedBy(playerId, orderBefore, orderAfter).slice(0, overtook);
  return { view, before, after, ...(passed.length > 0 && { overtook: passed }) };
}
