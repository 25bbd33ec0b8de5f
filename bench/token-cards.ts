/**
 * A managed rate card over a large catalogue in the format of LiteLLM: how long its creation, its changes and its drafts
 * take, and for how long they hold the event loop. Prints a Markdown table.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type MeasuredRequest, timed } from './measured-request.ts';
import { quantile, table } from './report.ts';
import { startTemporaryService, type TemporaryService } from './temporary-service.ts';

const MODELS = Number(process.env.BENCH_TOKEN_MODELS ?? 10_000);
/** Models that the customer used in the month. */
const USED = 200;
const RUNS = 7;
const COMMAND = fileURLToPath(new URL('../dist/tallyhouse.cjs', import.meta.url));
const CARDS = '/v1/contract-pricing/rate-cards';

/** Runs against a new service and returns the report. */
export async function benchTokenCards(): Promise<string> {
  const dataDir = await mkdtemp(join(tmpdir(), 'tallyhouse-bench-'));
  // Its clock is moved to the end of the month, when the invoice is issued.
  const service = await startTemporaryService(dataDir, { SANDBOX_NOW: new Date().toISOString() });
  try {
    const rows: [string, readonly MeasuredRequest[]][] = [
      ['import of the catalogue', [await imported(service, dataDir)]],
    ];
    let cardId = '';
    rows.push([
      'creation of the card',
      [await timed(service, async () => (cardId = await createCard(service)))],
    ]);
    const customer_id = await createCustomer(service, cardId);
    const draft = () =>
      timed(service, () => service.get(`/v1/customers/${customer_id}/invoices?status=DRAFT`));
    const change = (index: number) =>
      timed(service, () =>
        service.post(`${CARDS}/update`, {
          rate_card_id: cardId,
          managed_pricing: { markups: [{ model: `many/model-${index}`, markup: 1 + index / 100 }] },
        }),
      );
    rows.push(['first draft', [await draft()]]);
    rows.push(['later drafts', await repeated(draft)]);
    const [changes, drafts]: [MeasuredRequest[], MeasuredRequest[]] = [[], []];
    for (let run = 0; run < RUNS; run += 1) {
      changes.push(await change(run));
      drafts.push(await draft());
    }
    rows.push(['another markup of one model', changes], ['draft after it', drafts]);
    const all = Array.from({ length: MODELS }, (_, index) => ({ model: `many/model-${index}`, markup: 2 }));
    rows.push([
      `another markup of ${MODELS.toLocaleString('en')} models`,
      [
        await timed(service, () =>
          service.post(`${CARDS}/update`, { rate_card_id: cardId, managed_pricing: { markups: all } }),
        ),
      ],
    ]);
    rows.push(['first draft after it', [await draft()]], ['later drafts', await repeated(draft)]);
    const now = afterMonth(new Date()).toISOString();
    rows.push([
      'issuing the invoice',
      [await timed(service, () => service.post('/v1/sandbox/clock', { now }))],
    ]);
    const issued = () => service.get(`/v1/customers/${customer_id}/invoices?status=FINALIZED`);
    rows.push(['list of issued invoices', await repeated(() => timed(service, issued))]);
    const memory = `Memory at the end: ${(await service.memoryMb()).toFixed(0)} MB.`;
    return `${report(rows)}\n\n${memory}`;
  } finally {
    await service.close();
    await rm(dataDir, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** The command beside the running service, as an operator does it. */
async function imported(service: TemporaryService, dataDir: string): Promise<MeasuredRequest> {
  const file = join(dataDir, 'litellm.json');
  await writeFile(file, JSON.stringify(catalogue()));
  return await timed(service, () =>
    promisify(execFile)(
      process.execPath,
      [COMMAND, 'catalogue', 'import', file, '--valid-from', '2025-01-01'],
      {
        env: { ...process.env, DATA_DIR: dataDir, LOG_LEVEL: 'error' },
      },
    ),
  );
}

/** Every model has two kinds of tokens, half of them read from a cache too, and a quarter write to it. */
function catalogue(): object {
  const entries = Array.from({ length: MODELS }, (_, index) => {
    const usd = (index + 1) * 1e-8;
    const prices = {
      input_cost_per_token: usd,
      output_cost_per_token: usd * 4,
      ...(index % 2 === 0 ? { cache_read_input_token_cost: usd / 10 } : {}),
      ...(index % 4 === 0 ? { cache_creation_input_token_cost: usd * 1.25 } : {}),
    };
    return [`many/model-${index}`, { litellm_provider: 'many', mode: 'chat', ...prices }] as const;
  });
  return Object.fromEntries(entries);
}

async function createCard(service: TemporaryService): Promise<string> {
  const body = { name: 'Models', managed_pricing: { providers: ['many'], default_markup: 0.2 } };
  return idOf(await service.post(`${CARDS}/create`, body));
}

async function createCustomer(service: TemporaryService, rate_card_id: string): Promise<string> {
  const customer_id = idOf(await service.post('/v1/customers', { name: 'Ada', ingest_aliases: ['ada'] }));
  const now = new Date();
  const month = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth())).toISOString();
  await service.post('/v1/contracts/create', { customer_id, rate_card_id, starting_at: month });
  const step = Math.max(1, Math.floor(MODELS / USED));
  const events = Array.from({ length: USED }, (_, index) => ({
    transaction_id: `use-${index}`,
    customer_id: 'ada',
    event_type: 'token-billing',
    timestamp: month,
    properties: { provider: 'many', model: `model-${index * step}`, input_tokens: 1_000, output_tokens: 500 },
  }));
  for (let from = 0; from < events.length; from += 100) {
    await service.post('/v1/ingest', events.slice(from, from + 100));
  }
  return customer_id;
}

/** When the grace period of the month is over. */
function afterMonth(now: Date): Date {
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 2, 1));
}

function idOf({ body }: { readonly body: unknown }): string {
  return (body as { data: { id: string } }).data.id;
}

async function repeated(work: () => Promise<MeasuredRequest>): Promise<MeasuredRequest[]> {
  const runs: MeasuredRequest[] = [];
  for (let run = 0; run < RUNS; run += 1) runs.push(await work());
  return runs;
}

function report(rows: readonly (readonly [string, readonly MeasuredRequest[]])[]): string {
  const header = ['what', 'p50 ms', 'max ms', 'CPU p50 ms', 'holds the loop, p50 ms', 'max ms'];
  const cells = rows.map(([name, runs]) => {
    const of = (figure: keyof MeasuredRequest, share: number) =>
      quantile(
        runs.map((run) => run[figure]),
        share,
      ).toFixed(0);
    return [name, of('passed', 0.5), of('passed', 1), of('cpu', 0.5), of('hold', 0.5), of('hold', 1)];
  });
  return `A managed rate card of ${MODELS.toLocaleString('en')} models, one request at a time; the customer used ${USED} of them. CPU time is that of the service, PostgreSQL aside. Holding the event loop is CPU time of its thread between two turns.\n\n${table(header, cells)}`;
}
