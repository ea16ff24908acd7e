import { Controller, Param, Query, UseInterceptors } from '@nestjs/common';
import { boardFields } from '#board';
import { BoardReader, type LiveBoard, type ViewsPage } from '#board-store';
import { QUERIES, type QueryOf } from '../dto/request-schemas.js';
import { Read, RequireScope } from '../http/route.js';
import { Answers } from './answers.js';
import { viewJson } from './view-json.js';

@Controller('v1/boards')
@UseInterceptors(Answers)
export class BoardsController {
  constructor(private readonly reader: BoardReader) {}

  @RequireScope('read')
  @Read('', 'Boards', 'All live boards', QUERIES.none)
  async boards() {
    return { boards: (await this.reader.boards()).map(boardJson) };
  }

  @RequireScope('read')
  @Read(':board', 'Board', 'A board', QUERIES.none)
  async board(@Param('board') board: string) {
    return boardJson(await this.reader.board(board));
  }

  /** A page of the listing, about 10,000 views. */
  @RequireScope('read')
  @Read(':board/views', 'Views', 'The views of a board', QUERIES.views)
  async views(@Param('board') board: string, @Query() { after }: QueryOf<'views'>) {
    const first = await this.reader.viewPages(board, after).next();
    const { views, ...page } = first.value as ViewsPage; // there is one, even without views
    return { board, ...page, views: views.map(viewJson) };
  }
}

function boardJson({ board, definition }: LiveBoard) {
  return { board, ...boardFields(definition) };
}
