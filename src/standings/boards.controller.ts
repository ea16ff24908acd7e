import { Controller, Param, UseInterceptors } from '@nestjs/common';
import { boardFields } from '#board';
import { BoardReader, type LiveBoard, type ViewsPage } from '#board-store';
import { Answers } from './answers.js';
import { viewJson } from './pages.js';
import { QUERIES } from './request-schemas.js';
import { Read } from './route.js';

/** What there is to read: boards with their definitions, and views. */
@Controller('v1/boards')
@UseInterceptors(Answers)
export class BoardsController {
  constructor(private readonly reader: BoardReader) {}

  @Read('', 'Boards', 'All live boards', QUERIES.none)
  async boards() {
    return { boards: (await this.reader.boards()).map(boardJson) };
  }

  @Read(':board', 'Board', 'A board', QUERIES.none)
  async board(@Param('board') board: string) {
    return boardJson(await this.reader.board(board));
  }

  /** The first page of the listing, about 10,000 views. Asks for a second one to know whether there are more. */
  @Read(':board/views', 'Views', 'The views of a board', QUERIES.none)
  async views(@Param('board') board: string) {
    const pages: ViewsPage[] = [];
    for await (const page of this.reader.viewPages(board)) if (pages.push(page) === 2) break;
    const [{ stale, views } = { stale: false, views: [] }] = pages;
    return { board, stale, truncated: pages.length > 1, views: views.map(viewJson) };
  }
}

function boardJson({ board, definition }: LiveBoard) {
  return { board, ...boardFields(definition) };
}
