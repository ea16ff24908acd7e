import { once } from 'node:events';
import { Readable } from 'node:stream';
import { Controller, Param, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { BoardReader, type ExportPage } from '#board-store';
import { Logger } from '../infra/logger.js';
import { ProblemError } from '../infra/problems.js';
import { EXPORT_TYPES, exportText } from './export-text.js';
import { QUERIES, type QueryOf } from './request-schemas.js';
import { Download } from './route.js';
import { readSelected } from './selection.js';

/** Exports at once: each has about ten reads of Redis in flight, and holds as many pages for a slow client. */
const MOST_EXPORTS = 8;

/** All players of all or some views, as a stream. */
@Controller('v1/boards/:board')
export class ExportController {
  #exports = 0;

  constructor(
    private readonly reader: BoardReader,
    private readonly logger: Logger,
  ) {}

  /** Answers when the first part is read: what fails later destroys the connection, so that no client takes a part for the whole. */
  @Download('export', 'ExportedPlayer', 'All players of all views, or some', QUERIES.export)
  async export(
    @Param('board') board: string,
    @Query() query: QueryOf<'export'>,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const { reader } = this;
    const { format = 'ndjson', view } = query;
    const views = view === undefined ? undefined : [view].flat();
    const stream = await readSelected({ reader, board, name: 'export' }, { ...query }, (asked) => {
      const { window, where, at } = asked.selection;
      const pages = reader.export(board, { views, window, where, at });
      return this.#begin(exportText(unlessStale(pages), format));
    });
    stream.on('error', ({ message }) => {
      this.logger.warn(`an export of board "${board}" ended early: ${message}`);
    });
    const disposition = `attachment; filename="${board}.${format}"`;
    void reply.headers({
      'content-type': EXPORT_TYPES[format],
      'content-disposition': disposition,
    });
    if (reply.request.method === 'HEAD') stream.destroy();
    void reply.send(reply.request.method === 'HEAD' ? '' : stream);
  }

  /** @throws ProblemError OVERLOADED, and what reading the first part throws */
  async #begin(text: AsyncIterable<string>): Promise<Readable> {
    if (this.#exports >= MOST_EXPORTS)
      throw new ProblemError(
        'OVERLOADED',
        `${MOST_EXPORTS} exports are under way; try again later`,
      );
    this.#exports += 1;
    const stream = Readable.from(text, { objectMode: false });
    stream.once('close', () => (this.#exports -= 1));
    await once(stream, 'readable');
    return stream;
  }
}

/** @throws ProblemError STALE, as a file of ranks can't be marked as stale afterwards */
async function* unlessStale(pages: AsyncIterable<ExportPage>): AsyncGenerator<ExportPage> {
  for await (const page of pages) {
    if (page.stale)
      throw new ProblemError(
        'STALE',
        'Redis lacks events until they are applied again; try again later',
      );
    yield page;
  }
}
