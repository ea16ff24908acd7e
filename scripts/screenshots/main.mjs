// @ts-check
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import getPort from 'get-port';
import { chromium } from 'playwright-core';
import { ScoreProducer } from '#client';
import { chromiumPath } from '../chromium.mjs';
import { withCleanUp } from '../clean-up.mjs';
import { DemoInstance } from '../demo/instance.mjs';
import { matchDays, replay } from '../demo/replay.mjs';
import { addressOf } from '../demo/serve.mjs';
import { HOME, ROOT } from '../services/clone.mjs';
import { gifOf } from './gif.mjs';

/** @typedef {import('playwright-core').Page} Page */

const FOLDER = path.join(ROOT, 'docs/images');
const TABLE = 'football/en.1/2023-24';
const PLAYER = 'newcastle-united';
/**
 * The animation shows the match days of the table from `from` until `until`, the pictures the table
 * at `end`.
 */
const SEASON = { from: '2023-09-16', until: '2023-11-12', end: '2024-04-05' };
const DAYS_A_SECOND = 3;
/** `player`: whether the picture of the table shows a player beside it. */
const DEVICES = {
  desktop: { viewport: { width: 1280, height: 800 }, player: true },
  phone: {
    viewport: { width: 390, height: 844 },
    ...{ deviceScaleFactor: 2, isMobile: true, hasTouch: true, player: false },
  },
};

/** A copy of the demo's, to be changed. */
const BOARDS = path.join(HOME, 'demo', 'pictures.yaml');

mkdirSync(path.dirname(BOARDS), { recursive: true });
const boards = readFileSync(path.join(ROOT, 'demo/boards.yaml'), 'utf8');
writeFileSync(BOARDS, boards);
const name = `ranklog-pictures-${Date.now().toString(36)}`;
const ranklog = new DemoInstance(name, { boards: BOARDS, port: await getPort() });
ranklog.requireSettings();
const TABLE_URL = addressOf(ranklog.url, TABLE);
const browser = await chromium.launch({ executablePath: chromiumPath() });
mkdirSync(FOLDER, { recursive: true });
await withCleanUp(takeAll, async () => {
  await browser.close();
  await ranklog.remove();
});

async function takeAll() {
  await ranklog.must('topics');
  ranklog.start();
  await ranklog.must('produce', path.join(ROOT, 'demo/photo-finish/events.ndjson'));
  await ranklog.whenReady();
  await animate();
  await takeEach('table', ({ player }) =>
    player
      ? { url: `${TABLE_URL}&player=${PLAYER}`, shows: 'polyline' }
      : { url: TABLE_URL, shows: 'tbody tr:nth-child(20)' },
  );
  await takeOperations();
}

/**
 * Writes the animation, and replays until the time of the pictures. The page is open meanwhile, so
 * that the process holds the rank changes of the player.
 */
async function animate() {
  const days = matchDays();
  const until = (/** @type {string} */ end) =>
    days.splice(
      0,
      days.findIndex(({ date }) => date >= end),
    );
  const fast = (/** @type {string} */ end) => replay(ranklog, { days: until(end), speed: 300 });
  await fast('2023-08-12');
  const page = await browser.newPage({ viewport: { width: 1000, height: 640 } });
  await page.goto(TABLE_URL);
  await fast(SEASON.from);
  await isStill(page);
  const shown = until(SEASON.until).filter(({ tables }) => tables.includes(TABLE));
  const frames = await framesOf(page, () => replay(ranklog, { days: shown, speed: DAYS_A_SECOND }));
  write('moving.gif', gifOf(frames));
  await fast(SEASON.end);
  await ranklog.must('status', '--wait', '60');
  await page.close();
}

/**
 * What a page shows during some work.
 * @param {Page} page @param {() => Promise<void>} work
 * @returns {Promise<import('./gif.mjs').Frame[]>}
 */
async function framesOf(page, work) {
  /** @type {import('./gif.mjs').Frame[]} */
  const frames = [];
  const session = await page.context().newCDPSession(page);
  session.on('Page.screencastFrame', ({ data, metadata, sessionId }) => {
    frames.push({ png: Buffer.from(data, 'base64'), at: 1_000 * (metadata.timestamp ?? 0) });
    void session.send('Page.screencastFrameAck', { sessionId });
  });
  await session.send('Page.startScreencast', { format: 'png' });
  await work();
  await session.send('Page.stopScreencast');
  return frames;
}

/**
 * Writes pictures of a page: phone and desktop, light and dark.
 * @param {string} name
 * @param {(device: { player: boolean }) => { url: string, shows: string }} pageOf its address, and
 * a selector of what it shows when it is ready
 */
async function takeEach(name, pageOf) {
  for (const [device, options] of Object.entries(DEVICES))
    for (const colorScheme of /** @type {const} */ (['light', 'dark'])) {
      const { url, shows } = pageOf(options);
      const page = await browser.newPage({ ...options, colorScheme });
      await page.goto(url);
      await page.waitForSelector(shows);
      await isStill(page);
      if (device === 'desktop') await growToContent(page);
      write(`${name}-${device}-${colorScheme}.webp`, await webpOf(page));
      await page.close();
    }
}

/** Pictures of operations while a build runs, after some dead letters. */
async function takeOperations() {
  await sendBadEvents();
  writeFileSync(BOARDS, boards.replace('[[], [league', '[[], [region], [league'));
  const built = ranklog.must('boards', 'apply', '--yes', '--throttle', '600');
  const page = { url: `${ranklog.url}/#operations`, shows: 'text=seconds left' };
  await takeEach('operations', () => page);
  await built;
}

/** Sends events that become dead letters, for three reasons. */
async function sendBadEvents() {
  const producer = new ScoreProducer({ kafka: ranklog.kafka, topicPrefix: name });
  await producer.connect();
  const attributes = { league: 'en.1', season: '2023-24' };
  await producer.send([
    ...['rugby', 'rugby', 'cricket'].map((board) => ({ board, playerId: PLAYER, delta: 1 })),
    { board: 'football', playerId: PLAYER, deltas: { points: 1 } },
    { board: 'football', playerId: PLAYER, deltas: { goals: 1 }, attributes },
  ]);
  await producer.disconnect();
}

/** Waits until nothing on the page moves. @param {Page} page */
async function isStill(page) {
  await page.waitForFunction('document.getAnimations().length === 0');
}

/**
 * Makes the window as high as the page, and as the player's card in it, which scrolls. @param
 * {Page} page
 */
async function growToContent(page) {
  const bottoms =
    "[...document.querySelectorAll('html, .player')].map((e) => " +
    'e.getBoundingClientRect().top + e.scrollHeight)';
  const height = 16 + Number(await page.evaluate(`Math.ceil(Math.max(...${bottoms}))`));
  await page.setViewportSize({ ...DEVICES.desktop.viewport, height });
}

/** @param {Page} page @returns {Promise<Buffer>} what its window shows, as WebP */
async function webpOf(page) {
  const session = await page.context().newCDPSession(page);
  const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: 85 });
  return Buffer.from(data, 'base64');
}

/** @param {string} file @param {Uint8Array} bytes */
function write(file, bytes) {
  writeFileSync(path.join(FOLDER, file), bytes);
  console.log(`docs/images/${file}: ${Math.ceil(bytes.length / 1024)} KiB`);
}
