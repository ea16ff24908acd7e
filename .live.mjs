import { chromium } from 'playwright-core';
const b = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });
const p = await b.newPage({ viewport: { width: 390, height: 1500 }, hasTouch: true });
const base='http://127.0.0.1:9555';
const send = (events) => fetch(base + '/v1/boards/arena/events', { method: 'POST', headers: {'content-type':'application/json'}, body: JSON.stringify({ events }) });
await p.goto(base + '/#board=arena&window=week&player=ada');
await p.waitForSelector('[data-connection=live]');
for (let i = 0; i < 25; i++) { await send(['ada','bob','eve','lee','zoe','max'].map(playerId => ({ playerId, delta: Math.floor(Math.random()*120), attributes: { region: 'eu' } }))); await p.waitForTimeout(150); }
await p.waitForTimeout(420);
await p.screenshot({ path: '/tmp/live.png' });
await p.waitForTimeout(3000);
await p.screenshot({ path: '/tmp/live2.png' });
await b.close();
