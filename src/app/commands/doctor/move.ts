/** Checks whether the stores were moved to servers, or a move has not ended. No finding if there was none. */
import type { Config } from '../../../config.ts';
import { movedText, readMove } from '../../../embedded/move-record.ts';
import { findMoveMark } from '../../../store/base/move-target.ts';
import { type Finding, fine, wrong } from './finding.ts';

export async function checkMove({
  dataDir,
  databaseUrl,
  clickhouseUrl,
}: Pick<Config, 'dataDir' | 'databaseUrl' | 'clickhouseUrl'>): Promise<readonly Finding[]> {
  const isServed = databaseUrl !== undefined && clickhouseUrl !== undefined;
  // A server that does not respond has another finding.
  const mark = databaseUrl === undefined ? null : await findMoveMark({ url: databaseUrl }).catch(() => null);
  if (mark !== null && !mark.isEnded)
    return [
      wrong('move', 'a move to these servers has not ended: call tallyhouse move again where it was begun'),
    ];
  const record = await readMove(dataDir);
  if (record === null) return [];
  const { postgres, clickhouse } = record.to;
  if (record.movedAt === null)
    return [
      wrong(
        'move',
        `a move to ${postgres} and ${clickhouse} has not ended: call tallyhouse move again, or tallyhouse move --abort`,
      ),
    ];
  if (isServed) return [fine('move', movedText(record))];
  return [wrong('move', `${movedText(record)}: set DATABASE_URL and CLICKHOUSE_URL`)];
}
