/** Calls of `tallyhouse` that are understood and not carried out. */
import type { Actions } from '../../src/app/cli/actions.ts';
import { runProgram } from '../../src/app/cli/program.ts';

export interface RecordedCall {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  /** The call that the command would have received; undefined where no command was called. */
  readonly asked: unknown;
  /** Which one. */
  readonly name: string | undefined;
}

export async function recordedCall(...args: readonly string[]): Promise<RecordedCall> {
  let [out, err] = ['', ''];
  let asked: unknown;
  let name: keyof Actions | undefined;
  const record = (which: keyof Actions) => async (call: unknown) => {
    [asked, name] = [call, which];
    return 0;
  };
  const actions: Actions = {
    start: record('start'),
    demo: record('demo'),
    token: record('token'),
    user: record('user'),
    backfill: record('backfill'),
    reconcile: record('reconcile'),
    sql: record('sql'),
    exportPrices: record('exportPrices'),
    planPrices: record('planPrices'),
    applyPrices: record('applyPrices'),
    priceSchema: record('priceSchema'),
    catalogue: record('catalogue'),
    acceptLoss: record('acceptLoss'),
    strayData: record('strayData'),
    backup: record('backup'),
    restore: record('restore'),
    move: record('move'),
    doctor: record('doctor'),
  };
  const code = await runProgram(args, actions, {
    out: (text) => {
      out += text;
    },
    err: (text) => {
      err += text;
    },
  });
  return { code, out, err, asked, name };
}
