/** What a process can do. `start` runs one or several roles in a process. */
export const ROLES = ['ingest', 'reconciliation', 'query'] as const;
export type Role = (typeof ROLES)[number];
