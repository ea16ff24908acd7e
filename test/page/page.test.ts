import { readFileSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { ModerationProducer, ScoreProducer } from '#client';
import { chromiumPath } from '../../scripts/chromium.mjs';
import { freePort } from '../support/free-port.js';
import { TestInstance, until, type RanklogProcess } from '../support/instance.js';
import { TcpProxy } from '../support/tcp-proxy.js';

const BOARDS = `
boards:
  arena:
    columns: [{ name: points }, { name: goalDifference }]
    windows: [all, { window: week, keep: 30d }]
    dimensions: [[], [region], [region, league]]
  quiet: { columns: [{ name: points }], publish: { rankChanges: none } }
  empty: { columns: [{ name: points }] }
`;
const require = createRequire(import.meta.url);
/** The ECMAScript module of Playwright does not load under jest. */
const { chromium } = require('playwright-core') as typeof import('playwright-core');
const AXE = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const PLAYERS = 130;

let instance: TestInstance;
let service: RanklogProcess;
let redis: TcpProxy;
let producer: ScoreProducer;
let browser: Browser;
let url: string;

beforeAll(async () => {
  const { hostname, port } = new URL(process.env['REDIS_URL'] ?? '');
  redis = await TcpProxy.to({ host: hostname, port: Number(port) });
  const httpPort = await freePort();
  url = `http://127.0.0.1:${httpPort}`;
  instance = await TestInstance.create(BOARDS, {
    env: { REDIS_URL: `redis://127.0.0.1:${redis.port}`, RANKLOG_HTTP_PORT: String(httpPort) },
  });
  browser = await chromium.launch({ executablePath: chromiumPath(), args: ['--no-sandbox'] });
  service = await instance.start();
  producer = new ScoreProducer({ kafka: instance.kafka, topicPrefix: instance.name });
  await producer.connect();
  const ids = Array.from({ length: PLAYERS }, (_, index) => `p-${index + 1}`);
  await producer.send(ids.map((playerId, index) => event(playerId, 2_000 - 10 * index)));
  await producer.send([{ ...event('a-player-with-a-long-name', 5), board: 'quiet' }]);
  await producer.send([{ ...event('p-1', 1), attributes: {} }]); // a dead letter
  await instance.published(PLAYERS + 2);
  await instance.run('boards', 'verify', 'arena');
});
afterAll(async () => {
  await browser.close();
  await producer.disconnect();
  await instance.remove();
  await redis.close();
});

const event = (playerId: string, points: number) => ({
  board: 'arena',
  playerId,
  deltas: { points },
  attributes: { region: 'eu/west & more', league: 'one' },
});

const ALL = '#board=arena&view=all';
const PLAYER =
  '#board=arena&view=all+region%3Deu%252Fwest%2520%2526%2520more+league%3Done&player=p-7';
const LINKS = [
  '#',
  ALL,
  PLAYER,
  '#board=quiet&view=all',
  '#board=empty',
  '#board=none',
  '#operations',
];

/** Opens a link in a new window and waits until it has loaded. */
async function open(link: string, options: BrowserContextOptions = {}): Promise<Page> {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, ...options });
  await page.goto(`${url}/${link}`);
  await holds(page, `!document.body.innerText.includes('Loading…')`);
  await page.waitForSelector('main > *');
  return page;
}

/** Waits for an expression; the page's policy refuses waitForFunction, which uses eval. */
const holds = (page: Page, expression: string) =>
  until(() => page.evaluate<boolean>(expression), expression, 30);
/** Waits until the table says how current it is. */
const says = (page: Page, state: 'Live' | 'Read every second' | 'Disconnected') =>
  page.getByRole('status').getByText(state).waitFor();
/** The player of a row. */
const playerAt = (page: Page, rank: number) =>
  page.getAttribute(`section[aria-label=Standings] tr:has([data-rank="${rank}"])`, 'data-player');

describe('the page', () => {
  it('moves a row within a second of its event, with an animation and a mark', async () => {
    const page = await open(ALL);
    await says(page, 'Live');
    const times: number[] = [];
    for (const player of ['p-100', 'p-90', 'p-80']) {
      const first = `document.querySelector('tbody tr').dataset.player === '${player}'`;
      const begin = performance.now();
      await producer.send([event(player, 10_000 + times.length * 1_000)]);
      await holds(page, `${first} && document.getAnimations().length > 0`);
      times.push(performance.now() - begin);
    }
    process.stdout.write(`rows moved after ${times.map(Math.round).join(', ')} ms\n`);
    expect(Math.min(...times)).toBeLessThan(1_000);
    expect(await page.textContent('tr[data-player=p-80] .up')).toMatch(/^▲ \d+$/);
    await page.close();
  });

  it('moves rows at once for users who want less motion', async () => {
    const page = await open(ALL, { reducedMotion: 'reduce' });
    await says(page, 'Live');
    await producer.send([event('p-70', 20_000)]);
    await until(async () => (await playerAt(page, 1)) === 'p-70', 'the row is first');
    expect(await page.evaluate('document.getAnimations().length')).toBe(0);
    await page.close();
  });

  it.each(['light', 'dark'] as const)(
    'passes axe in %s, on a phone and a desktop',
    async (scheme) => {
      for (const width of [360, 1280])
        for (const link of LINKS) {
          const page = await open(link, { colorScheme: scheme, viewport: { width, height: 800 } });
          await page.evaluate(AXE);
          const violations = await page.evaluate(
            'axe.run().then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes[0].html]))',
          );
          const hidden = await page.evaluate<number[]>(
            `[...document.querySelectorAll('html, .card')].map((one) => one.scrollWidth - one.clientWidth)`,
          );
          expect({ link, width, violations, hidden: new Set(hidden) }).toEqual({
            ...{ link, width, violations: [], hidden: new Set([0]) },
          });
          await page.close();
        }
    },
  );

  it('reaches a player by the keyboard alone, and says what it shows', async () => {
    const page = await open(ALL);
    await says(page, 'Live');
    const isFocused = (selector: string) =>
      page.evaluate(`document.activeElement?.matches(${JSON.stringify(selector)})`);
    for (let tabs = 0; tabs < 20 && !(await isFocused('[type=search]')); tabs++)
      await page.keyboard.press('Tab');
    await page.keyboard.type('P-77');
    await holds(page, `document.querySelectorAll('tbody tr').length === 1`);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    const panel = page.getByRole('region', { name: 'Player p-77' });
    await panel.getByText('of 130').waitFor();
    expect(await isFocused('[data-panel=player] h2')).toBe(true);
    await panel.getByRole('figure', { name: /Players by points/ }).waitFor();
    await panel.getByRole('figure', { name: /Rank over/ }).waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await panel.waitFor({ state: 'detached' });
    expect(await isFocused('[aria-label=Standings] [data-player=p-77] a')).toBe(true);
    await page.getByRole('searchbox').fill('.');
    await page.getByText('Players found: 0').waitFor();
    await page.close();
  });

  it('updates a player when his rank changes, and reads rank changes again only then', async () => {
    const page = await open(`${ALL}&player=p-60`);
    await page.getByText(/(Rank over the 1 changes that|No rank change)/).waitFor();
    await producer.send([event('p-60', 50_000)]);
    await page.waitForSelector('[data-place="1"]');
    await page.getByText('Rank over the 2 changes that this process holds, since').waitFor();
    const asked: (string | undefined)[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname.split('/').at(-1)));
    const count = (name: string) => asked.filter((one) => one === name).length;
    await until(() => count('around') > 2, 'the player is read again');
    expect(count('changes')).toBeLessThan(2); // every 10 s
    expect(count('p-60')).toBe(0);
    await page.close();
  });

  it('keeps the view in the address, so that a link shows the same', async () => {
    const page = await open('#board=arena');
    await page.waitForSelector('[data-table]');
    await page.getByLabel('Window').selectOption('week');
    await page.getByLabel('Region').selectOption('eu/west & more');
    await page.getByLabel('League').selectOption('one');
    await holds(page, `document.querySelector('code').innerText.includes('league=one')`);
    await page.click('tr[data-player=p-12] a');
    await page.waitForSelector('[data-place]');
    const texts = (shown: Page) =>
      Promise.all(['h1', 'code', 'h2', '[data-place]'].map((one) => shown.textContent(one)));
    const before = await texts(page);
    const other = await open(new URL(page.url()).hash);
    await other.waitForSelector('[data-place]');
    expect(await texts(other)).toEqual(before);
    expect(before[1]).toMatch(/^week:.* region=eu%2Fwest%20%26%20more league=one$/);
    expect(await other.getByLabel('Window').inputValue()).toBe('week');
    await Promise.all([page.close(), other.close()]);
  });

  it('shows ranks after the first 100, and boards that publish nothing, by polling', async () => {
    const page = await open(ALL);
    await page.getByRole('link', { name: 'Next 100' }).click();
    await says(page, 'Read every second');
    await holds(page, `document.querySelectorAll('section tbody tr').length === 30`);
    expect(await playerAt(page, PLAYERS)).toBe(`p-${PLAYERS}`);
    await page.goto(`${url}/#board=quiet&view=all`);
    await says(page, 'Read every second');
    await producer.send([{ ...event('bob', 9), board: 'quiet' }]);
    await until(async () => (await playerAt(page, 1)) === 'bob', 'the table shows bob');
    await page.close();
  });

  it('shows operations: lag, generations, and dead letters by reason', async () => {
    const page = await open('#operations');
    for (const name of ['Lag by partition', 'Generations'])
      await page.getByRole('region', { name }).getByRole('definition').first().waitFor();
    const letters = page.getByRole('region', { name: 'dead letters' });
    await letters.getByText('MISSING_DIMENSION').waitFor();
    await page.getByRole('region', { name: 'Builds' }).getByRole('progressbar').waitFor();
    await page.close();
  });

  it('says who is banned or erased, by whom and why, to those who may know it', async () => {
    const { reader } = instance;
    const moderation = new ModerationProducer({ producer, reader });
    const ban = { board: 'arena', playerId: 'p-129', reason: 'speed hack', by: 'ana' };
    await moderation.ban(ban);
    await moderation.erase({ board: 'quiet', playerId: 'gone' });
    const isApplied = async () => (await reader.ban('quiet', 'gone')) !== null;
    await until(isApplied, 'the erasure is applied');
    const page = await open('#operations');
    const card = page.getByRole('region', { name: 'Banned or erased players' });
    for (const text of ['p-129', 'arena', 'banned', 'ana', 'speed hack', 'gone', 'quiet', 'erased'])
      await card.getByText(text, { exact: true }).waitFor();
    await page.goto(`${url}/${ALL}&player=p-129`);
    const panel = page.getByRole('region', { name: 'Player p-129' });
    await panel.getByText('This player is banned on this board.').waitFor();
    await panel.getByText('speed hack').waitFor();
    await page.route('**/bans/*', (route) =>
      route.fulfill({ status: 403, json: { code: 'FORBIDDEN', detail: 'no' } }),
    );
    await page.reload();
    await panel.getByText('This player has no score in this view.').waitFor();
    await page.close();
    await moderation.unban(ban);
    const isBack = async () => (await reader.ban('arena', 'p-129'))?.kind === 'unbanned';
    await until(isBack, 'p-129 is back');
  });

  it('says that the window of a view has closed, and what became of its result', async () => {
    const { view: week } = await instance.reader.standings('arena', { window: 'week' });
    const times = { closesAt: '2026-11-23T00:10:00.000Z', reviewEndsAt: null };
    const period = { window: week, ...times, revision: 0, waitsFor: null };
    const stubs: [object, ...string[]][] = [
      [{ state: 'open' }, 'Live'],
      [{ state: 'review' }, 'Provisional result', '; in review until a command ends it'],
      [{ state: 'waiting', waitsFor: 'a reason' }, 'Provisional result', '; waits for: a reason'],
      [{ state: 'announced', revision: 2 }, 'Final result', 'Result announced (revision 2)'],
    ]; // prettier-ignore
    for (const [fields, ...texts] of stubs) {
      const page = await browser.newPage();
      const json = { periods: [{ ...period, ...fields }] };
      await page.route('**/v1/boards/arena/periods?*', (route) => route.fulfill({ json }));
      await page.goto(`${url}/#board=arena&view=${week}`);
      const line = page.getByRole('region', { name: 'Standings' });
      for (const text of texts) await line.getByText(text).waitFor();
      expect(await line.getByText('Live').count()).toBe(texts.includes('Live') ? 1 : 0);
      await page.close();
    }
  });

  it('lists closed windows that are not announced among the operations', async () => {
    const page = await browser.newPage();
    const period = { board: 'arena', window: 'week:2026-W47', state: 'review' };
    await page.route('**/v1/status', async (route) => {
      const response = await route.fetch();
      const status = (await response.json()) as object;
      await route.fulfill({ response, json: { ...status, periods: [period] } });
    });
    await page.goto(`${url}/#operations`);
    const card = page.getByRole('region', { name: 'Closed windows' });
    await card.getByText('week:2026-W47').waitFor();
    await page.close();
  });

  it('asks for a token, keeps it for the tab, and shows what its scopes allow', async () => {
    const file = path.join(tmpdir(), `${instance.name}-tokens.yaml`);
    const token = 'hunter2-hunter2-hunter2';
    await writeFile(file, `- { name: page, token: ${token}, scopes: [read] }`);
    const settings = { RANKLOG_HTTP_TOKENS: file, RANKLOG_HTTP_PORT: '0' };
    Object.assign(instance.env, settings);
    const { url: guarded } = await instance.start('--roles', 'query');
    Object.assign(instance.env, { RANKLOG_HTTP_TOKENS: '', RANKLOG_HTTP_PORT: new URL(url).port });
    await rm(file);
    const page = await browser.newPage();
    await page.goto(`${guarded}/${ALL}`);
    for (const given of [`${token}-wrong`, token]) {
      await page.getByText('UNAUTHORIZED').waitFor();
      await page.getByLabel('Token').fill(given);
      await page.getByRole('button', { name: 'Use this token' }).click();
    }
    await says(page, 'Live');
    await producer.send([event('p-45', 90_000)]);
    await until(async () => (await playerAt(page, 1)) === 'p-45', 'the row is first');
    await page.goto(`${guarded}/#operations`);
    await page.getByText('lacks the scope "operate"').waitFor();
    await page.close();
  });

  it('says when Redis is away, and recovers', async () => {
    const page = await open(ALL);
    await says(page, 'Live');
    redis.cut();
    await page.getByText('Redis does not answer').waitFor();
    redis.restore();
    await page.waitForSelector('[data-health=ok]', { state: 'attached' });
    await says(page, 'Live');
    await producer.send([event('p-50', 100_000)]);
    await until(async () => (await playerAt(page, 1)) === 'p-50', 'the row is first');
    await page.close();
  });

  it('says when the service is away, keeps what it has read, and recovers', async () => {
    const page = await open(ALL);
    await says(page, 'Live');
    service.kill('SIGTERM');
    await service.ended;
    await says(page, 'Disconnected');
    await page.waitForSelector('[data-health=unreachable]');
    expect(await playerAt(page, 1)).toBe('p-50');
    service = await instance.start();
    await says(page, 'Live');
    await page.waitForSelector('[data-health=ok]', { state: 'attached' });
    await producer.send([event('p-40', 200_000)]);
    await until(async () => (await playerAt(page, 1)) === 'p-40', 'the row is first');
    await page.close();
  });
});
