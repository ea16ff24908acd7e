import { describe, expect, it, jest } from '@jest/globals';
import { Controller, Get, Inject, Injectable, Module, Query } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import {
  BoardReader,
  InvalidScoreEventError,
  ModerationProducer,
  NoSuchViewError,
  OnLeaderChange,
  OnPeriodClosed,
  OnRankChange,
  RanklogHealth,
  RanklogModule,
  ScoreProducer,
  UnknownBoardError,
  type LeaderChange,
  type PeriodResult,
  type RankChange,
  type RanklogModuleOptions,
} from '#nestjs';
import { rankChange, RanklogTestingModule } from './index.js';

const BOARDS = `
boards:
  quiz:
    columns: [{ name: points }]
    windows: [all, week]
    dimensions: [[], [country]]
  laps: { columns: [{ name: seconds, order: asc, decimals: 3, update: best }] }
`;

const got: (RankChange | LeaderChange | PeriodResult)[] = [];

@Controller('quiz')
class QuizController {
  constructor(
    @Inject(ScoreProducer) private readonly producer: ScoreProducer,
    @Inject(BoardReader) private readonly reader: BoardReader,
  ) {}

  @Get('answers')
  async answer(@Query('player') playerId: string): Promise<void> {
    await this.producer.send({
      board: 'quiz',
      playerId,
      delta: 10,
      attributes: { country: 'ch' },
    });
  }

  async top(window: string) {
    return (await this.reader.standings('quiz', { window, limit: 10 })).entries;
  }

  @OnLeaderChange({ board: 'quiz', view: 'all' })
  led(change: LeaderChange): void {
    got.push(change);
  }
}

@Injectable()
class Badges {
  @OnRankChange({ board: 'quiz', view: /^week/ })
  changed(change: RankChange): void {
    if (change.playerId === 'mal') throw new Error('no badge for mal');
    got.push(change);
  }

  @OnPeriodClosed({ board: 'quiz' })
  closed(result: PeriodResult): void {
    got.push(result);
  }
}

@Module({ controllers: [QuizController], providers: [Badges] })
class QuizModule {}

const makeOptions = jest.fn<() => RanklogModuleOptions>();

@Module({ imports: [RanklogModule.forRootAsync({ useFactory: makeOptions }), QuizModule] })
class AppModule {}

/** The application of AppModule, started. */
async function start(ranklog: RanklogTestingModule) {
  got.length = 0;
  const builder = Test.createTestingModule({ imports: [AppModule] });
  const app = await ranklog.override(builder).compile();
  app.useLogger(false);
  return app.init();
}

describe('RanklogTestingModule', () => {
  it('replaces what the RanklogModule of an application provides, and makes none of its clients', async () => {
    const ranklog = new RanklogTestingModule({ boards: BOARDS });
    const app = await start(ranklog);
    await app.get(QuizController).answer('ada');
    await app.get(QuizController).answer('bob');
    const event = { board: 'quiz', delta: 10, attributes: { country: 'ch' } };
    expect(ranklog.sent).toEqual([
      { ...event, playerId: 'ada' },
      { ...event, playerId: 'bob' },
    ]);
    expect(makeOptions).not.toHaveBeenCalled();
    expect(await app.get(RanklogHealth).isHealthy('ranklog')).toEqual({
      ranklog: { status: 'up' },
    });
    await app.close();
  });

  it('keeps the events of a transaction, without a transactional id', async () => {
    const ranklog = new RanklogTestingModule({ boards: BOARDS });
    const app = await start(ranklog);
    const event = { board: 'quiz', playerId: 'ada', delta: 10, attributes: { country: 'ch' } };
    await app.get(ScoreProducer).send([event, event], { transaction: true });
    expect(ranklog.sent).toEqual([event, event]);
    await app.close();
  });

  it('is imported by tests of a module that relies on that of its application', async () => {
    const ranklog = new RanklogTestingModule({ boards: BOARDS });
    const imports = [ranklog.module, QuizModule];
    const app = await Test.createTestingModule({ imports }).compile();
    await app.init();
    await app.get(QuizController).answer('ada');
    await ranklog.emitLeaderChange({ board: 'quiz', top: [{ playerId: 'ada' }] });
    expect(ranklog.sent).toHaveLength(1);
    expect(got.at(-1)).toMatchObject({ top: [{ playerId: 'ada', rank: 1 }] });
    await app.close();
  });

  it('answers reads from the standings that the test gives, in the order of the board', async () => {
    const ranklog = new RanklogTestingModule({ boards: BOARDS });
    const app = await start(ranklog);
    const scores = [
      { playerId: 'ada', score: 10 },
      { playerId: 'bob', score: '30' },
      { playerId: 'cyd', score: 10 },
    ];
    ranklog.setStandings('quiz', scores, { window: 'week' });
    const entries = await app.get(QuizController).top('week');
    expect(entries.map(({ rank, playerId }) => [rank, playerId])).toEqual([
      [1, 'bob'],
      [2, 'ada'],
      [3, 'cyd'],
    ]);
    expect(await app.get(QuizController).top('all')).toEqual([]);
    const reader = app.get(BoardReader);
    ranklog.setStandings('laps', [
      { playerId: 'ada', score: '62.5' },
      { playerId: 'bob', score: '61.125' },
    ]);
    const { standing, above } = await reader.player('laps', 'ada', { gaps: true });
    expect([standing?.columns, above?.gap]).toEqual([{ seconds: '62.500' }, { seconds: '1.375' }]);
    ranklog.setStandings('quiz', [{ playerId: 'dan', score: 1 }], { where: { country: 'ch' } });
    expect(await reader.count('quiz', { where: { country: 'ch' } })).toBe(1);
    expect((await reader.boards()).map(({ board }) => board)).toEqual(['laps', 'quiz']);
    expect((await reader.views('quiz')).map(({ size }) => size)).toEqual([1, 3]);
    await app.close();
  });

  it.each(['earliest', 'latest'])(
    'keeps the order of players with equal scores (%s)',
    async (ties) => {
      const boards = `boards: { laps: { columns: [{ name: seconds }], ties: ${ties} } }`;
      const ranklog = new RanklogTestingModule({ boards });
      const app = await start(ranklog);
      const ids = ['cyd', 'ada', 'bob'];
      ranklog.setStandings(
        'laps',
        ids.map((playerId) => ({ playerId, score: 1 })),
      );
      const { entries } = await app.get(BoardReader).standings('laps');
      expect(entries.map(({ playerId }) => playerId)).toEqual(ids);
      await app.close();
    },
  );

  it('rejects reads as the real reader does', async () => {
    const app = await start(new RanklogTestingModule({ boards: BOARDS }));
    const reader = app.get(BoardReader);
    await expect(reader.standings('quizz')).rejects.toThrow(UnknownBoardError);
    await expect(reader.standings('quiz', { window: 'weekk' })).rejects.toThrow(NoSuchViewError);
    await app.close();
  });

  it('gives results to the handlers that are decorated for them', async () => {
    const ranklog = new RanklogTestingModule({ boards: BOARDS });
    const app = await start(ranklog);
    const week = { view: 'week:2026-W47', before: { rank: 2 }, after: { rank: 1 } };
    await ranklog.emitRankChange({ board: 'quiz', playerId: 'ada', changes: [{}, week] });
    await ranklog.emitRankChange({ board: 'laps', playerId: 'ada', changes: [week] });
    await ranklog.emitLeaderChange({ board: 'quiz', top: [{ playerId: 'ada' }] });
    await ranklog.emitPeriodResult({
      board: 'quiz',
      results: [{ playerId: 'ada' }, { playerId: 'bob', columns: { points: '5' } }],
    });
    expect(got).toEqual([
      expect.objectContaining({
        playerId: 'ada',
        changes: [
          {
            view: 'week:2026-W47',
            version: 1,
            before: { rank: 2, columns: {} },
            after: { rank: 1, columns: {} },
          },
        ],
      }),
      expect.objectContaining({
        view: 'all',
        top: [{ playerId: 'ada', rank: 1, competitionRank: 1, columns: {} }],
      }),
      expect.objectContaining({
        window: 'week:2026-W47',
        size: 2,
        results: [
          { playerId: 'ada', rank: 1, competitionRank: 1, columns: {} },
          { playerId: 'bob', rank: 2, competitionRank: 2, columns: { points: '5' } },
        ],
      }),
    ]);
    await app.close();
  });

  it('rejects what a handler throws, and results before the start', async () => {
    const ranklog = new RanklogTestingModule({ boards: BOARDS });
    const week = { board: 'quiz', playerId: 'mal', changes: [{ view: 'week:2026-W47' }] };
    const early = 'handlers are found when the application starts: await its init() first';
    await expect(ranklog.emitRankChange(week)).rejects.toThrow(early);
    const imports = [ranklog.module, QuizModule];
    const app = await Test.createTestingModule({ imports }).compile();
    await expect(ranklog.emitRankChange(week)).rejects.toThrow(early);
    await app.init();
    await expect(ranklog.emitRankChange(week)).rejects.toThrow('no badge for mal');
    await app.close();
  });

  it('refuses events that ranklog would refuse, if it knows the boards', async () => {
    const app = await start(new RanklogTestingModule({ boards: BOARDS }));
    const producer = app.get(ScoreProducer);
    const ada = { playerId: 'ada', delta: 1 };
    await expect(producer.send({ board: 'quizz', ...ada })).rejects.toThrow(
      'UNKNOWN_BOARD: no board "quizz" is defined; the boards of this test are: quiz, laps',
    );
    await expect(producer.send({ board: 'quiz', ...ada })).rejects.toThrow('MISSING_DIMENSION');
    await expect(producer.sendAndWait({ board: 'quiz', ...ada }, { timeoutMs: 1 })).rejects.toThrow(
      InvalidScoreEventError,
    );
    await app.close();
    const ranklog = new RanklogTestingModule();
    const other = await start(ranklog);
    await other.get(ScoreProducer).send({ board: 'quizz', ...ada });
    await expect(other.get(ScoreProducer).send({ board: '', ...ada })).rejects.toThrow(
      InvalidScoreEventError,
    );
    expect(ranklog.sent).toHaveLength(1);
    await other.close();
  });

  it('resolves sendAndWait with the places that the standings give', async () => {
    const ranklog = new RanklogTestingModule({ boards: BOARDS });
    const app = await start(ranklog);
    ranklog.setStandings('laps', [{ playerId: 'ada', score: 60 }]);
    const event = { board: 'laps', playerId: 'ada', delta: 61 };
    const outcome = await app.get(ScoreProducer).sendAndWait(event, { timeoutMs: 1_000 });
    expect(outcome).toMatchObject({
      status: 'unchanged',
      places: [{ view: 'all', standing: { rank: 1 } }],
    });
    await app.close();
  });

  it('keeps bans, unbans and erasures', async () => {
    const ranklog = new RanklogTestingModule({ boards: BOARDS });
    const app = await start(ranklog);
    const moderation = app.get(ModerationProducer);
    const mal = { board: 'quiz', playerId: 'mal' };
    await moderation.ban({ ...mal, reason: 'bot' });
    await moderation.erase(mal);
    expect(ranklog.sentPlayerRecords).toEqual([
      { kind: 'banned', ...mal, reason: 'bot' },
      { kind: 'erased', ...mal },
    ]);
    expect(ranklog.sent).toEqual([]);
    await app.close();
  });

  it('has bans for its reader at once', async () => {
    const app = await start(new RanklogTestingModule({ boards: BOARDS }));
    const [moderation, reader] = [app.get(ModerationProducer), app.get(BoardReader)];
    const mal = { board: 'quiz', playerId: 'mal' };
    expect(await reader.ban('quiz', 'mal')).toBeNull();
    const place = await moderation.banAndWait({ ...mal, reason: 'bot' }, { timeoutMs: 0 });
    expect(place.counts).toBe(true);
    const { partition, offset, time } = place;
    const ban = { playerId: 'mal', kind: 'banned', partition, offset, time, reason: 'bot' };
    expect(await reader.ban('quiz', 'mal')).toEqual(ban);
    expect(await reader.bans('quiz')).toMatchObject({ count: 1, bans: [ban] });
    expect(await reader.ban('laps', 'mal')).toBeNull();
    await moderation.erase(mal);
    const unban = await moderation.unbanAndWait(mal, { timeoutMs: 0 });
    expect(unban.counts).toBe(false);
    expect(await reader.ban('quiz', 'mal')).toMatchObject({ kind: 'erased' });
    await app.close();
  });

  it('refuses standings of unknown boards, and of a player twice', () => {
    const ranklog = new RanklogTestingModule({ boards: BOARDS });
    const ada = { playerId: 'ada', score: 1 };
    expect(() => ranklog.setStandings('chess', [ada])).toThrow('no board "chess" is defined');
    expect(() => ranklog.setStandings('quiz', [ada, ada])).toThrow('have a player twice');
    expect(() => ranklog.setStandings('laps', [{ ...ada, score: '1.2345' }])).toThrow(
      'is not a decimal with at most 3 decimals',
    );
  });
});

describe('rankChange', () => {
  it('has a source of its own each time', () => {
    expect(rankChange().source).not.toEqual(rankChange().source);
  });

  it('refuses fields that no rank change has', () => {
    expect(() => rankChange({ changes: [{ after: { rank: 0 } }] })).toThrow('rank');
  });
});
