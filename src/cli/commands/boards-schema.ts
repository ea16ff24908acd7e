import { BOARDS_FILE_SCHEMA } from '#board';
import { EXIT } from '../exit-codes.js';
import { print } from '../output.js';

/** `ranklog boards schema`: what editors complete boards files by. */
export function boardsSchema(): Promise<number> {
  print(BOARDS_FILE_SCHEMA, { json: true }, () => '');
  return Promise.resolve(EXIT.ok);
}
