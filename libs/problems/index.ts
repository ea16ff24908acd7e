export { PROBLEMS, type ProblemCode } from './problem-codes.js';
export * from './problems.js';
