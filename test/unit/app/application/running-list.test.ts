/** The parts of a running service (src/app/application/running-list.ts). */
import { expect, it } from 'vitest';
import { createRunningList } from '../../../../src/app/application/running-list.ts';

it('parts close stage by stage, each once, in whatever order they were added', async () => {
  const closed: string[] = [];
  const running = createRunningList();
  const part = (name: string) => ({
    async close() {
      closed.push(`${name} begins`);
      await Promise.resolve();
      closed.push(`${name} ends`);
    },
  });
  running.add('readers', part('reader'));
  running.add('events', part('ingest'));
  running.add('jobs', part('jobs'));
  running.add('jobs', { close: () => void closed.push('holds') });
  await running.close('jobs');
  expect(closed).toEqual(['jobs begins', 'holds', 'jobs ends']);
  await Promise.all([running.close(), running.close()]);
  expect(closed.slice(3)).toEqual(['ingest begins', 'ingest ends', 'reader begins', 'reader ends']);
});

it('parts of later stages stay open when a stage fails', async () => {
  const running = createRunningList();
  let isClosed = false;
  running.add('events', { close: () => Promise.reject(new Error('not written')) });
  running.add('checks', {
    close() {
      isClosed = true;
    },
  });
  await expect(running.close()).rejects.toThrow('not written');
  expect(isClosed).toBe(false);
});
