import type {
  CatchUpOutcome, CompareResult, CompareStep, Difference, GenerationOverview, Lease, LiveBoard, ReconciliationStatus, Shadow, ShadowPurpose, Starts, Stretch,
} from '#board-store';
import type { BoardDefinition } from '#board';
export interface LeaseStore {
  acquire(board: string, holder: string): Promise<Lease>;
  renew(lease: Lease): Promise<void>;
  release(lease: Lease): Promise<void>;
  tell(lease: Lease, status: ReconciliationStatus): Promise<void>;
  statuses(): Promise<ReconciliationStatus[]>;
}
export interface GenerationStore {
  shadow(board: string): Promise<Shadow | undefined>;
  shadowWatermarks(shadow: Shadow): Promise<Map<number, number>>;
  liveWatermarks(board: string): Promise<Map<number, number>>;
  begin(lease: Lease, wish: { definition: BoardDefinition; purpose: ShadowPurpose; starts?: Starts; ends?: Starts; asOf?: number }): Promise<Shadow>;
  bringBack(lease: Lease): Promise<Shadow>;
  abandon(lease: Lease, shadow: Shadow): Promise<void>;
  catchUp(lease: Lease, shadow: Shadow, stretches: readonly Stretch[]): Promise<CatchUpOutcome<never>>;
  flip(lease: Lease, shadow: Shadow, stretches: readonly Stretch[], options: { graceMs: number }): Promise<CatchUpOutcome<{ since: number; previous?: string }>>;
  compare(lease: Lease, shadow: Shadow, stretches: readonly Stretch[], step: CompareStep): Promise<CatchUpOutcome<CompareResult>>;
  compareViews(lease: Lease, shadow: Shadow, stretches: readonly Stretch[]): Promise<CatchUpOutcome<{ views: string[]; differences: Difference[] }>>;
  keep(lease: Lease, shadow: Shadow): Promise<void>;
  generations(): Promise<GenerationOverview[]>;
  remove(lease: Lease, board: string): Promise<void>;
  removeSnapshot(generation: string): Promise<boolean>;
  sweep(): Promise<number>;
  sweepShadow(lease: Lease, shadow: Shadow): Promise<number>;
}
export class LeaseLostError extends Error { constructor(readonly board: string) { super(board); } }
export type { LiveBoard };
