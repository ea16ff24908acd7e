import { BoardsFileError, parseBoardsFile, problemText, type BoardsFileProblem } from '#board';

/** The problems of a boards file; none if it is valid. */
export function fileProblems(text: string): readonly BoardsFileProblem[] {
  try {
    parseBoardsFile(text, 'b.yaml');
    return [];
  } catch (error) {
    if (error instanceof BoardsFileError) return error.problems;
    throw error;
  }
}

export function problemsOf(text: string): string[] {
  return fileProblems(text).map(problemText);
}
