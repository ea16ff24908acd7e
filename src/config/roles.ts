/** What a process does; one or several. */
export const ROLES = ['ingest', 'reconciliation'] as const;
export type Role = (typeof ROLES)[number];
