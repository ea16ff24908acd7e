/** Why a board can't take an event that is well-formed in itself. */
export interface EventRejection {
  readonly code: EventRejectionCode;
  readonly detail: string;
}
export type EventRejectionCode =
  | 'UNKNOWN_COLUMN'
  | 'MISSING_COLUMN'
  | 'DELTA_NEEDS_ONE_COLUMN'
  | 'MISSING_DIMENSION'
  | 'INVALID_NUMBER'
  | 'TOO_MANY_DECIMALS'
  | 'OUT_OF_RANGE'
  | 'OUT_OF_BOUNDS'
  | 'TOO_MANY_VIEWS_OF_AN_EVENT'
  | 'INVALID_TIME'
  | 'TOO_FAR_AHEAD';

/** Carries a rejection out of the helpers of resolveEvent, which catches it. */
export class Rejected extends Error {
  readonly rejection: EventRejection;
  constructor(code: EventRejectionCode, detail: string) {
    super(detail);
    this.rejection = { code, detail };
  }
}
