export type {
  AroundRequest,
  CountRequest,
  Histogram,
  HistogramRequest,
  Neighbour,
  PageRequest,
  PlayerRequest,
  PlayerStanding,
  RankOfScore,
  RankOrShare,
  ScoreRange,
  SearchPage,
  SearchRequest,
  SelectedStandings,
  Standing,
  Standings,
  ViewReads,
  ViewSelection,
} from '#board-store';
export { RanklogError } from '#errors';
export * from './http-board-reader.js';
