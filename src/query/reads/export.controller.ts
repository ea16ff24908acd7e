import { once } from 'node:events';
import { Readable } from 'node:stream';
import { Controller, Param, Query, Req, StreamableFile } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { BoardReader, type Standings } from '#board-store';
import { ProblemError } from '#problems';
import { Logger } from '../../infra/logger.js';
import { ExportedPlayer } from '../dto/responses.js';
import { BoardParams, ExportQuery } from '../dto/requests.js';
import { Download, RequireScope } from '../http/route.js';
import { EXPORT_TYPES, exportText, type ExportFormat } from './export-text.js';

/** The most exports at once: each may keep pages in memory for a slow client. */
const MOST_EXPORTS = 8;

@Controller('v1/boards/:board')
export class ExportController {
  #exports = 0;

  constructor(
    private readonly reader: BoardReader,
    private readonly logger: Logger,
  ) {}

  /**
   * Answers when the first lines are read. A later failure cuts the connection, so that the client
   * notices that lines are missing.
   */
  @RequireScope('read')
  @Download('export', ExportedPlayer, 'All players of all views, or some')
  async export(
    @Param() { board }: BoardParams,
    @Query() { format = 'ndjson', view }: ExportQuery,
    @Req() { method }: FastifyRequest,
  ) {
    if (this.#exports >= MOST_EXPORTS)
      throw new ProblemError('OVERLOADED', `${MOST_EXPORTS} exports are under way; try again`);

    this.#exports += 1;
    const pages = this.reader.export(board, view);
    const stream = Readable.from(linesOf(pages, format), { objectMode: false });
    stream.once('close', () => (this.#exports -= 1));
    await once(stream, 'readable');
    stream.on('error', ({ message }) => {
      this.logger.warn(`an export of board "${board}" ended early: ${message}`);
    });
    if (method === 'HEAD') stream.destroy(); // Fastify would read all of it
    return new StreamableFile(stream, { type: EXPORT_TYPES[format] });
  }
}

/**
 * The lines of an export.
 * @throws ProblemError STALE, as a file would not mark wrong ranks
 */
async function* linesOf(pages: AsyncIterable<Standings>, format: ExportFormat) {
  const toText = exportText(format);
  for await (const page of pages) {
    if (page.stale) throw new ProblemError('STALE', 'Redis lacks events; try again later');
    yield toText(page);
  }
}
