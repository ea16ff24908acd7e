/**
 * What a partition waits for, with nothing lost: that others, which Redis has lost events of, reach their heal targets; that
 * people put a watermark right that was moved by hand.
 */
export type WaitReason = 'healing' | 'watermarkMoved';

/** The partitions of this process that wait now. */
export type Waiting = ReadonlyMap<number, WaitReason>;

/** As labels of metrics and JSON have it. */
export const WAIT_NAMES = { healing: 'healing', watermarkMoved: 'watermark_moved' } as const;
