import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { TestInstance } from '../support/instance.js';

const CLI = path.resolve('dist/cli/main.js');

describe('ranklog start', () => {
  let instance: TestInstance;
  beforeAll(async () => {
    instance = await TestInstance.create('boards: { arena: { columns: [{ name: score }] } }');
  });
  afterAll(() => instance.remove());

  it('ends in order when the npm that started it is killed', async () => {
    // As npm runs a script: the shell is the parent of ranklog, and npm that of the shell.
    const npm = spawn('sh', ['-c', `sh -c '"${process.execPath}" "${CLI}" start; true'; true`], {
      env: {
        ...instance.env,
        ...{ npm_lifecycle_event: 'start', RANKLOG_HTTP_PORT: '0', RANKLOG_OPERATIONS_PORT: '0' },
      },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let log = '';
    npm.stderr.on('data', (data: Buffer) => {
      const ran = log.includes('"running:');
      log += data.toString();
      if (!ran && log.includes('"running:')) npm.kill('SIGKILL');
    });
    await once(npm, 'close'); // when ranklog, the last process, has closed its output
    expect(log).toContain('npm, which started this process, has ended');
    expect(log).toContain('"stopped"');
  });
});
