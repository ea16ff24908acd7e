/**
 * What an event takes of something: docs/performance.md has the same table, and a test compares
 * them.
 */
export interface Cost {
  /** On one board with one view, in large calls. */
  readonly event: number;
  /** For each further view. */
  readonly furtherView: number;
  /** For each board with events in a call: a call has few events of each of many boards. */
  readonly boardInCall: number;
  /** For each further view of these boards. */
  readonly viewInCall: number;
  readonly call: number;
  /**
   * For each byte of ids of players beyond MEASURED_ID_BYTES; in the append-only file, for each
   * view.
   */
  readonly idByte: number;
}

/** The length of the ids of players in the measurements. */
export const MEASURED_ID_BYTES = 12;

/**
 * Measured by `npm run bench:scale`, the last number of each by `npm run bench:scale -- --id-bytes
 * 36`. CPU is in µs, on 2 cores of an Intel Xeon; the others are bytes, and do not depend on the
 * machine.
 */
export const COSTS = {
  'CPU of processes': cost([33, 5, 80, 15, 100, 0]),
  'CPU of Redis': cost([22, 16, 90, 50, 145, 0]),
  'to Redis': cost([46, 0, 870, 210, 720, 1]),
  'from Redis': cost([44, 43, 110, 115, 50, 0]),
  'append-only file': cost([141, 141, 620, 515, 335, 1.7]),
  'event in Kafka': cost([209, 0, 0, 0, 0, 2]),
  'result in Kafka': cost([509, 114, 0, 0, 0, 2]),
} as const satisfies Record<string, Cost>;

/** Bytes of Redis per player and view, and for each byte of a longer id. `npm run bench:scale` */
export const PLAYER = { bytes: 228, idByte: 3 };

/**
 * How many times as much CPU Redis takes with more players and views. `npm run bench -- --growth`
 */
export const SLOWDOWN = { atMillion: 1.18, atTenMillion: 1.85 };

/** RSS of a process. `npm run bench:soak` */
export const PROCESS_BYTES = 260e6;

function cost(values: [number, number, number, number, number, number]): Cost {
  const [event, furtherView, boardInCall, viewInCall, call, idByte] = values;
  return { event, furtherView, boardInCall, viewInCall, call, idByte };
}
