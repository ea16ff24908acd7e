import { Controller, Param, Query, UseInterceptors } from '@nestjs/common';
import { boardFields } from '#board';
import { BoardReader, type LiveBoard, type ViewsPage } from '#board-store';
import { Board, Boards, Views } from '../dto/responses.js';
import { BoardParams, NoQuery, ViewsQuery } from '../dto/requests.js';
import { Read, RequireScope } from '../http/route.js';
import { Answers } from './answers.js';
import { viewJson } from './view-json.js';

@Controller('v1/boards')
@UseInterceptors(Answers)
export class BoardsController {
  constructor(private readonly reader: BoardReader) {}

  @RequireScope('read')
  @Read('', Boards, 'All live boards')
  async boards(@Query() _: NoQuery) {
    return { boards: (await this.reader.boards()).map(boardJson) };
  }

  @RequireScope('read')
  @Read(':board', Board, 'A board')
  async board(@Param() { board }: BoardParams, @Query() _: NoQuery) {
    return boardJson(await this.reader.board(board));
  }

  /** A page of the listing, about 10,000 views. */
  @RequireScope('read')
  @Read(':board/views', Views, 'The views of a board')
  async views(@Param() { board }: BoardParams, @Query() { after }: ViewsQuery) {
    const first = await this.reader.viewPages(board, after).next();
    const { views, ...page } = first.value as ViewsPage; // there is one, even without views
    return { board, ...page, views: views.map(viewJson) };
  }
}

function boardJson({ board, definition }: LiveBoard) {
  return { board, ...boardFields(definition) };
}
