import { definitionHash } from '#board';
import type { RankChange } from '#contracts';
import { Oracle } from '../../model/oracle.js';
import { causeOf } from '../../support/results.js';
import type { RunFacts } from './facts.js';
import { judge, readLog, type BoardRecord, type Judgement } from './judgement.js';
import { placedRecords, type Judged, type PlacedEvent } from './placed-events.js';
import { Reigns } from './reigns.js';

/** The events of one board, and the definitions that it has had. */
export interface BoardHistory {
  readonly board: string;
  readonly reigns: Reigns;
  /** What each definition that was live makes of the log, by its hash. */
  readonly judgements: ReadonlyMap<string, Judgement>;
  /** In the order in which they were applied. */
  readonly events: readonly PlacedEvent[];
}

/** What has to become of a score topic. Records are named `topic/partition/offset`. */
export interface Expected {
  /** After all events, by the definitions that are live at the end. */
  readonly oracle: Oracle;
  readonly boards: readonly BoardHistory[];
  /** Events that changed their player in a view, by the definition that they were applied by: each has one rank change. */
  readonly applied: ReadonlySet<string>;
  /** Bad records, with the reasons that may be told of each. */
  readonly deadLetters: ReadonlyMap<string, ReadonlySet<string>>;
}

/** Judges the whole log by every definition that was live, and each event by the one that it was applied by. */
export function expectedOf(topic: string, facts: RunFacts): Expected {
  const names = new Set(facts.known.map(({ board }) => board));
  const { events, bad } = readLog(topic, names, facts.log);
  const boards = [...names].map((board) => historyOf(board, facts, events));
  const all = boards.flatMap((history) => history.events);
  const refused = all.flatMap(({ id, outcome }) =>
    outcome.reasons === undefined ? [] : [[id, outcome.reasons] as const],
  );
  return {
    oracle: finalOracle(facts, boards),
    boards,
    applied: new Set(all.flatMap(({ id, outcome }) => (outcome.moved.length > 0 ? [id] : []))),
    deadLetters: new Map([
      ...bad.map(({ id, code }) => [id, new Set([code])] as const),
      ...refused,
    ]),
  };
}

function historyOf(board: string, facts: RunFacts, all: readonly BoardRecord[]): BoardHistory {
  const reigns = Reigns.of(board, facts);
  const live = new Set(facts.definitions.map(definitionHash));
  const own = facts.known.filter((definition) => {
    const hash = definitionHash(definition);
    return definition.board === board && (live.has(hash) || reigns.has(hash));
  });
  const judgements = new Map(
    own.map((definition) => [definitionHash(definition), judge(definition, all)]),
  );
  const told = toldOf(board, facts.rankChanges);
  const refused = new Map(facts.deadLetters.map(({ id, code }) => [id, code] as const));
  const judged: Judged = { reigns, judgements, told, refused };
  const records = all.filter(({ event }) => event.board === board);
  return { board, reigns, judgements, events: placedRecords(records, judged) };
}

/** By what they stem from; the first, where one is there twice. */
function toldOf(board: string, changes: readonly RankChange[]): Map<string, RankChange> {
  const own = changes.filter((change) => change.board === board);
  return new Map(own.toReversed().map((change) => [causeOf(change), change]));
}

/** Of the memories of those who judged. */
function finalOracle({ definitions }: RunFacts, boards: readonly BoardHistory[]): Oracle {
  const memories = definitions.flatMap((definition) => {
    const history = boards.find(({ board }) => board === definition.board);
    const judgement = history?.judgements.get(definitionHash(definition));
    return judgement
      ? [[definition.board, judgement.oracle.memory(definition.board)] as const]
      : [];
  });
  return new Oracle(definitions, new Map(memories));
}
