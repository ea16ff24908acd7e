import { ValidateBy } from 'class-validator';
import { MAX_LEVELS, nestsTooDeeply } from '../json-object.js';
import type { ScoreEvent } from '../score-event.js';
import { ATTRIBUTES, DELTA, DELTAS, ID, isDeltas, TIME, type AttributeValue } from '../values.js';
import { Field, isAbsent, OptionalField } from './fields.js';

/** Stands for the board of an event that nests too deeply. */
const TOO_DEEP = Symbol('too deep');

/**
 * The board of an event. class-validator sees only the fields of the DTO, so the transformation of
 * the board looks at the whole event, and this refuses deep nesting in any field.
 */
function Board(): PropertyDecorator {
  const problem = (board: unknown) =>
    board === TOO_DEEP
      ? ` is in an event with more than ${MAX_LEVELS} levels of nesting`
      : ID.problem(board);
  return Field({ problem }, ({ obj }) => {
    const event = obj as ScoreEvent;
    return nestsTooDeeply(event, MAX_LEVELS) ? TOO_DEEP : event.board;
  });
}

/** Refuses an event with both, and one with neither. */
function DeltaOrDeltas(): PropertyDecorator {
  return ValidateBy({
    name: 'deltaOrDeltas',
    validator: {
      validate: (_, args) => {
        const { delta, deltas } = args?.object as ScoreEventDto;
        return isAbsent(delta) !== isAbsent(deltas);
      },
      defaultMessage: () => 'the event must have either delta or deltas',
    },
  });
}

/**
 * Also refuses a number such as 1e21, which JSON.stringify writes with an exponent: ranklog refuses
 * exponents.
 */
const WRITTEN_DELTA = {
  ...DELTA,
  problem: (delta: unknown) => DELTA.problem(delta) ?? DELTA.problem(written(delta)),
};
const WRITTEN_DELTAS = {
  ...DELTAS,
  problem: (deltas: unknown) => {
    if (!isDeltas(deltas)) return DELTAS.problem(deltas);
    const texts = Object.entries(deltas).map(([name, delta]) => [name, written(delta)]);
    return DELTAS.problem(Object.fromEntries(texts));
  },
};

function written(value: unknown): unknown {
  return typeof value === 'number' ? String(value) : value;
}

/**
 * A score event, for Nest's ValidationPipe, or for class-transformer and class-validator. It
 * accepts what ranklog accepts, with two differences. JSON.parse has changed some numbers: it turns
 * 1e3 into 1000, rounds long ones, and gives 1e21 for a 1 with 21 zeros. And ValidationPipe removes
 * the names `__proto__`, `constructor` and `prototype` from all objects before it creates a DTO.
 * JSON with thousands of levels is a RangeError of class-transformer or Nest.
 */
export class ScoreEventDto implements ScoreEvent {
  @Board()
  board: string;

  @Field(ID)
  playerId: string;

  @OptionalField(WRITTEN_DELTA)
  @DeltaOrDeltas()
  delta?: string | number;

  @OptionalField(WRITTEN_DELTAS)
  deltas?: Record<string, string | number>;

  @OptionalField(TIME)
  occurredAt?: string;

  @OptionalField(ID)
  eventId?: string;

  @OptionalField(ATTRIBUTES)
  attributes?: Readonly<Record<string, AttributeValue>>;
}
