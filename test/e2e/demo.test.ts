/** The demo as a newcomer runs it: its own process and its own server, on little traffic. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { mainCases } from '../support/shares-of-tests.ts';

const PROGRAM = fileURLToPath(new URL('../../dist/tallyhouse.cjs', import.meta.url));

interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

function runDemo(...args: string[]): Promise<Outcome> {
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [PROGRAM, 'demo', ...args], (_error, stdout, stderr) => {
      resolve({ code: child.exitCode ?? -1, stdout, stderr });
    });
  });
}

/** The figures of a proof line, by what stands in front of them. */
function figures(stdout: string, label: string): string[] {
  return stdout
    .split('\n')
    .filter((line) => line.trim().startsWith(label))
    .map((line) => line.trim().slice(label.length).trim());
}

let directory = '';
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'demo-test-'));
  // The embedded PostgreSQL runs as another user than root and has to get through.
  await chmod(directory, 0o711);
});
afterAll(() => rm(directory, { recursive: true }));

describe('tallyhouse demo', () => {
  it('proves that every sum of a simulated month agrees', async () => {
    const { code, stdout, stderr } = await runDemo('--events', '5000', '--customers', '6');
    expect(stderr).toBe('');
    expect(code).toBe(0);
    expect(figures(stdout, 'accepted by the service')).toEqual(['5,000  ✓']);
    expect(figures(stdout, 'sent twice on purpose, dropped')).toEqual(['100  ✓']);
    expect(stdout).toContain('All sums agree');
    expect(stdout).not.toContain('✗');
    for (const name of ['Priority support', 'Seats', 'Set-up', 'Prepaid tokens', 'Launch credit']) {
      expect(stdout).toContain(name);
    }
    for (const seat of [
      /ada +\$5\.00 +\$5\.00 +\$0\.00/,
      /bob +\$5\.00 +\$2\.10 +\$2\.90/,
      /cleo +\$5\.00 +\$1\.20 +\$3\.80/,
    ]) {
      expect(stdout).toMatch(seat);
    }
    expect(stdout).toMatch(/\d+ steps were granted and \d+ refused; at most \$4\.00 was held at once/);
    expect(stdout).toContain('one more token: refused, $0.00 left');
    expect(stdout).toContain('✓ $5.00 used, $0.00 left: the last cent, and no further');
    expect(stdout).toMatch(/signature verified:\n[\s\S]*"type": "alerts.spend_threshold_reached"/);
    expect(stdout).toMatch(/covered: units above 0 up to/);
    const documents = [...stdout.matchAll(/^ {2}(\S+\/(?:invoice\.pdf|invoice\.csv|ledgers\.csv)) /gm)].map(
      ([, file = '']) => file,
    );
    expect(documents).toHaveLength(3);
    const [pdf, csv, ledgers] = await Promise.all(documents.map((file) => readFile(file, 'latin1')));
    await rm(dirname(documents[0] ?? ''), { recursive: true });
    expect(pdf).toMatch(/^%PDF-/);
    expect(csv).toContain('Priority support');
    expect(ledgers).toContain('PREPAID_COMMIT_AUTOMATED_INVOICE_DEDUCTION');
  });

  it('bills a trace of real requests to the sums over the file', async () => {
    const rows = Array.from({ length: 250 }, (_, index) => {
      const second = String(index % 60).padStart(2, '0');
      const minute = String(Math.floor(index / 60)).padStart(2, '0');
      return { line: `2023-11-16 18:${minute}:${second}.6805900,${374 + index},${44 + (index % 7)}`, index };
    });
    const file = join(directory, 'trace.csv');
    const lines = ['TIMESTAMP,ContextTokens,GeneratedTokens', ...rows.map(({ line }) => line)];
    await writeFile(file, `${lines.join('\n')}\n`);
    const context = rows.reduce((sum, { index }) => sum + 374 + index, 0).toLocaleString('en-US');
    const generated = rows.reduce((sum, { index }) => sum + 44 + (index % 7), 0).toLocaleString('en-US');

    const { code, stdout, stderr } = await runDemo('--trace', file);
    expect(stderr).toBe('');
    expect(code).toBe(0);
    expect(figures(stdout, 'sum over the file')).toEqual(['250', context, generated]);
    expect(figures(stdout, 'usage API').slice(0, 1)).toEqual(['250  ✓']);
    expect(figures(stdout, 'invoice ').filter((figure) => /^\d/.test(figure))).toEqual([
      '250  ✓',
      `${context}  ✓`,
      `${generated}  ✓`,
    ]);
    const tokens = rows.reduce((sum, { index }) => sum + 374 + index + 44 + (index % 7), 0);
    expect(figures(stdout, 'openai/gpt-4o-mini').join(' ')).toContain(tokens.toLocaleString('en-US'));
    expect(stdout).toContain('✓ agrees with the tokens of the file, the total of the invoice');
    expect(stdout).toContain('All sums agree');
  });

  it.each([
    [['--url', 'http://127.0.0.1:2', '--token', 't'], 1, 'no server answers at http://127.0.0.1:2'],
    // A port that no browser opens, and therefore no fetch.
    [['--url', 'http://127.0.0.1:1', '--token', 't'], 1, 'no answer from http://127.0.0.1:1: bad port'],
    [['--events', 'many'], 2, "'--events <n>' argument 'many' is invalid. It must be a whole number"],
  ])('tallyhouse demo says in one line what is wrong with %j', async (args, exitCode, message) => {
    const { code, stderr } = await runDemo(...args);
    expect(code).toBe(exitCode);
    expect(stderr).toContain(message);
    expect(stderr).not.toContain('    at ');
  });

  it('checks a trace file before it starts a server', async () => {
    const { code, stderr } = await runDemo('--trace', join(directory, 'none.csv'));
    expect(code).toBe(1);
    expect(stderr).toContain('there is no file');
  });

  it.each(
    mainCases(
      [
        ['SIGINT', 130],
        ['SIGKILL', null],
        ['SIGTERM', 130],
      ] as const,
      2,
    ),
  )('leaves no server running after %s', async (signal, exitCode) => {
    const temporary = join(directory, signal);
    await mkdir(temporary);
    const demo = spawn(process.execPath, [PROGRAM, 'demo', '--events', '10000000'], {
      env: { ...process.env, TMPDIR: temporary },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    let output = '';
    demo.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString('utf8');
    });
    onTestFinished(() => {
      demo.kill('SIGKILL');
    });
    const isSending = () => output.includes('Sending usage');
    await expect.poll(() => isSending() || demo.exitCode !== null).toBe(true);
    expect(isSending()).toBe(true);
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(output)?.[0] ?? '';
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    demo.kill(signal);
    const [code] = await once(demo, 'exit');
    expect(code).toBe(exitCode);
    const [dataDirectory] = await readdir(temporary);
    if (signal === 'SIGKILL') {
      // Nobody is left to remove the data, and the server notices by itself: it drains and gives up its lock.
      const locks = join(temporary, dataDirectory ?? '', 'lock');
      await expect.poll(() => readdir(locks)).toEqual([]);
    } else {
      expect(dataDirectory).toBeUndefined();
    }
    await expect(fetch(`${url}/healthz`)).rejects.toThrow();
  });
});
