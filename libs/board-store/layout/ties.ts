/** The sign of the reach time in the order of a view: lua/includes/member.lua. */
export const TIE_SIGNS = { earliest: 1, latest: -1, none: 0 } as const;

/** How many bytes the reach time takes in a member. */
export const REACH_TIME_WIDTH = { earliest: 7, latest: 7, none: 0 } as const;
